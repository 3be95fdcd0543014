public import ArgumentParser
@_spi(SystemCalls) public import PermissionKit
import PermissionKitLogging

/// The options that decide how a command requests its permissions.
///
/// ```swift
/// @OptionGroup var permissions: PermissionOptions
///
/// func run() throws {
///   try permissions.gate(CameraAccessor(), purpose: "snapshot takes a picture")
/// ```
public struct PermissionOptions: ParsableArguments, Sendable {
  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast,
    help: """
      Make the changes that give missing access without a question, or never. Default: a person at \
      the terminal is asked.
      """)
  var requestAccess: Bool?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Wait up to this long for access: 5, 0.5, 2m.", valueName: "duration"))
  var waitForAccess: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Write each check and request to this file, to journald, syslog, standard error (-) or none.",
      valueName: "file"),
    completion: .file())
  var accessLog: String?

  /// Creates the options without values; the parser fills them.
  public init() {}

  /// The exit status of a command whose permissions are missing: EX_NOPERM of sysexits.h.
  ///
  /// permcheck has the same number with another meaning: with `--skip-unavailable` it stands for
  /// "skipped", as in automake.
  public static let noPermission = ExitCode(ExitStatus.skipped.rawValue)

  /// Makes sure that there is access; otherwise prints why not, and ends the command.
  ///
  /// The message is on standard error and begins with the name of the tool. After a refusal nothing
  /// more is requested, but the other accessors are checked, so that one message names everything
  /// that is missing.
  ///
  /// - Parameters:
  ///   - accessors: What the command needs, in the order of asking.
  ///   - purpose: Why, for the person who is asked: `snapshot takes a picture`.
  /// - Returns: The reports, all with access.
  /// - Throws: `noPermission`, with which the parser exits in silence, if there is no access;
  ///   `ExitCode(70)`, EX_SOFTWARE, if a change could not be made. Both are already explained.
  @discardableResult
  public func gate(
    _ accessors: PermissionAccessor..., purpose: String? = nil
  ) throws(ExitCode) -> [AccessReport] {
    var reports: [AccessReport] = []
    var isRefused = false
    do throws(PermissionError) {
      for accessor in accessors {
        let report =
          isRefused ? try check(accessor) : try request(accessor, purpose: purpose)
        reports.append(report)
        if report.isGranted { continue }
        isRefused = true
        say(report.explanation)
        if report.requestOutcome == .declined, !TerminalConsent().canAsk {
          say("no terminal to ask at; --request-access makes the change without a question\n")
        }
      }
    } catch {
      say(Sanitizer.clean(error.description) + "\n")
      throw ExitCode(ExitStatus.failure.rawValue)
    }
    if isRefused { throw Self.noPermission }
    return reports
  }

  /// Checks access, waits for it and requests it, as the options say; prints only the question.
  ///
  /// - Parameters:
  ///   - accessor: What the command needs.
  ///   - purpose: Why, for the person who is asked.
  /// - Returns: The final report. A denial is a report, not an error.
  /// - Throws: If a change cannot be made or undone, or the kernel refuses to watch files.
  public func request(
    _ accessor: PermissionAccessor, purpose: String? = nil
  ) throws(PermissionError) -> AccessReport {
    if let accessLog {
      AnalyticsLog.shared.strategy = AnalyticsLog.strategy(
        PathBytes(accessLog), identifier: Self.tool, Systems.running)
    }
    if requestAccess == false { accessor.requestsAccess = false }
    let resources = accessor as? ResourceAccessor
    if let purpose, resources?.grants.purpose == nil { resources?.grants.purpose = purpose }
    if requestAccess == true {
      resources?.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in true }
    } else if resources?.grants.consent == nil {
      resources?.grants.consent = GrantOptions.askAtTerminal
      resources?.grants.despite = nil
    }
    if let waitForAccess {
      let system = resources?.context.system ?? Systems.running
      try AccessWatcher.wait(waitForAccess, system, [{ accessor }]) { $0[0].isGranted }
    }
    return try accessor.requestAccessIfNeeded()
  }

  /// Checks access and calls the hooks, but requests nothing.
  private func check(_ accessor: PermissionAccessor) throws(PermissionError) -> AccessReport {
    let requestsAccess = accessor.requestsAccess
    accessor.requestsAccess = false
    defer { accessor.requestsAccess = requestsAccess }
    return try accessor.requestAccessIfNeeded()
  }

  /// The name that this program was started by.
  private static var tool: String {
    Sanitizer.clean(LinuxSystem.arguments.first?.lastComponent.description ?? "permissions")
  }

  /// Writes to standard error, after the name of the tool.
  private func say(_ text: String) {
    _ = try? LinuxSystem().writeAll(.standardError, Array("\(Self.tool): \(text)".utf8))
  }
}

extension TimeSpan: ExpressibleByArgument {}
