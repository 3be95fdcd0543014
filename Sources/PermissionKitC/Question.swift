internal import CPermissionKit
internal import PermissionDocuments
@_spi(SystemCalls) internal import PermissionKit

/// The options of a call, checked and in the types of the library.
struct Question {
  let context: AccessContext
  /// The subject of the call.
  let who: Who
  /// Whether `limited` counts as no access.
  let isStrict: Bool
  /// Whether a person must agree to a change.
  let asks: Bool
  let purpose: String?
  /// How long a grant lasts, in seconds; 0 if it does not expire.
  let seconds: UInt32
  /// The cancellation of the call; nil without one.
  let cancellation: Cancellation?

  /// Creates the question of a call.
  ///
  /// - Parameters:
  ///   - pointer: The options; nil for this thread and all devices.
  ///   - system: The system to ask; by default one that reads once what is the same for all of a call.
  /// - Throws: If an option has no meaning, or there is no such user or process.
  init(
    _ pointer: UnsafePointer<pk_options>?, _ system: any System = LinuxSystem.cached()
  ) throws(PermissionError) {
    let options = try unsafe Self.options(pointer)
    guard unsafe options.flags & ~(PK_ALL | PK_ASK) == 0 else {
      throw unsafe Self.misuse("flags \(options.flags): this version knows PK_ALL and PK_ASK")
    }
    guard unsafe options.need & ~(PK_READ | PK_WRITE | PK_EXECUTE) == 0 else {
      throw unsafe Self.misuse(
        "need \(options.need): it consists of PK_READ, PK_WRITE and PK_EXECUTE")
    }
    guard let through = unsafe AudioRoute(number: options.through), unsafe options.reserved == 0
    else {
      throw unsafe Self.misuse(
        "through \(options.through): this version knows PK_THROUGH_USUAL, PK_THROUGH_SERVER and PK_THROUGH_ANY"
      )
    }
    var context = AccessContext(system: system)
    context.through = through
    let need = unsafe Permissions(rawValue: UInt8(options.need))
    context.need = need.isEmpty ? nil : need
    context.path = unsafe PathBytes(copying: options.path)
    if let path = context.path, !path.isAbsolute {
      throw Self.misuse("the path \"\(path)\" must start with /")
    }
    who = try unsafe Self.who(options)
    try context.judge(who)
    if let operation = try unsafe Self.operation(options, context) {
      context.question = .operation(operation)
    }
    self.context = context
    isStrict = unsafe options.flags & PK_ALL != 0
    asks = unsafe options.flags & PK_ASK != 0
    purpose = unsafe options.purpose.map { unsafe String(cString: $0) }
    seconds = unsafe options.seconds
    cancellation = unsafe options.cancellation.map { unsafe Handle<Cancellation>.object($0) }
    if unsafe options.consent != nil, asks {
      throw Self.misuse("PK_ASK and consent cannot be combined: either asks")
    }
  }

  /// Returns the context, with the subject looked up again.
  func contextNow() throws(PermissionError) -> AccessContext {
    var context = context
    try context.judge(who)
    return context
  }

  /// Returns the operation on a path; nil for opening it.
  private static func operation(
    _ options: pk_options, _ context: AccessContext
  ) throws(PermissionError) -> NamedOperation? {
    let target = unsafe PathBytes(copying: options.target)
    guard let text = unsafe options.to.map({ unsafe String(cString: $0) }) else {
      if target != nil { throw misuse("target has no meaning without to") }
      return nil
    }
    guard let name = NamedOperation.Name(rawValue: text) else {
      let known = NamedOperation.Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw misuse("there is no operation \"\(text)\"; known: \(known)")
    }
    return try NamedOperation(name, target: target, context)
  }

  /// The size of the options in the first version of the header.
  private static let firstSize = 48

  /// Returns the options that this version knows; those of older headers have fewer.
  static func options(
    _ pointer: UnsafePointer<pk_options>?
  ) throws(PermissionError) -> pk_options {
    var options = unsafe pk_options()
    guard let pointer = unsafe pointer else { return unsafe options }
    let known = unsafe MemoryLayout<pk_options>.size
    let size = unsafe UnsafeRawPointer(pointer).load(as: Int.self)
    guard size >= firstSize, size <= 1 << 16 else {
      throw misuse("the size of the options is \(size): begin with PK_OPTIONS_INIT")
    }
    // A later header has more members; what they ask for must not be ignored, so they must be zero.
    if size > known {
      let rest = unsafe UnsafeRawBufferPointer(
        start: UnsafeRawPointer(pointer) + known, count: size - known)
      guard unsafe rest.allSatisfy({ $0 == 0 }) else {
        throw misuse("the options have members that version \(Documents.toolVersion) does not know")
      }
    }
    unsafe withUnsafeMutableBytes(of: &options) { bytes in
      unsafe bytes.copyMemory(
        from: UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer), count: min(size, known)))
    }
    return unsafe options
  }

  /// Returns the subject that the options name.
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
