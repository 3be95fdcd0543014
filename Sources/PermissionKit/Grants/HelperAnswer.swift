internal import JSONSyntax

/// The answer of permcheck-helper: one line of JSON on its standard output.
public struct HelperAnswer: Hashable, Sendable {
  /// The result of the helper's work.
  package enum Outcome: String, Hashable, Sendable {
    /// The user got access.
    case granted
    /// Access was taken back.
    case revoked
    /// There was nothing to change.
    case nothingToChange = "nothing-to-change"
    /// A device is not found, so its grant is still open.
    case missing
    /// The helper failed.
    case failed
    /// The arguments or the caller are wrong.
    case misused

    /// The exit status of the helper.
    package var exitStatus: ExitStatus {
      switch self {
      case .granted, .revoked, .nothingToChange: .authorized
      case .missing: .notDetermined
      case .misused: .usage
      case .failed: .failure
      }
    }
  }

  /// A change that was made or undone.
  package struct Change: Hashable, Sendable {
    /// The file.
    package var place: String
    /// The change, for people.
    package var summary: String

    /// Creates the description of a grant.
    package init(_ grant: Grant) {
      self.init(place: grant.place, summary: grant.change.command.summary)
    }

    init(place: String, summary: String) {
      self.place = place
      self.summary = summary
    }
  }

  /// The result.
  package var outcome: Outcome
  /// Why the outcome is `failed` or `misused`, for people; nil for others.
  package var message: String?
  /// The status of the user after a grant, as the evaluator predicts it.
  package var status: AuthorizationStatus?
  /// The id of what was given, for `revoke --request`; nil if nothing was.
  package var request: String?
  /// When the grant ends by itself, in microseconds since 1970 (UTC); nil if no time ends it.
  package var expires: Int64?
  /// The changes.
  package var changes: [Change] = []
  /// Further notes, for people.
  package var notes: [String] = []

  /// Creates an answer without changes.
  package init(_ outcome: Outcome, _ message: String?) {
    self.outcome = outcome
    self.message = message
  }

  /// Parses an answer; nil if the bytes are no answer.
  ///
  /// - Parameter bytes: The standard output of the program.
  public init?(_ bytes: [UInt8]) {
    guard let json = try? JSONReader().value(from: bytes),
      let answer = try? Self.record.codec(HelperAnswer(.failed, nil)).decode(json)
    else { return nil }
    self = answer
  }

  /// The answer as one line, with a newline.
  package var line: String { JSONWriter(sortsKeys: true).text(Self.record.json(self)) + "\n" }

  private static let record = JSONRecord<HelperAnswer>(
    [
      .always("schemaVersion", ["const": 1]) { _ in 1 },
      .required("outcome", \.outcome, .name), .optional("message", \.message, .string),
      .optional("status", \.status, .name), .optional("request", \.request, .string),
      .optional("expires", \.expires, .integer),
      .required("changes", \.changes, change.list),
      .required("notes", \.notes, JSONCodec<String>.string.list),
    ], about: "The answer of permcheck-helper.")

  private static let change = JSONRecord<Change>([
    .required("place", \.place, .string), .required("change", \.summary, .string),
  ]).codec(Change(place: "", summary: ""))
}
