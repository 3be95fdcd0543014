internal import Synchronization

/// Keeps the newest events in memory.
public final class InMemoryLogging: LoggingStrategy {
  private let events = Mutex<[AccessEvent]>([])
  private let capacity: Int

  /// Makes an empty log.
  ///
  /// - Parameter capacity: How many events are kept, at least 1; older ones are dropped.
  public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

  /// Keeps one event, and drops the oldest when there are too many.
  public func log(_ event: AccessEvent) {
    events.withLock {
      if $0.count >= capacity { $0.removeFirst($0.count - capacity + 1) }
      $0.append(event)
    }
  }

  /// Forgets every event.
  public func clear() { events.withLock { $0 = [] } }

  /// The events kept, oldest first.
  public func loggedEvents() -> [AccessEvent] { events.withLock { $0 } }
}

/// Appends each event to a file, as one line of JSON by one write with O_APPEND, so that the lines
/// of several processes stay whole.
public struct FileLogging: LoggingStrategy {
  /// The file of JSON lines.
  public let path: PathBytes
  private let system: any System

  /// Names the file; nothing is opened before the first event.
  ///
  /// - Parameters:
  ///   - path: The file; it is created with mode 0600, and its folder with mode 0700.
  ///   - system: What opens, reads and writes it.
  public init(_ path: PathBytes, system: any System = Systems.running) {
    self.path = path
    self.system = system
  }

  /// Appends one event by one write(2), making the file and its folder where they are missing.
  public func log(_ event: AccessEvent) throws(PermissionError) {
    let file = try open([.writeOnly, .append, .create, .nonBlocking, .noControllingTerminal])
    defer { system.close(file) }
    let line = event.line
    let written: Int
    do throws(Errno) {
      written = try system.write(file, line)
    } catch {
      throw failure("write", error)
    }
    // The rest could no longer be written in one piece.
    if written < line.count { throw failure("write", .ENOSPC) }
  }

  private func open(_ flags: OpenFlags) throws(PermissionError) -> Descriptor {
    do throws(Errno) {
      do throws(Errno) {
        return try system.openat(.currentDirectory, path, flags, mode: 0o600)
      } catch .ENOENT where flags.contains(.create) {
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
      advice: "name another by --log or PERMCHECK_LOG, or --log none")
  }

  /// Truncates the file, which keeps its owner and mode.
  public func clear() throws(PermissionError) {
    system.close(try open([.writeOnly, .truncate, .noControllingTerminal]))
  }

  /// Reads the file back, oldest first, without the lines that are no events.
  public func loggedEvents() throws(PermissionError) -> [AccessEvent] {
    do throws(Errno) {
      return AccessEvent.events(inLines: try system.contents(of: path, limit: 1 << 30)).events
    } catch {
      throw failure("read", error)
    }
  }
}

/// Writes each event to standard error, as one line of JSON.
public struct StandardErrorLogging: LoggingStrategy {
  private let system: any System

  /// Makes a strategy that writes to descriptor 2 of a system.
  public init(system: any System = Systems.running) { self.system = system }

  /// Writes one event by one write(2).
  public func log(_ event: AccessEvent) throws(PermissionError) {
    do throws(Errno) {
      _ = try system.write(Descriptor(rawValue: 2), event.line)
    } catch {
      throw PermissionError(
        .system, "the analytics log cannot be written to standard error", call: "write",
        errno: error)
    }
  }

  /// Does nothing: what was written is not taken back.
  public func clear() {}

  /// None: standard error cannot be read back.
  public func loggedEvents() -> [AccessEvent] { [] }
}

/// Keeps nothing.
public struct DiscardLogging: LoggingStrategy {
  /// Makes the strategy, which holds nothing.
  public init() {}

  /// Drops the event.
  public func log(_ event: AccessEvent) {}

  /// Does nothing: there is nothing to forget.
  public func clear() {}

  /// None: nothing is kept.
  public func loggedEvents() -> [AccessEvent] { [] }
}
