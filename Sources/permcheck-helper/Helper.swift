@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// The program that changes device nodes as root; sudo and pkexec start it for an ordinary user.
///
/// It changes ACL entries of cameras, microphones and the device nodes that are declared with
/// `grant = "acl"`, for that user, and nothing else. It reads no file that others than root can
/// change, opens no device, and answers by one line of JSON. SECURITY.md lists what it relies on.
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
      finish(.init(.failed, "permcheck-helper cannot leave the caller's environment (\(error))"))
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

  /// Returns the accessor of the invocation; ends the helper if it may not give that access.
  private func served() -> AccessorRegistry.Entry {
    let name = invocation.accessor
    guard let entry = accessors[name], entry.isHelperGrantable else {
      Self.finish(
        .init(
          .misused,
          "\(name) is not granted by permcheck-helper: no file that only root can write declares it with grant = \"acl\""
        ))
    }
    return entry
  }

  /// Writes the answer and exits.
  ///
  /// The journal is not locked now, so a slow reader delays nobody.
  private static func finish(_ answer: HelperAnswer) -> Never {
    let system = LinuxSystem()
    _ = try? system.write(.standardOutput, Array(answer.line.utf8))
    system.exit(answer.outcome.exitStatus.rawValue)
  }

  // MARK: - Grants

  private var journal: GrantJournal {
    var journal = GrantJournal.root(system)
    // A request that was killed gives nothing, whoever's it was.
    journal.recovers = { grant in
      isOwn(grant)
        || Self.isOfDevice(grant) && [.intended, .applied, .undoing].contains(grant.stage)
    }
    return journal
  }

  /// Returns whether this helper may undo a grant for this user: an ACL entry of a device, by any
  /// program.
  private func isOwn(_ grant: Grant) -> Bool { grant.uid == uid && Self.isOfDevice(grant) }

  @Sendable private static func isOfDevice(_ grant: Grant) -> Bool {
    guard case .inode(let change) = grant.change else { return false }
    return change.isOfDevice
  }

  private func grant() throws(PermissionError) -> HelperAnswer {
    let entry = served()
    if let most = entry.declaration?.wanted, let need = invocation.need, !most.isSuperset(of: need)
    {
      throw PermissionError(
        .notAllowed,
        "\(entry.name) is declared with need = \"\(most.letters)\", and permcheck-helper gives no more than that"
      )
    }
    var lifetime = Grant.Lifetime()
    if let seconds = invocation.seconds {
      lifetime.expires = system.realtime() + seconds * 1_000_000
    }
    if let process = invocation.process { lifetime.process = try mark(of: process) }
    let accessor = try accessor(entry, lifetime)
    let outcome = try journal.carryOut {
      (journaled) throws(PermissionError) -> [Grant] in
      let open = journaled.grants(of: uid)
      guard open.count < Self.most else {
        throw PermissionError(
          .changeFailed,
          "you have \(open.count) open grants, and one user may have no more",
          advice: "revoke one with permcheck revoke")
      }
      return try accessor.grantPlan(journaled)?.grants(lasting: lifetime) ?? []
    }
    // The end is certain before anything else is looked at.
    if !outcome.grants.isEmpty, lifetime.process != nil || lifetime.expires != nil {
      do throws(Errno) {
        try Guardian(.root(system), system, isServed: Self.isOfDevice).start()
      } catch {
        throw PermissionError(
          .system, "the process that would end the grant cannot be started", call: "fork",
          errno: error,
          advice: "revoke the grant when you no longer need it")
      }
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
    options.withheld = entry.withheldFromUsers
    options.lifetime = lifetime
    accessor.grants = options
    return accessor
  }

  private func revoke() throws(PermissionError) -> HelperAnswer {
    // Its declaration may be gone, and the grant still there.
    let own = try journal.grants(of: uid)
    let isThere = own.contains { isOwn($0) && $0.accessor == invocation.accessor }
    let name = isThere ? invocation.accessor : served().name
    let outcome = try journal.undo(of: uid) { grant in
      isOwn(grant) && grant.accessor == name
        && (invocation.process.map { grant.lifetime.process?.pid == $0 } ?? true)
        && (invocation.request.map { grant.request == $0 } ?? true)
    }
    let ended = outcome.recovered + outcome.grants
    let isLeft = !outcome.missing.isEmpty || outcome.damage != nil
    var answer = HelperAnswer(
      isLeft ? .missing : ended.isEmpty ? .nothingToChange : .revoked, nil)
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
}
