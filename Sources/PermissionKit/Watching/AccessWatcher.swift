/// Follows accessors: waits for whatever may change an answer, and says what became of it.
///
/// Nothing is polled: inotify(7) tells of every inode on the way to each resource, of the folders
/// where devices are looked for, and of the data base of users and groups; /proc/self/mountinfo
/// tells of mounts. Events that come close together are one: after a storm of them there is one
/// check, and its answer is the last one. What the kernel will not let this process watch, and a
/// running process that is the subject, is looked at every second instead.
///
/// Not Sendable: it blocks the thread that waits. `PermissionGate` has the asynchronous face.
public final class AccessWatcher {
  /// Makes an accessor anew for each check, so that a subject is looked up anew as well.
  public typealias Factory = () throws(PermissionError) -> PermissionAccessor

  /// What ended a wait.
  public enum Outcome: Hashable, Sendable {
    /// All was checked anew, and this is what changed, if anything.
    case checked([Change])
    /// The time is over.
    case timeOver
    /// A descriptor that was to end it is ready.
    case stopped
  }

  private let system: any System
  private let stops: [PollRequest]
  private let logs: Bool
  private let makers: [Factory]
  private var watches: InodeWatches
  private var mounts: [Descriptor] = []
  private var looks: [AccessLook] = []
  private var nextLook: Int64?

  // In microseconds.
  private static let quietTime: Int64 = 5_000
  private static let longestStorm: Int64 = 20_000
  private static let longestCheck: Int64 = 250_000
  private static let interval: Int64 = 1_000_000

  /// Checks each accessor once and watches from then on.
  ///
  /// - Parameters:
  ///   - system: What is watched.
  ///   - stops: A wait ends when one of these is ready, see poll(2).
  ///   - logs: Write each report that differs to the accessor's log, as a check.
  ///   - makers: Make the accessors.
  /// - Throws: Where an accessor cannot be made, or there is no inotify.
  public init(
    _ system: any System = Systems.running, stoppedBy stops: [PollRequest] = [],
    logs: Bool = true, _ makers: [Factory]
  ) throws(PermissionError) {
    self.system = system
    self.stops = stops
    self.logs = logs
    self.makers = makers
    do throws(Errno) {
      watches = try InodeWatches(system)
    } catch {
      throw PermissionError(
        .system, "nothing can be watched", call: "inotify_init1", errno: error,
        advice: "see fs.inotify.max_user_instances")
    }
    for make in makers { looks.append(AccessLook(try make(), system)) }
    for process in Set(looks.map(\.process)).union([nil]) {
      let path = process.map { PathBytes("/proc/\($0)/mountinfo") } ?? "/proc/self/mountinfo"
      if let file = try? system.openat(.currentDirectory, path, .readOnly, mode: 0) {
        mounts.append(file)
      }
    }
    arm()
    look()
    if logs { for look in looks { look.log() } }
  }

  deinit {
    for descriptor in mounts { system.close(descriptor) }
  }

  /// The newest report on each accessor, in the order of the factories.
  public var reports: [AccessReport] { looks.map(\.report) }

  /// What cannot be watched, and is looked at every second instead.
  public var unseen: [(path: PathBytes, errno: Errno)] { watches.unseen }

  /// Waits for the next change of anything that may matter, and checks all anew.
  ///
  /// - Parameter deadline: On the clock of `System.monotonic`, in microseconds; nil has no end.
  /// - Returns: What has changed; often nothing, for not all that may matter does.
  /// - Throws: Where the system refuses to wait.
  public func next(until deadline: Int64? = nil) throws(PermissionError) -> Outcome {
    do throws(Errno) {
      while true {
        let end = [deadline, nextLook].compactMap { $0 }.min()
        let ready = try wait(until: end, also: true)
        if ready.stops { return .stopped }
        var counts = ready.mounts
        if ready.inodes, try watches.drain() { counts = true }
        if let nextLook, system.monotonic() >= nextLook { counts = true }
        if counts {
          return .checked(try check())
        }
        if let deadline, system.monotonic() >= deadline { return .timeOver }
      }
    } catch {
      throw PermissionError(.system, "changes cannot be waited for", call: "poll", errno: error)
    }
  }

  // MARK: - Waiting

  private func wait(
    until end: Int64?, also stopsToo: Bool
  ) throws(Errno) -> (inodes: Bool, mounts: Bool, stops: Bool) {
    // Mountinfo can be read at any time; that it has changed is an error or priority.
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
      } catch .EINTR where stopsToo {
        // Stopped and continued, or a debugger: the time that is left is worked out anew.
      }
    }
  }

  /// Lets a storm pass: until nothing happens for a moment, but no longer than a storm may last.
  private func settle() throws(Errno) {
    let end = system.monotonic() + Self.longestStorm
    while system.monotonic() < end {
      let quiet = system.monotonic() + Self.quietTime
      guard try wait(until: quiet, also: false).inodes else { return }
      _ = try watches.drain()
    }
  }

  // MARK: - Checking

  /// Checks all anew, again when something happened meanwhile, and says what changed.
  private func check() throws(Errno) -> [Change] {
    let end = system.monotonic() + Self.longestCheck
    let before = looks
    repeat {
      try settle()
      look()
    } while try watches.drain() && system.monotonic() < end
    let time = system.realtime()
    return zip(before, looks).compactMap { old, new in
      let change = Change(time: time, from: old, to: new)
      if logs, change?.isOfAccessor == true { new.log() }
      return change
    }
  }

  /// Looks at each accessor until nothing that its answer depends on was unwatched when it began.
  private func look() {
    for _ in 0..<8 {
      for (index, make) in makers.enumerated() { looks[index] = looks[index].again(make) }
      guard arm() else { break }
    }
    let isUnseen = !watches.unseen.isEmpty || looks.contains { !$0.isSeen }
    nextLook = isUnseen ? system.monotonic() + Self.interval : nil
  }

  @discardableResult
  private func arm() -> Bool { watches.arm(looks.flatMap(\.scopes)) }
}

@available(*, unavailable)
extension AccessWatcher: Sendable {}
