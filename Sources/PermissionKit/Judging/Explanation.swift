/// Decisions on paths and on the resources of accessors, with the facts that they are based on.
package struct Explanation: Sendable {
  /// The subject, the targets and the facts.
  package let inspection: Inspection
  /// One report for each target, with the walk of each resource.
  package let reports: [AccessReport]

  /// Whether the reports answer an `OtherQuestion`.
  package var isOfOtherQuestion: Bool { inspection.context.question != nil }

  /// Judges everything that was inspected, and explains the decisions.
  ///
  /// - Parameters:
  ///   - inspection: The subject, the targets and the facts.
  ///   - acceptsLimited: Whether the status `limited` counts as access.
  package init(_ inspection: Inspection, acceptsLimited: Bool = true) {
    self.inspection = inspection
    var reports =
      inspection.context.question?.reports(inspection)
      ?? ResourceJudge(inspection, explains: true).reports()
    for index in reports.indices { reports[index].acceptsLimited = acceptsLimited }
    self.reports = reports
  }
}
