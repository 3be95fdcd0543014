/// The data of one check: subject, question, and the facts that were read.
///
/// Checks, explanations, requests and watches begin with the same steps, which are only here:
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
  /// The way to ask the kernel, which is possible only for this process itself.
  let method: Probe.Method
  /// Whether the facts come from a document, so that this machine must not be asked.
  package let isSaved: Bool

  /// The system that all data is read from.
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
        families: families, root: context.root)
      for target in targets {
        for resource in target.set.resources {
          let index = reader.read(resource.path)
          context.question.read(
            &reader, index, resource.path, need: context.need ?? resource.need)
        }
      }
      var facts = reader.facts
      if let process = subject.process, facts.inodes.contains(where: \.kind.isDevice) {
        facts.deviceCgroup = ProcessLayers(context.system, process).deviceCgroup
      }
      self.facts = facts
      identities = reader.identities
      evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    } catch .ETIMEDOUT {
      throw PermissionError(
        .notAnswering, "the mounts of \(subject.displayName) take longer than 2 s to read",
        call: "read", errno: .ETIMEDOUT, advice: "see how many there are in /proc/PID/mountinfo")
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

  /// Creates an inspection of facts with what does not exist yet.
  ///
  /// It does not ask the kernel; each resource has its need.
  init(_ other: Inspection, foreseeing facts: AccessFacts, _ targets: [Target]) {
    var context = other.context
    (context.need, context.question) = (nil, .permissions)
    self.context = context
    (users, subject, time) = (other.users, other.subject, other.time)
    self.targets = targets
    self.facts = facts
    evaluator = AccessEvaluator(facts: facts, credentials: subject.credentials)
    (identities, method, isSaved) = ([], .none, other.isSaved)
  }

  /// Creates the same inspection, which asks through another system.
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
  package func ask(_ resource: Resource, need: Permissions? = nil) -> ResourceQuery {
    if case .operation(let operation) = context.question {
      return operation.ask(resource, facts)
    }
    let kind = resource.kind ?? facts.kind(of: resource.path)
    let resource = context.need.map(resource.needing) ?? resource
    var need = need ?? resource.need
    // Without x no name in a folder can be made or removed: may_create() and may_delete() of fs/namei.c.
    if kind == .directory, need.contains(.write) { need.insert(.execute) }
    return ResourceQuery(
      resource: resource, need: need,
      isDirectory: kind == .directory,
      // connect(2) needs w alone; of anything else a path is asked what open(2) says.
      isSocket: kind == .socket
        && (need == .write || resource.kind == .socket && context.need == nil))
  }
}

extension Inspection {
  /// The name below /dev by which a driver has registered a number; nil if none has.
  func registeredName(_ number: DeviceNumber) -> PathBytes? {
    let entry = context.root.appending(
      PathBytes("sys/dev/char/\(number.major):\(number.minor)/uevent"))
    return (try? system.machine(below: context.root).contents(of: entry, limit: 1 << 16))
      .flatMap(DeviceCatalog.nodeName)
  }
}

extension Inspection.Target {
  /// Creates a target for a path of any type.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened.
  ///   - context: The context of the check; its families decide what kind of device a node is.
  package init(path: PathBytes, in context: AccessContext) {
    let found = Self.found(path, context)
    let usual: Permissions =
      switch found?.kind {
      case .directory: [.read, .execute]
      case .characterDevice, .blockDevice: [.read, .write]
      // What connect(2) needs.
      case .socket: .write
      case .regular, .symbolicLink, .fifo, nil: .read
      }
    func isMeant(_ family: DeviceFamily) -> Bool {
      if let found {
        return found.kind == .characterDevice
          && family.contains(path, found.device, below: context.root, context.system)
      }
      // Nothing is there: a container may have been given none of them.
      return family.isPlace(path, below: context.root)
        || family.folder != "dev" && path == context.root.appending(family.folder)
    }
    var family = context.families.first(where: isMeant)
    if family == nil, found?.kind == .characterDevice {
      family = context.otherFamilies?().first(where: isMeant)
    }
    self.init(
      name: "path",
      set: ResourceSet(resources: [
        Resource(
          path: path, label: path.lastComponent.description, device: path.description,
          need: context.need ?? usual, kind: nil, family: family)
      ]))
  }

  /// Returns the kind of file at a path, as the judged process finds it; nil if nothing is visible
  /// there.
  private static func found(
    _ path: PathBytes, _ context: AccessContext
  ) -> (kind: FileKind?, device: DeviceNumber)? {
    let system = context.system.machine(below: context.root)
    if let process = context.subject?.process {
      let facts = try? FactsReader.facts(
        of: [path], context.system, process: process, isSubject: false)
      return facts.flatMap { facts in
        facts.target(of: path).map { index in
          let inode = facts.inodes[index]
          return (inode.kind, inode.device ?? DeviceNumber(major: 0, minor: 0))
        }
      }
    }
    // A look must neither wait for a server nor mount anything.
    guard let status = try? system.examiner(of: path)?.status(of: path) else {
      return nil
    }
    return (status.kind, status.device)
  }
}
