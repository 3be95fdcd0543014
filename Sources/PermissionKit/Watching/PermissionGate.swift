internal import Dispatch

/// The asynchronous interface of one accessor, which the gate owns and does not share.
///
/// A request during another request joins it, so that a person is asked once; a check joins the
/// check or request under way. The accessor runs on a queue of its own: a request that waits for a
/// person blocks no thread of the cooperative pool, and the gate still answers.
///
/// A caller that is cancelled, or whose time is over, waits no longer. If it was the last one, the
/// request is withdrawn and changes nothing; but a change that has begun is awaited.
public final actor PermissionGate {
  private let make: @Sendable () throws(PermissionError) -> PermissionAccessor
  private let runner: AccessorRunner
  private var state: any AuthorizationState = UncheckedState()
  private var request: RunningRequest?
  private var checking: Task<AccessReport, Never>?
  private var nextNumber = 0
  /// How many tasks wait for a check or a request, for tests.
  private(set) var waiting = 0
  private var lastReport: AccessReport?
  private var observers: [Int: AsyncStream<AuthorizationChange>.Continuation] = [:]
  private var followers: Set<Int> = []
  private var following: WatchThread?
  /// The outside change that is being checked.
  private var cause: ChangeCause?

  /// Creates a gate without checking anything.
  ///
  /// - Parameter make: Creates the accessor, inside the gate, at first use. If it throws, a check is
  ///   `notDetermined` for this reason, a request throws the error, and the next use calls it again.
  public init(_ make: @escaping @Sendable () throws(PermissionError) -> PermissionAccessor) {
    self.make = make
    runner = AccessorRunner(make)
  }

  /// The kind of the current state.
  public var current: AuthorizationStateKind { state.kind }

  /// The newest report; nil before the first check.
  public var report: AccessReport? { lastReport }

  /// Checks access again, or joins the check under way.
  ///
  /// If a request is under way, returns its outcome.
  ///
  /// - Returns: The new report.
  public func check() async -> AccessReport {
    waiting += 1
    defer { waiting -= 1 }
    while let request {
      if case .success(let report) = await request.end.value { return report }
    }
    if let checking { return await checking.value }
    let runner = runner
    let task = Task { await runner.check() }
    checking = task
    let report = await task.value
    // Of the tasks that joined, the first to go on takes it down.
    if checking == task {
      checking = nil
      lastReport = report
      move(to: state.checked(report.status))
    }
    return report
  }

  /// Requests access if it is needed; joins the request under way if there is one.
  ///
  /// In a state that no request can change, only checks again.
  ///
  /// - Parameter limit: How long to wait for the answer; nil without a limit.
  /// - Returns: The report after the request.
  /// - Throws: An error if a change could not be made or undone; `withdrawn` if the task is cancelled or the
  ///   time is over before a change has begun.
  public func requestAccessIfNeeded(
    within limit: Duration? = nil
  ) async throws(PermissionError) -> AccessReport {
    if Task.isCancelled { throw .withdrawn }
    if request == nil {
      let next = state.requested()
      guard next.kind == .requesting else { return await check() }
      begin(next)
    }
    waiting += 1
    defer { waiting -= 1 }
    let number = takeNumber()
    let timer = limit.map { limit in
      Task { [weak self] in
        guard (try? await Task.sleep(for: limit)) != nil else { return }
        await self?.leave(number)
      }
    }
    defer { timer?.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { request?.waiters[number] = $0 }
    } onCancel: {
      Task { [weak self] in await self?.leave(number) }
    }
    return try result.get()
  }

  private func takeNumber() -> Int {
    nextNumber += 1
    return nextNumber
  }

  private func begin(_ next: any AuthorizationState) {
    move(to: next)
    let (runner, withdrawal) = (runner, Withdrawal())
    let running = RunningRequest(
      withdrawal,
      Task { [weak self] in
        let result = await runner.request(withdrawal)
        await self?.end(withdrawal, result)
        return result
      })
    request = running
  }

  /// Ends the request for all who wait for it.
  private func end(_ withdrawal: Withdrawal, _ result: Result<AccessReport, PermissionError>) {
    // A request that was taken back ended for everybody then.
    guard let ended = request, ended.withdrawal === withdrawal else { return }
    request = nil
    switch result {
    case .success(let report):
      lastReport = report
      move(to: state.finished(report.status))
    case .failure:
      move(to: state.finished(.notDetermined))
    }
    for waiter in ended.waiters.values { waiter.resume(returning: result) }
  }

  /// Ends one wait, and withdraws the request if it was the last.
  private func leave(_ number: Int) {
    guard let running = request, let waiter = running.waiters[number] else { return }
    if running.waiters.count == 1 {
      // Only the end of a change that has begun tells what is there.
      guard running.withdrawal.withdraw() else { return }
      request = nil
      move(to: lastReport?.status.state ?? UncheckedState())
      waiter.resume(returning: .failure(.withdrawn))
    } else {
      running.waiters[number] = nil
      waiter.resume(
        returning: .failure(
          PermissionError(.withdrawn, "no task waits for the request of another one any more"))
      )
    }
  }

  /// Revokes what requests gave, and checks again.
  ///
  /// - Returns: The new report.
  /// - Throws: If a grant cannot be undone.
  public func revokeAccess() async throws(PermissionError) -> AccessReport {
    try await runner.revoke().get()
    return await check()
  }

  /// Declares the known status invalid, because something outside changed.
  public func invalidate() { move(to: state.invalidated()) }

  /// Returns a stream of the changes of state from now on, after the current state if one is known.
  ///
  /// - Parameter following: Whether to watch for changes outside and to check after each one, until
  ///   this stream ends. The first check is made at once. A separate thread does the waiting.
  /// - Returns: The changes; the stream ends with the gate.
  public func changes(following: Bool = false) -> AsyncStream<AuthorizationChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: AuthorizationChange.self)
    let id = takeNumber()
    observers[id] = continuation
    if state.kind != .unchecked {
      continuation.yield(change(from: state.kind, to: state.kind))
    }
    if following { follow(for: id) }
    continuation.onTermination = { [weak self] _ in
      Task { [weak self] in await self?.forget(id) }
    }
    return stream
  }

  private func forget(_ observer: Int) {
    observers[observer] = nil
    followers.remove(observer)
    if followers.isEmpty { following = nil }
  }

  private func follow(for observer: Int) {
    followers.insert(observer)
    guard following == nil else { return }
    let (updates, continuation) = AsyncStream.makeStream(
      of: (AuthorizationStatus, ChangeCause?).self, bufferingPolicy: .bufferingNewest(1))
    // What is watched is the system that the accessor checks. Without a descriptor or inotify there are no
    // events; a check on demand still works.
    let system = ((try? make()) as? ResourceAccessor)?.context.system ?? LinuxSystem()
    following = try? WatchThread(system, make) { update in
      if case .success(let (report, cause)) = update { continuation.yield((report.status, cause)) }
    } end: {
      continuation.finish()
    }
    if following == nil { continuation.finish() }
    Task { [weak self] in
      for await (status, cause) in updates { await self?.apply(status, cause) }
    }
  }

  /// Checks if the status outside differs from the state of the gate.
  private func apply(_ status: AuthorizationStatus, _ cause: ChangeCause?) async {
    if let request { _ = await request.end.value }
    guard state.kind != status.state.kind else { return }
    self.cause = cause
    _ = await check()
    self.cause = nil
  }

  private func move(to next: any AuthorizationState) {
    let change = change(from: state.kind, to: next.kind)
    state = next
    guard change.from != change.to else { return }
    for observer in observers.values { observer.yield(change) }
  }

  private func change(
    from old: AuthorizationStateKind, to new: AuthorizationStateKind
  ) -> AuthorizationChange {
    var change = AuthorizationChange(from: old, to: new)
    change.report = lastReport
    change.cause = cause
    return change
  }

  deinit {
    for observer in observers.values { observer.finish() }
  }
}

/// A request under way, with those who wait for it.
private final class RunningRequest {
  typealias Outcome = Result<AccessReport, PermissionError>

  let withdrawal: Withdrawal
  /// Ends with the request, even if nobody waits any more.
  let end: Task<Outcome, Never>
  var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]

  init(_ withdrawal: Withdrawal, _ end: Task<Outcome, Never>) {
    self.withdrawal = withdrawal
    self.end = end
  }
}

/// A change of state of a `PermissionGate`.
public struct AuthorizationChange: Hashable, Sendable {
  /// The old state.
  public let from: AuthorizationStateKind
  /// The new state; the same as the old one only in the first element of a stream, which has the present state.
  public let to: AuthorizationStateKind
  /// The newest report; nil before the first check.
  public internal(set) var report: AccessReport?
  /// The outside change; nil if the gate itself checked or requested.
  public internal(set) var cause: ChangeCause?

  init(from: AuthorizationStateKind, to: AuthorizationStateKind) {
    self.from = from
    self.to = to
  }
}

/// Owns the accessor and runs it on a serial queue.
private final actor AccessorRunner {
  private let make: @Sendable () throws(PermissionError) -> PermissionAccessor
  private var accessor: PermissionAccessor?
  private let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(_ make: @escaping @Sendable () throws(PermissionError) -> PermissionAccessor) {
    self.make = make
  }

  private func made() throws(PermissionError) -> PermissionAccessor {
    if let accessor { return accessor }
    let new = try make()
    accessor = new
    return new
  }

  func check() -> AccessReport {
    do throws(PermissionError) {
      return try made().currentAccess()
    } catch {
      return AccessReport(
        accessor: "accessor", status: .notDetermined, message: error.description)
    }
  }

  func revoke() -> Result<Void, PermissionError> {
    Result { () throws(PermissionError) in
      _ = try (made() as? ResourceAccessor)?.revokeAccess()
    }
  }

  func request(_ withdrawal: Withdrawal) -> Result<AccessReport, PermissionError> {
    withdrawal.asCurrent {
      Result { () throws(PermissionError) in
        // An earlier one may have held the queue for long.
        try withdrawal.checkIsOpen()
        return try made().requestAccessIfNeeded()
      }
    }
  }
}

/// An executor that runs on a serial dispatch queue, which Dispatch on Linux does not provide.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "PermissionGate")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = unsafe asUnownedSerialExecutor()
    queue.async { unsafe job.runSynchronously(on: executor) }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }
}
