@_spi(SystemCalls) import PermissionKit

/// Forwards input to a command in a session of its own, and its output to the terminal.
///
/// The command has a pseudo-terminal, so that it cannot type into the terminal of its caller
/// (TIOCSTI, TIOCLINUX). The terminal is raw while the command may read, so that Ctrl-C and Ctrl-Z
/// go to the pseudo-terminal. For a pipeline, and for a command in the background, it is not raw at
/// first; SIGTTIN stops a command that reads, and the command goes on when this process may read
/// for it.
struct SessionRelay {
  private let system: LinuxSystem
  private let signals: Descriptor
  private var terminal: Terminal?
  /// This process's end of the pseudo-terminal; nil once nothing more can be read from it.
  private var master: Descriptor?
  private var session: CommandSession
  /// Input and output that were not forwarded yet.
  private var typed: [UInt8] = []
  private var printed: [UInt8] = []
  private var isRaw = false
  /// Whether the pseudo-terminal has the settings of the terminal.
  private var isSet = false
  /// Whether the command waits for SIGCONT, and whether it may not read.
  private var isStopped = false
  private var isBehind: Bool

  private static let most = 1 << 14
  /// How long to wait for more output after the command was stopped or has ended, in milliseconds.
  ///
  /// A process that the command left behind may keep the pseudo-terminal open.
  private static let quiet: (stopped: Int32, ended: Int32) = (20, 100)
  /// How long to wait for a terminal that accepts nothing before the last output is dropped, in
  /// milliseconds.
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

  /// Forwards until the command ends.
  ///
  /// - Returns: How the command ended, or the errno of a start that failed.
  mutating func run() -> Result<ProcessEnd, Errno> {
    defer { close() }
    while true {
      let hasNews = wait()
      while let arrived = (try? system.pendingSignal(signals)) ?? nil { take(arrived) }
      forwardAll()
      guard hasNews else { continue }
      switch system.news(of: session) {
      case .stopped(let signal): stop(signal)
      case .ended(let end):
        forwardTheRest(Self.quiet.ended)
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
    system.send(session, .finished)
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

  /// Continues the command, which reads the terminal if this process may.
  private mutating func resume() {
    let isForeground = terminal?.isForeground == true
    if isForeground { becomeRaw() }
    isBehind = !isForeground
    isStopped = false
    system.send(session, .resume(inForeground: isForeground))
  }

  /// Stops this process, because the command was stopped, so that its shell can continue.
  private mutating func stop(_ signal: Int32) {
    isStopped = true
    // It wanted the terminal, and can have it.
    if isBehind, SignalInfo.byBackground.contains(signal), terminal?.isForeground == true {
      return resume()
    }
    forwardTheRest(Self.quiet.stopped)
    restore()
    system.suspend(signal == SignalInfo.stop ? SignalInfo.suspend : signal)
    resume()
  }

  private mutating func take(_ arrived: SignalInfo) {
    switch arrived.signal {
    case SignalInfo.child: break
    case SignalInfo.resize:
      if let master { terminal?.resize(master) }
    case SignalInfo.continue:
      if isStopped || isBehind || terminal == nil {
        resume()
      } else if terminal?.isForeground == true {
        becomeRaw()
      }
    default: system.send(session, .signal(arrived.signal))
    }
  }

  // MARK: - Carrying

  /// Waits for an event; returns whether the leader of the session has a message.
  private func wait() -> Bool {
    let requests =
      [
        PollRequest(session.socket, .readable), PollRequest(signals, .readable),
      ] + waits
    return (try? system.poll(requests, timeout: nil))?.first?.isEmpty == false
  }

  /// The descriptors to wait for; a closed terminal would always be ready.
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

  /// Forwards what can be forwarded without waiting.
  private mutating func forwardAll() {
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

  /// Forwards the remaining output.
  private mutating func forwardTheRest(_ quiet: Int32) {
    typed = []
    while master != nil || !printed.isEmpty {
      forwardAll()
      let limit = printed.isEmpty ? quiet : Self.patience
      let waits = waits
      if waits.isEmpty { break }
      guard let ready = try? system.poll(waits, timeout: limit) else { continue }
      if ready.allSatisfy(\.isEmpty) { break }
    }
  }

  /// Ends the command after its terminal was closed.
  private mutating func hangUp() {
    isRaw = false
    if let terminal { system.close(terminal.descriptor) }
    terminal = nil
    system.send(session, .signal(SignalInfo.hangup))
  }
}
