import PermissionKit

/// How results are printed.
///
/// A new format is one file, and one line in `ReportFormats.all`.
/// A format must know how to print a check; what it says nothing else about is printed as a check, or
/// refused where there are no reports.
protocol ReportFormat: SendableMetatype {
  /// The name that asks for it: `--format plain`.
  static var name: String { get }

  /// Creates the format.
  ///
  /// - Parameters:
  ///   - style: Colours and width of the terminal.
  ///   - isVerbose: Print everything that was seen.
  init(_ style: Style, isVerbose: Bool)

  /// Returns what permcheck check prints.
  func text(_ result: CheckResult) throws -> String
  /// Returns what permcheck explain and evaluate print.
  func text(_ result: ExplainResult) throws -> String
  /// Returns what permcheck request prints.
  func text(_ result: RequestResult) throws -> String
  /// Returns one line of permcheck watch.
  func text(_ line: WatchLine) throws -> String
  /// Returns what permcheck list prints.
  func text(_ listing: AccessorListing) throws -> String
  /// Returns what permcheck list --grants prints.
  func text(_ listing: GrantListing) throws -> String
  /// Returns what permcheck log prints.
  func text(_ summary: LogSummary) throws -> String
}

extension ReportFormat {
  func text(_ result: ExplainResult) throws -> String {
    try text(CheckResult(reports: result.explanation.reports, status: result.status))
  }

  func text(_ result: RequestResult) throws -> String {
    try text(CheckResult(reports: result.reports, status: result.status))
  }

  func text(_ line: WatchLine) throws -> String { throw Self.unsupported("watch") }
  func text(_ listing: AccessorListing) throws -> String { throw Self.unsupported("list") }
  func text(_ listing: GrantListing) throws -> String { throw Self.unsupported("list --grants") }
  func text(_ summary: LogSummary) throws -> String { throw Self.unsupported("log") }

  private static func unsupported(_ command: String) -> PermissionError {
    PermissionError(
      .invalidArgument, "permcheck \(command) has no format \(name)",
      advice: "use human, plain or json")
  }
}

/// The formats that can be chosen by name.
enum ReportFormats {
  /// In the order in which they are told; the first is the default.
  static let all: [any ReportFormat.Type] = [HumanFormat.self, PlainFormat.self, JSONFormat.self]

  /// Returns the format of that name; nil if there is none.
  static func named(_ name: String) -> (any ReportFormat.Type)? { all.first { $0.name == name } }
}
