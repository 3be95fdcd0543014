/// Decisions on paths and on the resources of accessors, with the facts that they are based on.
package struct Explanation: Sendable {
  /// The subject, the targets and the facts.
  package let inspection: Inspection
  /// One report for each target, with the walk of each resource.
  package let reports: [AccessReport]

  /// Whether the reports are about files that nobody has made yet, and not about the facts.
  package var isOfFuture: Bool { inspection.context.foresees != nil }

  /// Decides on everything that was inspected, and explains it.
  package init(_ inspection: Inspection) {
    self.inspection = inspection
    reports =
      inspection.context.foresees?(inspection)
      ?? ResourceJudge(inspection, explains: true).reports()
  }
}
