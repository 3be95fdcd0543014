internal import CCap
internal import Glibc

/// A command of another user in a session of its own, without the terminal and the descriptors of
/// its caller.
package struct SessionCommand {
  /// The program, as an absolute path, and its arguments.
  package var arguments: [PathBytes]
  /// The whole environment: `NAME=value`.
  package var environment: [PathBytes]
  /// The working directory of the command, if its user may enter it; else the command starts in /.
  package var directory: PathBytes
  /// The text for standard error if the command starts in / instead of its working directory.
  package var notice: String
  /// The credentials for entering the directory; the program takes them on itself.
  package var credentials: Credentials
  /// The program with its arguments that runs after the command has ended, if this process was
  /// killed; empty for none.
  package var afterwards: [PathBytes]

  /// Creates a command.
  package init(
    arguments: [PathBytes], environment: [PathBytes], directory: PathBytes, notice: String,
    credentials: Credentials, afterwards: [PathBytes]
  ) {
    self.afterwards = afterwards
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
    self.notice = notice
    self.credentials = credentials
  }
}

/// A session that was started: its leader waits for the command and reports its end.
package struct CommandSession {
  /// A message from the leader.
  package enum News: Equatable {
    /// A signal stopped the command.
    case stopped(Int32)
    case ended(ProcessEnd)
    /// The program could not be started.
    case failed(Errno)
    /// The leader itself is gone.
    case lost
  }

  /// A message to the leader.
  package enum Order {
    /// A signal for the command's process group.
    case signal(Int32)
    /// The command goes on, and may read the terminal of its session or not.
    case resume(inForeground: Bool)
    /// This process needs no more messages.
    case finished
  }

  /// The process id of the leader.
  package let leader: Int32
  /// The socket to the leader, which is readable if there is a message.
  package let socket: Descriptor
}

extension LinuxSystem {
  /// Starts a command in a session of its own, see setsid(2).
  ///
  /// All signals must be blocked. The command ends with this process: when the socket to the leader is
  /// closed, the leader sends SIGHUP to the command's process group, and SIGKILL after two seconds.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - terminal: The pseudo-terminal that takes the place of each standard descriptor that is a terminal;
  ///     nil for none.
  ///   - inForeground: Whether the command may read the terminal at once.
  /// - Returns: The session.
  /// - Throws: The errno of socketpair(2) or fork(2).
  package func startSession(
    _ command: SessionCommand, terminal: Descriptor?, inForeground: Bool
  ) throws(Errno) -> CommandSession {
    var socket: Int32 = -1
    let ids = command.credentials
    let isLast = command.afterwards.isEmpty
    let result = try unsafe withArguments(command.arguments) { (arguments) throws(Errno) in
      try unsafe withArguments(command.environment) { (environment) throws(Errno) in
        // Of an empty list there would be no pointer.
        try unsafe withArguments(
          isLast ? ["-"] : command.afterwards
        ) { (afterwards) throws(Errno) in
          unsafe withCString(command.directory) { directory in
            unsafe command.notice.withCString { notice in
              unsafe ids.groups.withUnsafeBufferPointer { groups in
                var session = unsafe ccap_session(
                  arguments: arguments, environment: environment, directory: directory,
                  notice: notice, uid: ids.user.real, gid: ids.group.real,
                  groups: groups.baseAddress, group_count: groups.count,
                  afterwards: isLast ? nil : afterwards,
                  terminal: terminal?.rawValue ?? -1, foreground: inForeground ? 1 : 0)
                return unsafe ccap_start_session(&session, &socket)
              }
            }
          }
        }
      }
    }
    return CommandSession(leader: try check(result), socket: Descriptor(rawValue: socket))
  }

  /// Waits for the next message of the session's leader.
  package func news(of session: CommandSession) -> CommandSession.News {
    guard let bytes = try? read(session.socket, 8), bytes.count == 8 else { return .lost }
    let numbers = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int32.self)) }
    switch numbers[0] {
    case Int32(CCAP_STOPPED): return .stopped(numbers[1])
    case Int32(CCAP_ENDED):
      let status = numbers[1]
      // See wait(2): the signal in the lowest seven bits, the status above eight.
      return .ended(status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .signalled(status & 0x7f))
    default: return .failed(Errno(rawValue: numbers[1]))
    }
  }

  /// Sends an order to the leader of a session; an order that cannot be sent is dropped.
  package func send(_ session: CommandSession, _ order: CommandSession.Order) {
    let number: Int32 =
      switch order {
      case .signal(let number): number
      case .resume(true): Int32(CCAP_FOREGROUND)
      case .resume(false): Int32(CCAP_BACKGROUND)
      case .finished: Int32(CCAP_FINISHED)
      }
    _ = try? write(session.socket, unsafe withUnsafeBytes(of: number) { unsafe Array($0) })
  }

  /// Stops this process's group by a signal, as a terminal does, until SIGCONT; see `ccap_suspend`.
  package func suspend(_ signal: Int32) { ccap_suspend(signal) }
}

/// A terminal, whose reads and writes do not block.
///
/// - SeeAlso: tty_ioctl(4), pty(7), termios(3)
package struct Terminal {
  /// The terminal, opened by this process alone.
  package let descriptor: Descriptor
  private var state = ccap_terminal()

  /// Opens the terminal of this process; nil if it has none.
  package init?(_ system: LinuxSystem) {
    let opened = ccap_open_terminal()
    guard opened >= 0 else { return nil }
    descriptor = Descriptor(rawValue: opened)
    guard unsafe ccap_get_terminal(opened, &state) == 0 else {
      system.close(descriptor)
      return nil
    }
  }

  /// Whether this process's group may read the terminal now.
  package var isForeground: Bool { ccap_is_foreground(descriptor.rawValue) != 0 }

  /// Saves the settings, and makes the terminal pass on each byte.
  ///
  /// - Parameter other: A pseudo-terminal that gets the settings; nil for none.
  package mutating func becomeRaw(copyingTo other: Descriptor?) {
    unsafe ccap_remember_terminal(descriptor.rawValue, &state)
    if let other { _ = unsafe ccap_set_terminal(other.rawValue, &state, 0) }
    _ = unsafe ccap_set_terminal(descriptor.rawValue, &state, 1)
  }

  /// Restores the settings from before `becomeRaw`.
  package mutating func restore() {
    _ = unsafe ccap_set_terminal(descriptor.rawValue, &state, 0)
  }

  /// Opens a pseudo-terminal with the same size.
  ///
  /// - Parameter uid: The owner of the pseudo-terminal.
  /// - Returns: The end for this process, and the end for a command.
  /// - Throws: The errno of open(2) or ioctl(2).
  package func pseudoTerminal(
    of uid: UInt32
  ) throws(Errno) -> (master: Descriptor, slave: Descriptor) {
    var slave: Int32 = -1
    let master = unsafe ccap_open_pty(descriptor.rawValue, uid, &slave)
    guard master >= 0 else { throw Errno(rawValue: -master) }
    return (Descriptor(rawValue: master), Descriptor(rawValue: slave))
  }

  /// Gives a pseudo-terminal the size of this terminal, so the kernel signals its foreground processes (SIGWINCH).
  package func resize(_ master: Descriptor) {
    _ = ccap_copy_size(descriptor.rawValue, master.rawValue)
  }
}
