/// The user or process that makes new files in a folder, with its umask.
package struct FileCreator: Sendable {
  /// The user or process.
  package var subject: Subject
  /// The umask, 0 to 0777; nil if it is not known.
  package var umask: UInt16?

  /// Creates a creator.
  package init(_ subject: Subject, umask: UInt16?) {
    self.subject = subject
    self.umask = umask
  }

  /// Looks up a creator.
  ///
  /// - Parameters:
  ///   - user: The name or number of a user; nil for the process in `context`, or this one.
  ///   - umask: The umask; nil for that of the process, and unknown for a user.
  ///   - context: The input of the check.
  /// - Throws: If there is no such user, or a process cannot be read.
  package init(
    user: String?, umask: UInt16?, _ context: AccessContext
  ) throws(PermissionError) {
    let users = UserDatabase(context.system, root: context.root)
    if let user {
      self.init(try users.subject(.user(user)), umask: umask)
      return
    }
    let process = context.subject?.process
    self.init(
      try users.subject(process.map { .process($0) } ?? .current),
      umask: umask ?? context.system.status(ofProcess: process)?.umask)
  }
}
