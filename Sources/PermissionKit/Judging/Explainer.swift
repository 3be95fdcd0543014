/// Explains decisions on paths and on the resources of accessors, from facts that are read once.
package struct Explainer: Sendable {
  /// The explanation, with the facts that it is based on.
  package struct Explanation: Sendable {
    /// The subject, the targets and the facts.
    package let inspection: Inspection
    /// One report for each target, with the walk of each resource.
    package let reports: [AccessReport]

    /// Whether the reports are about files that nobody has made yet, and not about the facts.
    package var isOfFuture: Bool { inspection.context.foresees != nil }

    init(_ inspection: Inspection) {
      self.inspection = inspection
      reports =
        inspection.context.foresees?(inspection)
        ?? ResourceJudge(inspection, explains: true).reports()
    }
  }

  private let context: AccessContext

  /// Creates an explainer that judges in a context.
  package init(_ context: AccessContext) { self.context = context }

  /// Reads the facts about every resource of the targets, decides and explains.
  ///
  /// - Parameter find: Returns the targets for a subject; relative paths start at the working
  ///   directory.
  /// - Returns: One report for each target, with the walk of each resource.
  /// - Throws: If the subject or its root directory cannot be read, or if `find` throws.
  package func explain(
    _ find: (Subject) throws(PermissionError) -> [Inspection.Target]
  ) throws(PermissionError) -> Explanation {
    Explanation(try Inspection(context, find))
  }

  /// Explains decisions on saved facts, perhaps from another machine.
  ///
  /// Makes no system call and does not ask the kernel.
  ///
  /// - Parameters:
  ///   - targets: The resources to explain.
  ///   - subject: The credentials to judge for.
  ///   - facts: The facts that were saved.
  ///   - names: The names of users and groups that were saved.
  /// - Returns: One report for each target, with the walk of each resource.
  package static func explain(
    _ targets: [Inspection.Target], subject: Subject, facts: AccessFacts,
    names: IDNames = IDNames()
  ) -> Explanation {
    Explanation(Inspection(saved: facts, subject: subject, targets: targets, names: names))
  }
}
