import ArgumentParser
import PermissionKit

/// The options that choose the subject, the permissions and the root directory.
struct SubjectOptions: ParsableArguments {
  @OptionGroup var who: WhoOptions
  @OptionGroup var view: ViewOptions

  init() {}

  /// Creates the options of a command that shows only some of them in its help.
  init(_ who: WhoOptions, _ view: ViewOptions) {
    self.who = who
    self.view = view
  }

  var user: TextArgument? { who.user }
  var uid: UInt32? { who.uid }
  var need: TextArgument? { who.need }
  var pid: Int32? { view.pid }
  var through: Way { view.through }
  var root: PathBytes { view.root }
  private var wanted: Permissions? { who.wanted }

  func validate() throws {
    if [user != nil, uid != nil, pid != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid and --pid cannot be combined")
    }
  }

  /// Returns the context that these options describe.
  func context(_ system: any System) throws -> AccessContext {
    let root = try absoluteRoot(system)
    var context = AccessContext(
      system: system, subject: try subject(UserDatabase(system, root: root)), root: root,
      probe: view.probe, need: wanted)
    context.through = through
    context.families = AccessorRegistry.standard.families
    return context
  }

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
    if let user { return try users.subject(userNamed: user.text) }
    if let pid { return try users.subject(process: pid) }
    guard let uid, let gid = who.gid else { return nil }
    return users.subject(uid: uid, gid: gid, groups: who.supplementary ?? [])
  }

  /// Returns factories for the accessors; each call reads the subject again.
  func factories(
    _ requests: [AccessorArgument], _ context: AccessContext, _ analytics: AnalyticsLog
  ) -> [AccessWatcher.Factory] {
    var factories: [AccessWatcher.Factory] = []
    for request in requests {
      func make() throws(PermissionError) -> PermissionAccessor {
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
    var options = GrantOptions()
    options.elevation = HelperElevation(.auto, context.system)
    return zip(arguments, reports).map { argument, report in
      report.subject.flatMap {
        RequestLine(argument, $0, context.system).text(for: report, need: wanted, options)
      }
    }
  }

  private func absoluteRoot(_ system: any System) throws -> PathBytes {
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
