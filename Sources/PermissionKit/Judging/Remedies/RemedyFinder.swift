/// Finds the smallest changes of mode and ACL that give the subject access.
struct RemedyFinder {
  private let inspection: Inspection
  /// The user whose files may be changed: the user who asks, or the subject if root asks.
  private let owner: UInt32
  /// The same user, who may give his files to his groups, see chgrp_ok() of fs/attr.c.
  private let giver: Credentials

  init(_ inspection: Inspection) {
    self.inspection = inspection
    let own = inspection.isSaved ? nil : try? inspection.system.credentials()
    let asks = own.flatMap { $0.isRoot ? nil : $0 }
    giver = asks ?? inspection.subject.credentials
    owner = giver.user.fileSystem
  }

  /// Returns the changes in their order; empty if no change of mode or ACL gives access.
  func remedies(_ ask: ResourceQuery) -> [Remedy] {
    remedies(changes(ask, inspection.facts), of: ask)
  }

  /// Returns the changes that give access by these facts; empty if none does.
  func changes(_ ask: ResourceQuery, _ facts: AccessFacts) -> [InodeChange] {
    var least = LeastChange(facts: facts, credentials: inspection.subject.credentials)
    least.inspection = inspection
    let decision =
      ask.operation.map { least.allow($0, path: ask.path) }
      ?? least.grant(
        ask.need, path: ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
    return decision.isGranted ? least.changes : []
  }

  /// Returns the same changes as root makes them on the machine that runs the container.
  ///
  /// - Returns: Empty if what is to change is the container's own, or if an id is none there.
  func remedies(_ ask: ResourceQuery, on host: HostSide) -> [Remedy] {
    var facts = inspection.facts
    // There every owner is known.
    facts.overflow = nil
    var remedies: [Remedy] = []
    for change in changes(ask, facts) {
      let mount = facts.mounts[change.before.mount]
      guard let place = host.path(of: facts.path(of: change.inode), on: mount),
        let command = host.command(change, place.path, inspection.facts.overflow)
      else { return [] }
      let uid = inspection.subject.credentials.user.fileSystem
      let classes = SubjectClasses(of: change.before, and: change.after, without: [uid])
      var remedy = Remedy(
        .hostEntry, command: command, needsRoot: true,
        persistence: Persistence(change.before.kind, on: mount.fileSystem, at: mount.point),
        othersAffected: classes.gains.map(inspection.users.describe), outcome: .granted)
      remedy.note = place.meaning
      remedies.append(remedy)
    }
    return remedies
  }

  /// Returns changes as commands, with the others who gain, and what else they open.
  ///
  /// - Parameters:
  ///   - changes: The changes, which are made together.
  ///   - ask: The question; nil for several.
  ///   - asksAll: Whether everything in the folders was asked for, so that reaching it is nothing else.
  /// - Returns: A remedy for each change.
  func remedies(
    _ changes: [InodeChange], of ask: ResourceQuery? = nil, asksAll: Bool = false
  ) -> [Remedy] {
    var remedies = changes.flatMap { [handover(for: $0)].compactMap { $0 } + [remedy(for: $0)] }
    if remedies.isEmpty { return [] }
    let openings = changes.flatMap { change in
      change.openings(
        at: inspection.facts.path(of: change.inode), for: inspection.subject.credentials
      ).filter { $0.rank != .below || !asksAll || !change.isAsked }
    }
    remedies[0].objections = changes.flatMap { change in
      ProgramRules.objections(
        to: change, at: inspection.facts.path(of: change.inode),
        named: ask.flatMap {
          inspection.facts.target(of: $0.path) == change.inode ? [$0.path] : nil
        } ?? [],
        readsContents: changes.count < 10 && !inspection.isSaved, inspection)
    }
    remedies[0].opens = Opening.sentence(openings, for: inspection.subject)
    return remedies
  }

  /// Returns the step that gives an inode without ACLs to a group of the subject; nil if the group stays.
  private func handover(for change: InodeChange) -> Remedy? {
    guard change.before.gid != change.after.gid else { return nil }
    let path = inspection.operand(change.inode)
    let users = inspection.users
    var remedy = Remedy(
      .owningGroup, command: ["chgrp", PathBytes(users.operand(ofGroup: change.after.gid)), path],
      needsRoot: change.before.uid != owner || !giver.isMember(of: change.after.gid),
      persistence: inspection.persistence(of: change.inode), othersAffected: [], outcome: .granted)
    remedy.isFirstStep = true
    remedy.undo = ["chgrp", PathBytes(users.operand(ofGroup: change.before.gid)), path]
    return remedy
  }

  private func remedy(for change: InodeChange) -> Remedy {
    let facts = inspection.facts
    let path = inspection.operand(change.inode)
    let uid = inspection.subject.credentials.user.fileSystem
    let classes = SubjectClasses(of: change.before, and: change.after, without: [uid])
    var remedy = Remedy(
      change.attribute == .mode ? .mode : .entry,
      command: facts.physical(change.command(path), change.inode),
      needsRoot: change.before.uid != owner,
      persistence: inspection.persistence(of: change.inode),
      othersAffected: inspection.others(classes.gains, besides: change.before.uid),
      outcome: .granted)
    remedy.undo = facts.physical(change.undo(path), change.inode)
    remedy.note =
      change.before.gid == change.after.gid
      ? inspection.lastingForm(of: change.inode) : inspection.attributeRule(change)
    return remedy
  }
}
