import ArgumentParser
import PermissionKit

/// The options that choose the subject, the permissions and the root directory.
struct SubjectOptions: ParsableArguments {
  @Option(
    name: .customLong("user"),
    help: ArgumentHelp(
      "Judge for this user, as after a new login.", valueName: "name|uid"))
  var user: TextArgument?

  @Option(help: "Judge for this uid, with --gid and --groups; the user need not exist.")
  var uid: UInt32?

  @Option(help: "The primary group that goes with --uid.")
  var gid: UInt32?

  @Option(help: "The supplementary groups that go with --uid, separated by commas.")
  var groups: String?

  @Option(help: "Judge for this running process, by its credentials, root directory and mounts.")
  var pid: Int32?

  @Option(
    help: ArgumentHelp(
      "The access to check: r, w, rw, rx, …; by default what the accessor needs.", valueName: "rwx")
  )
  var need: TextArgument?

  @Option(
    help:
      "How to ask the kernel, for this process alone: open, access, none, or write, which also creates and removes a file in a folder."
  )
  var probe: Probe.Method = .open

  @Option(
    help: ArgumentHelp("Read /dev, /sys, /proc, /etc and /run below this folder.", valueName: "dir")
  )
  var root: PathBytes = "/"

  func validate() throws {
    if [user != nil, uid != nil, pid != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid and --pid cannot be combined")
    }
    if uid != nil, gid == nil { throw ValidationError("--uid requires --gid") }
    if uid == nil, gid != nil || groups != nil {
      throw ValidationError("--gid and --groups require --uid")
    }
    if let need, wanted == nil {
      throw ValidationError("--need \(need.text): expected a combination of r, w and x")
    }
    if [uid, gid].contains(UInt32.max) {
      // For setuid(2) and similar calls, -1 means "no change".
      throw ValidationError("4294967295 is not a valid id of a process")
    }
    if groups != nil, supplementary == nil {
      throw ValidationError("--groups: expected numbers separated by commas")
    }
  }

  private var wanted: Permissions? {
    need.flatMap { Permissions($0.text) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  private var supplementary: [UInt32]? {
    let parts = (groups ?? "").split(separator: ",", omittingEmptySubsequences: false)
    if parts == [""] { return [] }
    let numbers = parts.compactMap { UInt32($0) }.filter { $0 != .max }
    return numbers.count == parts.count ? numbers : nil
  }

  /// Returns the context that these options describe.
  func context(_ system: any System) throws -> AccessContext {
    let root = try absoluteRoot(system)
    var context = AccessContext(
      system: system, subject: try subject(UserDatabase(system, root: root)), root: root,
      probe: probe, need: wanted)
    context.families = AccessorRegistry.standard.families
    return context
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
    guard let uid, let gid else { return nil }
    return users.subject(uid: uid, gid: gid, groups: supplementary ?? [])
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

  /// Returns the command that requests missing access; nil for `--root`, `--pid` and `--uid`.
  func requestCommand(_ name: PathBytes, _ context: AccessContext) -> String? {
    guard root == "/", pid == nil, uid == nil else { return nil }
    var words: [PathBytes] = ["permcheck", "request", name]
    if let need { words += ["--need", PathBytes(need.text)] }
    if let user { words = ["sudo"] + words + ["--user", PathBytes(user.text)] }
    return words.map(shellQuoted).joined(separator: " ")
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
