/// The label that a security module gives a process, as /proc/PID/attr shows it.
///
/// Only a label that the module itself calls unconfined counts as such. Names prove nothing:
/// `unconfined_cam` can be an enforcing profile, and SELinux users and roles have names like those
/// of types.
enum SecurityLabel: Hashable, Sendable {
  /// AppArmor: a profile, or several that are stacked (`a//&b`), and the mode of all of them.
  ///
  /// See `aa_label_snxprint()` in security/apparmor/label.c. Without a profile both are `unconfined`.
  case profile(String, mode: String)
  /// SELinux: the context and its type, the third of its parts.
  case context(String, type: String)
  /// A label of Smack, or of another module.
  case other(String)

  /// Parses the contents of `attr/current` of a process.
  init(_ text: String) {
    if text == "unconfined" {
      self = .profile(text, mode: text)
      return
    }
    if text.hasSuffix(")"), let open = text.lastIndex(of: "("), open > text.startIndex,
      text[text.index(before: open)] == " "
    {
      let mode = text[text.index(after: open)...].dropLast()
      let name = text[..<text.index(before: open)]
      self = .profile(String(name), mode: String(mode))
      return
    }
    let parts = text.parts(by: ":", maxSplits: 3, omittingEmptySubsequences: false)
    self = parts.count >= 3 ? .context(text, type: String(parts[2])) : .other(text)
  }

  /// Whether the module may refuse a process with this label what mode and ACL grant.
  ///
  /// A profile in complain mode allows what it does not know, and its `deny` rules hold all the same: see
  /// `aa_audit_perms()` in security/apparmor/file.c. SELinux has no other sign from outside than its type.
  var confines: Bool {
    switch self {
    case .profile(_, let mode): mode != "unconfined"
    case .context(_, let type): type != "unconfined_t" && type != "unconfined_service_t"
    // The floor of Smack, which every process has that nobody labelled.
    case .other(let label): label != "_"
    }
  }
}
