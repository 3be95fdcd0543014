/// The result of one cause on the evidence about one resource.
package struct Finding {
  /// The part of the findings of earlier causes that this one replaces; of the status the last one that is given
  /// counts in any case.
  package enum Replaced: String, Sendable {
    case nothing
    case reasons
    case remedies
    /// Reasons and remedies.
    case all
  }

  /// The status; nil to leave it to the other causes.
  package var status: AuthorizationStatus?
  package var reasons: [Reason] = []
  package var remedies: [Remedy] = []
  package var replaces = Replaced.nothing
}

/// The findings of all causes together: the status, the reasons and the remedies of one resource.
struct Verdict {
  private(set) var status = AuthorizationStatus.notDetermined
  private(set) var reasons: [Reason] = []
  private(set) var remedies: [Remedy] = []

  /// Adds the findings of causes, in their order: a later one replaces what it says that it replaces.
  init(_ causes: [any Cause], _ evidence: Evidence) {
    for cause in causes {
      if let finding = cause.find(in: evidence) { add(finding) }
    }
  }

  /// Creates the verdict of one finding.
  init(_ finding: Finding) { add(finding) }

  private mutating func add(_ finding: Finding) {
    switch finding.replaces {
    case .nothing: break
    case .reasons: reasons = []
    case .remedies: remedies = []
    case .all: (reasons, remedies) = ([], [])
    }
    status = finding.status ?? status
    reasons += finding.reasons
    remedies += finding.remedies
  }
}
