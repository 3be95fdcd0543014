@_spi(SystemCalls) import PermissionKit

/// The command that requests what a report lacks, as somebody can type it.
///
/// The command depends on the subject, on the missing permissions, and on whether the helper is
/// installed.
struct RequestLine {
  private let argument: AccessorArgument
  private let subject: Subject
  private let system: any System
  private let program: PathBytes
  /// The options that belong to the request.
  private var options: [PathBytes] = []

  /// Creates the command for an accessor.
  ///
  /// - Parameters:
  ///   - argument: The accessor.
  ///   - subject: Who gets access.
  ///   - system: The system that the caller runs on.
  ///   - program: The word that starts this tool; nil to find it.
  init(
    _ argument: AccessorArgument, _ subject: Subject, _ system: any System,
    _ program: PathBytes? = nil
  ) {
    self.argument = argument.absolute(system)
    self.subject = subject
    self.program = program ?? Tool.word(system)
    self.system = system
  }

  /// Adds options.
  func adding(_ more: [PathBytes]) -> Self {
    var copy = self
    copy.options += more
    return copy
  }

  /// Returns the command by which the subject itself makes the request.
  var own: String { ShellCommand.line([program, "request", argument.text] + options) }

  /// The command by which an administrator makes the request.
  ///
  /// Nil if the user data base does not know the subject, for whom there is no journal.
  var administrators: String? { forSubject(system.rootWay) }

  /// Returns the command that names the subject.
  private func forSubject(_ way: RootWay) -> String? {
    guard let name = subject.name else { return nil }
    return way.line(
      [program, "request", argument.text] + options + ["--user", PathBytes(name)])
  }

  /// Returns the command that requests what a report lacks.
  ///
  /// - Parameters:
  ///   - report: The report on the accessor.
  ///   - need: The permissions that were asked for; nil for the accessor's own need.
  ///   - grants: How the request would become root.
  /// - Returns: The command; nil if no request helps.
  func text(for report: AccessReport, need: Permissions?, _ grants: GrantOptions) -> String? {
    let changes = report.resources.flatMap(\.grants)
    // Root sees what is hidden from others.
    let isUnknown = report.isCut || report.isHidden && !system.isRoot
    guard !changes.isEmpty || isUnknown else { return nil }
    var more: [PathBytes] = need.map { ["--need", PathBytes($0.letters)] } ?? []
    if report.includesContents {
      more.append("--recursive")
    } else if report.status == .limited {
      // What is limited already counts as access, unless everything is asked for.
      more.append("--all")
    }
    if changes.contains(where: { !$0.othersAffected.isEmpty }) { more.append("--allow-others") }
    let line = adding(more)
    let needsRoot = changes.contains(where: \.needsRoot) || isUnknown
    guard subject.source == .current else {
      return needsRoot ? line.administrators : line.forSubject(.none)
    }
    if system.isRoot { return line.own }
    guard needsRoot else { return subject.home == nil ? nil : line.own }
    return grants.isServed(argument, system) ? line.own : line.administrators
  }
}
