/// The security modules of the kernel, and what they say of this process.
struct SecurityModules {
  /// Their names; nil where they cannot be learned.
  let names: [String]?
  /// The label or profile of this process; nil where no module gives one.
  let label: String?

  /// LSM_ID_… of include/uapi/linux/lsm.h.
  private static let known: [UInt64: String] = [
    100: "capability", 101: "selinux", 102: "smack", 103: "tomoyo", 104: "apparmor", 105: "yama",
    106: "loadpin", 107: "safesetid", 108: "lockdown", 109: "bpf", 110: "landlock", 111: "ima",
    112: "evm", 113: "ipe",
  ]

  init(_ system: any System) {
    if let ids = try? system.lsm_list_modules() {
      names = ids.map { Self.known[$0] ?? "module \($0)" }
    } else if let line = try? system.line(of: "/sys/kernel/security/lsm"), !line.isEmpty {
      names = line.description.split(separator: ",").map(String.init)
    } else {
      names = nil
    }
    let files: [PathBytes] = ["/proc/self/attr/apparmor/current", "/proc/self/attr/current"]
    label =
      files.lazy.compactMap { file in
        (try? system.line(of: file)).map { PathBytes(Array($0.bytes.prefix { $0 != 0 })) }
      }.first { !$0.isEmpty }?.description
  }

  private func has(_ name: String) -> Bool { names?.contains(name) ?? true }

  /// The name of the AppArmor profile that confines this process; nil where none does.
  var profile: String? {
    guard let label, label != "unconfined", label.hasSuffix(")"), has("apparmor"),
      let end = label.lastIndex(of: "(")
    else { return nil }
    return String(label[..<end].reversed().drop { $0 == " " }.reversed())
  }

  /// The SELinux or Smack context, where that is what the label is.
  private var context: String? {
    guard let label, profile == nil, label != "unconfined" else { return nil }
    return label
  }

  /// Whether SELinux confines this process as it does containers.
  var isContainerContext: Bool { context?.contains(":container_t:") ?? false }

  /// Which of them it is, most likely.
  func likeliest(noNewPrivileges: Bool) -> String {
    if let profile { return "most likely its AppArmor profile \(profile)" }
    if let context, !context.contains("unconfined") {
      return "most likely the policy for its security context \(context)"
    }
    if noNewPrivileges, has("landlock") {
      return "most likely Landlock, by which a program confines itself and what it starts"
    }
    return "a security module or Landlock, by which a program confines itself and what it starts"
  }

  var evidence: [String] {
    [
      names.map { "security modules: \($0.joined(separator: ", "))" }
        ?? "not visible: which security modules are active",
      label.map { "security label: \($0)" } ?? "security label: none",
    ]
  }
}
