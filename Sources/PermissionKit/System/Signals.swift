/// How a process ended, see waitpid(2).
public enum ProcessEnd: Hashable, Sendable {
  /// With an exit status, 0 to 255.
  case exited(Int32)
  /// By a signal.
  case signalled(Int32)
}

/// A signal that arrived, see sigaction(2).
package struct SignalInfo: Hashable, Sendable {
  /// Its number.
  package var signal: Int32
  /// A process has sent it; otherwise the kernel did, as a terminal does for all of its group.
  package var isFromProcess: Bool

  /// Makes one of its parts.
  package init(signal: Int32, isFromProcess: Bool) {
    self.signal = signal
    self.isFromProcess = isFromProcess
  }

  /// SIGHUP: the terminal is gone.
  package static let hangup: Int32 = 1
  /// SIGINT: somebody pressed Ctrl-C.
  package static let interrupt: Int32 = 2
  /// SIGQUIT: somebody pressed Ctrl-\.
  package static let quit: Int32 = 3
  /// SIGTERM: the process is asked to end.
  package static let terminate: Int32 = 15
  /// SIGCHLD: a child ended or stopped.
  package static let child: Int32 = 17
}
