@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// The root side of permcheck, which sudo and pkexec start for an ordinary user.
///
/// It changes ACL entries of cameras, microphones and the device nodes that are declared with
/// `grant = "acl"`, for that user, and nothing else. It reads no file that others than root can change,
/// opens no device, and answers by one line of JSON. SECURITY.md says what it relies on.
@main
struct Helper {
  private let system = LinuxSystem()
  private let uid: UInt32
  private let invocation: Invocation
  /// The accessors that root's own files declare, and those that are compiled in.
  private let accessors: AccessorRegistry

  /// The most open grants of one user, so that nobody can fill the disk or the process table.
  private static let most = 64
  /// The time after which the helper ends itself, in seconds.
  private static let limit: UInt32 = 60

  static func main() {
    let system = LinuxSystem()
    let uid = Invocation.invoker(system)
    let invocation = Invocation(Array(LinuxSystem.arguments.dropFirst()))
    do throws(Errno) {
      try system.isolate(seconds: limit)
    } catch {
      finish(.init(.failed, "the helper cannot leave the caller's surroundings (\(error))"))
    }
    guard let invocation else {
      finish(
        .init(
          .misused,
          "usage: permcheck-helper grant ACCESSOR [--need r|w|rw] [--for SECONDS] [--while PID] | revoke ACCESSOR [--while PID | --request ID]"
        ))
    }
    guard let uid else {
      finish(.init(.misused, "only permcheck uses this program, through sudo or pkexec"))
    }
    let helper = Helper(
      uid: uid, invocation: invocation,
      accessors: DeclarationFiles(ofRoot: system).registry().registry)
    do throws(PermissionError) {
      finish(
        try invocation.action == .grant ? helper.grant() : helper.revoke())
    } catch {
      finish(.init(.failed, error.description))
    }
  }

  private init(uid: UInt32, invocation: Invocation, accessors: AccessorRegistry) {
    self.uid = uid
    self.invocation = invocation
    self.accessors = accessors
  }

  /// Returns the accessor that is asked for; ends the helper if it gives no access to that.
  private func served() -> AccessorRegistry.Entry {
    let name = invocation.accessor
    guard let entry = accessors[name], entry.isHelperGrantable else {
      Self.finish(
        .init(
          .misused,
          "\(name) is not served: no file of root alone declares it with grant = \"acl\""))
    }
    return entry
  }

  /// Writes the answer and exits.
  ///
  /// The journal is not locked now, so a reader that does not read holds up nobody.
  private static func finish(_ answer: HelperAnswer) -> Never {
    let system = LinuxSystem()
    _ = try? system.write(Descriptor(rawValue: 1), Array(answer.line.utf8))
    system.exit(answer.outcome.exitStatus.rawValue)
  }

  // MARK: - Grants

  private var journal: GrantJournal {
    var journal = GrantJournal.root(system)
    journal.recovers = { isOwn($0) }
    return journal
  }

  /// Returns whether a grant is one that this helper may undo for this user: an ACL entry of a device,
  /// whoever gave it.
  private func isOwn(_ grant: Grant) -> Bool {
    guard grant.uid == uid, case .inode(let change) = grant.change else { return false }
    return change.isOfDevice
  }

  private func grant() throws(PermissionError) -> HelperAnswer {
    let entry = served()
    if let most = entry.declaration?.wanted, let need = invocation.need, !most.isSuperset(of: need)
    {
      throw PermissionError(
        .notAllowed,
        "\(entry.name) is declared with need = \"\(most.letters)\", which is the most that is given"
      )
    }
    var lifetime = Grant.Lifetime()
    if let seconds = invocation.seconds {
      lifetime.expires = system.realtime() + seconds * 1_000_000
    }
    if let process = invocation.process { lifetime.process = try mark(of: process) }
    let accessor = try accessor(entry, lifetime)
    let outcome = try journal.carryOut(lifetime: lifetime) {
      (journaled) throws(PermissionError) -> GrantPlan? in
      let open = journaled.grants(of: [uid])
      guard open.count < Self.most else {
        throw PermissionError(
          .changeFailed,
          "you have \(open.count) open grants, which is the most that one user may have",
          advice: "revoke one with permcheck revoke")
      }
      return try accessor.grantPlan(journaled)
    }
    // The end is certain before anything else is looked at.
    if !outcome.grants.isEmpty, lifetime.process != nil || lifetime.expires != nil {
      try guardEnd(lifetime)
    }
    let report = accessor.checkAccess()
    var answer = HelperAnswer(outcome.grants.isEmpty ? .nothingToChange : .granted, nil)
    answer.status = report.status
    answer.request = outcome.grants.first?.request
    if !outcome.grants.isEmpty { answer.expires = lifetime.expires }
    answer.changes = outcome.grants.map(HelperAnswer.Change.init)
    answer.notes = outcome.notes
    return answer
  }

  private func accessor(
    _ entry: AccessorRegistry.Entry, _ lifetime: Grant.Lifetime
  ) throws(PermissionError) -> ResourceAccessor {
    var context = AccessContext(
      system: system, subject: try UserDatabase(system).subject(userID: uid), probe: .none,
      need: invocation.need)
    context.families = accessors.filter(\.isHelperGrantable).families
    let analytics = AnalyticsLog(DiscardLogging(), system: system)
    guard let accessor = entry.make(context, analytics) as? ResourceAccessor else {
      throw PermissionError(.invalidArgument, "\(entry.name) has no devices")
    }
    var options = GrantOptions { (_: GrantPlan) throws(PermissionError) -> Bool in true }
    options.isConfinedToDevices = true
    options.lifetime = lifetime
    accessor.grants = options
    return accessor
  }

  private func revoke() throws(PermissionError) -> HelperAnswer {
    // Its declaration may be gone, and the grant still there.
    let own = try journal.grants(of: uid)
    let isLeft = own.contains { isOwn($0) && $0.accessor == invocation.accessor }
    let name = isLeft ? invocation.accessor : served().name
    let outcome = try journal.undo(of: uid) { grant in
      isOwn(grant) && grant.accessor == name
        && (invocation.process.map { grant.lifetime.process?.pid == $0 } ?? true)
        && (invocation.request.map { grant.request == $0 } ?? true)
    }
    let ended = outcome.recovered + outcome.grants
    var answer = HelperAnswer(
      !outcome.missing.isEmpty ? .missing : ended.isEmpty ? .nothingToChange : .revoked, nil)
    answer.changes = ended.map(HelperAnswer.Change.init)
    answer.notes = outcome.notes
    return answer
  }

  // MARK: - The end of a lease

  /// Returns the mark of a running process of the user.
  private func mark(of process: Int32) throws(PermissionError) -> ProcessMark {
    let path = PathBytes("/proc/\(process)")
    guard let mark = system.mark(of: process), (try? system.status(of: path))?.uid == uid,
      system.mark(of: process) == mark
    else { throw PermissionError(.unknownProcess, "you have no process \(process)") }
    return mark
  }

  /// Leaves a process behind that takes the grant back when its time or its process ends.
  private func guardEnd(_ lifetime: Grant.Lifetime) throws(PermissionError) {
    do throws(Errno) {
      guard try system.forkDetached() else { return }
    } catch {
      throw PermissionError(
        .system, "no process can be started that ends the grant", call: "fork", errno: error,
        advice: "revoke the grant when you no longer need it")
    }
    wait(for: lifetime)
    // What cannot be undone now is tried again by the next run.
    for _ in 0..<10 {
      if let outcome = try? journal.recover(), outcome.notes.isEmpty { break }
      _ = try? system.poll([], timeout: 5_000)
    }
    system.exit(0)
  }

  /// Waits until the process ends or the time is over.
  private func wait(for lifetime: Grant.Lifetime) {
    var requests: [PollRequest] = []
    if let process = lifetime.process {
      guard let descriptor = try? system.pidfd_open(process.pid),
        system.mark(of: process.pid) == process
      else { return }
      requests = [PollRequest(descriptor, .readable)]
    }
    while true {
      let left = lifetime.expires.map { ($0 - system.realtime()) / 1000 + 1 }
      if let left, left <= 0 { return }
      // Somebody else may have revoked the grant.
      guard
        (try? journal.grants(of: uid))?.contains(where: { isOwn($0) && $0.lifetime == lifetime })
          != false
      else { system.exit(0) }
      // The clock may be set meanwhile.
      let pause = left.map { Int32(min($0, 60_000)) }
      let events = try? system.poll(requests, timeout: pause)
      if let events, events.contains(where: { !$0.isEmpty }) { return }
    }
  }
}
