/// Work of a new process before its program begins, in C.
@safe package struct ProcessPreparation {
  /// The function, which returns 0 or an errno.
  let function: @convention(c) (UnsafeMutableRawPointer?) -> Int32
  /// Its argument.
  let context: UnsafeMutableRawPointer?

  /// Creates a preparation.
  package init(
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Int32,
    _ context: UnsafeMutableRawPointer?
  ) {
    unsafe (self.function, self.context) = (function, context)
  }
}
