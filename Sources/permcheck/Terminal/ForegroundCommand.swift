@_spi(SystemCalls) import PermissionKit

/// A command in the job of this process, with the terminal, the descriptors, the environment and the blocked
/// signals that this process was started with.
///
/// Signals to this process are passed on to it, and it is stopped and continued with this process.
struct ForegroundCommand {
  /// The signals of this process, which wait to be passed on.
  ///
  /// From its creation on only SIGKILL and SIGSTOP end or stop this process.
  struct Signals {
    let descriptor: Descriptor
    /// The signals that were blocked before: bit n - 1 for signal n.
    fileprivate let blocked: UInt64

    init(_ system: LinuxSystem) throws(Errno) {
      blocked = system.blockedSignals()
      descriptor = try system.signalfd(SignalInfo.catchable)
    }
  }

  /// A descriptor that is awaited while the command runs.
  struct Beside {
    let descriptor: Descriptor
    /// After how many milliseconds it is read at the latest; nil for no limit.
    let interval: Int32?
    let read: () -> Void
  }

  /// A command was not started; a line on standard error has the reason.
  struct NotStarted: Error {
    /// The exit status that a shell would have.
    let status: Int32
  }

  private let signals: Signals
  private let system: LinuxSystem
  private let pid: Int32

  /// Starts the command.
  ///
  /// - Throws: An error after a line on standard error.
  init(
    _ words: [PathBytes], _ signals: Signals, _ system: LinuxSystem,
    after preparation: ProcessPreparation? = nil
  ) throws(NotStarted) {
    (self.signals, self.system) = (signals, system)
    // What came before there was a command came to this process alone.
    var early: [Int32] = []
    while let arrived = (try? system.pendingSignal(signals.descriptor)) ?? nil {
      early.append(arrived.signal)
    }
    do throws(Errno) {
      pid = try system.spawn(
        words, output: .standardOutput, blocking: signals.blocked, after: preparation)
    } catch {
      throw Self.failure(to: words, error, system)
    }
    for signal in early where signal != SignalInfo.child { try? system.kill(pid, signal) }
  }

  /// Waits until the command ends.
  func wait(_ beside: Beside? = nil) throws -> ProcessEnd {
    // Without pidfd_open(2), SIGCHLD tells.
    let child = try? system.pidfd_open(pid)
    defer { if let child { system.close(child) } }
    let requests = [signals.descriptor, beside?.descriptor, child].compactMap {
      $0.map { PollRequest($0, .readable) }
    }
    while true {
      do throws(Errno) {
        _ = try system.poll(requests, timeout: beside?.interval)
      } catch .EINTR {}
      beside?.read()
      while let arrived = try system.pendingSignal(signals.descriptor) { passOn(arrived) }
      if let end = try system.waitpid(pid, waits: false) { return end }
      if case .stopped(let signal)? = system.changes(of: pid), system.isInJob { stop(by: signal) }
    }
  }

  private func passOn(_ arrived: SignalInfo) {
    // A terminal sends these to the command too, and a shell continues the whole job.
    let isForBoth =
      arrived.signal == SignalInfo.continue
      ? system.isInJob
      : !arrived.isFromProcess && SignalInfo.byTerminal.contains(arrived.signal)
    if !isForBoth { try? system.kill(pid, arrived.signal) }
  }

  /// Stops this process, so that its shell sees the job stopped, until both go on.
  private func stop(by signal: Int32) {
    var signal = signal
    while true {
      system.stop(by: signal)
      switch system.changes(of: pid) {
      // It was continued, and has stopped again.
      case .stopped(let next)?: signal = next
      case .continued?: return
      // Only this process was continued.
      case nil:
        try? system.kill(pid, SignalInfo.continue)
        return
      }
    }
  }

  /// Prints why a command did not start.
  static func failure(
    to words: [PathBytes], _ errno: Errno, _ system: any System
  ) -> NotStarted {
    Console.report("\(Sanitizer.clean(words[0].description)) cannot be run (\(errno))", system)
    return NotStarted(status: errno == .ENOENT ? 127 : 126)
  }

  /// Ends this process as the command ended, or returns the exit status if that is not possible.
  static func end(_ end: ProcessEnd, _ system: any System) -> Int32 {
    switch end {
    case .exited(let status): return status
    case .signalled(let signal):
      system.raise(signal)
      return 128 + signal
    }
  }
}
