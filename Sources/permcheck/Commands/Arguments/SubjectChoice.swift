import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// The subjects, the permissions and the root directory of a command.
struct SubjectChoice: Equatable {
  /// The subjects: one, except for check and audit --who; never empty.
  var who: [Who] = [.current]
  /// The permissions to check; nil for the accessor's own needs.
  var need: Permissions?
  var probe = Probe.Method.automatic
  var through = AudioRoute.alsa
  var root: PathBytes = "/"

  /// Returns the context of a check, with the subject looked up now.
  func context(_ system: any System) throws -> AccessContext {
    guard !isOfMany else {
      let names = who.map { "--user \(Sanitizer.clean($0.words))" }.joined(separator: " and ")
      throw ValidationError("\(names): one user at a time here; permcheck check takes several")
    }
    return try context(system, root: try absoluteRoot(system), who[0])
  }

  private func context(
    _ system: any System, root: PathBytes, _ who: Who
  ) throws(PermissionError) -> AccessContext {
    var context = AccessContext(system: system, root: root, probe: probe, need: need)
    context.through = through
    try context.judge(who)
    return context
  }

  /// Returns each subject, with the context of its check.
  ///
  /// - Returns: At least one.
  /// - Throws: An error if there is no such group, or nobody in it.
  func each(_ system: any System) throws -> [(who: Who, context: AccessContext)] {
    let root = try absoluteRoot(system)
    let users = UserDatabase(system, root: root)
    var cases: [(who: Who, context: AccessContext)] = []
    for who in who {
      let found = try users.each(who)
      if case .group(let group) = who {
        let name = Sanitizer.clean(group)
        guard let found else {
          throw ValidationError("there is no group \(name); see getent group")
        }
        if found.isEmpty { throw ValidationError("group \(name) has no members") }
      }
      for one in found ?? [] { cases.append((one, try context(system, root: root, one))) }
    }
    if cases.isEmpty { throw ValidationError("the user database has no users") }
    return cases
  }

  /// Whether the choice may contain several users.
  var isOfMany: Bool { who.count > 1 || who.contains(where: \.isOfMany) }

  /// Warns root, if sudo started it, that the check is about root.
  func warnOfRoot(_ context: AccessContext, _ console: Console) {
    guard who == [.current], let name = context.system.getenv("SUDO_USER"), name != "root",
      context.system.isRoot
    else { return }
    console.warn("checking as root; use --user \(name) to check \(name)")
  }

  /// Warns if the list of users may be incomplete.
  ///
  /// - Returns: Whether it has everybody; nil if none was listed.
  func warnOfUnlisted(_ context: AccessContext, _ console: Console) -> Bool? {
    guard who.contains(where: \.isOfMany) else { return nil }
    let sources = UserDatabase(context.system, root: context.root).unlistedSources
    if !sources.isEmpty {
      console.warn(
        "the list of users may not be complete: \(sources.joined(separator: " and ")) in /etc/nsswitch.conf may not list every user"
      )
    }
    return sources.isEmpty
  }

  /// Returns the subject that reports are about.
  func judged(_ reports: [AccessReport], _ context: AccessContext) throws -> Subject {
    if let subject = reports.lazy.compactMap(\.subject).first { return subject }
    return try Inspection.subject(context)
  }

  /// Returns factories for the accessors of a watch; each call looks the subject up again.
  func watched(
    _ requests: [AccessorArgument], _ context: AccessContext, _ analytics: AnalyticsLog
  ) -> [AccessWatcher.Factory] {
    let who = who[0]
    var watched: [AccessWatcher.Factory] = []
    for request in requests {
      func make() throws(PermissionError) -> PermissionAccessor {
        var context = context
        try context.judge(who)
        return request.accessor(context, analytics)
      }
      watched.append(make)
    }
    return watched
  }

  /// Returns the reports, which are requestable also by permcheck-helper.
  func knowingHelper(
    _ reports: [AccessReport], _ arguments: [AccessorArgument], _ system: any System
  ) -> [AccessReport] {
    guard root == "/", reports.contains(where: { $0.requestability == .onlyByRoot }) else {
      return reports
    }
    var options = GrantOptions()
    options.elevation = HelperElevation(.auto, system)
    return zip(arguments, reports).map { argument, report in
      var report = report
      if report.requestability == .onlyByRoot, report.subject?.source == .current,
        options.isServed(argument, system)
      {
        report.requestability = .now
      }
      return report
    }
  }

  /// Returns, for each report, the command that requests the missing access; nil if none helps.
  func requestLines(
    _ arguments: [AccessorArgument], _ reports: [AccessReport], _ context: AccessContext
  ) -> [String?] {
    switch who[0] {
    case .current, .user: break
    case .ids, .process, .group, .everybody: return []
    }
    guard root == "/", through != .server else { return [] }
    let isHelped = reports.contains { report in
      report.isCut || report.isHidden || report.resources.contains { !$0.grants.isEmpty }
    }
    guard isHelped else { return [] }
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

/// The options that choose the subject, the permissions and the root directory.
struct SubjectOptions: ParsableArguments {
  @OptionGroup var who: WhoOptions
  @OptionGroup var view: ViewOptions

  /// The subject that the options choose.
  var choice: SubjectChoice { who.choice(view) }

  func validate() throws { try who.requireOne(view.pid) }
}
