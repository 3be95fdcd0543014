/// A system call on a name or an inode that neither opens nor only checks it.
///
/// Quotas, full disks, leases of other programs and swap files are not examined.
package enum FileOperation: Hashable, Sendable {
  /// open(2) with O_CREAT and O_EXCL: makes a file.
  case create
  /// open(2) with O_WRONLY, O_CREAT and O_TRUNC, as creat(2), fopen("w") and a shell's `>` do: makes a file, or
  /// empties one; waits for the reader of a FIFO.
  case write
  /// mkdir(2).
  case makeDirectory
  /// mknod(2) of this kind; a device needs CAP_MKNOD.
  case makeNode(FileKind)
  /// symlink(2): makes a link, whatever it leads to.
  case makeLink
  /// link(2): gives the file a second name.
  case link(to: PathBytes)
  /// unlink(2).
  case unlink
  /// rmdir(2).
  case removeDirectory
  /// rename(2), which replaces a file that has the new name.
  case rename(to: PathBytes)
  /// chmod(2).
  case changeMode
  /// chown(2) to these ids; both nil if the new owner is unknown.
  case changeOwner(uid: UInt32?, gid: UInt32?)
  /// utimensat(2) with the present time, as touch(1) does.
  case touch
  /// utimensat(2) with other times.
  case setTimes
  /// truncate(2).
  case truncate
  /// chdir(2).
  case changeDirectory
  /// setxattr(2) of an attribute `user.…`.
  case setAttribute
  /// execve(2), as far as permissions go.
  case execute
  /// connect(2) to a socket; whether a program listens is judged separately.
  case connect
}

/// A question about an operation.
///
/// It holds the function that decides, so that only a program with such a question links the
/// operations.
package struct OperationQuestion: Hashable, Sendable {
  /// The operation.
  package let operation: FileOperation
  let decide: @Sendable (inout KernelCall) throws(KernelCall.Stop) -> Rule

  /// Creates a question.
  package init(_ operation: FileOperation) {
    self.operation = operation
    decide = { (call) throws(KernelCall.Stop) in try call.operate(operation) }
  }

  /// Compares the operations.
  package static func == (left: Self, right: Self) -> Bool { left.operation == right.operation }

  /// Hashes the operation.
  package func hash(into hasher: inout Hasher) { hasher.combine(operation) }
}
