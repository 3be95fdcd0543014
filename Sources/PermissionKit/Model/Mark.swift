/// The mark before a line of results, which shows whether there is access.
package enum Mark: Sendable {
  case yes, partly, no, none, unknown

  /// Creates the mark of a status.
  package init(_ status: AuthorizationStatus) {
    switch status {
    case .authorized: self = .yes
    case .limited: self = .partly
    case .denied, .restricted: self = .no
    case .unavailable: self = .none
    case .notDetermined: self = .unknown
    }
  }

  /// The mark in Unicode.
  package var text: String {
    switch self {
    case .yes: "✔"
    case .partly: "◐"
    case .no: "✘"
    case .none: "–"
    case .unknown: "?"
    }
  }

  /// The mark in ASCII, for other locales.
  package var ascii: String {
    switch self {
    case .yes: "ok"
    case .partly: "~"
    case .no: "no"
    case .none: "-"
    case .unknown: "?"
    }
  }
}
