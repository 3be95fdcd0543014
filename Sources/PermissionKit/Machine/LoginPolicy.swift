/// What a login of a user gets or loses beside what the user data base says: the device rules of its
/// slice and session, and the groups of pam_group(8).
///
/// What else PAM may do (pam_cap, pam_namespace, pam_limits) is not looked at.
struct LoginPolicy {
  let system: any System
  let user: UserRecord

  /// The rules of systemd that may refuse a login devices, by unit: `user-1001.slice: DevicePolicy=closed`.
  var deviceRules: [String] {
    guard (try? system.status(of: "/run/systemd/system")) != nil else { return [] }
    // The name of a session is not known before, so what is for every session counts.
    return ["user.slice", "user-\(user.uid).slice", "session-.scope"].flatMap { unit in
      UnitSettings.read(unit, below: "/", system).settings.restrictive
        .filter { $0.hasPrefix("DevicePolicy=") || $0.hasPrefix("DeviceAllow=") }
        .map { "\(unit): \($0)" }
    }
  }

  /// A group that some login may give the user.
  struct Group: Hashable {
    let name: String
    /// The line of /etc/security/group.conf that does.
    let line: String
  }

  /// The groups that pam_group may give, see group.conf(5); empty if no service of PAM uses it.
  var groups: [Group] {
    guard let bytes = try? system.contents(of: "/etc/security/group.conf", limit: 1 << 20)
    else { return [] }
    let text = String(decoding: bytes, as: UTF8.self)
    var lines: [String] = []
    var continued = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = continued + line.prefix { $0 != "#" }
      continued = ""
      if line.hasSuffix("\\") { continued = String(line.dropLast()) } else { lines.append(line) }
    }
    let rules = lines.map { $0.split(separator: ";", omittingEmptySubsequences: false) }
      .filter { $0.count == 5 && mayMean($0[2]) }
    guard !rules.isEmpty, isUsed else { return [] }
    return rules.flatMap { fields in
      fields[4].split { $0 == "," || $0 == " " || $0 == "\t" }.map {
        Group(name: String($0), line: fields.joined(separator: ";"))
      }
    }
  }

  /// Whether a list of users may contain the user; what cannot be told may.
  private func mayMean(_ list: Substring) -> Bool {
    list.split { $0 == "|" || $0 == "&" || $0 == " " || $0 == "\t" }.contains { word in
      guard let first = word.first, first != "!", first != "%", first != "@" else { return true }
      let parts = word.split(separator: "*", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 1 ? word == user.name : user.name.hasPrefix(parts[0])
    }
  }

  /// Whether a service of PAM has pam_group, as far as its files can be read.
  private var isUsed: Bool {
    guard let names = try? system.names(in: "/etc/pam.d") else { return true }
    return names.contains { name in
      let file = PathBytes("/etc/pam.d").appending(name)
      guard let bytes = try? system.contents(of: file, limit: 1 << 20) else { return true }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        .contains { !$0.hasPrefix("#") && $0.has("pam_group.so") }
    }
  }
}
