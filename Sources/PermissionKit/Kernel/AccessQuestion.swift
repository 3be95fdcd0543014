/// A question to the kernel about a path: a system call with the arguments that matter.
package enum AccessQuestion: Hashable, Sendable {
  /// open(2) with these flags.
  case open(OpenFlags)
  /// faccessat2(2) with AT_EACCESS, which decides by the effective (file system) ids.
  case faccessat2(Permissions, followsLink: Bool)
  /// access(2), which decides by the real ids.
  case access(Permissions)
  /// execveat(2) with AT_EXECVE_CHECK, which asks whether a file may be executed.
  case execute
  /// A call that changes a name or an inode, or that needs a right without opening anything.
  case operation(OperationQuestion)
}

extension AccessEvaluator {
  /// Predicts the answer of open(2) to `need`, then of faccessat2(2) to the rights that open lacks.
  ///
  /// Returns the first refusal. A socket cannot be opened, and connect(2) asks for write permission
  /// alone: unix_find_bsd() in net/unix/af_unix.c.
  func decide(
    _ need: Permissions, _ path: PathBytes, isDirectory: Bool, isSocket: Bool = false
  ) -> Decision {
    let opened: Permissions = isDirectory ? .read : isSocket ? [] : [.read, .write]
    let asked = need.intersection(opened)
    let rest = need.subtracting(opened)
    if !asked.isEmpty {
      let flags = isDirectory ? [.readOnly, .directory] : OpenFlags(asked)
      let decision = decide(.open(flags), path: path)
      if !decision.isGranted || rest.isEmpty { return decision }
    }
    return decide(.faccessat2(rest, followsLink: true), path: path)
  }
}
