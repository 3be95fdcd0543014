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
    case openat, close, statx, readlinkat, getxattr, setxattr, removexattr, chmod, chgrp, fstatfs,
      getdents
    case faccessat2, unlink, read, openat2, regular
  }

  @safe private struct State {
    var process: ccap_apart
    /// The remaining time, in microseconds; 0 if there is no process now.
    var left: Int64
    /// The error that all calls throw then.
    var failure = Errno.ETIMEDOUT
  }

  /// The rights of a process that reads what others can change.
  struct Reader {
    /// Where its paths begin; no link leads out of it.
    var root: PathBytes
    /// The user who reads; nil for that of this process.
    var user: Credentials?
    /// Whether it takes on the ids of `user`; otherwise it reads with those of this process what belongs to `user`,
    /// or may be read by everybody.
    var takesIDs: Bool
  }

  private let state: Mutex<State>
  private let isLate: @Sendable (Int32) -> Void
  /// The directory that paths of a reader are below; nil for a process with the rights of this one.
  let root: PathBytes?

  /// Starts the process; nil if that is not possible.
  ///
  /// - Parameters:
  ///   - limit: How long all calls together may take, in microseconds.
  ///   - isLate: Called when the time is over, with the descriptor of the process if it does not even
  ///     end when it is killed, otherwise -1.
  init?(within limit: Int64, isLate: @escaping @Sendable (Int32) -> Void) {
    var process = unsafe ccap_apart()
    guard unsafe ccap_apart_start(&process, nil) == 0 else { return nil }
    state = unsafe Mutex(State(process: process, left: limit))
    self.isLate = isLate
    root = nil
  }

  /// Starts a process that reads what others can change; without one, each call fails.
  ///
  /// - Parameters:
  ///   - reader: Its rights.
  ///   - directory: The root directory of the reader, opened with O_PATH.
  ///   - limit: How long all calls together may take, in microseconds.
  ///   - isLate: As above.
  init(
    _ reader: Reader, _ directory: Result<Descriptor, Errno>, within limit: Int64,
    isLate: @escaping @Sendable (Int32) -> Void
  ) {
    var process = unsafe ccap_apart()
    var failure: Errno?
    switch directory {
    case .failure(let errno): failure = errno
    case .success(let directory):
      let groups = reader.user?.groups ?? []
      let result = unsafe groups.withUnsafeBufferPointer { groups in
        let isOther = reader.user != nil
        var rights = unsafe ccap_apart_reader(
          root: directory.rawValue, takes_ids: isOther && reader.takesIDs ? 1 : 0,
          checks_owner: isOther && !reader.takesIDs ? 1 : 0,
          uid: reader.user?.user.fileSystem ?? 0, gid: reader.user?.group.fileSystem ?? 0,
          groups: groups.baseAddress, group_count: groups.count)
        return unsafe ccap_apart_start(&process, &rights)
      }
      if result < 0 { failure = Errno(rawValue: -result) }
    }
    state = unsafe Mutex(
      State(process: process, left: failure == nil ? limit : 0, failure: failure ?? .ETIMEDOUT))
    self.isLate = isLate
    root = reader.root
  }

  /// Returns a path as the process takes it.
  ///
  /// - Throws: EXDEV if it is not below the root directory of the reader.
  private func inside(_ path: PathBytes) throws(Errno) -> PathBytes {
    guard let root, !path.isEmpty, root != "/" else { return path }
    let top = root.withoutTrailingSlashes.bytes
    let tail = path.bytes.dropFirst(top.count)
    guard path.bytes.starts(with: top), tail.first ?? UInt8(ascii: "/") == UInt8(ascii: "/") else {
      throw .EXDEV
    }
    return tail.isEmpty ? "/" : PathBytes(Array(tail))
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
    let text = descriptor == .currentDirectory ? try inside(text) : text
    let answer = state.withLock { state -> Result<(Int, [UInt8]), Errno> in
      guard state.left > 0 else { return .failure(state.failure) }
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

  /// The same system, for what others can change, see `System.door`.
  package func door(
    below root: PathBytes, as user: Credentials?, within milliseconds: Int32
  ) -> any System {
    let own = try? credentials()
    let isOwn = user == nil || user?.user == own?.user && user?.group == own?.group
    let reader = CallProcess.Reader(
      root: root, user: isOwn ? nil : user, takesIDs: own?.effective.isSuperset(of: .setIDs) == true
    )
    // Who keeps one look waiting is not asked again for a while, whatever his files are called.
    let who = user.map { "\($0.user.fileSystem)" } ?? "own"
    let key = PathBytes(Array("\(who):".utf8) + root.bytes)
    let limit = Self.isUnresponsive(key, monotonic()) ? 1 : Int64(milliseconds) * 1000
    let directory = Result { () throws(Errno) in
      // While it takes on other ids, its user could read its memory, a copy of this process's.
      if (try? line(of: "/proc/sys/fs/suid_dumpable")) == "1", reader.takesIDs { throw .EPERM }
      return try open(root, [.path, .directory], through: [], within: milliseconds)
    }
    defer { if case .success(let directory) = directory { close(directory) } }
    let process = CallProcess(reader, directory, within: limit) { stuck in
      Self.remember(key, stuck, until: LinuxSystem().monotonic() + 10_000_000)
    }
    return LinuxSystem(cache: cache, callProcess: process)
  }

  /// Opens a regular file to read, see `System.regular`.
  package func regular(_ path: PathBytes) throws(Errno) -> Descriptor {
    guard let callProcess, callProcess.root != nil else { return try regularFile(path) }
    return Descriptor(
      rawValue: Int32(try callProcess.ask(.regular, .currentDirectory, path).result))
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

extension System {
  /// Whether another process makes the calls, see `withCallProcess`.
  var usesCallProcess: Bool { (self as? LinuxSystem)?.callProcess != nil }
}
