@_spi(SystemCalls) import PermissionKit

/// Carries what is typed to a command in a session of its own, and what it prints to the terminal.
///
/// The command has a pseudo-terminal, so that it cannot type into the terminal of its caller (TIOCSTI,
/// TIOCLINUX). The terminal is raw while the command may read: Ctrl-C and Ctrl-Z are then the
/// pseudo-terminal's. A pipeline, and a command in the background, begin without that; a command that
/// reads is stopped by SIGTTIN, and goes on when this process may read for it.
struct SessionRelay {
  private let system: LinuxSystem
  private let signals: Descriptor
  private var terminal: Terminal?
  /// This process's end of the pseudo-terminal; nil once nothing can be read from it.
  private var master: Descriptor?
  private var session: CommandSession
  /// What was typed, and what the command printed, and was not carried yet.
  private var typed: [UInt8] = []
  private var printed: [UInt8] = []
  private var isRaw = false
  /// Whether the pseudo-terminal has the settings of the terminal.
  private var isSet = false
  /// Whether the command waits for SIGCONT, and whether it may not read.
  private var isStopped = false
  private var isBehind: Bool

  private static let most = 1 << 14
  /// How long more output is waited for once the command was stopped or has ended, in milliseconds; a
  /// process that it left behind may keep the pseudo-terminal open.
  private static let quiet: (stopped: Int32, ended: Int32) = (20, 100)
  /// How long a terminal may take nothing before the last output is dropped, in milliseconds.
  private static let patience: Int32 = 2000

  /// Starts the command.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - signals: A descriptor of signalfd(2) that has every signal.
  ///   - system: The system.
  /// - Throws: The errno of a start that failed.
  init(_ command: SessionCommand, _ signals: Descriptor, _ system: LinuxSystem) throws(Errno) {
    self.system = system
    self.signals = signals
    terminal = Terminal(system)
    let isPipeline = !system.isatty(.standardInput) || !system.isatty(.standardOutput)
    let isForeground = terminal.map { $0.isForeground && !isPipeline } ?? false
    isBehind = !isForeground
    let pair = try terminal?.pseudoTerminal(of: command.credentials.user.real)
    master = pair?.master
    defer { if let pair { system.close(pair.slave) } }
    // The pseudo-terminal is set before the command looks at it.
    if isForeground { terminal?.becomeRaw(copyingTo: master) }
    (isRaw, isSet) = (isForeground, isForeground)
    do throws(Errno) {
      session = try system.startSession(
        command, terminal: pair?.slave, inForeground: isForeground)
    } catch {
      if isForeground { terminal?.restore() }
      throw error
    }
  }

  /// Carries until the command ends.
  ///
  /// - Returns: How the command ended, or the errno of a start that failed.
  mutating func run() -> Result<ProcessEnd, Errno> {
    defer { close() }
    while true {
      let hasNews = wait()
      while let arrived = (try? system.pendingSignal(signals)) ?? nil { take(arrived) }
      carry()
      guard hasNews else { continue }
      switch system.news(of: session) {
      case .stopped(let signal): stop(signal)
      case .ended(let end):
        carryTheRest(Self.quiet.ended)
        return .success(end)
      case .failed(let errno): return .failure(errno)
      // Somebody killed the leader.
      case .lost: return .success(.signalled(9))
      }
    }
  }

  private mutating func close() {
    restore()
    // The leader ends, and with it what its terminal still had.
    system.tell(session, .finished)
    system.close(session.socket)
    if let master { system.close(master) }
    if let terminal { system.close(terminal.descriptor) }
    _ = try? system.waitpid(session.leader, waits: true)
  }

  // MARK: - The terminal

  private mutating func becomeRaw() {
    // While this process is in the background, the terminal has the settings of its shell's prompt.
    terminal?.becomeRaw(copyingTo: isSet ? nil : master)
    (isRaw, isSet) = (true, true)
  }

  private mutating func restore() {
    guard isRaw else { return }
    isRaw = false
    // A terminal that is somebody else's meanwhile is left as it is.
    if terminal?.isForeground == true { terminal?.restore() }
  }

  /// The command goes on, and reads the terminal if this process may.
  private mutating func goOn() {
    let isForeground = terminal?.isForeground == true
    if isForeground { becomeRaw() }
    isBehind = !isForeground
    isStopped = false
    system.tell(session, .goOn(inForeground: isForeground))
  }

  /// The command was stopped: this process stops too, so that its shell can go on.
  private mutating func stop(_ signal: Int32) {
    isStopped = true
    // It wanted the terminal, and can have it.
    if isBehind, SignalInfo.byBackground.contains(signal), terminal?.isForeground == true {
      return goOn()
    }
    carryTheRest(Self.quiet.stopped)
    restore()
    system.suspend(signal == SignalInfo.stop ? SignalInfo.suspend : signal)
    goOn()
  }

  private mutating func take(_ arrived: SignalInfo) {
    switch arrived.signal {
    case SignalInfo.child: break
    case SignalInfo.resize:
      if let master { terminal?.resize(master) }
    case SignalInfo.continue:
      if isStopped || isBehind || terminal == nil {
        goOn()
      } else if terminal?.isForeground == true {
        becomeRaw()
      }
    default: system.tell(session, .signal(arrived.signal))
    }
  }

  // MARK: - Carrying

  /// Waits for anything to do; returns whether the leader of the session has news.
  private func wait() -> Bool {
    let requests =
      [
        PollRequest(session.socket, .readable), PollRequest(signals, .readable),
      ] + waits
    return (try? system.poll(requests, timeout: nil))?.first?.isEmpty == false
  }

  /// What is carried next; a terminal that is gone would always be ready.
  private var waits: [PollRequest] {
    var requests: [PollRequest] = []
    func add(_ descriptor: Descriptor?, _ events: [(PollEvents, Bool)]) {
      let wanted = PollEvents(events.filter { $0.1 }.map { $0.0 })
      if let descriptor, !wanted.isEmpty { requests.append(PollRequest(descriptor, wanted)) }
    }
    add(
      terminal?.descriptor,
      [(.readable, isRaw && typed.count < Self.most), (.writable, !printed.isEmpty)])
    add(master, [(.readable, printed.count < Self.most), (.writable, !typed.isEmpty)])
    return requests
  }

  /// Carries what can be carried without waiting.
  private mutating func carry() {
    if let terminal, isRaw, typed.count < Self.most {
      do throws(Errno) {
        let bytes = try system.read(terminal.descriptor, Self.most)
        if bytes.isEmpty { hangUp() } else { typed += bytes }
      } catch .EAGAIN {
      } catch {
        // In the background there is nothing to read; it was not this process that was stopped.
        if terminal.isForeground { hangUp() } else { isRaw = false }
      }
    }
    if let master, printed.count < Self.most {
      do throws(Errno) {
        printed += try system.read(master, Self.most)
      } catch .EAGAIN {
      } catch {
        // EIO: no process has the pseudo-terminal open, and all is read.
        self.master = nil
        system.close(master)
      }
    }
    write(&typed, to: master)
    write(&printed, to: terminal?.descriptor)
  }

  private func write(_ bytes: inout [UInt8], to descriptor: Descriptor?) {
    guard !bytes.isEmpty else { return }
    do throws(Errno) {
      guard let descriptor else { throw .EIO }
      bytes.removeFirst(try system.write(descriptor, bytes))
    } catch .EAGAIN {
    } catch {
      bytes = []
    }
  }

  /// Carries the output that is left.
  private mutating func carryTheRest(_ quiet: Int32) {
    typed = []
    while master != nil || !printed.isEmpty {
      carry()
      let limit = printed.isEmpty ? quiet : Self.patience
      let waits = waits
      if waits.isEmpty { break }
      guard let ready = try? system.poll(waits, timeout: limit) else { continue }
      if ready.allSatisfy(\.isEmpty) { break }
    }
  }

  /// The terminal was closed.
  private mutating func hangUp() {
    isRaw = false
    if let terminal { system.close(terminal.descriptor) }
    terminal = nil
    system.tell(session, .signal(SignalInfo.hangup))
  }
}
