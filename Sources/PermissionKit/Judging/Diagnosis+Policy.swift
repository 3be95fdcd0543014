// What a security module's policy says about another process.
extension Diagnosis {
  /// The answer of the policy: it allows everything, or the reason why it does not.
  enum PolicyAnswer {
    case allows
    case refuses(Reason)
  }

  /// Asks SELinux whether another process is allowed what mode and ACL grant it.
  ///
  /// - Parameters:
  ///   - ask: The path and the permissions that were asked for.
  ///   - process: The process.
  /// - Returns: The answer; nil if some part of it is not known: no SELinux, no right to ask it, a
  ///   capability that the policy may refuse as well, or a permission that depends on more than the file.
  func answerOfPolicy(_ ask: ResourceQuery, _ process: Int32) -> PolicyAnswer? {
    let (facts, system) = (inspection.facts, inspection.system)
    let modules = SecurityModules(system, process: process)
    guard let source = modules.context, modules.has("selinux"), ask.operation == nil else {
      return nil
    }
    let evaluator = AccessEvaluator(facts: facts, credentials: inspection.subject.credentials)
    let target = facts.target(of: ask.path)
    let policy = SELinuxPolicy(system: system)
    for step in evaluator.steps(ask) {
      let asked: (inode: Int, need: Permissions)
      switch step.event {
      case .permission(let inode, let need, _, let rule):
        guard rule.bits != nil else { return nil }
        asked = (inode, need)
      case .link(let inode): asked = (inode, .read)
      case .start, .lookup, .turn: continue
      }
      let kind = facts.inodes[asked.inode].kind
      guard
        let (name, permissions) = Self.permissions(
          kind, asked.need),
        let label = label(of: asked.inode, process),
        let missing = policy.missing(source, label, name, permissions)
      else { return nil }
      if missing.isEmpty { continue }
      let place = facts.path(of: asked.inode)
      return .refuses(
        Reason(
          .landlockOrLSM, .proven,
          "mode and ACL grant \(ask.path), but the policy of SELinux does not allow process \(process) (\(source)): \(missing.joined(separator: ", ")) of \(place)",
          evidence: ["/sys/fs/selinux/access: \(source) \(label) \(name)"] + modules.evidence))
    }
    return target == nil ? nil : .allows
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

  /// The context of an inode, as the process sees it.
  private func label(of inode: Int, _ process: Int32) -> String? {
    let (facts, system) = (inspection.facts, inspection.system)
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
