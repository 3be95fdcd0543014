/// Explains decisions on paths and on the resources of accessors, from facts that are read once.
package struct Explainer: Sendable {
  /// The explanation, with the facts that it is based on.
  package struct Explanation: Sendable {
    /// The subject, the targets and the facts.
    package let inspection: Inspection
    /// One report for each target, with the walk of each resource.
    package let reports: [AccessReport]

    init(_ inspection: Inspection) {
      self.inspection = inspection
      reports = ResourceJudge(inspection, explains: true).reports()
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

extension Inspection.Target {
  /// Creates a target for a path of any type.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened.
  ///   - context: What is judged; its families tell what kind of device a node is.
  package init(path: PathBytes, in context: AccessContext) {
    // A look must neither wait for a server nor mount anything.
    let isNear = context.system.reach(path) == .immediate
    let status = isNear ? try? context.system.status(of: path) : nil
    let usual: Permissions =
      switch status?.kind {
      case .directory: [.read, .execute]
      case .characterDevice, .blockDevice: [.read, .write]
      // What connect(2) needs.
      case .socket: .write
      case .regular, .symbolicLink, .fifo, nil: .read
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
