internal import Synchronization

/// Keeps the newest events in memory.
public final class InMemoryLogging: LoggingStrategy {
  private let events = Mutex<[AccessEvent]>([])
  private let capacity: Int

  /// - Parameter capacity: How many events are kept; older ones are dropped.
  public init(capacity: Int = 10_000) { self.capacity = max(1, capacity) }

  public func log(_ event: AccessEvent) {
    events.withLock {
      if $0.count >= capacity { $0.removeFirst($0.count - capacity + 1) }
      $0.append(event)
    }
  }

  public func clear() { events.withLock { $0 = [] } }

  public func loggedEvents() -> [AccessEvent] { events.withLock { $0 } }
}

/// Appends each event to a file, as one line of JSON by one write with O_APPEND, so that the lines
/// of several processes stay whole.
public struct FileLogging: LoggingStrategy {
  public let path: PathBytes
  private let system: any System

  /// - Parameter path: The file; it is created with mode 0600, and its folder with mode 0700.
  public init(_ path: PathBytes, system: any System = LinuxSystem()) {
    self.path = path
    self.system = system
  }

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
        try makeFolder(path.parent)
        return try system.openat(.currentDirectory, path, flags, mode: 0o600)
      }
    } catch {
      throw failure("open", error)
    }
  }

  private func makeFolder(_ folder: PathBytes) throws(Errno) {
    do throws(Errno) {
      try system.mkdirat(.currentDirectory, folder, mode: 0o700)
    } catch .EEXIST {
    } catch .ENOENT where folder.parent != folder {
      try makeFolder(folder.parent)
      try system.mkdirat(.currentDirectory, folder, mode: 0o700)
    }
  }

  private func failure(_ call: String, _ errno: Errno) -> PermissionError {
    PermissionError(
      .system, "the analytics log \(path) cannot be used", path: path, call: call, errno: errno,
      advice: "name another by --log or PERMCHECK_LOG, or --log none")
  }

  public func clear() throws(PermissionError) {
    system.close(try open([.writeOnly, .truncate, .noControllingTerminal]))
  }

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

  public init(system: any System = LinuxSystem()) { self.system = system }

  public func log(_ event: AccessEvent) throws(PermissionError) {
    do throws(Errno) {
      _ = try system.write(Descriptor(rawValue: 2), event.line)
    } catch {
      throw PermissionError(
        .system, "the analytics log cannot be written to standard error", call: "write",
        errno: error)
    }
  }

  public func clear() {}

  public func loggedEvents() -> [AccessEvent] { [] }
}

/// Keeps nothing.
public struct DiscardLogging: LoggingStrategy {
  public init() {}

  public func log(_ event: AccessEvent) {}

  public func clear() {}

  public func loggedEvents() -> [AccessEvent] { [] }
}
