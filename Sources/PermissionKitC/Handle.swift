/// An object of this library that a C program owns and frees.
enum Handle<Object: AnyObject> {
  /// Returns the pointer for the C program; `free(_:)` ends the object.
  static func make(_ object: Object) -> OpaquePointer {
    unsafe OpaquePointer(Unmanaged.passRetained(object).toOpaque())
  }

  /// Returns the object.
  static func object(_ handle: OpaquePointer) -> Object {
    unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).takeUnretainedValue()
  }

  /// Frees what `make(_:)` returned; nil is allowed.
  static func free(_ handle: OpaquePointer?) {
    guard let handle = unsafe handle else { return }
    unsafe Unmanaged<Object>.fromOpaque(UnsafeRawPointer(handle)).release()
  }
}
