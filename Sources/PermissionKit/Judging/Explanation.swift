/// Decisions on paths and on the resources of accessors, with the facts that they are based on.
package struct Explanation: Sendable {
  /// The subject, the targets and the facts.
  package let inspection: Inspection
  /// One report for each target, with the walk of each resource.
  package let reports: [AccessReport]

  /// Whether the question is that for permissions on what exists, which the facts alone answer.
  package var isOfPermissions: Bool {
    if case .permissions = inspection.context.question { program == nil } else { false }
  }
  /// The program whose own rule was asked; nil for the kernel's rules.
  private let program: String?

  /// Judges everything that was inspected, and explains the decisions.
  ///
  /// - Parameters:
  ///   - inspection: The subject, the targets and the facts.
  ///   - acceptsLimited: Whether the status `limited` counts as access.
  package init(_ inspection: Inspection, acceptsLimited: Bool = true) {
    self.inspection = inspection
    program = nil
    var reports = ResourceJudge(inspection, explains: true).reports()
    for index in reports.indices { reports[index].acceptsLimited = acceptsLimited }
    self.reports = reports
  }

  /// Judges files by a program's own rule on owners and modes.
  ///
  /// - Parameters:
  ///   - inspection: The subject, the targets and the facts.
  ///   - program: The program, one of `ProgramRules.programs`.
  /// - Throws: If the program has no rule about a file.
  package init(_ inspection: Inspection, usedBy program: String) throws(PermissionError) {
    self.inspection = inspection
    self.program = program
    reports = try ProgramJudge(program: program, inspection: inspection).reports()
  }
}
