internal import CPermissionKit
internal import PermissionDocuments
@_spi(SystemCalls) internal import PermissionKit

/// What a caller asks, checked and in the types of the library.
struct Question {
  let context: AccessContext
  /// Whether `limited` is no access.
  let isStrict: Bool
  /// Whether a person must agree to a change.
  let asks: Bool
  let purpose: String?
  /// How long a grant lasts, in seconds; 0 if it does not expire.
  let seconds: UInt32

  /// Creates the question of a call.
  ///
  /// - Parameter pointer: The options; nil for this thread and all devices.
  /// - Throws: If an option has no meaning, or there is no such user or process.
  init(_ pointer: UnsafePointer<pk_options>?) throws(PermissionError) {
    // One call is one look: what is the same for all of it is read once.
    var context = AccessContext(system: LinuxSystem.cached())
    guard let options = try unsafe Self.options(pointer) else {
      (self.context, isStrict, asks, purpose, seconds) = (context, false, false, nil, 0)
      return
    }
    guard unsafe options.flags & ~(PK_ALL | PK_ASK) == 0 else {
      throw unsafe Self.misuse("flags \(options.flags): this version knows PK_ALL and PK_ASK")
    }
    guard unsafe options.need & ~(PK_READ | PK_WRITE | PK_EXECUTE) == 0 else {
      throw unsafe Self.misuse(
        "need \(options.need): it consists of PK_READ, PK_WRITE and PK_EXECUTE")
    }
    let need = unsafe Permissions(rawValue: UInt8(options.need))
    context.need = need.isEmpty ? nil : need
    context.path = unsafe PathBytes(copying: options.path)
    if let path = context.path, !path.isAbsolute {
      throw Self.misuse("the path \"\(path)\" must start with /")
    }
    try context.judge(unsafe Self.who(options))
    self.context = context
    isStrict = unsafe options.flags & PK_ALL != 0
    asks = unsafe options.flags & PK_ASK != 0
    purpose = unsafe options.purpose.map { unsafe String(cString: $0) }
    seconds = unsafe options.seconds
  }

  /// Reads options that this version knows; nil without options.
  private static func options(
    _ pointer: UnsafePointer<pk_options>?
  ) throws(PermissionError) -> pk_options? {
    guard let pointer = unsafe pointer else { return nil }
    let known = unsafe MemoryLayout<pk_options>.size
    // A later header has more members; what they ask for must not be ignored, so they must be zero.
    let size = unsafe UnsafeRawPointer(pointer).load(as: Int.self)
    guard size >= known, size <= 1 << 16 else {
      throw misuse("the size of the options is \(size): begin with PK_OPTIONS_INIT")
    }
    let rest = unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(pointer) + known, count: size - known)
    guard unsafe rest.allSatisfy({ $0 == 0 }) else {
      throw misuse("the options have members that version \(Documents.toolVersion) does not know")
    }
    return unsafe pointer.pointee
  }

  /// Returns whose access is meant.
  private static func who(_ options: pk_options) throws(PermissionError) -> Who {
    let pid = unsafe options.pid
    guard let user = unsafe options.user else {
      if pid < 0 { throw misuse("there is no process \(pid)") }
      return pid == 0 ? .current : .process(pid)
    }
    if pid != 0 { throw misuse("user and pid cannot be combined") }
    // Repaired bytes may be the name of somebody else.
    guard let name = unsafe String(validatingCString: user) else {
      throw unsafe PermissionError(
        .unknownUser, "there is no user \(Sanitizer.clean(String(cString: user)))")
    }
    return .user(name)
  }

  /// Returns the error for an argument without a meaning.
  static func misuse(_ message: String) -> PermissionError {
    PermissionError(.invalidArgument, message, advice: "see permissionkit.h")
  }
}

extension PathBytes {
  /// Creates a path from the bytes before the NUL; nil for NULL.
  init?(copying start: UnsafePointer<CChar>?) {
    guard let start = unsafe start else { return nil }
    var bytes: [UInt8] = []
    while unsafe start[bytes.count] != 0 {
      bytes.append(unsafe UInt8(bitPattern: start[bytes.count]))
    }
    self.init(bytes)
  }
}
