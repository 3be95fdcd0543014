// Opens, locks and reads the file of a journal.

extension GrantJournal {
  /// Why the journal is opened.
  enum Purpose {
    /// To read it, without a lock.
    case reading
    /// To add lines, if there is a journal; on a read-only file system to undo grants without lines.
    case changing
    /// To add lines; a missing journal is created.
    case creating
  }

  /// The longest wait for the lock of a journal, in microseconds.
  static let lockLimit: Int64 = 30_000_000

  func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the journal and, unless it is only read, waits for its lock.
  ///
  /// - Parameter purpose: Why the journal is opened.
  /// - Returns: The open file; nil if there is no journal and none is created.
  /// - Throws: If the journal cannot be opened or is not trusted.
  func open(_ purpose: Purpose) throws(PermissionError) -> Descriptor? {
    let deadline = system.monotonic() + Self.lockLimit
    while true {
      let file: Descriptor
      do throws(Errno) {
        file = try openFile(purpose)
      } catch .ENOENT where purpose != .creating {
        return nil
      } catch {
        throw failure("the journal of grants \(path) cannot be opened", "open", error)
      }
      do throws(PermissionError) {
        if purpose != .reading { try lock(file, until: deadline) }
        // A process that had the lock may have put a compacted journal in its place.
        if try examine(file) { return file }
      } catch {
        system.close(file)
        throw error
      }
      system.close(file)
    }
  }

  private func openFile(_ purpose: Purpose) throws(Errno) -> Descriptor {
    try system.mustAnswer(path)
    let reading: OpenFlags = [.readOnly, .noFollow, .nonBlocking, .noControllingTerminal]
    let writing: OpenFlags = [.readWrite, .append, .noFollow, .nonBlocking, .noControllingTerminal]
    do throws(Errno) {
      return try system.openat(
        .currentDirectory, path, purpose == .reading ? reading : writing, mode: 0)
    } catch .EROFS where purpose == .changing {
      return try system.openat(.currentDirectory, path, reading, mode: 0)
    } catch .ENOENT where purpose == .creating {
      try system.makeFolder(path.parent)
      let file = try system.openat(.currentDirectory, path, writing.union(.create), mode: 0o600)
      try syncFolder()
      return file
    }
  }

  /// Waits until the names in the folder of the journal are on the disk.
  private func syncFolder() throws(Errno) {
    let folder = try system.openat(
      .currentDirectory, path.parent, [.readOnly, .directory], mode: 0)
    defer { system.close(folder) }
    try system.fsync(folder)
  }

  // MARK: - The lock

  private func lock(_ file: Descriptor, until deadline: Int64) throws(PermissionError) {
    var pause: Int32 = 1
    while true {
      do throws(Errno) {
        return try system.flock(file)
      } catch .EAGAIN {
        guard system.monotonic() < deadline else { throw locked(file) }
        _ = try? system.poll([], timeout: pause)
        pause = min(pause * 2, 20)
      } catch .EINTR {
      } catch {
        throw failure("the journal of grants \(path) cannot be used", "flock", error)
      }
    }
  }

  /// Returns the error for a lock that another process does not release.
  private func locked(_ file: Descriptor) -> PermissionError {
    let holder = holder(of: file).map { pid in
      let name = system.status(ofProcess: pid)?.name
      return "process \(pid)\(name.map { " (\($0))" } ?? "")"
    }
    return failure(
      "\(holder ?? "another process") has locked the journal of grants \(path) for"
        + " \(Self.lockLimit / 1_000_000) seconds, so nothing was changed", "flock", .EAGAIN,
      advice: "wait until that process ends, or end it")
  }

  /// Returns the process that has the lock, from /proc/locks; nil if that is not shown.
  private func holder(of file: Descriptor) -> Int32? {
    guard let status = try? system.statx(file),
      let bytes = try? system.contents(of: "/proc/locks", limit: 1 << 24)
    else { return nil }
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
    func hex(_ number: UInt32) -> String { (number < 16 ? "0" : "") + String(number, radix: 16) }
    let device = status.fileSystem
    let place = "\(hex(device.major)):\(hex(device.minor)):\(status.inode)"
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " ")).map {
        String(decoding: $0, as: UTF8.self)
      }
      guard fields.count > 5, fields[1] == "FLOCK", fields[5] == place else {
        continue
      }
      return Int32(fields[4])
    }
    return nil
  }

  // MARK: - Trust

  /// Checks that nobody else can write to the file or replace it.
  ///
  /// - Returns: False if another file is in its place now.
  /// - Throws: If the file is not trusted.
  private func examine(_ file: Descriptor) throws(PermissionError) -> Bool {
    let problem: String?
    do throws(Errno) {
      let status = try system.statx(file)
      let folder = try system.status(of: path.parent)
      let own = try system.credentials().user.fileSystem
      if status.kind == .regular, status.links == 0 { return false }
      if status.kind != .regular {
        problem = "is not a regular file"
      } else if status.uid != own {
        problem = "belongs to another user"
      } else if status.mode & 0o022 != 0 {
        problem = "is writable by others"
      } else if status.links != 1 {
        problem = "has another hard link"
      } else if folder.uid != own && folder.uid != 0 || folder.mode & 0o022 != 0 {
        problem = "is in a folder that is writable by others"
      } else {
        problem = nil
      }
    } catch {
      throw failure("the journal of grants \(path) cannot be used", "statx", error)
    }
    if let problem {
      throw failure(
        "the journal of grants \(path) \(problem), so it is not trusted and nothing was changed",
        advice: "check the file, then make yourself the only owner and writer of it and its folder")
    }
    return true
  }

  // MARK: - Contents

  /// Reads the journal in one pass.
  ///
  /// - Parameters:
  ///   - file: The open journal.
  ///   - uid: The user whose grants are wanted; nil for everybody's.
  /// - Returns: The open grants, the size of the file, and whether its last line is incomplete.
  /// - Throws: If the file cannot be read, or is damaged.
  func ledger(
    of file: Descriptor, for uid: UInt32? = nil
  ) throws(PermissionError) -> (ledger: GrantLedger, size: Int, isTorn: Bool) {
    var ledger = GrantLedger(of: uid)
    var rest: [UInt8] = []
    var size = 0
    while true {
      let part: [UInt8]
      do throws(Errno) {
        part = try system.read(file, 1 << 18)
      } catch {
        throw failure("the journal of grants \(path) cannot be read", "read", error)
      }
      if part.isEmpty { break }
      size += part.count
      rest += part
      guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
      try ledger.read(rest[...end], self)
      rest = Array(rest[(end + 1)...])
    }
    try ledger.read(rest[...], self)
    return (ledger, size, !rest.isEmpty)
  }

  /// Puts a journal with only the open grants in the place of this one.
  ///
  /// - Parameter ledger: The open grants.
  /// - Returns: The new file, which is locked, and its size.
  /// - Throws: If the new file cannot be written; the old one is then unchanged.
  func compact(_ ledger: GrantLedger) throws(Errno) -> (file: Descriptor, size: Int) {
    let new = PathBytes(path.bytes + Array(".new".utf8))
    // A process that was killed may have left the file.
    try? system.unlink(new)
    let file = try system.openat(
      .currentDirectory, new, [.readWrite, .append, .create, .exclusive, .noFollow], mode: 0o600)
    var size = 0
    do throws(Errno) {
      try system.flock(file)
      var bytes: [UInt8] = []
      for grant in ledger.grants {
        var record = GrantRecord(grant, by: nil, pid: nil)
        record.stage = grant.stage
        bytes += record.line
      }
      size = bytes.count
      try system.writeAll(file, bytes)
      try system.fsync(file)
      try system.rename(new, path)
    } catch {
      system.close(file)
      try? system.unlink(new)
      throw error
    }
    try? syncFolder()
    return (file, size)
  }
}
