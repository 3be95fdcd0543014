// Files that are created later.
extension GrantPlanner {
  /// Adds default ACL entries to directories, so that new files are included.
  ///
  /// A new default ACL replaces the umask and so may give access to others. The function adds one only
  /// if the directory has a default ACL already, or if others may gain.
  func addDefaults(_ plan: inout GrantPlan, _ least: LeastChange) throws(PermissionError) {
    var isLeftOut = false
    var folder: Int?
    for ask in request.asks where ask.resource.kind == .directory {
      guard let index = facts.inode(at: ask.path) else { continue }
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
          "everybody whom a umask keeps out of new files in \(path)")
      }
      plan.steps.append(step)
      folder = folder ?? index
    }
    if let folder {
      let makers = makers(least.facts.inodes[folder])
      plan.warnings.append(
        "files to come: what \(makers) there or below gets the same entry, which goes when the access ends; what is moved or linked out of \(facts.path(of: folder)) keeps it"
      )
    }
    if isLeftOut {
      plan.warnings.append(
        "new files there are not included, because a default ACL would replace everybody's umask; allowing others to gain (allow-others) includes them"
      )
    }
  }

  /// Whether a default ACL may give something by another grant of the user alone.
  private var mayInherit: Bool {
    request.journaled.entries.contains {
      $0.uid == request.uid && $0.inodeGrant?.attribute == .defaultACL
    }
  }

  /// Returns the others who gain or lose by another default ACL, on what anybody makes in the directory.
  ///
  /// Nobody, where there was none: then it is the umasks of others that decide.
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
      losses += classes.losses.map(request.users.describe)
    }
    return (gains, losses)
  }
  /// Who can make files in a directory, for people: "ada and group family make".
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
