/// The active security modules of the kernel, and the label of a process.
struct SecurityModules {
  /// The names of the modules; nil if they cannot be read.
  let names: [String]?
  /// The label or profile of the process; nil if no module sets one.
  let label: String?
  /// The file that would show a label; nil if there is one, or none.
  let unseenLabel: Unseen?

  /// The values LSM_ID_… of include/uapi/linux/lsm.h.
  private static let known: [UInt64: String] = [
    100: "capability", 101: "selinux", 102: "smack", 103: "tomoyo", 104: "apparmor", 105: "yama",
    106: "loadpin", 107: "safesetid", 108: "lockdown", 109: "bpf", 110: "landlock", 111: "ima",
    112: "evm", 113: "ipe",
  ]

  /// Whether SELinux refuses what its policy does not allow; nil if this cannot be read.
  private let isEnforcing: Bool?

  /// Reads the modules.
  ///
  /// - Parameters:
  ///   - system: The system to read.
  ///   - process: The process whose label is read; nil for this process.
  init(_ system: any System, process: Int32? = nil) {
    let folder = "/proc/\(process.map(String.init) ?? "self")/attr"
    isEnforcing = (try? system.line(of: "/sys/fs/selinux/enforce")).map { $0 != "0" }
    if let ids = try? system.lsm_list_modules() {
      names = ids.map { Self.known[$0] ?? "module \($0)" }
    } else if let line = try? system.line(of: "/sys/kernel/security/lsm"), !line.isEmpty {
      names = line.description.parts(by: ",").map(String.init)
    } else {
      names = nil
    }
    let files = [PathBytes("\(folder)/apparmor/current"), PathBytes("\(folder)/current")]
    var unseen: Unseen?
    label =
      files.lazy.compactMap { file in
        let look = system.look(at: file) { () throws(Errno) in try system.label(in: file) }
        unseen = unseen ?? look.unseen
        return look.value
      }.first { !$0.isEmpty }?.description
    unseenLabel = label == nil ? unseen : nil
  }

  func has(_ name: String) -> Bool { names?.contains(name) ?? true }

  private var parsed: SecurityLabel? { label.map(SecurityLabel.init) }

  /// The name of the AppArmor profile that confines this process; nil if none does.
  var profile: String? {
    guard case .profile(let name, _)? = parsed, parsed?.confines == true else { return nil }
    return name
  }

  /// The AppArmor profile that may refuse to open or create what faccessat2(2), which asks no profile,
  /// grants; nil if none does.
  ///
  /// The profiles that container engines make for every container refuse below /proc and /sys alone.
  var profileOfPaths: String? {
    guard let profile else { return nil }
    let isOfEngine =
      profile == "docker-default" || profile.hasPrefix("containers-default-")
      || profile == "cri-containerd.apparmor.d"
    return isOfEngine ? nil : profile
  }

  /// The file that would show whether a profile refuses to open what faccessat2(2) grants; nil if that is known.
  var unseenProfile: Unseen? { has("apparmor") || has("tomoyo") ? unseenLabel : nil }

  /// The SELinux or Smack context that confines this process; nil if none does.
  var context: String? {
    guard let parsed, parsed.confines, let label else { return nil }
    if case .profile = parsed { return nil }
    if case .context = parsed, isEnforcing == false { return nil }
    return label
  }

  /// The profile or context that may refuse the process what mode and ACL grant; nil if none does.
  ///
  /// A label of an active module that cannot be read counts as one.
  var confiningLabel: String? {
    if let parsed {
      if case .context = parsed, isEnforcing == false { return nil }
      return parsed.confines ? label : nil
    }
    let labelling = ["selinux", "apparmor", "smack", "tomoyo"]
    guard let active = names?.first(where: { labelling.contains($0) }) else { return nil }
    return active == "selinux" && isEnforcing == false ? nil : "\(active): label not visible"
  }

  /// Whether Landlock may be active.
  var mayBeLandlock: Bool { has("landlock") }

  /// Whether SELinux confines this process with the context of containers.
  var isContainerContext: Bool {
    if case .context(_, "container_t")? = parsed { true } else { false }
  }

  /// The modules and the label, as lines of evidence.
  var evidence: [String] {
    [
      names.map { "security modules: \($0.joined(separator: ", "))" }
        ?? "not visible: which security modules are active",
      label.map { "security label: \($0)" } ?? "security label: none",
    ]
  }
}

extension System {
  /// Returns the label in a file of /proc/PID/attr; empty if no module sets one, see getprocattr in security/security.c.
  fileprivate func label(in file: PathBytes) throws(Errno) -> PathBytes {
    do throws(Errno) {
      return PathBytes(Array(try line(of: file).bytes.prefix { $0 != 0 }))
    } catch .EINVAL {
      return ""
    }
  }
}
