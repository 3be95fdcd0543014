internal import CCap
internal import Glibc
internal import Synchronization

/// A walk of trees that asks faccessat2(2) about every file and folder, by several threads.
///
/// It descends where the subject can list, as find(1) does, and follows no link. Each folder is opened
/// by one name in the folder above, so that nobody can lead the walk out of the tree.
package struct TreeWalk: Sendable {
  /// A folder whose contents a thread walks.
  struct Job: Sendable {
    var path: [UInt8]
    /// The open folder; nil for a top.
    var descriptor: Int32?
    /// The folders on the way from the top, to notice a bind mount that leads back.
    var ancestors: [TreeWorker.Place] = []
    /// The folder above that the user who is judged cannot search.
    var blocker: TreeFinding.Blocker?
    /// For each counted user the answer of a folder above that blocks; nil if none blocks.
    var blockedUsers: [CensusAnswer?]?
    /// The visitor's state for the folder above.
    var visited: (any Sendable)?
  }

  private struct Queue {
    var jobs: [Job] = []
    var waiting = 0
    var isDone = false
  }

  /// The state that the threads share.
  private final class State: Sendable {
    let isStopped = Atomic(false)
    let queue: Mutex<Queue>
    /// The number of threads that wait for a job, minus that of jobs that wait for a thread.
    let idleThreads: Atomic<Int>
    let wakeups: Descriptor
    let ends: Descriptor
    let asked = Atomic(0)
    let refused = Atomic(0)
    let undetermined = Atomic(0)
    let unlisted = Atomic(0)
    let protected = Atomic(0)
    let failure = Atomic<Int32>(0)
    let isAlone = Atomic(false)
    let answers: Mutex<[[CensusAnswer: Int]]>

    init(_ jobs: [Job], users: Int, wakeups: Descriptor, ends: Descriptor) {
      self.wakeups = wakeups
      self.ends = ends
      idleThreads = Atomic(-jobs.count)
      queue = Mutex(Queue(jobs: jobs))
      answers = Mutex(Array(repeating: [:], count: users))
    }

    deinit {
      LinuxSystem().close(wakeups)
      LinuxSystem().close(ends)
    }
  }

  let question: TreeQuestion
  /// The sysctls that refuse O_CREAT in sticky folders; nil if nobody asks to write.
  let sysctls: AccessFacts.Sysctls?
  /// Whether a filter of system calls refuses faccessat2(2) itself, which says nothing about a file.
  let isFiltered: Bool
  private let makeSink: @Sendable () -> TreeSink
  private let state: State

  /// Creates a walk, which starts with `run`.
  ///
  /// - Parameters:
  ///   - question: What is asked.
  ///   - roots: The paths to begin with.
  ///   - makeSink: Creates what receives the findings of one thread.
  /// - Throws: The errno of eventfd(2).
  package init(
    _ question: TreeQuestion, roots: [PathBytes], _ makeSink: @escaping @Sendable () -> TreeSink
  ) throws(Errno) {
    try self.init(question, roots.reversed().map { Job(path: $0.bytes) }, makeSink)
  }

  /// Creates a walk below an open folder, which it closes and does not ask about.
  ///
  /// - Parameters:
  ///   - question: What is asked or done; nobody is counted.
  ///   - folder: The folder, open for reading.
  ///   - path: Its path, for messages.
  ///   - makeSink: Creates what receives the failures of one thread.
  /// - Throws: The errno of statx(2) or eventfd(2).
  package init(
    _ question: TreeQuestion, below folder: Descriptor, _ path: PathBytes,
    _ makeSink: @escaping @Sendable () -> TreeSink
  ) throws(Errno) {
    let status = try LinuxSystem().statx(folder)
    let place = TreeWorker.Place(fileSystem: status.fileSystem, inode: status.inode)
    try self.init(
      question, [Job(path: path.bytes, descriptor: folder.rawValue, ancestors: [place])], makeSink)
  }

  private init(
    _ question: TreeQuestion, _ jobs: [Job], _ makeSink: @escaping @Sendable () -> TreeSink
  ) throws(Errno) {
    self.question = question
    self.makeSink = makeSink
    let system = LinuxSystem()
    sysctls = question.need.contains(.write) ? AccessFacts.Sysctls(system) : nil
    isFiltered = (try? system.faccessat2("/", [])) == nil
    let wakeups = Descriptor(rawValue: try system.check(ccap_semaphore()))
    let ends: Descriptor
    do throws(Errno) {
      ends = Descriptor(rawValue: try system.check(ccap_semaphore()))
    } catch {
      system.close(wakeups)
      throw error
    }
    state = State(
      jobs, users: question.everyone.count,
      wakeups: wakeups, ends: ends)
  }

  /// The counts so far.
  package var counts: TreeCounts {
    TreeCounts(
      asked: state.asked.load(ordering: .relaxed), refused: state.refused.load(ordering: .relaxed),
      undetermined: state.undetermined.load(ordering: .relaxed),
      unlisted: state.unlisted.load(ordering: .relaxed),
      protected: state.protected.load(ordering: .relaxed))
  }

  /// Walks to the end, or until `stop`.
  ///
  /// - Parameter tick: Called about ten times a second while the walk goes on.
  /// - Returns: False if the patience of the question was not enough: then threads go on waiting.
  /// - Throws: The errno of pthread_create(3), or of the calls that take on the ids of the question.
  @discardableResult
  package func run(_ tick: () -> Void = {}) throws(Errno) -> Bool {
    let system = LinuxSystem()
    var started = 0
    for _ in 0..<question.threads {
      guard DetachedThread.start({ self.work() }) else { break }
      started += 1
    }
    if started == 0 { throw .EAGAIN }
    if started < question.threads { missing(question.threads - started) }
    var ended = 0
    var (last, ticks) = (counts, 0)
    while ended < started {
      let events = try? system.poll([PollRequest(state.ends, .readable)], timeout: 100)
      if events?.first?.isEmpty == false {
        _ = try? system.read(state.ends, 8)
        ended += 1
      } else {
        tick()
        ticks = counts == last ? ticks + 1 : 0
        last = counts
        if ticks > question.patience {
          stop()
          count(undetermined: 1)
          return false
        }
      }
    }
    let errno = state.failure.load(ordering: .relaxed)
    if errno != 0 { throw Errno(rawValue: errno) }
    return true
  }

  /// Whether the walk has to end before everything was seen.
  package var isEnded: Bool { state.isStopped.load(ordering: .relaxed) }

  /// Ends the walk soon; what was found until then stays.
  package func stop() {
    state.isStopped.store(true, ordering: .relaxed)
    post(state.wakeups, question.threads)
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
        state.failure.store(-result, ordering: .relaxed)
        stop()
      }
    }
    // What is judged has its ACL read by name in the working directory, which each thread changes.
    if question.isJudged {
      // Where a filter refuses that, one thread has the directory of the process to itself.
      if ccap_own_directory() < 0, state.isAlone.exchange(true, ordering: .relaxed) {
        missing(1)
        return post(state.ends, 1)
      }
    }
    if !isEnded {
      var worker = TreeWorker(self, makeSink())
      while let job = next() { worker.run(job) }
      worker.finish()
    }
    post(state.ends, 1)
  }

  /// Counts threads that could not be started as idle.
  private func missing(_ threads: Int) {
    let isDone = state.queue.withLock { queue in
      queue.waiting += threads
      if queue.waiting >= question.threads { queue.isDone = true }
      return queue.isDone
    }
    if isDone { post(state.wakeups, question.threads) }
  }

  /// Whether a thread waits for a job, so that another should submit one.
  var hasIdleThread: Bool { state.idleThreads.load(ordering: .relaxed) > 0 }

  /// Hands a job to an idle thread.
  func give(_ job: Job) {
    let isAwaited = state.queue.withLock { queue in
      queue.jobs.append(job)
      return queue.waiting > 0
    }
    state.idleThreads.subtract(1, ordering: .relaxed)
    if isAwaited { post(state.wakeups, 1) }
  }

  private func next() -> Job? {
    var isAwake = false
    while true {
      let (job, isDone) = state.queue.withLock { queue -> (Job?, Bool) in
        if isAwake { queue.waiting -= 1 }
        if isEnded { queue.isDone = true }
        if queue.isDone { return (nil, true) }
        if let job = queue.jobs.popLast() { return (job, false) }
        queue.waiting += 1
        if queue.waiting >= question.threads { queue.isDone = true }
        return (nil, queue.isDone)
      }
      if isAwake { state.idleThreads.subtract(1, ordering: .relaxed) }
      if let job {
        state.idleThreads.add(1, ordering: .relaxed)
        return job
      }
      if isDone {
        post(state.wakeups, question.threads)
        return nil
      }
      state.idleThreads.add(1, ordering: .relaxed)
      isAwake = true
      _ = try? LinuxSystem().read(state.wakeups, 8)
    }
  }

  private func post(_ counter: Descriptor, _ count: Int) {
    var value = UInt64(count)
    _ = unsafe ccap_write(counter.rawValue, &value, 8)
  }

  // MARK: - Counts

  /// The number of files and folders with each answer, for each user of the question.
  package var census: [[CensusAnswer: Int]] { state.answers.withLock { $0 } }

  /// Adds what one thread counted.
  func add(_ census: TreeCensus) {
    state.answers.withLock { answers in
      for (answer, counts) in census.counts {
        for (user, count) in counts.enumerated() where count > 0 {
          answers[user][answer, default: 0] += count
        }
      }
    }
  }

  func count(
    asked: Int = 0, refused: Int = 0, undetermined: Int = 0, unlisted: Int = 0, protected: Int = 0
  ) {
    if protected > 0 { state.protected.add(protected, ordering: .relaxed) }
    if asked != 0 { state.asked.add(asked, ordering: .relaxed) }
    if refused > 0 { state.refused.add(refused, ordering: .relaxed) }
    if undetermined > 0 { state.undetermined.add(undetermined, ordering: .relaxed) }
    if unlisted > 0 { state.unlisted.add(unlisted, ordering: .relaxed) }
  }
}
