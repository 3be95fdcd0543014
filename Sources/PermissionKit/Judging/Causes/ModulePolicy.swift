/// The policy of SELinux, which can be asked about another process.
struct ModulePolicy: Cause {
  /// The answer of the policy: it allows everything, or the reason why it does not.
  enum Answer {
    case allows
    case refuses(Reason)
  }

  func find(in evidence: Evidence) -> Finding? {
    guard case .refuses(let reason) = evidence.policy else { return nil }
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
  }

  /// Asks whether another process is allowed what mode and ACL grant it.
  ///
  /// - Returns: The answer; nil if some part of it is not known: no SELinux, no right to ask it, a
  ///   capability that the policy may refuse as well, or a permission that depends on more than the
  ///   file.
  static func answer(_ evidence: Evidence, _ process: Int32) -> Answer? {
    let (facts, system, path) = (evidence.facts, evidence.system, evidence.ask.path)
    let modules = SecurityModules(system, process: process)
    guard let source = modules.context, modules.has("selinux"), evidence.ask.operation == nil
    else { return nil }
    let policy = SELinuxPolicy(system: system)
    for step in evidence.inspection.evaluator.steps(evidence.ask) {
      let asked: (inode: Int, need: Permissions)
      switch step.event {
      case .permission(let inode, let need, _, let rule):
        guard rule.bits != nil else { return nil }
        asked = (inode, need)
      case .link(let inode): asked = (inode, .read)
      case .start, .lookup, .turn, .next: continue
      }
      guard let (name, permissions) = permissions(facts.inodes[asked.inode].kind, asked.need),
        let label = label(of: asked.inode, process, evidence),
        let missing = policy.missing(source, label, name, permissions)
      else { return nil }
      if missing.isEmpty { continue }
      return .refuses(
        Reason(
          .landlockOrLSM, .proven,
          "mode and ACL grant \(path), but the policy of SELinux does not allow process \(process) (\(source)): \(missing.joined(separator: ", ")) of \(facts.path(of: asked.inode))",
          evidence: ["/sys/fs/selinux/access: \(source) \(label) \(name)"] + modules.evidence))
    }
    return facts.target(of: path) == nil ? nil : .allows
  }

  /// Returns the class of an inode and the permissions that opening it requires; nil if other
  /// checks decide as well.
  ///
  /// See `file_mask_to_av()` and `open_file_to_av()` in security/selinux/hooks.c.
  private static func permissions(
    _ kind: FileKind, _ need: Permissions
  ) -> (name: String, permissions: [String])? {
    if kind == .directory {
      // What is made in a folder gets a context of its own.
      if need.contains(.write) { return nil }
      let read = need.contains(.read) ? ["read", "open"] : []
      return ("dir", (need.contains(.execute) ? ["search"] : []) + read)
    }
    // What runs may come into another domain.
    if need.contains(.execute) { return nil }
    let used = (need.contains(.read) ? ["read"] : []) + (need.contains(.write) ? ["write"] : [])
    switch kind {
    case .symbolicLink: return ("lnk_file", ["read"])
    case .regular: return ("file", used + ["open"])
    case .fifo: return ("fifo_file", used + ["open"])
    // Without ioctl(2) a device is of no use.
    case .characterDevice: return ("chr_file", used + ["open", "ioctl"])
    case .blockDevice: return ("blk_file", used + ["open", "ioctl"])
    // Whether it may connect depends on who listens.
    case .socket, .directory: return nil
    }
  }

  /// Returns the context of an inode, as the process sees it.
  private static func label(
    of inode: Int, _ process: Int32, _ evidence: Evidence
  ) -> String? {
    let (facts, system) = (evidence.facts, evidence.system)
    guard case .kernel = facts.mounts[facts.inodes[inode].mount].rules.authority else { return nil }
    let path = PathBytes("/proc/\(process)/root").appending(facts.path(of: inode))
    guard
      let file = try? system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(file) }
    guard let bytes = try? system.getxattr(.context, of: file) else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
