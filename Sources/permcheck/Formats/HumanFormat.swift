import PermissionKit

/// A format for people, with marks, and with colours if the terminal has them.
struct HumanFormat: ReportFormat {
  static let name = "human"

  let style: Style
  /// Whether to print all evidence.
  let isVerbose: Bool

  init(_ style: Style, isVerbose: Bool) {
    self.style = style
    self.isVerbose = isVerbose
  }

  func text(_ result: RequestResult) -> String {
    (result.isDryRun ? text(result.plans) : "") + text(result.reports)
  }

  // MARK: - Words and marks

  func title(_ name: String, _ status: AuthorizationStatus) -> String {
    mark(status) + " " + style.bold(short(name))
  }

  /// Returns the short name of an accessor, such as `mic`.
  func short(_ name: String) -> String {
    AccessorRegistry.standard[name]?.aliases.first ?? name
  }

  func mark(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green("✔")
    case .limited: style.yellow("◐")
    case .denied, .restricted: style.red("✘")
    case .unavailable: style.dim("–")
    case .notDetermined: style.yellow("?")
    }
  }

  func word(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green(status.rawValue)
    case .limited, .notDetermined: style.yellow(status.rawValue)
    case .denied, .restricted: style.red(status.rawValue)
    case .unavailable: style.dim(status.rawValue)
    }
  }
}

extension Remedy {
  /// The command to type and the configuration line to add, on one line.
  var text: String {
    let typed = command.map(shellQuoted).joined(separator: " ")
    let command = typed.isEmpty ? "" : (needsRoot ? "sudo " : "") + typed
    let added = line.map { (command.isEmpty ? "add: " : ", add: ") + $0 } ?? ""
    return Sanitizer.clean(command + added)
  }
}

extension ResourceDecision {
  var errnoName: String? {
    if case .refused(let errno) = verdict { errno.description } else { nil }
  }
}
