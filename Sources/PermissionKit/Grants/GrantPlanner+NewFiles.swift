// Files that are created later.
extension GrantPlanner {
  /// Adds default ACL entries to directories, so that new files are included.
  ///
  /// A new default ACL replaces the umask and so may give access to others. The function adds one only
  /// if the directory has a default ACL already, or if others may gain.
  func addDefaults(_ plan: inout GrantPlan, _ least: LeastChange) throws(PermissionError) {
    var (isLeftOut, isWithoutACLs, folder) = (false, false, Int?.none)
    var words = NewFileWords()
    for ask in request.asks {
      guard let index = facts.inode(at: ask.path), facts.inodes[index].kind == .directory else {
        continue
      }
      var inode = least.facts.inodes[index]
      let path = facts.path(of: index)
      isWithoutACLs = isWithoutACLs || inode.hasACLs == false
      if inode.hasACLs == false { continue }
      do throws(Errno) {
        let descriptor = try open(index, path)
        defer { system.close(descriptor) }
        inode.defaultACL = try InodeGrant.state(.defaultACL, of: descriptor, system).acl
      } catch {
        throw PermissionError(
          .changeFailed, "\(path) cannot be read", path: path, call: "getxattr", errno: error)
      }
      guard inode.defaultACL != nil || request.allowsOthers else {
        isLeftOut = true
        continue
      }
      // As setfacl(1) writes it: r-X. Files get no x by this, because they are made without.
      let need = ask.need.union(.execute)
      let (step, change, _) = try step(
        InodeChange(
          inode: index, attribute: .defaultACL, before: inode, after: inode, permissions: need,
          asked: need), inode)
      // What only another grant gives ends with that one.
      guard change.after.defaultACL != inode.defaultACL || mayInherit else { continue }
      let (gains, losses) = effect(of: change.after, instead: inode, index)
      if let loss = losses.first {
        words.add(.closed, loss, path)
        continue
      }
      for gain in gains where !plan.othersAffected.contains(gain) {
        plan.othersAffected.append(gain)
      }
      look(atNewFilesIn: path, inode, change.after, ask.need, &words)
      plan.steps.append(step)
      folder = folder ?? index
    }
    plan.othersAffected += words.others
    plan.warnings += words.sentences(request.subject.displayName)
    if let folder {
      let makers = makers(least.facts.inodes[folder])
      plan.warnings.append(
        "new files: those that \(makers) there or below get the same entry, which is removed when the access ends; files moved or linked out of \(facts.path(of: folder)) keep it"
      )
    }
    if isWithoutACLs {
      plan.warnings.append("\(Self.left), because the file system has no default ACLs")
    }
    if isLeftOut {
      plan.warnings.append(
        "\(Self.left), because a default ACL would replace everybody's umask; to include them, allow others to get access (--allow-others)"
      )
    }
  }

  private static let left = "new files there are not included"

  /// Notes what is to be said of new files in a folder whose default ACL changes.
  private func look(
    atNewFilesIn path: PathBytes, _ before: InodeFacts, _ after: InodeFacts, _ need: Permissions,
    _ words: inout NewFileWords
  ) {
    guard let new = after.defaultACL else { return }
    guard let old = before.defaultACL else {
      let mode = new.unnamed.mode
      let file = InodeFacts(kind: .regular, mode: mode & 0o666, uid: 0, gid: 0)
      let folder = InodeFacts(kind: .directory, mode: mode, uid: 0, gid: 0)
      return words.add(
        .fixed, "\(file.summary.modeText) and new folders \(folder.summary.modeText)", path)
    }
    let credentials = request.subject.credentials
    let names: Permissions = [.write, .execute]
    let (had, has) = (
      after.rightsOnNew(old, of: credentials), after.rightsOnNew(new, of: credentials)
    )
    let made = after.rightsOnNew(old, of: credentials, .directory).all
    if has.all.isSuperset(of: names), !made.isSuperset(of: names), !need.contains(.write) {
      // On files w is worth something without x, so it cannot be left out.
      words.add(.names, "", path)
    }
    let lost = had.some.subtracting(has.all)
    if !lost.isEmpty { words.add(.lost, lost.letters, path) }
  }

  /// Whether the user has a grant on a default ACL, from which files may have inherited access.
  private var mayInherit: Bool {
    request.journaled.entries.contains {
      $0.uid == request.uid && $0.inodeGrant?.attribute == .defaultACL
    }
  }

  /// Returns the others who gain or lose access to new files by another default ACL of the
  /// directory.
  ///
  /// Empty if there was no default ACL: then the umasks of others decide.
  private func effect(
    of after: InodeFacts, instead before: InodeFacts, _ index: Int
  ) -> (gains: [String], losses: [String]) {
    var (gains, losses): ([String], [String]) = ([], [])
    guard before.defaultACL != nil else { return (gains, losses) }
    let creation = Creation(credentials: own, umask: 0)
    func made(_ kind: FileKind, _ folder: InodeFacts) -> InodeFacts? {
      var facts = facts
      facts.inodes[index] = folder
      return creation.made(kind, in: index, of: facts)
    }
    for kind in [FileKind.regular, .directory] {
      guard let old = made(kind, before), let new = made(kind, after) else { continue }
      let classes = SubjectClasses(of: old, and: new, without: [request.uid])
      gains += classes.gains.map { "\(request.users.describe($0)) of new files" }
      losses += classes.losses.map(request.users.describe).filter { !losses.contains($0) }
    }
    return (gains, losses)
  }
  /// The users who can make files in a directory, for people: "ada and group family make".
  private func makers(_ inode: InodeFacts) -> String {
    let list = inode.acl ?? AccessControlList(mode: inode.mode)
    let limit = list.mask ?? .all
    var names: [String] = []
    for entry in list.entries {
      let rights = entry.isMasked ? entry.permissions.intersection(limit) : entry.permissions
      guard rights.isSuperset(of: [.write, .execute]) else { continue }
      switch entry.tag {
      case .owner: names.append(request.users.userName(inode.uid))
      case .user: names.append(request.users.userName(entry.id))
      case .owningGroup: names.append("group \(request.users.groupName(inode.gid))")
      case .group: names.append("group \(request.users.groupName(entry.id))")
      case .other: names = ["everybody"]
      case .mask: break
      }
    }
    if names.isEmpty { return "root makes" }
    let last = names.removeLast()
    let isOne = names.isEmpty && !last.hasPrefix("group ")
    return (names.isEmpty ? last : names.joined(separator: ", ") + " and " + last)
      + (isOne ? " makes" : " make")
  }
}

extension InodeFacts {
  /// Returns the permissions of a subject on what is made here with a default ACL, whatever mode it is made with.
  ///
  /// Where a new file gets the group of its maker, nobody knows whether that is one of the subject's.
  ///
  /// - Parameters:
  ///   - list: The default ACL.
  ///   - credentials: The subject; its capabilities do not count.
  ///   - kind: What is made; in a folder w counts where the same entry gives x.
  /// - Returns: The rights whoever makes them, and those where one maker or another does.
  func rightsOnNew(
    _ list: AccessControlList, of credentials: Credentials, _ kind: FileKind = .regular
  ) -> (all: Permissions, some: Permissions) {
    func rights(_ gid: UInt32) -> Permissions {
      var made = InodeFacts(
        kind: kind, mode: list.mode, uid: AccessControlList.Entry.undefinedID, gid: gid)
      made.acl = list
      return SubjectClasses.rights(of: credentials, on: made)
    }
    if mode & 0o2000 != 0 { return (rights(gid), rights(gid)) }
    let groups = [AccessControlList.Entry.undefinedID, credentials.group.fileSystem].map(rights)
    return (groups[0].intersection(groups[1]), groups[0].union(groups[1]))
  }
}

/// The words about new files in many folders, each said once.
private struct NewFileWords {
  enum Kind { case closed, fixed, names, lost }

  private var known: [(kind: Kind, detail: String, paths: [PathBytes])] = []

  mutating func add(_ kind: Kind, _ detail: String, _ path: PathBytes) {
    if let index = known.firstIndex(where: { $0.kind == kind && $0.detail == detail }) {
      known[index].paths.append(path)
    } else {
      known.append((kind, detail, [path]))
    }
  }

  /// The others who gain, because the first default ACL of a folder ends the power of every umask there.
  var others: [String] {
    let paths = known.filter { $0.kind == .fixed }.flatMap(\.paths)
    if paths.isEmpty { return [] }
    return [
      "everybody whom only the umask keeps out of new files in \(Opening.names(paths)), also after the access ends"
    ]
  }

  /// The sentences, for people.
  func sentences(_ user: String) -> [String] {
    known.map { kind, detail, paths in
      let places = Opening.names(paths)
      return switch kind {
      case .closed:
        "new files in \(places) are not included, because others would lose access to them (\(detail))"
      case .fixed: "whatever the umask of their makers, new files in \(places) are \(detail)"
      case .names:
        "\(user) can then create, delete and replace every file in new folders below \(places)"
      case .lost:
        "\(user) loses \(detail) on new files in \(places) that belong to one of the user's groups"
      }
    }
  }
}
