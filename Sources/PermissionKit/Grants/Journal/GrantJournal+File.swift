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
  private static let lockLimit: Int64 = 30_000_000

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
    do throws(Errno) {
      try system.flock(file, until: deadline)
    } catch .EAGAIN {
      let holder = system.lockHolder(of: file).map { pid in
        let name = system.status(ofProcess: pid)?.name
        return "process \(pid)\(name.map { " (\($0))" } ?? "")"
      }
      throw failure(
        "\(holder ?? "another process") has locked the journal of grants \(path) for"
          + " \(Self.lockLimit / 1_000_000) seconds, so nothing was changed", "flock", .EAGAIN,
        advice: "wait until that process ends, or end it")
    } catch {
      throw failure("the journal of grants \(path) cannot be used", "flock", error)
    }
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
      problem =
        [
          ("is not a regular file", status.kind != .regular),
          ("belongs to another user", status.uid != own),
          ("is writable by others", status.mode & 0o022 != 0),
          ("has another hard link", status.links != 1),
          (
            "is in a folder that is writable by others",
            folder.uid != own && folder.uid != 0 || folder.mode & 0o022 != 0
          ),
        ].first { $0.1 }?.0
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
  /// - Parameter file: The open journal.
  /// - Returns: The open grants, the size of the file, and whether its last line is incomplete.
  /// - Throws: If the file cannot be read, or is damaged.
  func ledger(
    of file: Descriptor
  ) throws(PermissionError) -> (ledger: GrantLedger, size: Int, isTorn: Bool) {
    var ledger = GrantLedger()
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
    ledger.adopt()
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
      let bytes = ledger.lines(at: Timestamp.rfc3339(system.realtime()))
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
