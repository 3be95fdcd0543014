/// Decisions on paths and on the resources of accessors, with the facts that they are based on.
package struct Explanation: Sendable {
  /// The subject, the targets and the facts.
  package let inspection: Inspection
  /// One report for each target, with the walk of each resource.
  package let reports: [AccessReport]

  /// Whether the reports answer another question than the facts do by themselves.
  package var isOfOtherQuestion: Bool { inspection.context.question != nil }

  /// Decides on everything that was inspected, and explains it.
  package init(_ inspection: Inspection) {
    self.inspection = inspection
    reports =
      inspection.context.question?.reports(inspection)
      ?? ResourceJudge(inspection, explains: true).reports()
  }
}
