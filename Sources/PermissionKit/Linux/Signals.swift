/// The way a process ended, see waitpid(2).
@_spi(SystemCalls) public enum ProcessEnd: Hashable, Sendable {
  /// The process exited with this status, 0 to 255.
  case exited(Int32)
  /// This signal ended the process.
  case signalled(Int32)
}

/// A change of a child that still runs, see waitid(2).
package enum ChildChange: Sendable {
  /// This signal stopped it.
  case stopped(by: Int32)
  /// SIGCONT continued it.
  case continued
}

/// A signal that was received, see sigaction(2).
package struct SignalInfo: Hashable, Sendable {
  /// The number of the signal.
  package var signal: Int32
  /// Whether another process sent the signal; otherwise the kernel did, such as a terminal to its
  /// group.
  package var isFromProcess: Bool

  /// Creates the description of a signal.
  package init(signal: Int32, isFromProcess: Bool) {
    self.signal = signal
    self.isFromProcess = isFromProcess
  }

  /// SIGHUP: the terminal was closed.
  package static let hangup: Int32 = 1
  /// SIGINT: the user pressed Ctrl-C.
  package static let interrupt: Int32 = 2
  /// SIGQUIT: the user pressed Ctrl-\.
  package static let quit: Int32 = 3
  /// SIGTERM: a request to end the process.
  package static let terminate: Int32 = 15
  /// SIGCHLD: a child process ended or stopped.
  package static let child: Int32 = 17
  /// SIGCONT: a process that was stopped goes on.
  package static let `continue`: Int32 = 18
  /// SIGSTOP, which cannot be caught.
  package static let stop: Int32 = 19
  /// Every signal except SIGKILL and SIGSTOP.
  package static let catchable: [Int32] = (1...64).filter { $0 != 9 && $0 != stop }
  /// The signals that a terminal sends to every process of its foreground group, with SIGCONT and
  /// SIGCHLD, which every process gets for itself.
  package static let byTerminal: Set<Int32> = [hangup, interrupt, quit, child, 18, 20, 21, 22, 28]
}
