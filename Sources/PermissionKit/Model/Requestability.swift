/// Who can make the change that gives missing access.
public enum Requestability: Hashable, Sendable {
  /// A request of this process can, if somebody agrees to the change.
  case now
  /// Only root can; a request of this process cannot become root, see `GrantOptions.elevation`.
  case onlyByRoot
  /// No request helps, for this reason: one line for people.
  case never(String)

  /// Whether a request of this process or of root could give access.
  public var isPossible: Bool {
    if case .never = self { false } else { true }
  }

  /// The user who makes the change: `caller` or `root`; nil if none can.
  package var maker: String? {
    switch self {
    case .now: "caller"
    case .onlyByRoot: "root"
    case .never: nil
    }
  }

  /// Why no request helps; nil if one does.
  package var obstacle: String? {
    if case .never(let reason) = self { reason } else { nil }
  }

  /// The value for reports with access.
  package static let notNeeded = Requestability.never("there is access")

  /// Creates the value for a change that root may have to make.
  package init(needsRoot: Bool, hasWayToRoot: Bool) {
    self = needsRoot && !hasWayToRoot ? .onlyByRoot : .now
  }
}
