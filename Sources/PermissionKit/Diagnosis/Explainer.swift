/// Explains paths and the resources of accessors, on facts that are read once and shared.
package struct Explainer: Sendable {
  /// The explanation, with everything that it was made on.
  package struct Explanation: Sendable {
    /// On whose behalf, what was asked, and all that was read.
    package let inspection: Inspection
    /// What was found out: a report on each target, with the walk of each resource.
    package let reports: [AccessReport]

    init(_ inspection: Inspection) {
      self.inspection = inspection
      reports = ResourceJudge(inspection, explains: true).reports()
    }
  }

  private let context: AccessContext

  /// Creates an explainer that judges within a context.
  package init(_ context: AccessContext) { self.context = context }

  /// Reads the facts about every resource of the targets, decides and explains.
  ///
  /// - Parameter find: Tells what to explain on behalf of a subject; relative paths start at the
  ///   working directory.
  /// - Returns: A report for each target, with the walk of each resource.
  /// - Throws: Where the subject or the root directory cannot be looked at, or as `find` does.
  package func explain(
    _ find: (Subject) throws(PermissionError) -> [Inspection.Target]
  ) throws(PermissionError) -> Explanation {
    Explanation(try Inspection(context, find))
  }

  /// Decides and explains on facts that were read before, perhaps on another machine.
  ///
  /// No system call is made, and the kernel is not asked.
  package static func explain(
    _ targets: [Inspection.Target], subject: Subject, facts: AccessFacts
  ) -> Explanation {
    Explanation(Inspection(saved: facts, subject: subject, targets: targets))
  }
}

extension Inspection.Target {
  /// Creates the target for a bare path, whatever it names.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened.
  ///   - context: What is judged; its families tell what kind of device a node is.
  package init(path: PathBytes, in context: AccessContext) {
    let status = try? context.system.status(of: path)
    let usual: Permissions =
      switch status?.kind {
      case .directory: [.read, .execute]
      case .characterDevice, .blockDevice: [.read, .write]
      case .regular, .symbolicLink, .fifo, .socket, nil: .read
      }
    let family = context.families.first { family in
      if let status {
        return status.kind == .characterDevice
          && family.contains(path, status.device, below: context.root, context.system)
      }
      // Nothing is there: a container may have been given none of them.
      return family.isPlace(path, below: context.root)
        || family.folder != "dev" && path == context.root.appending(family.folder)
    }
    self.init(
      name: "path",
      set: ResourceSet(resources: [
        Resource(
          path: path, label: path.lastComponent.description, device: path.description,
          need: context.need ?? usual, kind: nil, family: family)
      ]))
  }
}
