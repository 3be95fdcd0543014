/// Everything that is known of one check: who asks, what is asked, and all that was read about it.
///
/// Checking, explaining, requesting and watching begin with the same steps, which stand here alone:
/// subject → resources → facts. What is decided on it is for the rooms that follow.
package final class Inspection: Sendable {
  /// The resources of one accessor, or a bare path.
  package struct Target: Hashable, Sendable {
    /// The accessor's name; `path` for a bare path.
    package var name: String
    /// What is judged, and what was looked for in vain.
    package var set: ResourceSet

    /// Creates a target.
    package init(name: String, set: ResourceSet) {
      self.name = name
      self.set = set
    }
  }

  /// What is judged, and how the kernel is asked.
  package let context: AccessContext
  /// Names of users and groups.
  package let users: UserDatabase
  /// On whose behalf.
  package let subject: Subject
  /// When the check began, in microseconds since 1970-01-01 UTC.
  package let time: Int64
  /// What is asked about, in order.
  package let targets: [Target]
  /// All that was read about the resources of every target.
  package let facts: AccessFacts
  /// Which inodes the facts are of, one for one; empty if only the facts are known.
  package let identities: [InodeIdentity]
  /// How the kernel may be asked: only on behalf of this very process.
  let method: Probe.Method
  /// The facts come from a document: nothing about this machine may be asked.
  package let isSaved: Bool

  /// The system that everything is read from.
  package var system: any System { context.system }

  /// Finds out who asks and what is needed, and reads the facts about it.
  ///
  /// - Parameters:
  ///   - context: What is judged.
  ///   - users: Names of users and groups; nil for those of the context's root.
  ///   - find: Tells what is asked about on behalf of a subject.
  /// - Throws: Where the subject or the root directory cannot be looked at, or as `find` does.
  package init(
    _ context: AccessContext, users: UserDatabase? = nil,
    _ find: (Subject) throws(PermissionError) -> [Target]
  ) throws(PermissionError) {
    self.context = context
    let users = users ?? UserDatabase(context.system, root: context.root)
    self.users = users
    subject = try Self.subject(context, users)
    time = context.system.realtime()
    targets = try find(subject)
    isSaved = false
    method = context.probesAsSelf
    var families = context.families
    var count = 0
    for target in targets {
      for resource in target.set.resources {
        count += 1
        if let family = resource.family, !families.contains(family) { families.append(family) }
      }
    }
    guard count > 0 else {
      facts = AccessFacts()
      identities = []
      return
    }
    do throws(Errno) {
      var reader = try FactsReader(
        context.system, process: subject.process, isSubject: subject.source == .current,
        families: families)
      for target in targets {
        for resource in target.set.resources { reader.read(resource.path) }
      }
      facts = reader.facts
      identities = reader.identities
    } catch {
      throw PermissionError(
        .system, "the root directory of \(subject.displayName) cannot be looked at", call: "openat",
        errno: error, advice: "ask as root")
    }
  }

  /// Takes facts that were read before, perhaps on another machine; the kernel is not asked.
  package init(saved facts: AccessFacts, subject: Subject, targets: [Target]) {
    context = AccessContext(subject: subject, probe: .none)
    users = .numbersOnly
    self.subject = subject
    time = context.system.realtime()
    self.targets = targets
    self.facts = facts
    identities = []
    method = .none
    isSaved = true
  }

  /// The context's subject, or the calling process.
  package static func subject(
    _ context: AccessContext, _ users: UserDatabase
  ) throws(PermissionError) -> Subject {
    if let given = context.subject { given } else { try users.currentSubject() }
  }

  /// Whether there was anything to judge.
  package var hasFacts: Bool { !facts.inodes.isEmpty }

  /// The evaluator of the facts, for the subject.
  package var evaluator: AccessEvaluator {
    AccessEvaluator(facts: facts, credentials: subject.credentials)
  }

  /// Returns the question about one resource.
  ///
  /// - Parameters:
  ///   - resource: One of the targets'.
  ///   - need: What is asked for; nil for what the context wants, or else what the resource needs.
  /// - Returns: The question.
  package func ask(_ resource: Resource, need: Permissions? = nil) -> Ask {
    Ask(
      resource: resource, need: need ?? context.need ?? resource.need,
      isDirectory: (resource.kind ?? facts.kind(of: resource.path)) == .directory)
  }
}
