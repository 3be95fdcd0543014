import ArgumentParser
import PermissionKit

/// The subject, the permissions and the root directory of a command.
struct SubjectChoice: Equatable {
  /// The name or uid of `--user`; nil without it.
  var user: String?
  /// The uid of a user who need not exist; nil for another subject.
  var uid: UInt32?
  var gid: UInt32?
  var groups: [UInt32] = []
  /// Further users, after `user`.
  var others: [String] = []
  /// The group whose members are meant; nil for another subject.
  var group: String?
  /// Whether every user of the data base is meant.
  var everybody = false
  /// The permissions to check; nil for the accessor's own needs.
  var need: Permissions?
  /// The process to judge; nil for another subject.
  var pid: Int32?
  var probe = Probe.Method.open
  var through = AudioRoute.alsa
  var root: PathBytes = "/"

  /// Returns the context of a check.
  func context(_ system: any System) throws -> AccessContext {
    if isOfMany {
      let names = ([user].compactMap { $0 } + others).map(Sanitizer.clean)
      throw ValidationError(
        "--user \(names.joined(separator: " and --user ")): one user at a time here; permcheck check takes several"
      )
    }
    let root = try absoluteRoot(system)
    var context = AccessContext(
      system: system, subject: try subject(UserDatabase(system, root: root)), root: root,
      probe: probe, need: need)
    context.through = through
    return context
  }

  /// Returns a choice for each of several users; itself if it is about one subject.
  ///
  /// - Throws: An error if there is no such group, or nobody in it.
  func each(_ system: any System) throws -> [SubjectChoice] {
    var one = self
    (one.others, one.group, one.everybody) = ([], nil, false)
    func choice(_ name: String) -> SubjectChoice {
      one.user = name
      return one
    }
    guard everybody || group != nil else {
      return others.isEmpty ? [self] : ([user].compactMap { $0 } + others).map(choice)
    }
    let users = UserDatabase(system, root: try absoluteRoot(system))
    let found: [UserRecord]?
    do throws(Errno) {
      if let group { found = try users.members(of: group) } else { found = try users.everyUser() }
    } catch {
      throw PermissionError(
        error == .ETIMEDOUT ? .notAnswering : .system, "the user data base cannot be read",
        call: "getpwent", errno: error)
    }
    let name = Sanitizer.clean(group ?? "")
    guard let found else { throw ValidationError("there is no group \(name); see getent group") }
    if found.isEmpty { throw ValidationError("nobody is in the group \(name)") }
    return found.map { choice($0.name) }
  }

  /// Whether the choice may be about several users.
  var isOfMany: Bool { !others.isEmpty || group != nil || everybody }

  /// Warns root, who became root by sudo, that root is judged.
  func warnOfRoot(_ context: AccessContext, _ console: Console) {
    guard context.subject == nil, let name = context.system.getenv("SUDO_USER"), name != "root",
      (try? context.system.credentials())?.user.effective == 0
    else { return }
    console.warn("this is about root; use --user \(name) for \(name)")
  }

  /// Returns the subject that reports are about.
  func judged(_ reports: [AccessReport], _ context: AccessContext) throws -> Subject {
    if let subject = reports.lazy.compactMap(\.subject).first { return subject }
    return try Inspection.subject(context)
  }

  /// Returns the subject as it is now; nil for this process.
  private func subject(_ users: UserDatabase) throws(PermissionError) -> Subject? {
    if let user { return try users.subject(userNamed: user) }
    if let pid { return try users.subject(process: pid) }
    guard let uid, let gid else { return nil }
    return users.subject(uid: uid, gid: gid, groups: groups)
  }

  /// Returns factories for the accessors of a watch; each call reads the subject again.
  func watched(
    _ requests: [AccessorArgument], _ context: AccessContext, _ analytics: AnalyticsLog
  ) -> [AccessWatcher.Factory] {
    // An array of closures of one type is no array of another: the cast fails at run time.
    var watched: [AccessWatcher.Factory] = []
    for make in factories(requests, context, analytics) { watched.append(make) }
    return watched
  }

  /// Returns factories for the accessors; each call reads the subject again.
  func factories(
    _ requests: [AccessorArgument], _ context: AccessContext, _ analytics: AnalyticsLog
  ) -> [AccessBatch.Factory] {
    var factories: [AccessBatch.Factory] = []
    for request in requests {
      @Sendable func make() throws(PermissionError) -> PermissionAccessor {
        var context = context
        context.subject = try subject(UserDatabase(context.system, root: context.root))
        return request.accessor(context, analytics)
      }
      factories.append(make)
    }
    return factories
  }

  /// Returns the command that requests what each report misses; nil where none helps.
  func requestLines(
    _ arguments: [AccessorArgument], _ reports: [AccessReport], _ context: AccessContext
  ) -> [String?] {
    guard root == "/", pid == nil, uid == nil, through != .server else { return [] }
    guard reports.contains(where: { $0.remedies.contains(where: \.isGrant) }) else { return [] }
    var options = GrantOptions()
    options.elevation = HelperElevation(.auto, context.system)
    let program = Tool.word(context.system)
    return zip(arguments, reports).map { argument, report in
      report.subject.flatMap {
        RequestLine(argument, $0, context.system, program).text(for: report, need: need, options)
      }
    }
  }

  private func absoluteRoot(_ system: any System) throws -> PathBytes {
    if root == "/" { return root }
    do throws(Errno) {
      if root.isEmpty { throw .ENOENT }
      let path = root.isAbsolute ? root : try system.getcwd().appending(root)
      guard try system.kind(of: path) == .directory else { throw .ENOTDIR }
      return path
    } catch {
      throw ValidationError("--root \(root): not an accessible directory (\(error))")
    }
  }
}
