/// A question to the kernel about a path: a system call with the arguments that matter.
package enum AccessQuestion: Hashable, Sendable {
  /// open(2) with these flags and O_NONBLOCK.
  case open(OpenFlags)
  /// faccessat2(2) with AT_EACCESS, which decides by the effective (file system) ids.
  case faccessat2(Permissions, followsLink: Bool)
  /// access(2), which decides by the real ids.
  case access(Permissions)
  /// execveat(2) with AT_EXECVE_CHECK, which asks whether a file may be executed.
  case execute
  /// The demand of may_create() for a new name in a directory, besides w and x.
  case createInside
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
      var decision = decide(.open(flags), path: path)
      // Without O_NONBLOCK it waits for a reader.
      if decision.rule == .fifoWithoutReader {
        decision = decide(.faccessat2(asked, followsLink: true), path: path)
      }
      if !decision.isGranted || rest.isEmpty { return decision }
    }
    let decision = decide(.faccessat2(rest, followsLink: true), path: path)
    guard decision.errno == nil, rest.contains(.execute), !isDirectory else { return decision }
    // Nothing but a plain file is executed, whatever its bits are.
    let executed = decide(.execute, path: path)
    let isSpecial = executed.inode.map { basis.inodes[$0].kind.isSpecial } == true
    return isSpecial && executed.errno != nil ? executed : decision
  }
}
