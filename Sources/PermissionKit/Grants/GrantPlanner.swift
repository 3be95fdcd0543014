/// Creates plans from the facts, and binds them to the present inodes.
struct GrantPlanner {
  let request: GrantRequest
  var system: any System { request.system }
  var facts: AccessFacts { request.facts }
  /// The credentials of this process.
  let own: Credentials

  /// The asks by the inode that each is about.
  private let targets: [Int: Ask]

  init(_ request: GrantRequest) throws(PermissionError) {
    self.request = request
    var targets: [Int: Ask] = [:]
    for ask in request.asks {
      if let inode = request.facts.target(of: ask.path), targets[inode] == nil {
        targets[inode] = ask
      }
    }
    self.targets = targets
    do throws(Errno) {
      own = try request.system.credentials()
    } catch {
      throw PermissionError(
        .system, "the credentials of this process cannot be read", call: "getgroups", errno: error)
    }
  }

  /// Returns the error for a plan that cannot be made.
  func refusal(
    _ message: String, path: PathBytes? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(.changeFailed, message, path: path, advice: advice)
  }

  // MARK: - Entries and bits

  /// Returns a plan of ACL entries and mode bits; nil if no such change helps.
  ///
  /// - Parameter strategy: The name of the strategy.
  /// - Returns: The smallest changes that give access.
  /// - Throws: If others gain and that is not allowed, or if a file cannot be changed safely.
  func plan(strategy: String) throws(PermissionError) -> GrantPlan? {
    var least = LeastChange(
      facts: factsWithoutGrants, credentials: request.subject.credentials)
    var isAnyGranted = false
    for ask in request.asks {
      let decision = least.grant(
        ask.need, path: ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
      if decision.isGranted {
        isAnyGranted = true
      } else if request.isRecursive {
        throw refusal(
          "\(ask.path) cannot be granted (\(decision.rule)), so nothing was changed", path: ask.path
        )
      }
    }
    guard isAnyGranted, !least.changes.isEmpty else { return nil }
    var plan = GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, outcome: .granted)
    for missing in least.changes {
      let change = missing.onto(facts.inodes[missing.inode], for: request.uid)
      let classes = SubjectClasses(of: change.before, and: change.after, without: request.uid)
      for gain in classes.gains.map(request.users.describe)
      where !plan.othersAffected.contains(gain) {
        plan.othersAffected.append(gain)
      }
      plan.steps.append(try step(change, missing))
      warn(of: change, &plan)
    }
    if request.isRecursive { try addDefaults(&plan, least) }
    if !plan.othersAffected.isEmpty, !request.allowsOthers {
      throw refusal(
        "every change that gives access to \(request.subject.displayName) gives more to others: "
          + plan.othersAffected.joined(separator: "; "),
        advice: "allow others to gain (allow-others) to make the change anyway")
    }
    return plan
  }

  /// The facts without what other grants give the user.
  ///
  /// A request holds everything that it needs, so that each can end without the others: on a folder that
  /// two requests pass, both have a lease. If nothing is missing now, only grants that may end before
  /// the new ones are left out.
  private var factsWithoutGrants: AccessFacts {
    var facts = facts
    let open = request.journaled.filter { $0.stage == .active }
    guard !open.isEmpty else { return facts }
    let evaluator = request.inspection.evaluator
    let isMissing = request.asks.contains { !evaluator.decide($0).isGranted }
    for (index, identity) in request.inspection.identities.enumerated() {
      let here = open.filter { grant in
        guard case .inode(let change) = grant.change else { return false }
        return change.attribute != .defaultACL && change.identity.matches(identity)
      }
      guard !here.isEmpty else { continue }
      let changes = here.compactMap { grant -> InodeGrant? in
        if case .inode(let change) = grant.change { change } else { nil }
      }
      facts.inodes[index] = InodeGrant.inode(
        facts.inodes[index], among: changes, for: request.uid
      ) { place in isMissing || !here[place].lifetime.outlasts(request.lifetime) }
    }
    return facts
  }

  /// Adds what a person should know about a change before agreeing to it.
  private func warn(of change: InodeChange, _ plan: inout GrantPlan) {
    guard change.before.kind == .directory, targets[change.inode] == nil,
      change.before != change.after
    else { return }
    let path = facts.path(of: change.inode)
    plan.warnings.append(
      "\(request.subject.displayName) can then reach everything below \(path) that is readable by everybody"
    )
  }

  /// Returns the step for a change, after checking that the inode still matches the facts.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - missing: The change without other grants; nil if it is the same.
  /// - Returns: The step.
  /// - Throws: If the inode cannot be changed safely.
  private func step(
    _ change: InodeChange, _ missing: InodeChange? = nil
  ) throws(PermissionError) -> GrantPlan.Step {
    let path = facts.path(of: change.inode)
    guard facts.isReachedFromRoot(change.inode) else {
      throw refusal("the path from the root directory to \(path) is unknown", path: path)
    }
    if request.ownedOnly, change.before.uid != request.uid {
      throw refusal(
        "\(path) belongs to \(request.users.userName(change.before.uid)), and only the configuration of"
          + " \(request.subject.displayName) names it", path: path,
        advice: "name the folder, as in \(request.accessor)=PATH")
    }
    // The owner of a link can point it to any inode, so follow it only to inodes of that owner.
    let foreignLinks = facts.inodes.filter { inode in
      inode.kind == .symbolicLink
        && ![0, own.user.fileSystem, change.before.uid].contains(inode.uid)
    }
    if let link = foreignLinks.first {
      throw refusal(
        "the path to \(path) follows a symbolic link of \(request.users.userName(link.uid)), who does"
          + " not own \(path)", path: path, advice: "use a path without this link")
    }
    var grant = try bind(change, path)
    if let missing {
      if change.attribute == .mode { grant.bits = missing.after.mode & ~missing.before.mode }
      if grant.before == grant.after { grant.arguments = missing.command(path) }
    }
    let isOwn = change.before.uid == own.user.fileSystem || own.effective.contains(.fowner)
    let keepsGroup = own.isMember(of: change.before.gid) || own.effective.contains(.fsetid)
    if change.before.mode & 0o2000 != 0, isOwn, !keepsGroup {
      throw refusal(
        "\(path) would lose its set-group-ID bit, because you are not in its group", path: path,
        advice: "try again as root")
    }
    return GrantPlan.Step(
      .inode(grant), place: path.description, needsRoot: !isOwn,
      family: targets[change.inode]?.resource.family)
  }

  /// Returns the change for the inode that is at the path now.
  ///
  /// - Parameters:
  ///   - change: The change that was found on the facts.
  ///   - path: The path of the inode.
  /// - Returns: The change, bound to the inode.
  /// - Throws: If the inode no longer matches the facts.
  private func bind(
    _ change: InodeChange, _ path: PathBytes
  ) throws(PermissionError) -> InodeGrant {
    let status: StatusFields
    let state: InodeGrant.State
    let anchor: InodeAnchor?
    do throws(Errno) {
      let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      defer { system.close(descriptor) }
      status = try system.statx(descriptor)
      state = try InodeGrant.state(change.attribute, of: descriptor, system)
      anchor = InodeAnchor(descriptor, system)
    } catch {
      throw PermissionError(
        .changeFailed, "\(path) cannot be read", path: path, call: "open", errno: error)
    }
    let before = InodeGrant.State(change.before, change.attribute)
    let identity = InodeIdentity(status)
    let identities = request.inspection.identities
    let isSame = identities.isEmpty || identities[change.inode] == identity
    guard isSame, state == before, status.uid == change.before.uid, status.gid == change.before.gid,
      status.kind == change.before.kind
    else {
      throw PermissionError(
        .changeFailed, "\(path) changed while it was read", path: path, errno: .EAGAIN,
        advice: "try again")
    }
    return InodeGrant(
      path: path, identity: identity, uid: request.uid, user: request.subject.name,
      permissions: change.permissions,
      before: before, after: .init(change.after, change.attribute),
      persistence: Persistence(fileSystem: facts.mounts[change.before.mount].fileSystem),
      attribute: change.attribute, arguments: change.command(path), anchor: anchor)
  }

  // MARK: - Files that are created later

  /// Adds default ACL entries to directories, so that new files are included.
  ///
  /// A new default ACL replaces the umask and so may give access to others. The function adds one only
  /// if the directory has a default ACL already, or if others may gain.
  private func addDefaults(_ plan: inout GrantPlan, _ least: LeastChange) throws(PermissionError) {
    var isLeftOut = false
    for ask in request.asks where ask.resource.kind == .directory {
      guard let index = facts.inode(at: ask.path) else { continue }
      var inode = least.facts.inodes[index]
      let path = facts.path(of: index)
      do throws(Errno) {
        let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
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
      let old = inode.defaultACL ?? AccessControlList(mode: inode.mode)
      let list = InodeFacts(kind: .directory, mode: old.mode, uid: 0, gid: 0, acl: old)
        .granting(.all, to: request.uid)
      guard list.acl != inode.defaultACL else { continue }
      if inode.defaultACL == nil {
        plan.othersAffected.append(
          "everybody whom a umask keeps out of new files in \(path)")
      }
      var changed = inode
      changed.defaultACL = list.acl
      plan.steps.append(
        try step(
          InodeChange(
            inode: index, attribute: .defaultACL, before: inode, after: changed,
            permissions: .all)))
    }
    if isLeftOut {
      plan.warnings.append(
        "new files there are not included, because a default ACL would replace everybody's umask; allowing others to gain (allow-others) includes them"
      )
    }
  }
}

extension InodeChange {
  /// Returns the change that gives the same permissions on the inode as it is.
  ///
  /// - Parameters:
  ///   - inode: The inode, to which a grant may already give the permissions.
  ///   - uid: The user.
  /// - Returns: The change; it changes nothing if the inode already gives the permissions.
  fileprivate func onto(_ inode: InodeFacts, for uid: UInt32) -> InodeChange {
    guard inode != before else { return self }
    var after = inode
    switch attribute {
    case .mode:
      let bits = self.after.mode & ~before.mode
      after.mode |= bits
      for (shift, tag): (UInt16, AccessControlList.Tag) in [(6, .owner), (3, .mask), (0, .other)] {
        after.acl?.set(tag, adding: Permissions(rawValue: UInt8(bits >> shift & 7)))
      }
    case .accessACL:
      let entry = inode.acl?.entries.first { $0.tag == .user && $0.id == uid }
      let held = entry?.permissions.intersection(inode.acl?.mask ?? .all)
      if held?.isSuperset(of: permissions) != true {
        after = inode.granting(permissions.union(held ?? []), to: uid)
      }
    case .defaultACL: return self
    }
    return InodeChange(
      inode: self.inode, attribute: attribute, before: inode, after: after,
      permissions: permissions)
  }
}
