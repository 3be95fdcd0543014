@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

/// The inotify and eventfd of a system in memory: a queue of events that a test fills.
final class FakeWatching: Sendable {
  struct State {
    /// The last number of a descriptor; other numbers than those of files.
    var nextDescriptor: Int32 = 1_000_000
    /// The watched paths by inotify descriptor; the number of a watch is its index plus one.
    var watches: [Int32: [PathBytes]] = [:]
    var events: [WatchEvent] = []
    /// The eventfds, and whether something was written to each.
    var counters: [Int32: Bool] = [:]
  }

  let state = Mutex(State())

  /// Returns the waiting events in the format of read(2); nil for a descriptor that is no inotify.
  func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8]? {
    try state.withLock { state throws(Errno) in
      guard state.watches[descriptor.rawValue] != nil else { return nil }
      if state.events.isEmpty { throw .EAGAIN }
      var bytes: [UInt8] = []
      while let event = state.events.first, bytes.count + 272 <= max(count, 272) {
        state.events.removeFirst()
        let name = event.name.bytes + [UInt8](repeating: 0, count: 16 - event.name.bytes.count % 16)
        let words = [
          UInt32(bitPattern: event.watch), event.mask.rawValue, 0,
          event.name.isEmpty ? 0 : UInt32(name.count),
        ]
        for word in words {
          for shift in 0..<4 {
            bytes.append(UInt8(truncatingIfNeeded: word.littleEndian >> UInt32(8 * shift)))
          }
        }
        if !event.name.isEmpty { bytes += name }
      }
      return bytes
    }
  }

  /// Makes an eventfd readable; false for a descriptor that is no eventfd.
  func write(_ descriptor: Descriptor) -> Bool {
    state.withLock { state in
      guard state.counters[descriptor.rawValue] != nil else { return false }
      state.counters[descriptor.rawValue] = true
      return true
    }
  }

  func close(_ descriptor: Descriptor) {
    state.withLock {
      $0.watches[descriptor.rawValue] = nil
      $0.counters[descriptor.rawValue] = nil
    }
  }
}

extension FakeSystem {
  /// Adds an event to the queue of inotify.
  ///
  /// - Parameters:
  ///   - mask: The events that happen.
  ///   - path: The watched path; nil for an overflow. A path without a watch gives no event.
  ///   - name: The name in the directory; empty if the event is about `path` itself.
  package func notify(_ mask: WatchMask, _ path: PathBytes? = nil, name: PathBytes = "") {
    watching.state.withLock { state in
      guard let path else {
        state.events.append(WatchEvent(watch: -1, mask: mask, name: name))
        return
      }
      for paths in state.watches.values {
        guard let index = paths.firstIndex(of: path) else { continue }
        state.events.append(WatchEvent(watch: Int32(index + 1), mask: mask, name: name))
      }
    }
  }

  /// The watched paths, in the order of their first watches.
  public var watchedPaths: [PathBytes] {
    watching.state.withLock { $0.watches.values.flatMap { $0 } }
  }

  /// See `System.inotify_init1`; use `notify` to add events.
  @_spi(SystemCalls) public func inotify_init1() throws(Errno) -> Descriptor {
    try call("inotify_init1") { _ throws(Errno) in }
    return watching.state.withLock { state in
      state.nextDescriptor += 1
      state.watches[state.nextDescriptor] = []
      return Descriptor(rawValue: state.nextDescriptor)
    }
  }

  /// See `System.inotify_add_watch`; each path counts as an inode of its own.
  @_spi(SystemCalls) public func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 {
    close(try openat(.currentDirectory, path, [.path, .noFollow], mode: 0))
    return try watching.state.withLock { state throws(Errno) in
      guard let known = state.watches[inotify.rawValue] else { throw .EBADF }
      if let index = known.firstIndex(of: path) { return Int32(index + 1) }
      state.watches[inotify.rawValue]?.append(path)
      return Int32(known.count + 1)
    }
  }

  /// See `System.inotify_rm_watch`; the number is not used again.
  @_spi(SystemCalls) public func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {
    watching.state.withLock {
      guard let paths = $0.watches[inotify.rawValue], paths.indices.contains(Int(watch) - 1)
      else { return }
      $0.watches[inotify.rawValue]?[Int(watch) - 1] = ""
    }
  }

  /// See `System.poll`; if nothing is ready, the clock advances by the timeout at once.
  ///
  /// Without a timeout, waits until another thread calls `notify` or writes to an eventfd.
  @_spi(SystemCalls) public func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents] {
    while true {
      let ready = self.ready(requests)
      if ready.contains(where: { !$0.isEmpty }) { return ready }
      if let timeout {
        pass(milliseconds: Int64(timeout))
        return ready
      }
      _ = try Systems.running.poll([], timeout: 1)
    }
  }

  private func ready(_ requests: [PollRequest]) -> [PollEvents] {
    watching.state.withLock { state in
      requests.map { request in
        let number = request.descriptor.rawValue
        let isReady =
          state.watches[number] != nil ? !state.events.isEmpty : state.counters[number] ?? false
        return isReady ? request.events : []
      }
    }
  }

  /// See `System.eventfd`; a write makes the descriptor readable.
  @_spi(SystemCalls) public func eventfd() throws(Errno) -> Descriptor {
    watching.state.withLock { state in
      state.nextDescriptor += 1
      state.counters[state.nextDescriptor] = false
      return Descriptor(rawValue: state.nextDescriptor)
    }
  }
}
