internal import Synchronization

/// A strategy that keeps the newest events in memory.
public final class InMemoryLogging: LoggingStrategy {
  private let events = Mutex<[AccessEvent]>([])
  private let capacity: Int

  /// Creates an empty log.
  ///
  /// - Parameter capacity: The number of events to keep, at least 1; older events are removed.
  public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

  /// Adds one event, and removes the oldest if there are too many.
  public func log(_ event: AccessEvent) {
    events.withLock {
      if $0.count >= capacity { $0.removeFirst($0.count - capacity + 1) }
      $0.append(event)
    }
  }

  /// Removes every event.
  public func clear() { events.withLock { $0 = [] } }

  /// Returns the events, oldest first.
  public func loggedEvents() -> [AccessEvent] { events.withLock { $0 } }
}

/// A strategy that appends each event to a file, as one line of JSON.
///
/// Each line is in one write with O_APPEND, so that the lines of several processes stay whole.
public struct FileLogging: LoggingStrategy {
  /// The file of JSON lines.
  public let path: PathBytes
  /// The size in bytes at which the file gets the name `path.1`, in place of an older one; nil for no
  /// limit.
  public var sizeLimit: Int?
  /// Whether a missing folder is created, with mode 0700.
  public var createsFolder = true
  private let system: any System

  /// Creates a strategy for this file, which is not opened before the first event.
  ///
  /// - Parameters:
  ///   - path: The file; a missing file is created with mode 0600, a missing folder with mode 0700.
  ///   - system: The system that opens, reads and writes the file.
  public init(_ path: PathBytes, system: any System = Systems.running) {
    self.path = path
    self.system = system
  }

  /// Appends one event with one write(2), and creates the file if missing.
  public func log(_ event: AccessEvent) throws(PermissionError) { try log([event]) }

  /// Appends several events with one write(2), and creates the file if missing.
  public func log(_ events: [AccessEvent]) throws(PermissionError) {
    if events.isEmpty { return }
    let flags: OpenFlags = [.writeOnly, .append, .create, .nonBlocking, .noControllingTerminal]
    var file = try open(flags)
    defer { system.close(file) }
    if makesRoom(file) {
      let new = try open(flags)
      system.close(file)
      file = new
    }
    let lines = events.flatMap(\.line)
    let written: Int
    do throws(Errno) {
      written = try system.write(file, lines)
    } catch {
      throw failure("write", error)
    }
    // A second write could not keep a line in one piece.
    if written < lines.count { throw failure("write", .ENOSPC) }
  }

  /// The older part of the log, which `sizeLimit` keeps.
  package var oldPath: PathBytes { PathBytes(path.bytes + Array(".1".utf8)) }

  /// Renames a file that is too large; returns whether another file has its name now.
  private func makesRoom(_ file: Descriptor) -> Bool {
    guard let sizeLimit, let open = try? system.statx(file), open.kind == .regular,
      open.size > sizeLimit
    else { return false }
    // Only one process renames, and only the file that it has looked at.
    do throws(Errno) {
      try system.flock(file)
      let named = try system.status(of: path)
      guard open.inode == named.inode, open.fileSystem == named.fileSystem else { return true }
      try system.rename(path, oldPath)
      return true
    } catch {
      return false
    }
  }

  private func open(_ flags: OpenFlags) throws(PermissionError) -> Descriptor {
    var flags = flags
    do throws(Errno) {
      try system.mustAnswer(path)
      // Somebody else's link could make root write to any file.
      if try system.credentials().isRoot { flags.insert(.noFollow) }
      do throws(Errno) {
        return try system.openat(.currentDirectory, path, flags, mode: 0o600)
      } catch .ENOENT where flags.contains(.create) && createsFolder {
        try system.makeFolder(path.parent)
        return try system.openat(.currentDirectory, path, flags, mode: 0o600)
      }
    } catch {
      throw failure("open", error)
    }
  }

  private func failure(_ call: String, _ errno: Errno) -> PermissionError {
    PermissionError(
      .system, "the analytics log \(path) cannot be used", path: path, call: call, errno: errno,
      advice: "choose another file, or no log")
  }

  /// Truncates the file, which keeps its owner and mode.
  public func clear() throws(PermissionError) {
    system.close(try open([.writeOnly, .truncate, .nonBlocking, .noControllingTerminal]))
  }

  /// Returns the events of the file, oldest first; skips lines that are no events.
  public func loggedEvents() throws(PermissionError) -> [AccessEvent] {
    do throws(Errno) {
      return AccessEvent.events(inLines: try system.contents(of: path, limit: 1 << 30)).events
    } catch {
      throw failure("read", error)
    }
  }
}

/// A strategy that writes each event to standard error, as one line of JSON.
public struct StandardErrorLogging: LoggingStrategy {
  private let system: any System

  /// Creates a strategy that writes to descriptor 2 of this system.
  public init(system: any System = Systems.running) { self.system = system }

  /// Writes one event with one write(2).
  public func log(_ event: AccessEvent) throws(PermissionError) {
    do throws(Errno) {
      _ = try system.write(.standardError, event.line)
    } catch {
      throw PermissionError(
        .system, "the analytics log cannot be written to standard error", call: "write",
        errno: error)
    }
  }
}

/// A strategy that discards every event.
public struct DiscardLogging: LoggingStrategy {
  /// Creates the strategy, which has no state.
  public init() {}

  /// Discards the event.
  public func log(_ event: AccessEvent) {}
}
