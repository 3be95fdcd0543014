internal import CTrace
@_spi(SystemCalls) public import PermissionKit

/// The refusals of running programs.
///
/// Every thread and every child of a process that is followed is followed too.
@safe public final class RefusalStream {
  /// How refusals are seen.
  public enum Method: String, CaseIterable, Sendable {
    /// BPF programs in the kernel see them, which stop and change nothing.
    ///
    /// Wants CAP_BPF and CAP_PERFMON, or root, and a kernel with BTF.
    case bpf
    /// A process sees them by ptrace(2), which stops each call that can be refused.
    ///
    /// A command of an ordinary user gets no_new_privs: set-user-ID programs give it no rights. Reads, operations of
    /// io_uring(7) and long writes are not seen.
    case ptrace
  }

  private let source: Source
  /// Whether another process traces if the one that does is killed.
  private let isGuarded: Bool

  @safe private enum Source {
    case bpf(OpaquePointer)
    case ptrace(OpaquePointer)
  }

  /// Loads the BPF programs, or starts the process that traces.
  ///
  /// - Parameters:
  ///   - method: How refusals are seen.
  ///   - killsTogether: By ptrace: whether the followed processes are killed with this process or with the one
  ///     that traces.
  /// - Throws: What is missing.
  public init(by method: Method = .bpf, killsTogether: Bool = false) throws(PermissionError) {
    var errno: Int32 = 0
    var step: UnsafePointer<CChar>?
    switch method {
    case .bpf:
      guard let trace = unsafe pk_trace_open(&errno, &step) else {
        let call = unsafe step.map { unsafe String(cString: $0) } ?? "bpf"
        let error = Errno(rawValue: errno)
        throw PermissionError(
          .system, "refusals cannot be seen by BPF", call: call, errno: error,
          advice: MissingRights().words(error))
      }
      source = unsafe .bpf(trace)
      isGuarded = false
    case .ptrace:
      guard let tracer = unsafe pk_tracer_open(killsTogether ? 1 : 0, &errno) else {
        throw PermissionError(
          .system, "the process that traces cannot be started", call: "fork",
          errno: Errno(rawValue: errno))
      }
      source = unsafe .ptrace(tracer)
      isGuarded = !killsTogether
    }
  }

  deinit {
    switch source {
    case .bpf(let trace): unsafe pk_trace_close(trace)
    case .ptrace(let tracer): unsafe pk_tracer_close(tracer)
    }
  }

  /// How refusals are seen.
  public var method: Method { if case .bpf = source { .bpf } else { .ptrace } }

  /// Begins to follow a process, with all its threads and everything that it will start.
  ///
  /// - Parameter process: The number of the process here.
  /// - Throws: If the kernel has no room for it, or does not let this process trace it.
  public func follow(_ process: Int32) throws(PermissionError) {
    switch source {
    case .bpf(let trace): try check(unsafe pk_trace_follow(trace, UInt32(process)), "bpf")
    case .ptrace(let tracer):
      try check(unsafe pk_tracer_follow(tracer, UInt32(process)), "ptrace")
    }
  }

  /// Begins to see refusals of the processes that are followed; none can be added afterwards.
  ///
  /// - Throws: If the process that traces has ended.
  public func begin() throws(PermissionError) {
    if case .ptrace(let tracer) = source {
      try check(unsafe pk_tracer_begin(tracer), "ptrace")
    }
  }

  /// Starts one command, which is followed from its first moment.
  ///
  /// - Parameters:
  ///   - own: The number of this process.
  ///   - start: Starts the command, after the preparation if there is one.
  /// - Returns: What `start` returns.
  /// - Throws: If the command cannot be followed.
  package func starting<Started>(
    _ own: Int32, _ start: (ProcessPreparation?) -> Started
  ) throws(PermissionError) -> Started {
    switch source {
    case .bpf(let trace):
      // What is followed are the children of this process.
      try follow(own)
      let started = start(nil)
      try check(unsafe pk_trace_leave(trace, UInt32(own)), "bpf")
      return started
    case .ptrace(let tracer):
      if isGuarded { _ = unsafe pk_tracer_guard(tracer) }
      let started = start(
        unsafe ProcessPreparation(pk_tracer_join, UnsafeMutableRawPointer(tracer)))
      let failure = unsafe pk_tracer_failure(tracer)
      if failure == 0 { return started }
      throw PermissionError(
        .system, "the command cannot be traced", call: "ptrace", errno: Errno(rawValue: failure),
        advice: MissingRights().wordsForPtrace)
    }
  }

  private func check(_ errno: Int32, _ call: String) throws(PermissionError) {
    if errno == 0 { return }
    throw PermissionError(
      .system, "the process cannot be followed", call: call, errno: Errno(rawValue: errno),
      advice: call == "ptrace" ? MissingRights().wordsForPtrace : nil)
  }

  /// A descriptor that wakes who waits for it when a megabyte of refusals waits to be read.
  ///
  /// Whoever wants them earlier waits with a limit of time: each waking takes time from the program.
  @_spi(SystemCalls) public var descriptor: Descriptor {
    switch source {
    case .bpf(let trace): Descriptor(rawValue: unsafe pk_trace_descriptor(trace))
    case .ptrace(let tracer): Descriptor(rawValue: unsafe pk_tracer_descriptor(tracer))
    }
  }

  /// Hands over the refusals so far, in the order in which they happened.
  ///
  /// - Parameter take: Receives each refusal.
  /// - Throws: If the buffer cannot be read.
  public func read(_ take: (Refusal) -> Void) throws(PermissionError) {
    let errno = withoutActuallyEscaping(take) { take in
      var context = Context(take: take)
      return unsafe withUnsafeMutablePointer(to: &context) { pointer in
        let each:
          @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<pk_refusal>?, UnsafePointer<CChar>?
          ) -> Void = { context, refusal, strings in
            guard let context = unsafe context, let refusal = unsafe refusal,
              let strings = unsafe strings
            else { return }
            let take = unsafe context.assumingMemoryBound(to: Context.self).pointee.take
            take(unsafe Refusal(refusal.pointee, strings))
          }
        return switch source {
        case .bpf(let trace): unsafe pk_trace_read(trace, pointer, each)
        case .ptrace(let tracer): unsafe pk_tracer_read(tracer, pointer, each)
        }
      }
    }
    try check(errno, "bpf")
  }

  private struct Context {
    let take: (Refusal) -> Void
  }

  /// How many refusals and processes were lost, because more came than could be noted.
  public var lost: UInt64 {
    switch source {
    case .bpf(let trace): unsafe pk_trace_lost(trace)
    case .ptrace(let tracer): unsafe pk_tracer_lost(tracer)
    }
  }

  /// How often the process that traces was killed and replaced; what was refused at that moment may be missing.
  public var replacements: Int {
    if case .ptrace(let tracer) = source { Int(unsafe pk_tracer_replaced(tracer)) } else { 0 }
  }

  /// Whether paths are the kernel's own copies.
  ///
  /// Otherwise a path is what stood in the program's memory when the call ended; another thread of the
  /// program may have changed it meanwhile.
  public var pathsAreCopies: Bool {
    if case .bpf(let trace) = source { unsafe pk_trace_has_copies(trace) != 0 } else { false }
  }
}

extension Refusal {
  /// Reads what the BPF program wrote.
  fileprivate init(_ raw: pk_refusal, _ strings: UnsafePointer<CChar>) {
    var raw = raw
    var next = unsafe UnsafeRawPointer(strings)
    func bytes(_ length: UInt16) -> [UInt8]? {
      if length == UInt16(PK_UNREADABLE) { return nil }
      defer { unsafe next += Int(length) }
      return unsafe Array(UnsafeRawBufferPointer(start: next, count: Int(length)))
    }
    let path = bytes(raw.lengths.0)
    let second = bytes(raw.lengths.1)
    root = Place(device: raw.root_device, inode: raw.root_inode)
    // Only the root directory and objects without a name, such as pipes, have no names above them.
    let isRoot = raw.directory_inode == root.inode && raw.directory_device == root.device
    let directory = bytes(raw.lengths.2).flatMap { $0.isEmpty && !isRoot ? nil : Self.path($0) }
    let secondDirectory = bytes(raw.lengths.3).map(Self.path)
    let shape = unsafe pk_call_shape(raw.kind, raw.number)?.pointee
    operation = unsafe pk_call_name(raw.kind, raw.number).map { unsafe String(cString: $0) }
    number = raw.number
    interface =
      raw.kind == PK_I386.rawValue ? .i386 : raw.kind == PK_URING.rawValue ? .ioUring : .native
    arguments =
      interface == .ioUring
      ? []
      : unsafe withUnsafeBytes(of: &raw.arguments) {
        unsafe Array($0.bindMemory(to: UInt64.self).prefix(6))
      }
    let isAddress = (shape?.is ?? 0) & UInt8(PK_ADDRESS.rawValue) != 0
    let hasPath = shape.map { $0.path != 0 } ?? (raw.kind == PK_URING.rawValue)
    if hasPath {
      self.path = path.flatMap {
        isAddress ? Self.address($0, directory) : Self.resolved($0, directory)
      }
    } else {
      self.path = directory
    }
    secondPath =
      (shape?.second_path ?? 0) == 0 ? nil : second.flatMap { Self.resolved($0, secondDirectory) }
    errno = Errno(rawValue: Int32(raw.error))
    (process, thread) = (raw.process, raw.thread)
    let name = unsafe withUnsafeBytes(of: &raw.name) { unsafe Array($0.prefix { $0 != 0 }) }
    self.name = PathBytes(name)
    let known = min(Int(raw.groups), Int(PK_GROUPS))
    let groups = unsafe withUnsafeBytes(of: &raw.group_ids) {
      unsafe Array($0.bindMemory(to: UInt32.self).prefix(known))
    }
    groupsAreComplete = known == Int(raw.groups)
    credentials = Credentials(
      user: .init(real: raw.user.0, effective: raw.user.1, fileSystem: raw.user.3),
      group: .init(real: raw.group.0, effective: raw.group.1, fileSystem: raw.group.3),
      groups: groups, effective: CapabilitySet(rawValue: raw.effective),
      permitted: CapabilitySet(rawValue: raw.permitted))
    (mountNamespace, userNamespace) = (raw.mount_namespace, raw.user_namespace)
    time = raw.time
  }

  /// The path of a directory whose names come backwards, each followed by a zero byte.
  private static func path(_ names: [UInt8]) -> PathBytes {
    let parts = names.split(separator: 0).reversed()
    return PathBytes([UInt8(ascii: "/")] + Array(parts.joined(separator: [UInt8(ascii: "/")])))
  }

  /// The name of a unix(7) socket: a path up to its first zero byte, or `@` and an abstract name; nil for an
  /// address of another family.
  private static func address(_ bytes: [UInt8], _ directory: PathBytes?) -> PathBytes? {
    if bytes.isEmpty { return nil }
    if bytes[0] == 0 { return PathBytes([UInt8(ascii: "@")] + bytes.dropFirst()) }
    return resolved(Array(bytes.prefix { $0 != 0 }), directory)
  }

  private static func resolved(_ path: [UInt8], _ directory: PathBytes?) -> PathBytes? {
    if path.first == UInt8(ascii: "/") { return PathBytes(path) }
    guard let directory else { return nil }
    return path.isEmpty ? directory : directory.appending(PathBytes(path))
  }
}

/// One thread at a time has the stream: it reads where it left off.
@available(*, unavailable)
extension RefusalStream: Sendable {}
