/// Explains several resources on facts that are read once and shared.
public struct Explainer: Sendable {
  /// What to explain: the resources of an accessor, or a bare path.
  public struct Target: Hashable, Sendable {
    /// The accessor's name; `path` for a bare path.
    public var name: String
    /// What is judged, and what was looked for in vain.
    public var set: ResourceSet

    /// Makes one of its parts.
    public init(name: String, set: ResourceSet) {
      self.name = name
      self.set = set
    }

    /// A bare path, whatever it names.
    public init(path: PathBytes, need: Permissions? = nil, in system: any System) {
      let kind = (try? system.kind(of: path)) ?? nil
      let usual: Permissions =
        switch kind {
        case .directory: [.read, .execute]
        case .characterDevice, .blockDevice: [.read, .write]
        default: .read
        }
      name = "path"
      set = ResourceSet(resources: [
        Resource(
          path: path, label: path.lastComponent.description, device: path.description,
          need: need ?? usual, kind: nil)
      ])
    }
  }

  /// The explanation, with all that it was made on.
  public struct Explanation: Hashable, Sendable {
    /// On whose behalf it was judged.
    public var subject: Subject
    /// All that was read.
    public var facts: AccessFacts
    /// What was asked, in order.
    public var targets: [Target]
    /// What was found out, a report for each target.
    public var reports: [AccessReport]
  }

  private let context: AccessContext

  /// Makes one that explains in a context.
  public init(_ context: AccessContext) { self.context = context }

  /// Reads the facts about every resource of `targets`, decides and explains.
  ///
  /// - Parameter targets: Resources and paths; relative paths start at the working directory.
  /// - Returns: A report for each target, with the walk of each resource.
  /// - Throws: Where the subject or the root directory cannot be looked at.
  public func explain(_ targets: [Target]) throws(PermissionError) -> Explanation {
    let users = UserDatabase(context.system, root: context.root)
    let subject = if let given = context.subject { given } else { try users.currentSubject() }
    let facts: AccessFacts
    do throws(Errno) {
      facts = try FactsReader.facts(
        of: targets.flatMap { $0.set.resources.map(\.path) }, context.system,
        process: subject.process, isSubject: subject.source == .current)
    } catch {
      throw PermissionError(
        .system, "the root directory of \(subject.displayName) cannot be looked at", call: "openat",
        errno: error, advice: "ask as root")
    }
    return explain(targets, subject, facts, users)
  }

  /// Decides and explains on facts that were read before, perhaps on another machine.
  ///
  /// No system call is made, and the kernel is not asked.
  public static func explain(
    _ targets: [Target], subject: Subject, facts: AccessFacts, need: Permissions? = nil
  ) -> Explanation {
    var offline = AccessContext(probe: .none, need: need)
    offline.isOffline = true
    return Explainer(offline).explain(targets, subject, facts, UserDatabase.numbersOnly)
  }

  private func explain(
    _ targets: [Target], _ subject: Subject, _ facts: AccessFacts, _ users: UserDatabase
  ) -> Explanation {
    let judge = ResourceJudge(
      context: context, users: users, subject: subject, facts: facts, explains: true)
    let diagnosis = Diagnosis(context: context, users: users, subject: subject, facts: facts)
    let reports = targets.map { target in
      ResourceAccessor.report(
        target.name,
        judge.reports(on: target.set.resources)
          + target.set.absences.map(diagnosis.refine(absence:)))
    }
    return Explanation(subject: subject, facts: facts, targets: targets, reports: reports)
  }
}
