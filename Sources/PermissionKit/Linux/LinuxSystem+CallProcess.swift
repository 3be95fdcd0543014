internal import CCap
internal import Glibc
internal import Synchronization

/// A process that makes calls on files for this one, within a time limit for all of them.
///
/// A call that waits for a server, such as that of FUSE or NFS, cannot be abandoned, but a process
/// that waits can. A descriptor that it opened stays in that process, so that this process need not
/// wait for a close(2) either; one with O_PATH is passed to this process.
final class CallProcess: Sendable {
  /// The calls, in the order of `CCAP_APART_…`.
  enum Call: Int32 {
    case openat, close, statx, readlinkat, getxattr, setxattr, removexattr, chmod, fstatfs, getdents
    case faccessat2, unlink, read, openat2
  }

  @safe private struct State {
    var process: ccap_apart
    /// The remaining time, in microseconds; 0 if there is no process now.
    var left: Int64
  }

  private let state: Mutex<State>
  private let isLate: @Sendable (Int32) -> Void

  /// Starts the process; nil if that is not possible.
  ///
  /// - Parameters:
  ///   - limit: How long all calls together may take, in microseconds.
  ///   - isLate: Called when the time is over, with the descriptor of the process if it does not even
  ///     end when it is killed, otherwise -1.
  init?(within limit: Int64, isLate: @escaping @Sendable (Int32) -> Void) {
    var process = unsafe ccap_apart()
    guard unsafe ccap_apart_start(&process) == 0 else { return nil }
    state = unsafe Mutex(State(process: process, left: limit))
    self.isLate = isLate
  }

  deinit {
    state.withLock { state in
      if state.left > 0 { _ = unsafe ccap_apart_end(&state.process, 0) }
    }
  }

  /// Whether the time is over.
  var isOver: Bool { state.withLock { $0.left <= 0 } }

  /// Makes a call.
  ///
  /// - Parameters:
  ///   - call: Which call.
  ///   - descriptor: The file that it is about.
  ///   - text: The path, or the name of the attribute.
  ///   - flags: The flags of an open.
  ///   - mode: The mode, or the permissions that are asked about.
  ///   - size: The most bytes to read.
  ///   - data: The bytes to write.
  /// - Returns: The result of the call, and what it has read.
  /// - Throws: The errno of the call; ETIMEDOUT if the time is over.
  @discardableResult
  func ask(
    _ call: Call, _ descriptor: Descriptor = .currentDirectory, _ text: PathBytes = "",
    flags: Int32 = 0, mode: UInt32 = 0, size: Int = 1 << 16, data: [UInt8]? = nil
  ) throws(Errno) -> (result: Int, bytes: [UInt8]) {
    if text.bytes.contains(0) { throw .EINVAL }
    let answer = state.withLock { state -> Result<(Int, [UInt8]), Errno> in
      guard state.left > 0 else { return .failure(.ETIMEDOUT) }
      var process = unsafe state.process
      let start = LinuxSystem().monotonic()
      let left = Int32((state.left + 999) / 1000)
      let result = unsafe LinuxSystem().withCString(text) { text in
        guard let data else {
          return unsafe ccap_apart_ask(
            &process, call.rawValue, descriptor.rawValue, text, flags, mode, nil, size, left)
        }
        return unsafe data.withUnsafeBytes {
          unsafe ccap_apart_ask(
            &process, call.rawValue, descriptor.rawValue, text, flags, mode, $0.baseAddress,
            $0.count, left)
        }
      }
      state.left -= LinuxSystem().monotonic() - start
      if result == -Int(ETIME) || state.left <= 0 {
        state.left = 0
        isLate(unsafe ccap_apart_end(&process, 1))
        return .failure(.ETIMEDOUT)
      }
      if result < 0 { return .failure(Errno(rawValue: Int32(-result))) }
      var size = 0
      let read = unsafe ccap_apart_read(&process, &size)
      return .success((result, unsafe Array(UnsafeRawBufferPointer(start: read, count: size))))
    }
    return try answer.get()
  }

  /// statx(2) of a path, or of the descriptor itself if the path is empty.
  func statx(_ descriptor: Descriptor, _ path: PathBytes) throws(Errno) -> ccap_stat {
    let bytes = try ask(.statx, descriptor, path).bytes
    return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: ccap_stat.self) }
  }
}

extension LinuxSystem {
  /// The same system, whose calls on files another process makes, see `System.withCallProcess`.
  package func withCallProcess(_ mount: PathBytes, within milliseconds: Int32) -> any System {
    let limit = Self.isUnresponsive(mount, monotonic()) ? 1 : Int64(milliseconds) * 1000
    let process = CallProcess(within: limit) { stuck in
      Self.remember(mount, stuck, until: LinuxSystem().monotonic() + 10_000_000)
    }
    // Without a process to ask, only the look itself tells.
    return callProcess == nil ? LinuxSystem(cache: cache, callProcess: process) : self
  }

  /// Forks a process that continues in place of this one, which waits and ends with its exit
  /// status.
  ///
  /// - Returns: In the new process alone: what `end(_:_:)` takes.
  /// - Throws: The errno of fork(2); then there is no new process.
  package func leaveToNewProcess() throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_stand_aside()))
  }

  /// Ends the waiting process with an exit status, even if threads of this process never end.
  ///
  /// - Parameters:
  ///   - aside: What `leaveToNewProcess()` returned.
  ///   - status: The exit status.
  package func end(_ aside: Descriptor, _ status: Int32) {
    // Whoever reads what was printed sees its end.
    close(.standardOutput)
    close(.standardError)
    _ = try? write(aside, [UInt8(truncatingIfNeeded: status)])
  }
}
