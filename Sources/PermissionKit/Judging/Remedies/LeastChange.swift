/// Finds changes of modes and ACLs as values, and the effect of these changes on the subject.

extension AccessEvaluator {
  /// Whether mode, ACL and capabilities grant `want` on the inode; checks nothing else.
  package func permits(_ want: Permissions, of inode: Int) -> Bool {
    var procedure = KernelCall(self, "")
    return (try? procedure.generic(inode, want, .target)) != nil
  }

  /// Returns the permissions that let the subject do something: `w` on a folder does nothing without `x` by the same
  /// entry.
  func worth(of inode: Int) -> Permissions {
    var had = Permissions([.read, .write, .execute].filter { permits($0, of: inode) })
    if facts.inodes[inode].kind == .directory, !permits([.write, .execute], of: inode) {
      had.remove(.write)
    }
    return had
  }
}

/// Finds the smallest changes that give a subject the missing rights, by trying them on the facts.
///
/// Each component whose mode or ACL refuses gets the rights that the subject lacks there, for the
/// subject alone. The evaluator checks every step.
struct LeastChange {
  private(set) var facts: AccessFacts
  let credentials: Credentials
  /// Knows the groups of the subject that an inode without ACLs may be given to; by default there are none.
  var inspection: Inspection?
  /// These groups for files of an owner, the smallest first, once they were asked for.
  private var knownGroups: [UInt32: [(gid: UInt32, others: Int)]] = [:]
  private(set) var changes: [InodeChange] = []
  /// Whether changes are kept that alone give no access.
  private var keepsAll = false
  /// The places of `changes`: there may be one for each file of a folder.
  private var places: [Place: Int] = [:]

  private struct Place: Hashable {
    let inode: Int
    let attribute: InodeChange.Attribute
  }

  /// The values that one change replaced; cheaper than a copy of all facts and changes.
  private final class Undo {
    let inode: InodeFacts
    /// The change of the same attribute before; nil if there was none.
    let change: InodeChange?
    let place: Place

    init(inode: InodeFacts, change: InodeChange?, place: Place) {
      (self.inode, self.change, self.place) = (inode, change, place)
    }
  }

  init(facts: AccessFacts, credentials: Credentials) {
    self.facts = facts
    self.credentials = credentials
  }

  /// Adds the changes that give `need` on `path`.
  ///
  /// - Returns: The decision after the changes; if access is still not granted, no change is added.
  mutating func grant(
    _ need: Permissions, path: PathBytes, isDirectory: Bool, isSocket: Bool = false
  ) -> Decision {
    grant(need, asking: { $0.step == .walk ? .execute : need }) {
      $0.decide(need, path, isDirectory: isDirectory, isSocket: isSocket)
    }
  }

  /// Adds the changes that a question needs, also if something else then refuses, which no such change helps.
  ///
  /// - Returns: The decision after the changes.
  mutating func approach(_ ask: ResourceQuery) -> Decision {
    keepsAll = true
    defer { keepsAll = false }
    return ask.operation.map { allow($0, path: ask.path) }
      ?? grant(ask.need, path: ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
  }

  /// Adds the changes that allow an operation.
  ///
  /// - Returns: As `grant(_:path:isDirectory:isSocket:)`.
  mutating func allow(_ operation: OperationQuestion, path: PathBytes) -> Decision {
    grant(nil, asking: \.asked) { $0.decide(.operation(operation), path: path) }
  }

  private mutating func grant(
    _ need: Permissions?, asking: (Decision) -> Permissions, _ decide: (AccessEvaluator) -> Decision
  ) -> Decision {
    var undos: [Undo] = []
    // Each round repairs one component by one rule; real paths need far fewer than 64 rounds.
    for _ in 0..<64 {
      let decision = decide(AccessEvaluator(facts: facts, credentials: credentials))
      if decision.isGranted { return decision }
      guard decision.errno == .EACCES, let inode = decision.inode,
        var change = change(of: inode, decision.rule, asked: asking(decision))
      else {
        if !keepsAll { undo(undos) }
        return decision
      }
      change.isAsked = need != nil && decision.step != .walk
      undos.append(make(change))
    }
    undo(undos)
    return decide(AccessEvaluator(facts: facts, credentials: credentials))
  }

  /// Applies a change to the facts; merges the changes of one attribute of an inode.
  private mutating func make(_ change: InodeChange) -> Undo {
    let place = Place(inode: change.inode, attribute: change.attribute)
    let known = places[place]
    let undo = Undo(
      inode: facts.inodes[change.inode], change: known.map { changes[$0] }, place: place)
    facts.inodes[change.inode] = change.after
    if let known {
      changes[known].after = change.after
      changes[known].permissions.formUnion(change.permissions)
      changes[known].asked.formUnion(change.asked)
      changes[known].isAsked = changes[known].isAsked || change.isAsked
    } else {
      places[place] = changes.count
      changes.append(change)
    }
    return undo
  }

  /// Undoes changes, the last one first.
  private mutating func undo(_ undos: [Undo]) {
    for undo in undos.reversed() {
      facts.inodes[undo.place.inode] = undo.inode
      if let change = undo.change, let known = places[undo.place] {
        changes[known] = change
      } else {
        places[undo.place] = nil
        changes.removeLast()
      }
    }
  }

  /// Returns the change that gives the subject the missing rights on one inode.
  ///
  /// Nil if mode and ACL cannot be changed or do not refuse.
  private mutating func change(
    of index: Int, _ rule: Rule, asked: Permissions
  ) -> InodeChange? {
    let inode = facts.inodes[index]
    let mount = facts.mounts[inode.mount]
    // Nobody in this user namespace may change the inode of an owner whom it does not map.
    if let overflow = facts.overflow, inode.uid == overflow.uid, !overflow.uidIsMapped {
      return nil
    }
    // The terminal of another session is nobody's to open.
    guard !inode.isImmutable, !inode.isAppendOnly, mount.idMapping == nil,
      mount.fileSystem != "devpts", !mount.isOfNoPath, facts.keepsChanges(of: index)
    else {
      return nil
    }
    func change(bits shift: UInt16, _ tag: AccessControlList.Tag) -> InodeChange {
      var changed = inode
      changed.mode |= UInt16(asked.rawValue) << shift
      changed.acl?.set(tag, adding: asked)
      return InodeChange(
        inode: index, attribute: .mode, before: inode, after: changed, permissions: asked,
        asked: asked)
    }
    guard let bits = rule.bits else { return nil }
    switch bits {
    case .owner:
      // An ACL entry for the owner has no effect: the owner bits count.
      return change(bits: 6, .owner)
    case .group(isMaskEmpty: false) where inode.hasACLs == false,
      .other(isMaskEmpty: false) where inode.hasACLs == false:
      let groups = knownGroups[inode.uid] ?? inspection?.groups(besides: inode.uid) ?? []
      knownGroups[inode.uid] = groups
      let isMember = credentials.isMember(of: inode.gid)
      // Of the subject's groups, the owning one may be the smallest, and needs one change less.
      let owning = isMember ? groups.first { $0.gid == inode.gid }?.others : nil
      let smaller = groups.filter { $0.others < owning ?? .max }
      guard let given = inode.giving(asked, toOneOf: smaller.map(\.gid)),
        inspection?.hasCapabilities(index) == false
      else { return isMember ? change(bits: 3, .owningGroup) : change(bits: 0, .other) }
      return InodeChange(
        inode: index, attribute: .mode, before: inode, after: given, permissions: asked,
        asked: asked)
    case .group, .other, .aclUser, .aclOwningGroup, .aclGroup, .aclOther:
      // The new entry takes the subject out of group and other, so it includes the rights from
      // there.
      let evaluator = AccessEvaluator(facts: facts, credentials: credentials)
      let entry = asked.union(evaluator.worth(of: index))
      return InodeChange(
        inode: index, attribute: .accessACL, before: inode,
        after: inode.granting(entry, to: credentials.user.fileSystem), permissions: entry,
        asked: asked)
    }
  }
}
