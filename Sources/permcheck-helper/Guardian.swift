@_spi(SystemCalls) import PermissionKit

/// The process that ends leases on devices, each when its time is over or its process has ended.
///
/// One guardian serves all users and leases: it holds a lock, and ends with the last lease that can
/// end by itself. An event that wakes it decides nothing; it reads the journal each time.
struct Guardian {
  private let system: LinuxSystem
  private let journal: GrantJournal
  private let isServed: @Sendable (Grant) -> Bool

  /// The longest sleep in milliseconds: the clock may be set, and a wake-up may be lost.
  private static let pause: Int64 = 60_000
  /// The same after a failure; twice as long after each further one.
  private static let soon: Int64 = 1_000

  /// Creates the guardian, without a process.
  ///
  /// - Parameters:
  ///   - journal: Root's journal.
  ///   - system: The running system.
  ///   - isServed: Returns whether a grant is one that the helper may end.
  init(
    _ journal: GrantJournal, _ system: LinuxSystem,
    isServed: @escaping @Sendable (Grant) -> Bool
  ) {
    var journal = journal
    journal.recovers = isServed
    self.journal = journal
    (self.system, self.isServed) = (system, isServed)
  }

  /// Starts the process that guards the leases; does nothing if there is one.
  func start() throws(Errno) {
    guard try system.forkDetached() else { return }
    while let lock = try? lock() {
      guardLeases()
      // The name goes first: whoever opened it before finds that it is nobody's now.
      try? system.unlink(path)
      system.close(lock)
      // A lease that was made before that found a guardian, and started none.
      if leases()?.isEmpty == true { break }
    }
    system.exit(0)
  }

  private var path: PathBytes { journal.path.parent.appending("guardian") }

  /// Takes the lock of the guardian.
  ///
  /// - Throws: EAGAIN if another process is the guardian.
  private func lock() throws(Errno) -> Descriptor {
    while true {
      let file = try system.openat(
        .currentDirectory, path, [.readWrite, .create, .noFollow], mode: 0o600)
      do throws(Errno) {
        // Who is being killed has the lock for a moment still.
        try system.flock(file, until: system.monotonic() + 100_000)
        if try system.statx(file).links > 0 { return file }
      } catch {
        system.close(file)
        throw error
      }
      system.close(file)
    }
  }

  /// The open leases that end by themselves; nil if the journal cannot be read.
  private func leases() -> [Grant]? {
    (try? journal.grants())?.filter {
      isServed($0) && ($0.lifetime.expires != nil || $0.lifetime.process != nil)
    }
  }

  /// The identifiers of the leases that are over.
  private func over(_ leases: [Grant]) -> Set<String> {
    let now = system.realtime()
    return Set(leases.filter { $0.lifetime.hasEnded(at: now, system) }.map(\.id))
  }

  private func guardLeases() {
    let events = try? system.inotify_init1()
    defer { events.map(system.close) }
    // Each user's list, which root writes anew after the journal, wakes the guardian.
    let watch = events.flatMap {
      try? system.inotify_add_watch($0, journal.path.parent, [.movedTo, .delete])
    }
    // What could not be ended is tried again, less and less often, and holds up nothing else.
    var stuck: Set<String> = []
    var again = Self.soon
    var next = system.monotonic()
    while true {
      let open = leases()
      if open?.isEmpty == true { return }
      let ended = over(open ?? [])
      if !ended.isSubset(of: stuck) || !ended.isEmpty && system.monotonic() >= next {
        _ = try? journal.recover()
        stuck = over(leases() ?? open ?? [])
        again = stuck.isEmpty ? Self.soon : min(2 * again, Self.pause)
        next = system.monotonic() + again * 1_000
      } else {
        let isShort = watch == nil || open == nil || !ended.isEmpty
        wait(
          for: (open ?? []).filter { !ended.contains($0.id) }, events,
          isShort ? min(again, Self.soon) : Self.pause)
      }
    }
  }

  /// Sleeps until a lease may be over, or the leases have changed.
  private func wait(for leases: [Grant], _ events: Descriptor?, _ pause: Int64) {
    var requests = events.map { [PollRequest($0, .readable)] } ?? []
    let own = requests.count
    defer { for request in requests.dropFirst(own) { system.close(request.descriptor) } }
    var left = pause
    for mark in Set(leases.compactMap(\.lifetime.process)) {
      do throws(Errno) {
        requests.append(PollRequest(try system.pidfd_open(mark.pid), .readable))
      } catch {
        // It has ended meanwhile, or there are more than this process may open.
        left = min(left, Self.soon)
      }
    }
    let now = system.realtime()
    for expires in leases.compactMap(\.lifetime.expires) {
      left = min(left, (expires - now) / 1000 + 1)
    }
    _ = try? system.poll(requests, timeout: Int32(max(left, 0)))
    if let events { while let read = try? system.read(events, 4096), !read.isEmpty {} }
  }
}
