/// The effects of a login on a user, in addition to the user data base: the device rules of its slice and
/// session, and the groups of pam_group(8).
///
/// Other effects of PAM (pam_cap, pam_namespace, pam_limits) are not examined.
struct LoginPolicy {
  let system: any System
  let uid: UInt32
  /// The name of the user.
  let name: Look<String>

  /// Returns the rules of systemd that refuse a login a device, by unit: `user-1001.slice: DevicePolicy=closed`,
  /// and what may hold other ones and could not be seen.
  func deviceRules(_ device: DeviceNumber) -> (rules: [String], unseen: [Unseen]) {
    let marker: PathBytes = "/run/systemd/system"
    switch system.look(at: marker, { () throws(Errno) in try system.status(of: marker) }) {
    case .absent: return ([], [])
    case .unseen(let unseen): return ([], [unseen])
    case .found: break
    }
    var (rules, unseen) = ([String](), [Unseen]())
    // The name of a session is not known before, so what is for every session counts.
    for name in ["user.slice", "user-\(uid).slice", "session-.scope"] {
      let unit = SystemdUnit(name: name, isOfUser: false)
      let read = UnitSettings.read(unit, below: "/", system)
      unseen += read.unseen
      guard let policy = DevicePolicy(unit, read.settings), !policy.allows(device, system) else {
        continue
      }
      rules += policy.settings.map { "\(name): \($0)" }
    }
    return (rules, unseen)
  }

  /// A group that some login may give the user.
  struct Group: Hashable {
    let name: String
    /// The line of /etc/security/group.conf that gives it.
    let line: String
  }

  /// The groups that pam_group may give, see group.conf(5); empty if no service of PAM uses it, or if there is no
  /// such file.
  var groups: Look<[Group]> {
    switch system.look(at: "/etc/security/group.conf") {
    case .found(let bytes):
      switch name {
      case .found(let name): .found(groups(String(decoding: bytes, as: UTF8.self), of: name))
      case .absent: .absent
      case .unseen(let unseen): isUsed ? .unseen(unseen) : .absent
      }
    case .unseen(let unseen): isUsed ? .unseen(unseen) : .absent
    case .absent: .absent
    }
  }

  private func groups(_ text: String, of user: String) -> [Group] {
    var lines: [String] = []
    var continued = ""
    for line in text.parts(by: "\n", omittingEmptySubsequences: false) {
      let line = continued + line.parts(by: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
      continued = ""
      if line.utf8.last == UInt8(ascii: "\\") {
        continued = String(line.dropLast())
      } else {
        lines.append(line)
      }
    }
    let rules = lines.map { $0.parts(by: ";", omittingEmptySubsequences: false) }
      .filter { $0.count == 5 && mayInclude($0[2], user) }
    guard !rules.isEmpty, isUsed else { return [] }
    return rules.flatMap { fields in
      fields[4].parts(byAny: ", \t").map {
        Group(name: String($0), line: fields.joined(separator: ";"))
      }
    }
  }

  /// Whether a list of users may contain the user; true if it is unknown.
  private func mayInclude(_ list: Substring, _ user: String) -> Bool {
    list.parts(byAny: "|& \t").contains { word in
      guard let first = word.first, first != "!", first != "%", first != "@" else { return true }
      let parts = word.parts(by: "*", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 1
        ? user.isExactly(String(word)) : user.utf8.starts(with: parts[0].utf8)
    }
  }

  /// Whether a service of PAM has pam_group, as far as its files can be read.
  private var isUsed: Bool {
    guard let names = try? system.names(in: "/etc/pam.d") else { return true }
    return names.contains { name in
      let file = PathBytes("/etc/pam.d").appending(name)
      guard let bytes = try? system.contents(of: file, limit: 1 << 20) else { return true }
      return String(decoding: bytes, as: UTF8.self).parts(by: "\n")
        .contains { !$0.hasPrefix("#") && $0.has("pam_group.so") }
    }
  }
}
