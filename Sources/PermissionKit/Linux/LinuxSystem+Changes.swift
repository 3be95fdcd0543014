internal import CCap
internal import Glibc

// MARK: - Changes

extension LinuxSystem {
  /// Returns the attribute's name as a C string, without allocating memory.
  static func name(_ attribute: ExtendedAttribute) -> UnsafePointer<CChar> {
    let name: StaticString =
      switch attribute {
      case .access: "system.posix_acl_access"
      case .default: "system.posix_acl_default"
      case .context: "security.selinux"
      case .branch: "user.mergerfs.fullpath"
      }
    return unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// cap_get_file(3) and cap_to_text(3) through /proc/self/fd.
  package func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String {
    let text = try unsafe filling(1024) {
      unsafe ccap_cap_get_file(
        descriptor.rawValue, $0.assumingMemoryBound(to: CChar.self), 1024)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// setxattr(2) through /proc/self/fd.
  package func setxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) {
    if let callProcess {
      try callProcess.ask(.setxattr, descriptor, unsafe bytes(Self.name(attribute)), data: value)
      return
    }
    let result = unsafe value.withUnsafeBytes {
      unsafe ccap_setxattr(
        descriptor.rawValue, Self.name(attribute), $0.baseAddress, $0.count)
    }
    _ = try check(result)
  }

  /// removexattr(2) through /proc/self/fd.
  package func removexattr(_ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno)
  {
    if let callProcess {
      try callProcess.ask(.removexattr, descriptor, unsafe bytes(Self.name(attribute)))
      return
    }
    _ = try check(unsafe ccap_removexattr(descriptor.rawValue, Self.name(attribute)))
  }

  /// chmod(2) through /proc/self/fd.
  package func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    if let callProcess {
      try callProcess.ask(.chmod, descriptor, mode: UInt32(mode))
      return
    }
    _ = try check(ccap_chmod(descriptor.rawValue, UInt32(mode)))
  }

  /// chown(2) through /proc/self/fd; the owner stays.
  package func chgrp(_ descriptor: Descriptor, _ gid: UInt32) throws(Errno) {
    if let callProcess {
      try callProcess.ask(.chgrp, descriptor, mode: gid)
      return
    }
    _ = try check(ccap_chgrp(descriptor.rawValue, gid))
  }

  /// fsync(2) of a file or directory.
  package func fsync(_ descriptor: Descriptor) throws(Errno) {
    _ = try check(ccap_fsync(descriptor.rawValue))
  }

  /// flock(2) with LOCK_EX and LOCK_NB.
  package func flock(_ descriptor: Descriptor) throws(Errno) {
    _ = try check(ccap_flock(descriptor.rawValue))
  }

  /// fallocate(2) with FALLOC_FL_KEEP_SIZE.
  package func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    _ = try check(ccap_fallocate(descriptor.rawValue, Int64(size)))
  }

  /// name_to_handle_at(2) with AT_EMPTY_PATH.
  package func name_to_handle_at(_ descriptor: Descriptor) throws(Errno) -> [UInt8] {
    try unsafe filling(Int(CCAP_HANDLE) + 4) {
      unsafe ccap_name_to_handle_at(descriptor.rawValue, $0.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// open_by_handle_at(2) with O_PATH, which needs CAP_DAC_READ_SEARCH.
  package func open_by_handle_at(
    _ mount: Descriptor, _ handle: [UInt8]
  ) throws(Errno) -> Descriptor {
    let result = unsafe handle.withUnsafeBufferPointer {
      unsafe ccap_open_by_handle_at(mount.rawValue, $0.baseAddress, $0.count)
    }
    return Descriptor(rawValue: try check(result))
  }

  /// pidfd_open(2), which needs Linux 5.3.
  package func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_pidfd_open(pid)))
  }

  /// rename(2); a NUL in a path gives EINVAL.
  package func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    if old.bytes.contains(0) || new.bytes.contains(0) { throw .EINVAL }
    let result = unsafe withCString(old) { old in
      unsafe withCString(new) { unsafe Glibc.rename(old, $0) != 0 ? -errno : 0 }
    }
    _ = try check(result)
  }

  /// unlink(2); a NUL in the path gives EINVAL.
  package func unlink(_ path: PathBytes) throws(Errno) {
    if path.bytes.contains(0) { throw .EINVAL }
    if let callProcess {
      try callProcess.ask(.unlink, .currentDirectory, path)
      return
    }
    _ = try check(unsafe withCString(path) { unsafe Glibc.unlink($0) != 0 ? -errno : 0 })
  }

  /// rmdir(2); a NUL in the path gives EINVAL.
  package func rmdir(_ path: PathBytes) throws(Errno) {
    if path.bytes.contains(0) { throw .EINVAL }
    _ = try check(unsafe withCString(path) { unsafe Glibc.rmdir($0) != 0 ? -errno : 0 })
  }
}

// MARK: - Commands

extension LinuxSystem {
  /// Calls `body` with the arguments in the format of execve(2).
  func withArguments<Result>(
    _ arguments: [PathBytes],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) throws(Errno) -> Result
  ) throws(Errno) -> Result {
    if arguments.isEmpty || arguments.contains(where: { $0.bytes.contains(0) }) { throw .EINVAL }
    var copies = unsafe arguments.map { argument -> UnsafeMutablePointer<CChar>? in
      unsafe withCString(argument) { unsafe strdup($0) }
    }
    unsafe copies.append(nil)
    defer { unsafe copies.forEach { unsafe free($0) } }
    return try unsafe copies.withUnsafeBufferPointer { (buffer) throws(Errno) in
      guard let start = buffer.baseAddress else { return try unsafe body([nil]) }
      return try unsafe body(start)
    }
  }

  /// Starts a program with the environment of this process, see execvp(3).
  package func spawn(_ arguments: [PathBytes], output: Descriptor) throws(Errno) -> Int32 {
    try spawn(arguments, output: output, blocking: 0)
  }

  /// Starts a program with the environment of this process, see execvp(3).
  ///
  /// - Parameters:
  ///   - arguments: The program, and its arguments.
  ///   - output: Its standard output.
  ///   - blocked: The signals that it blocks: bit n - 1 for signal n.
  ///   - preparation: What the new process does before; nil for nothing.
  /// - Returns: The process.
  /// - Throws: The errno of fork(2), execvp(3) or the preparation.
  package func spawn(
    _ arguments: [PathBytes], output: Descriptor, blocking blocked: UInt64,
    after preparation: ProcessPreparation? = nil
  ) throws(Errno) -> Int32 {
    try check(
      try unsafe withArguments(arguments) {
        unsafe ccap_spawn(
          $0, output.rawValue, blocked, preparation?.function, preparation?.context)
      })
  }

  /// The signals that this thread blocks: bit n - 1 for signal n.
  package func blockedSignals() -> UInt64 { ccap_blocked() }

  /// Returns whether a child was stopped or continued since the last call, see waitid(2); nil if neither.
  package func changes(of pid: Int32) -> ChildChange? {
    let news = ccap_child_news(pid)
    return news == 0 ? nil : news < 0 ? .continued : .stopped(by: news)
  }

  /// Stops this process by a signal that it blocks: SIGTSTP, SIGTTIN or SIGTTOU; by SIGSTOP in all other cases.
  package func stop(by signal: Int32) { ccap_stop(signal) }

  /// Whether a shell with job control started this process's group: its parent is in the same session, but not in the
  /// group.
  package var isInJob: Bool { ccap_is_in_job() != 0 }

  /// waitpid(2), repeated after EINTR.
  package func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? {
    let status = try check(ccap_waitpid(pid, waits ? 0 : WNOHANG))
    if status == 512 { return nil }
    return status < 256 ? .exited(status) : .signalled(status - 256)
  }

  /// execvp(3), which returns only if it failed.
  package func execvp(_ arguments: [PathBytes]) -> Errno {
    do throws(Errno) {
      return try unsafe withArguments(arguments) {
        guard let program = unsafe $0[0] else { return Errno.EINVAL }
        unsafe Glibc.execvp(program, $0)
        return Errno(rawValue: errno)
      }
    } catch {
      return error
    }
  }

  /// setenv(3), for this process and the programs that it starts.
  package func setenv(_ name: String, _ value: PathBytes) throws(Errno) {
    let result = unsafe withCString(value) { unsafe Glibc.setenv(name, $0, 1) != 0 ? -errno : 0 }
    _ = try check(result)
  }

  /// kill(2); a negative pid is a process group.
  package func kill(_ pid: Int32, _ signal: Int32) throws(Errno) {
    _ = try check(Glibc.kill(pid, signal) != 0 ? -errno : 0)
  }

  /// raise(3) with SIG_DFL, after the signal was unblocked.
  package func raise(_ signal: Int32) { ccap_raise(signal) }
}
