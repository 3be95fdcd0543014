/// Watches accessors: waits for events that can change an answer, and reports the changes.
///
/// Nothing is polled where the kernel reports changes. inotify(7) watches every inode on the way to
/// each resource, the folders of devices, and the data base of users and groups;
/// /proc/thread-self/mountinfo reports changes of mounts. Events within a short time lead to one check,
/// which has the final answer. Inodes that this process may not watch, and a subject that is
/// another process, are checked every second instead.
///
/// Not Sendable, because it blocks the thread that waits. `PermissionGate` is the asynchronous
/// interface.
public final class AccessWatcher {
  /// Creates an accessor for each check, so that each check also looks up the subject again.
  public typealias Factory = () throws(PermissionError) -> PermissionAccessor

  /// The reason why a wait ended.
  public enum Outcome: Hashable, Sendable {
    /// Every accessor was checked, with these changes, which can be none.
    case checked([Change])
    /// The deadline has passed.
    case timeOver
    /// One of the stop descriptors is ready.
    case stopped
  }

  private let system: any System
  private let stops: [PollRequest]
  private let logs: Bool
  private let makers: [Factory]
  private var watches: InodeWatches
  private var mounts: [Descriptor] = []
  private var snapshots: [CheckSnapshot] = []
  private var nextCheck: Int64?
  /// The accessors, by index, that an event concerns and that must be checked again.
  private var due: Set<Int> = []
  /// The accessors of which the kernel does not report every change.
  private var polled: Set<Int> = []

  // Times in microseconds.
  private static let quietTime: Int64 = 5_000
  private static let longestStorm: Int64 = 20_000
  private static let longestCheck: Int64 = 250_000
  private static let interval: Int64 = 1_000_000

  /// Checks each accessor once and starts to watch.
  ///
  /// - Parameters:
  ///   - system: The system to watch.
  ///   - stops: The stop descriptors; a wait ends if one of them is ready, see poll(2).
  ///   - logs: Whether to log the first check, and each change of an accessor's own status or main
  ///     reason, as a check.
  ///   - makers: The factories of the accessors.
  /// - Throws: An error if an accessor cannot be created or there is no inotify.
  @_spi(SystemCalls) public convenience init(
    _ system: any System, stoppedBy stops: [PollRequest], logs: Bool = true, _ makers: [Factory]
  ) throws(PermissionError) {
    do throws(Errno) {
      self.init(system, stops, logs, makers, watches: try InodeWatches(system))
    } catch {
      throw PermissionError(
        .system, "the kernel refuses to watch files", call: "inotify_init1", errno: error,
        advice: "raise fs.inotify.max_user_instances")
    }
    for make in makers { snapshots.append(CheckSnapshot(try make(), system)) }
    for process in Set(snapshots.map(\.process)).union([nil]) {
      let path = MountTable.path(of: process)
      if let file = try? system.openat(.currentDirectory, path, .readOnly, mode: 0) {
        mounts.append(file)
      }
    }
    _ = watches.arm(snapshots.map(\.scopes))
    due = all
    takeSnapshots()
    if logs { for snapshot in snapshots { snapshot.log() } }
  }

  /// Stores the values.
  ///
  /// All work is in the convenience initializers, because a program links the
  /// designated ones even if it calls none.
  private init(
    _ system: any System, _ stops: [PollRequest], _ logs: Bool, _ makers: [Factory],
    watches: consuming InodeWatches
  ) {
    self.system = system
    self.stops = stops
    self.logs = logs
    self.makers = makers
    self.watches = watches
  }

  /// Checks each accessor once and starts to watch.
  ///
  /// - Parameters:
  ///   - system: The system to watch.
  ///   - logs: Whether to log the first check, and each change of an accessor's own status or main
  ///     reason, as a check.
  ///   - makers: The factories of the accessors.
  /// - Throws: An error if an accessor cannot be created or there is no inotify.
  public convenience init(
    _ system: any System = Systems.running, logs: Bool = true, _ makers: [Factory]
  ) throws(PermissionError) {
    try self.init(system, stoppedBy: [], logs: logs, makers)
  }

  deinit {
    for descriptor in mounts { system.close(descriptor) }
  }

  /// The newest report on each accessor, in the order of the factories.
  public var reports: [AccessReport] { snapshots.map(\.report) }

  /// The paths that cannot be watched and are checked every second instead.
  public var unseen: [(path: PathBytes, errno: Errno)] { watches.unwatched }

  /// Waits for the next event that can change an answer, and checks the accessors that it concerns again.
  ///
  /// - Parameter deadline: The end of the wait on the clock of `System.monotonic`, in microseconds;
  ///   nil for no end.
  /// - Returns: The changes; often none, because an event need not change an answer.
  /// - Throws: An error if the system refuses to wait.
  public func next(until deadline: Int64? = nil) throws(PermissionError) -> Outcome {
    do throws(Errno) {
      while true {
        let end = [deadline, nextCheck].compactMap { $0 }.min()
        let ready = try wait(until: end, also: true)
        if ready.stops { return .stopped }
        // Before the events, which may never end.
        if let deadline, system.monotonic() >= deadline { return .timeOver }
        if ready.mounts { due = all }
        if ready.inodes { try drain() }
        if let nextCheck, system.monotonic() >= nextCheck { due.formUnion(polled) }
        if !due.isEmpty {
          return .checked(try check(until: deadline))
        }
      }
    } catch {
      throw PermissionError(.system, "waiting for changes failed", call: "poll", errno: error)
    }
  }

  private var all: Set<Int> { Set(makers.indices) }

  private func drain() throws(Errno) { due.formUnion(try watches.drain() ?? all) }

  // MARK: - Waiting

  private func wait(
    until end: Int64?, also stopsToo: Bool
  ) throws(Errno) -> (inodes: Bool, mounts: Bool, stops: Bool) {
    // Mountinfo is always readable; it reports a change by an error or priority event.
    let requests =
      [PollRequest(watches.descriptor, .readable)]
      + (stopsToo ? mounts.map { PollRequest($0, .priority) } + stops : [])
    while true {
      let left = end.map { max(0, $0 - system.monotonic()) }
      do throws(Errno) {
        let ready = try system.poll(
          requests, timeout: left.map { Int32(clamping: ($0 + 999) / 1000) })
        let rest = ready.dropFirst()
        return (
          !ready[0].isEmpty, rest.prefix(mounts.count).contains { !$0.isEmpty },
          rest.dropFirst(mounts.count).contains { !$0.isEmpty }
        )
      } catch .EINTR {
        // The process was stopped and continued, or traced: wait again for the time that is left.
      }
    }
  }

  /// Waits until no event comes for a short time, or until the longest storm of events is over.
  private func settle(until deadline: Int64?) throws(Errno) {
    let end = min(system.monotonic() + Self.longestStorm, deadline ?? .max)
    while system.monotonic() < end {
      let quiet = system.monotonic() + Self.quietTime
      guard try wait(until: quiet, also: false).inodes else { return }
      try drain()
    }
  }

  // MARK: - Checking

  /// Checks the accessors that must be checked again, repeats that if events came meanwhile, and
  /// returns the changes.
  private func check(until deadline: Int64?) throws(Errno) -> [Change] {
    let end = min(system.monotonic() + Self.longestCheck, deadline ?? .max)
    let before = snapshots
    repeat {
      try settle(until: deadline)
      takeSnapshots()
      // What is read from here on is looked at; what is not read stays for the next check.
      if system.monotonic() >= end { break }
      try drain()
    } while !due.isEmpty
    let time = system.realtime()
    return zip(before, snapshots).compactMap { old, new in
      let change = Change(time: time, from: old, to: new)
      if logs, change?.isOfAccessor == true { new.log() }
      return change
    }
  }

  /// Checks accessors until a check needs no new watch: eight times at once, and then after a
  /// second.
  private func takeSnapshots() {
    for _ in 0..<8 where !due.isEmpty {
      for index in due { snapshots[index] = snapshots[index].again(makers[index]) }
      due = watches.arm(snapshots.map(\.scopes))
    }
    polled = due.union(watches.unwatching).union(
      snapshots.indices.filter { !snapshots[$0].isFullyWatched })
    due = []
    nextCheck = polled.isEmpty ? nil : system.monotonic() + Self.interval
  }
}

@available(*, unavailable)
extension AccessWatcher: Sendable {}
