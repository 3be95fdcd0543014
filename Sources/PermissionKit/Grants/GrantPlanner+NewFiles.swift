// Files that are created later.
extension GrantPlanner {
  /// Adds default ACL entries to directories, so that new files are included.
  ///
  /// A new default ACL replaces the umask and so may give access to others. The function adds one only
  /// if the directory has a default ACL already, or if others may gain.
  func addDefaults(_ plan: inout GrantPlan, _ least: LeastChange) throws(PermissionError) {
    var isLeftOut = false
    var folder: Int?
    for ask in request.asks {
      guard let index = facts.inode(at: ask.path), facts.inodes[index].kind == .directory else {
        continue
      }
      var inode = least.facts.inodes[index]
      let path = facts.path(of: index)
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
        plan.warnings.append(
          "new files in \(path) are not included, because others would lose access to them (\(loss))"
        )
        continue
      }
      for gain in gains where !plan.othersAffected.contains(gain) {
        plan.othersAffected.append(gain)
      }
      if inode.defaultACL == nil {
        plan.othersAffected.append(
          "everybody whom only the umask keeps out of new files in \(path)")
      }
      warn(ofNewFilesIn: index, inode, change.after, ask.need, &plan)
      plan.steps.append(step)
      folder = folder ?? index
    }
    if let folder {
      let makers = makers(least.facts.inodes[folder])
      plan.warnings.append(
        "new files: those that \(makers) there or below get the same entry, which is removed when the access ends; files moved or linked out of \(facts.path(of: folder)) keep it"
      )
    }
    if isLeftOut {
      plan.warnings.append(
        "new files there are not included, because a default ACL would replace everybody's umask; to include them, allow others to get access (allow-others)"
      )
    }
  }

  /// Adds warnings about what users lose on new files: others by the end of the umask, and the user where the group of
  /// a file, by its maker, gave more than the entry; and about what the user gets beyond the need.
  private func warn(
    ofNewFilesIn index: Int, _ before: InodeFacts, _ after: InodeFacts, _ need: Permissions,
    _ plan: inout GrantPlan
  ) {
    let path = facts.path(of: index)
    guard let old = before.defaultACL, let new = after.defaultACL else {
      // What most users have, see login.defs(5).
      let losses = effect(of: after, instead: before, index, umask: 0o022).losses
      if losses.isEmpty { return }
      plan.warnings.append(
        "new files and folders in \(path) are closed to some whom a umask of 022 lets in (\(losses.joined(separator: ", ")))"
      )
      return
    }
    let credentials = request.subject.credentials
    let names: Permissions = [.write, .execute]
    let (had, has) = (
      after.rightsOnNew(old, of: credentials), after.rightsOnNew(new, of: credentials)
    )
    if has.all.isSuperset(of: names), !had.all.isSuperset(of: names), !need.contains(.write) {
      // On files w is worth something without x, so it cannot be left out.
      plan.warnings.append(
        "\(request.subject.displayName) can then create, delete and replace every file in new folders below \(path)"
      )
    }
    let lost = had.some.subtracting(has.all)
    if lost.isEmpty { return }
    plan.warnings.append(
      "\(request.subject.displayName) loses \(lost.letters) on new files in \(path) that belong to one of the user's groups"
    )
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
  /// Empty if there was no default ACL and no umask is given: then the umasks of others decide.
  private func effect(
    of after: InodeFacts, instead before: InodeFacts, _ index: Int, umask: UInt16? = nil
  ) -> (gains: [String], losses: [String]) {
    var (gains, losses): ([String], [String]) = ([], [])
    guard before.defaultACL != nil || umask != nil else { return (gains, losses) }
    let creation = Creation(credentials: own, umask: umask ?? 0)
    func made(_ kind: FileKind, _ folder: InodeFacts) -> InodeFacts? {
      var facts = facts
      facts.inodes[index] = folder
      return creation.made(kind, in: index, of: facts)
    }
    let kinds: [FileKind] = umask == nil ? [.regular, .directory] : [.directory]
    for kind in kinds {
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
  /// - Returns: The rights whoever makes them, and those where one maker or another does.
  func rightsOnNew(
    _ list: AccessControlList, of credentials: Credentials
  ) -> (all: Permissions, some: Permissions) {
    func rights(_ gid: UInt32) -> Permissions {
      var made = InodeFacts(
        kind: .regular, mode: list.mode, uid: AccessControlList.Entry.undefinedID, gid: gid)
      made.acl = list
      return SubjectClasses.rights(of: credentials, on: made)
    }
    if mode & 0o2000 != 0 { return (rights(gid), rights(gid)) }
    let groups = [AccessControlList.Entry.undefinedID, credentials.group.fileSystem].map(rights)
    return (groups[0].intersection(groups[1]), groups[0].union(groups[1]))
  }
}
