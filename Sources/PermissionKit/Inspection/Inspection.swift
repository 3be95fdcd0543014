/// Everything that is known about one check: subject, question, and the facts that were read.
///
/// Checking, explaining, requesting and watching begin with the same steps, which are only here:
/// subject → resources → facts. Other types decide on these facts.
package final class Inspection: Sendable {
  /// The resources of one accessor, or of a plain path.
  package struct Target: Hashable, Sendable {
    /// The accessor's name; `path` for a plain path.
    package var name: String
    /// The resources to judge, and reports on the resources that were not found.
    package var set: ResourceSet

    /// Creates a target with these values.
    package init(name: String, set: ResourceSet) {
      self.name = name
      self.set = set
    }
  }

  /// The input of the check.
  package let context: AccessContext
  /// The names of users and groups.
  package let users: UserDatabase
  /// The subject whose access is judged.
  package let subject: Subject
  /// The start of the check, in microseconds since 1970-01-01 UTC.
  package let time: Int64
  /// The targets of the check, in order.
  package let targets: [Target]
  /// The facts about the resources of all targets.
  package let facts: AccessFacts
  /// An evaluator of the facts for the subject.
  package let evaluator: AccessEvaluator
  /// The identity of each inode of the facts, by index; empty if only the facts are known.
  package let identities: [InodeIdentity]
  /// How the kernel may be asked: only on behalf of this very process.
  let method: Probe.Method
  /// Whether the facts come from a document, so that this machine must not be asked.
  package let isSaved: Bool

  /// The system that everything is read from.
  package var system: any System { context.system }

  /// Determines the subject and the resources, and reads the facts.
  ///
  /// - Parameters:
  ///   - context: The input of the check.
  ///   - users: The names of users and groups; nil for the data base of the context's root.
  ///   - find: Returns the targets for a subject.
  /// - Throws: An error if the subject or the root directory cannot be read, or the error of
  ///   `find`.
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
      evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
      return
    }
    do throws(Errno) {
      var reader = try FactsReader(
        context.system, process: subject.process, isSubject: subject.source == .current,
        families: families, isOfOtherMachine: context.root != "/")
      for target in targets {
        for resource in target.set.resources {
          let index = reader.read(resource.path)
          if context.foresees != nil, let index { reader.readDefaultACL(index) }
        }
      }
      facts = reader.facts
      identities = reader.identities
      evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    } catch {
      throw PermissionError(
        .system, "the root directory of \(subject.displayName) cannot be opened", call: "openat",
        errno: error, advice: "try again as root")
    }
  }

  /// Creates an inspection of facts that were read before, perhaps on another machine.
  ///
  /// The kernel is not asked.
  package init(
    saved facts: AccessFacts, subject: Subject, targets: [Target], names: IDNames = IDNames()
  ) {
    context = AccessContext(subject: subject, probe: .none)
    users = UserDatabase(names)
    self.subject = subject
    time = context.system.realtime()
    self.targets = targets
    self.facts = facts
    evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    identities = []
    method = .none
    isSaved = true
  }

  /// Creates an inspection of facts as they will be, or would be, which asks neither the kernel nor
  /// this machine; each resource tells what it needs.
  init(_ other: Inspection, foreseeing facts: AccessFacts, _ targets: [Target]) {
    var context = other.context
    (context.need, context.foresees) = (nil, nil)
    self.context = context
    (users, subject, time) = (other.users, other.subject, other.time)
    self.targets = targets
    self.facts = facts
    evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    (identities, method, isSaved) = ([], .none, true)
  }

  /// Creates the same inspection, which asks by another system.
  init(_ other: Inspection, by system: any System) {
    var context = other.context
    context.system = system
    self.context = context
    (users, subject, time, targets) = (other.users, other.subject, other.time, other.targets)
    (facts, identities, method, isSaved) = (
      other.facts, other.identities, other.method, other.isSaved
    )
    evaluator = other.evaluator
  }

  /// Returns the subject of the context, or the calling process if the context has none.
  package static func subject(
    _ context: AccessContext, _ users: UserDatabase? = nil
  ) throws(PermissionError) -> Subject {
    if let given = context.subject { return given }
    let users = users ?? UserDatabase(context.system, root: context.root)
    return try users.subject(.current)
  }

  /// The names of all users and groups in the facts, and of the subject's.
  package var names: IDNames {
    let ids = subject.credentials
    var (users, groups) = (Set([ids.user.fileSystem]), Set(ids.groups + [ids.group.fileSystem]))
    for inode in facts.inodes {
      users.insert(inode.uid)
      groups.insert(inode.gid)
      for entry in inode.acl?.entries ?? [] {
        if entry.tag == .user { users.insert(entry.id) }
        if entry.tag == .group { groups.insert(entry.id) }
      }
    }
    return self.users.names(users: users, groups: groups)
  }

  /// Whether there are facts to judge.
  package var hasFacts: Bool { !facts.inodes.isEmpty }

  /// Returns the question about one resource.
  ///
  /// - Parameters:
  ///   - resource: A resource of one of the targets.
  ///   - need: The permissions to ask for; nil for the context's, or else the resource's, need.
  /// - Returns: The question.
  package func ask(_ resource: Resource, need: Permissions? = nil) -> Ask {
    let kind = resource.kind ?? facts.kind(of: resource.path)
    let resource = context.need.map(resource.needing) ?? resource
    return Ask(
      resource: resource, need: need ?? resource.need,
      isDirectory: kind == .directory, isSocket: kind == .socket)
  }
}
