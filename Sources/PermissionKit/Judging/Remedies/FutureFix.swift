/// Finds the least change after which new files in a folder give a subject the needed access.
///
/// Each way is tried on the facts: search permission on the path, then an entry of the default ACL,
/// the set-group-ID bit, the umask of the creator, or the last two together. Of the ways by which
/// nobody loses, the one by which the fewest others gain is chosen; of equals, the first.
struct FutureFix {
  private let inspection: Inspection
  private let resource: Resource
  private let folder: Int
  private let creation: Creation
  private let asked: [(kind: FileKind, need: Permissions)]

  /// - Parameters:
  ///   - inspection: The subject and the facts, with the default ACL of the folder.
  ///   - resource: The folder, by its path.
  ///   - folder: The index of the folder.
  ///   - creation: Who creates.
  ///   - asked: The kinds of new files, and what is needed of each.
  init(
    _ inspection: Inspection, _ resource: Resource, _ folder: Int, _ creation: Creation,
    _ asked: [(kind: FileKind, need: Permissions)]
  ) {
    self.inspection = inspection
    self.resource = resource
    self.folder = folder
    self.creation = creation
    self.asked = asked
  }

  private var subject: Credentials { inspection.subject.credentials }
  private var uid: UInt32 { subject.user.fileSystem }

  /// One way: the folder and the umask after the change.
  private final class Way {
    let folder: InodeFacts
    let creation: Creation
    /// The commands, before the others who gain are added.
    let remedies: [Remedy]

    init(folder: InodeFacts, creation: Creation, remedies: [Remedy]) {
      (self.folder, self.creation, self.remedies) = (folder, creation, remedies)
    }
  }

  /// Returns the changes, which must all be made; empty if none of these ways helps.
  func remedies() -> [Remedy] {
    var search = LeastChange(facts: inspection.facts, credentials: subject)
    guard search.grant(.execute, path: resource.path, isDirectory: true).isGranted else {
      return []
    }
    let steps = RemedyFinder(inspection).remedies(search.changes)
    let facts = search.facts
    if isGranted(facts, creation) { return steps }
    guard case let mount = facts.mounts[facts.inodes[folder].mount], mount.rules.storesModes else {
      let decision = Decision(.undetermined, .unreadable, step: .target, inode: folder)
      return MountOwner.remedy(inspection, decision).map { steps + [$0] } ?? []
    }
    guard facts.keepsChanges(of: folder), mount.idMapping == nil else { return [] }
    var least: (way: Way, gains: [String])?
    for way in ways(facts) {
      var changed = facts
      changed.inodes[folder] = way.folder
      guard isGranted(changed, way.creation), let gains = gains(facts, changed, way.creation),
        gains.count < least?.gains.count ?? .max
      else { continue }
      least = (way, gains)
    }
    guard let least else { return [] }
    return steps
      + least.way.remedies.map {
        var remedy = $0
        remedy.othersAffected = least.gains
        return remedy
      }
  }

  private func made(
    _ kinds: [FileKind], _ facts: AccessFacts, _ creation: Creation
  ) -> [InodeFacts] {
    kinds.compactMap { creation.made($0, in: folder, of: facts) }
  }

  private func isGranted(_ facts: AccessFacts, _ creation: Creation) -> Bool {
    let inodes = made(asked.map(\.kind), facts, creation)
    guard inodes.count == asked.count else { return false }
    var facts = facts
    facts.inodes += inodes
    let evaluator = AccessEvaluator(facts: facts, credentials: subject)
    return asked.indices.allSatisfy { index in
      evaluator.permits(asked[index].need, of: facts.inodes.count - inodes.count + index)
    }
  }

  /// Returns the others who gain; nil if somebody loses.
  private func gains(
    _ old: AccessFacts, _ new: AccessFacts, _ creation: Creation
  ) -> [String]? {
    var gains: [String] = []
    // Both are made, whatever is asked.
    let kinds: [FileKind] = [.regular, .directory]
    for (before, after) in zip(made(kinds, old, self.creation), made(kinds, new, creation)) {
      let classes = SubjectClasses(of: before, and: after, without: [uid])
      guard classes.losses.isEmpty else { return nil }
      for gain in classes.gains.map(inspection.users.describe) where !gains.contains(gain) {
        gains.append(gain)
      }
    }
    return gains
  }

  // MARK: - The ways

  private func ways(_ facts: AccessFacts) -> [Way] {
    let now = facts.inodes[folder]
    var ways: [Way] = []
    if now.hasACLs != false { ways.append(byDefaultACL(now, facts)) }
    let group = setGroup(now)
    if now.mode & 0o2000 == 0 { ways.append(group) }
    if Creation.heedsUmask(folder, of: facts) {
      for shift: UInt16 in [3, 0, 6] {
        let umask = umask(shift)
        ways.append(Way(folder: now, creation: umask.creation, remedies: [umask.remedy]))
        if now.mode & 0o2000 == 0 {
          ways.append(
            Way(
              folder: group.folder, creation: umask.creation,
              remedies: group.remedies + [umask.remedy]))
        }
      }
    }
    return ways
  }

  private func remedy(
    _ form: Remedy.Form, _ command: [PathBytes], needsRoot: Bool, _ persistence: Persistence
  ) -> Remedy {
    Remedy(
      form, command: command, needsRoot: needsRoot, persistence: persistence,
      othersAffected: [], outcome: .granted)
  }

  private func ofFolder(_ now: InodeFacts, _ form: Remedy.Form, _ command: [PathBytes]) -> Remedy {
    remedy(
      form, command, needsRoot: now.uid != uid,
      inspection.persistence(of: folder))
  }

  private var path: PathBytes {
    let known = inspection.facts.path(of: folder)
    // A command could take a relative path for an option.
    return known.isAbsolute ? known : PathBytes("./").appending(known)
  }

  /// Adds an entry for the subject, or raises the owner's if the subject makes the files.
  private func byDefaultACL(_ now: InodeFacts, _ facts: AccessFacts) -> Way {
    // A first default ACL gives what the umask leaves, which then counts no longer.
    let base = now.defaultACL ?? AccessControlList(mode: 0o777 & ~creation.umask)
    var entry = Permissions()
    for (inode, one) in zip(made(asked.map(\.kind), facts, creation), asked) {
      // The entry takes the subject out of the group and the others.
      entry.formUnion(one.need.union(SubjectClasses.rights(of: subject, on: inode)))
    }
    var folder = now
    if uid == creation.credentials.user.fileSystem {
      var list = base
      list.set(.owner, adding: entry)
      folder.defaultACL = list
    } else {
      var inherited = now
      (inherited.acl, inherited.mode) = (base, base.mode)
      folder.defaultACL = inherited.granting(entry, to: uid).acl
    }
    let change = InodeChange(
      inode: self.folder, attribute: .defaultACL, before: now, after: folder, permissions: entry,
      asked: entry)
    var remedy = ofFolder(now, .entry, inspection.facts.physical(change.command(path), self.folder))
    remedy.undo = inspection.facts.physical(change.undo(path), self.folder)
    if now.defaultACL == nil {
      remedy.note =
        "a default ACL replaces every umask in \(path): new files there get these permissions, whoever makes them"
    }
    return Way(folder: folder, creation: creation, remedies: [remedy])
  }

  /// Sets the set-group-ID bit, so that new files belong to the group of the folder.
  private func setGroup(_ now: InodeFacts) -> Way {
    var folder = now
    folder.mode |= 0o2000
    return Way(
      folder: folder, creation: creation,
      remedies: [ofFolder(now, .mode, ["chmod", "g+s", path])])
  }

  /// Returns a umask that leaves one class, at this place of the mode, the needed permissions.
  private func umask(_ shift: UInt16) -> (creation: Creation, remedy: Remedy) {
    var need = Permissions()
    for one in asked { need.formUnion(one.need) }
    var changed = creation
    changed.umask &= ~(UInt16(need.rawValue) << shift)
    let digits = String(changed.umask, radix: 8)
    let text = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    var remedy = remedy(.umask, ["umask", PathBytes(text)], needsRoot: false, .untilLogout)
    remedy.note =
      "where the program that makes the files starts: in its shell's profile, or as UMask=\(text) of its unit"
    return (changed, remedy)
  }
}
