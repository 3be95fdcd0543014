internal import CCap
internal import Glibc
internal import Synchronization

/// A walk of trees that asks faccessat2(2) about every file and folder, by several threads.
///
/// It descends where the subject can list, as find(1) does, and follows no link. Each folder is opened
/// by one name in the folder above, so that nobody can lead the walk out of the tree.
package final class TreeWalk: Sendable {
  /// A folder whose contents a thread walks.
  struct Job: Sendable {
    var path: [UInt8]
    /// The open folder; nil for a top.
    var descriptor: Int32?
    /// The folders on the way from the top, to notice a bind mount that leads back.
    var ancestors: [TreeWorker.Place] = []
    /// The folder above that the user who is judged cannot search.
    var blocker: TreeFinding.Blocker?
  }

  private struct Queue {
    var jobs: [Job] = []
    var waiting = 0
    var isDone = false
  }

  let question: TreeQuestion
  private let isStopped = Atomic(false)
  private let makeSink: @Sendable () -> any TreeSink
  private let queue: Mutex<Queue>
  /// Threads that wait for a job, minus jobs that wait for a thread.
  private let hunger: Atomic<Int>
  private let wakeups: Descriptor
  private let ends: Descriptor
  private let asked = Atomic(0)
  private let refused = Atomic(0)
  private let undetermined = Atomic(0)
  private let unlisted = Atomic(0)
  private let failure = Atomic<Int32>(0)
  private let isAlone = Atomic(false)

  /// Creates a walk, which starts with `run`.
  ///
  /// - Parameters:
  ///   - question: What is asked.
  ///   - tops: The paths to begin with.
  ///   - makeSink: Creates what receives the findings of one thread.
  /// - Throws: The errno of eventfd(2).
  package init(
    _ question: TreeQuestion, tops: [PathBytes], _ makeSink: @escaping @Sendable () -> any TreeSink
  ) throws(Errno) {
    self.question = question
    self.makeSink = makeSink
    let system = LinuxSystem()
    wakeups = Descriptor(rawValue: try system.check(ccap_semaphore()))
    ends = Descriptor(rawValue: try system.check(ccap_semaphore()))
    hunger = Atomic(-tops.count)
    queue = Mutex(Queue(jobs: tops.reversed().map { Job(path: $0.bytes) }))
  }

  deinit {
    LinuxSystem().close(wakeups)
    LinuxSystem().close(ends)
  }

  /// How much was seen so far.
  package var counts: TreeCounts {
    TreeCounts(
      asked: asked.load(ordering: .relaxed), refused: refused.load(ordering: .relaxed),
      undetermined: undetermined.load(ordering: .relaxed),
      unlisted: unlisted.load(ordering: .relaxed))
  }

  /// Walks to the end, or until `stop`.
  ///
  /// - Parameter tick: Called about ten times a second while the walk goes on.
  /// - Throws: The errno of pthread_create(3), or of the calls that take on the ids of the question.
  package func run(_ tick: () -> Void = {}) throws(Errno) {
    let system = LinuxSystem()
    var started = 0
    for _ in 0..<question.threads {
      guard DetachedThread.start({ self.work() }) else { break }
      started += 1
    }
    if started == 0 { throw .EAGAIN }
    if started < question.threads { missing(question.threads - started) }
    var ended = 0
    while ended < started {
      let events = try? system.poll([PollRequest(ends, .readable)], timeout: 100)
      if events?.first?.isEmpty == false {
        _ = try? system.read(ends, 8)
        ended += 1
      } else {
        tick()
      }
    }
    let errno = failure.load(ordering: .relaxed)
    if errno != 0 { throw Errno(rawValue: errno) }
  }

  /// Whether the walk has to end before everything was seen.
  package var isEnded: Bool { isStopped.load(ordering: .relaxed) }

  /// Ends the walk soon; what was found until then stays.
  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    post(wakeups, question.threads)
  }

  // MARK: - Threads

  private func work() {
    if let identity = question.identity {
      let ids = identity.groups
      let result = unsafe ids.withUnsafeBufferPointer {
        unsafe ccap_take_file_ids(
          identity.user.fileSystem, identity.group.fileSystem, $0.baseAddress, ids.count)
      }
      if result < 0 {
        failure.store(-result, ordering: .relaxed)
        stop()
      }
    }
    // What is judged has its ACL read by name in the working directory, which each thread changes.
    if question.judged != nil {
      // Where a filter refuses that, one thread has the directory of the process to itself.
      if ccap_own_directory() < 0, isAlone.exchange(true, ordering: .relaxed) {
        missing(1)
        return post(ends, 1)
      }
    }
    if !isEnded {
      var worker = TreeWorker(self, makeSink())
      while let job = next() { worker.run(job) }
      worker.finish()
    }
    post(ends, 1)
  }

  /// Counts threads that could not be started as waiting for ever.
  private func missing(_ threads: Int) {
    let isDone = queue.withLock { queue in
      queue.waiting += threads
      if queue.waiting >= question.threads { queue.isDone = true }
      return queue.isDone
    }
    if isDone { post(wakeups, question.threads) }
  }

  /// Whether a thread waits for a job that another one could give it.
  var isHungry: Bool { hunger.load(ordering: .relaxed) > 0 }

  /// Gives a job to a thread that waits.
  func give(_ job: Job) {
    let isAwaited = queue.withLock { queue in
      queue.jobs.append(job)
      return queue.waiting > 0
    }
    hunger.subtract(1, ordering: .relaxed)
    if isAwaited { post(wakeups, 1) }
  }

  private func next() -> Job? {
    var isAwake = false
    while true {
      let (job, isDone) = queue.withLock { queue -> (Job?, Bool) in
        if isAwake { queue.waiting -= 1 }
        if isEnded { queue.isDone = true }
        if queue.isDone { return (nil, true) }
        if let job = queue.jobs.popLast() { return (job, false) }
        queue.waiting += 1
        if queue.waiting >= question.threads { queue.isDone = true }
        return (nil, queue.isDone)
      }
      if isAwake { hunger.subtract(1, ordering: .relaxed) }
      if let job {
        hunger.add(1, ordering: .relaxed)
        return job
      }
      if isDone {
        post(wakeups, question.threads)
        return nil
      }
      hunger.add(1, ordering: .relaxed)
      isAwake = true
      _ = try? LinuxSystem().read(wakeups, 8)
    }
  }

  private func post(_ counter: Descriptor, _ count: Int) {
    var value = UInt64(count)
    _ = unsafe ccap_write(counter.rawValue, &value, 8)
  }

  // MARK: - Counts

  func count(asked: Int = 0, refused: Int = 0, undetermined: Int = 0, unlisted: Int = 0) {
    if asked != 0 { self.asked.add(asked, ordering: .relaxed) }
    if refused > 0 { self.refused.add(refused, ordering: .relaxed) }
    if undetermined > 0 { self.undetermined.add(undetermined, ordering: .relaxed) }
    if unlisted > 0 { self.unlisted.add(unlisted, ordering: .relaxed) }
  }
}
