internal import Dispatch

/// The asynchronous interface of one accessor, which the gate owns and does not share.
///
/// A request during another request joins it, so that a person is asked once. The accessor runs on
/// a queue of its own: a request that waits for a person blocks no thread of the cooperative pool,
/// and the gate still answers.
public actor PermissionGate {
  private let make: @Sendable () -> PermissionAccessor
  private let runner: AccessorRunner
  private var state: any AuthorizationState = UncheckedState()
  private var request: Task<Result<AccessReport, PermissionError>, Never>?
  private var lastReport: AccessReport?
  private var observers: [Int: AsyncStream<AuthorizationChange>.Continuation] = [:]
  private var nextObserver = 0
  private var followers: Set<Int> = []
  private var following: AccessorFollower?
  /// What was seen outside and is being checked.
  private var cause: ChangeCause?

  /// Creates a gate without checking anything.
  ///
  /// - Parameter make: Creates the accessor, inside the gate, at first use.
  public init(_ make: @escaping @Sendable () -> PermissionAccessor) {
    self.make = make
    runner = AccessorRunner(make)
  }

  /// The kind of the current state.
  public var current: AuthorizationStateKind { state.kind }

  /// The newest report; nil before the first check.
  public var report: AccessReport? { lastReport }

  /// Checks access again.
  ///
  /// If a request is under way, returns its outcome.
  ///
  /// - Returns: The new report.
  public func check() async -> AccessReport {
    if let request, case .success(let report) = await request.value { return report }
    let report = await runner.check()
    lastReport = report
    move(to: state.checked(report.status))
    return report
  }

  /// Requests access if it is needed; joins the request under way if there is one.
  ///
  /// In a state that no request can change, only checks again.
  ///
  /// - Returns: The report after the request.
  /// - Throws: An error if a change could not be made or undone.
  public func requestAccessIfNeeded() async throws(PermissionError) -> AccessReport {
    if let request { return try await request.value.get() }
    let next = state.requested()
    guard next.kind == .requesting else { return await check() }
    move(to: next)
    let runner = runner
    let task = Task { await runner.request() }
    request = task
    let result = await task.value
    request = nil
    switch result {
    case .success(let report):
      lastReport = report
      move(to: state.finished(report.status))
    case .failure:
      move(to: state.finished(.notDetermined))
    }
    return try result.get()
  }

  /// Takes back what requests gave, and checks again.
  ///
  /// - Returns: The new report.
  /// - Throws: If a grant cannot be undone.
  public func revokeAccess() async throws(PermissionError) -> AccessReport {
    try await runner.revoke().get()
    return await check()
  }

  /// Tells the gate that something outside changed, so that the known status is no longer valid.
  public func invalidate() { move(to: state.invalidated()) }

  /// Returns a stream of the changes of state from now on.
  ///
  /// - Parameter following: Whether to watch for changes outside and to check after each one, until
  ///   this stream ends. The first check is made at once. A separate thread does the waiting.
  /// - Returns: The changes; the stream ends with the gate.
  public func changes(following: Bool = false) -> AsyncStream<AuthorizationChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: AuthorizationChange.self)
    let id = nextObserver
    nextObserver += 1
    observers[id] = continuation
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
    let (following, all) = AccessorFollower.begin(make)
    self.following = following
    Task { [weak self] in
      for await update in all { await self?.apply(update) }
    }
  }

  /// Checks if the status outside differs from the state of the gate.
  private func apply(_ update: StatusUpdate) async {
    if let request { _ = await request.value }
    guard state.kind != update.status.state.kind else { return }
    cause = update.cause
    _ = await check()
    cause = nil
  }

  private func move(to next: any AuthorizationState) {
    var change = AuthorizationChange(from: state.kind, to: next.kind)
    change.report = lastReport
    change.cause = cause
    state = next
    guard change.from != change.to else { return }
    for observer in observers.values { observer.yield(change) }
  }

  deinit {
    for observer in observers.values { observer.finish() }
  }
}

/// A change of state of a `PermissionGate`.
public struct AuthorizationChange: Hashable, Sendable {
  /// The old state.
  public let from: AuthorizationStateKind
  /// The new state, which always differs from the old one.
  public let to: AuthorizationStateKind
  /// The newest report; nil before the first check.
  public internal(set) var report: AccessReport?
  /// What changed outside; nil if the gate itself checked or requested.
  public internal(set) var cause: ChangeCause?

  init(from: AuthorizationStateKind, to: AuthorizationStateKind) {
    self.from = from
    self.to = to
  }
}

/// Owns the accessor and runs it on a serial queue.
private actor AccessorRunner {
  private let make: @Sendable () -> PermissionAccessor
  private var accessor: PermissionAccessor?
  private let executor = QueueExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  init(_ make: @escaping @Sendable () -> PermissionAccessor) { self.make = make }

  private var made: PermissionAccessor {
    if let accessor { return accessor }
    let new = make()
    accessor = new
    return new
  }

  func check() -> AccessReport { made.currentAccess() }

  func revoke() -> Result<Void, PermissionError> {
    Result { () throws(PermissionError) in
      _ = try (made as? ResourceAccessor)?.revokeAccess()
    }
  }

  func request() -> Result<AccessReport, PermissionError> {
    Result { () throws(PermissionError) in try made.requestAccessIfNeeded() }
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
