/// Creates plans from the facts, and binds them to the present inodes.
struct GrantPlanner {
  let request: GrantRequest
  var system: any System { request.system }
  var facts: AccessFacts { request.facts }
  /// The credentials of this process.
  let own: Credentials

  /// The queries, by the inode of each.
  private let targets: [Int: ResourceQuery]
  private let devices: BlockDevices
  /// The symbolic links among the facts.
  private let links: [InodeFacts]

  init(_ request: GrantRequest) throws(PermissionError) {
    self.request = request
    var targets: [Int: ResourceQuery] = [:]
    for ask in request.asks {
      if let inode = request.facts.target(of: ask.path), targets[inode] == nil {
        targets[inode] = ask
      }
    }
    self.targets = targets
    devices = BlockDevices(request.system)
    links = request.facts.inodes.filter { $0.kind == .symbolicLink }
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
    let evaluator = request.inspection.evaluator
    let isMissing = request.asks.contains { !evaluator.decide($0).isGranted }
    var least = try leastChange(on: factsWithoutGrants(isMissing))
    // Where access is missing only because an entry of a grant hides it, the entry is widened.
    if isMissing, least?.changes.isEmpty == true { least = try leastChange(on: facts) }
    guard let least, !least.changes.isEmpty else { return nil }
    var plan = GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, outcome: .granted)
    var openings: [Opening] = []
    for missing in least.changes {
      let (step, change, users) = try step(missing, facts.inodes[missing.inode])
      let classes = SubjectClasses(
        of: change.before, and: change.after, without: users.union([request.uid]))
      for gain in request.inspection.others(classes.gains, besides: change.before.uid)
      where !plan.othersAffected.contains(gain) {
        plan.othersAffected.append(gain)
      }
      plan.steps.append(step)
      if case .inode(let grant) = step.change { plan.warnings += grant.outcome?.notes ?? [] }
      warn(of: change, &plan)
      plan.objections += ProgramRules.objections(
        to: change, at: facts.path(of: change.inode),
        named: targets[change.inode].map { [$0.path] } ?? [], readsContents: !request.isRecursive,
        request.inspection)
      // All of what is below was asked for.
      openings += change.openings(
        at: facts.path(of: change.inode), for: request.subject.credentials
      ).filter { ![.below, .links].contains($0.rank) || !request.isRecursive || !change.isAsked }
    }
    if let opens = Opening.sentence(openings, for: request.subject) { plan.warnings.append(opens) }
    if request.isRecursive { try addDefaults(&plan, least) }
    if !plan.othersAffected.isEmpty, !request.allowsOthers {
      throw refusal(
        "every change that gives access to \(request.subject.displayName) also gives access to others: "
          + plan.othersAffected.joined(separator: "; "),
        advice: "allow that (allow-others) to make the change anyway")
    }
    return plan
  }

  /// Returns the smallest changes of facts that give access; nil if none gives any.
  private func leastChange(on facts: AccessFacts) throws(PermissionError) -> LeastChange? {
    var least = LeastChange(facts: facts, credentials: request.subject.credentials)
    least.inspection = request.inspection
    var isAnyGranted = false
    for ask in request.asks {
      let decision = least.grant(
        ask.need, path: ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
      if decision.isGranted {
        isAnyGranted = true
      } else if request.isRecursive {
        throw refusal(
          "\(ask.path) cannot be granted (\(RuleWords(decision.rule.description).refusal)), so nothing was changed",
          path: ask.path
        )
      }
    }
    return isAnyGranted ? least : nil
  }

  /// Returns the facts without the permissions that other grants give the user.
  ///
  /// A grant holds everything that it needs, so that each can end without the others: on a folder
  /// that two requests pass, both have a lease. If nothing is missing now, only grants that may end
  /// before the new ones are left out.
  private func factsWithoutGrants(_ isMissing: Bool) -> AccessFacts {
    var facts = facts
    var leftOut: Set<String> = []
    for entry in request.journaled.entries where entry.stage == .active {
      if entry.uid != request.uid {
        // The user has what another member of a group was given.
        let group = entry.owningGroup?.after.gid
        if group.map(request.subject.credentials.isMember) == true { leftOut.insert(entry.id) }
      } else if isMissing || !entry.end.outlasts(request.lifetime) {
        leftOut.insert(entry.id)
      }
    }
    if leftOut.isEmpty { return facts }
    for index in facts.inodes.indices {
      leaveOut(leftOut, ofGroupsOf: index, &facts)
      guard let leases = leases(on: index, .accessACL),
        leases.grants.contains(where: { leftOut.contains($0.id) }),
        let grant = leases.grants.first?.grant
      else { continue }
      let look = LeaseLook(
        grant, facts.inodes[index], device: facts.inodes[index].device, leases, system)
      facts.inodes[index] = look.inode { !leftOut.contains($0) }
    }
    return facts
  }

  /// Leaves grants of the owning group of an inode out of the facts, if nobody else changed it.
  private func leaveOut(
    _ ids: Set<String>, ofGroupsOf index: Int, _ facts: inout AccessFacts
  ) {
    let open = owningGroups(of: index)
    guard let first = open.first?.grant else { return }
    func bits(_ grants: [OwningGroupGrant]) -> UInt8 { grants.reduce(0) { $0 | $1.after.bits } }
    let inode = facts.inodes[index]
    guard inode.gid == first.after.gid, UInt8(inode.mode >> 3 & 7) == bits(open.map(\.grant))
    else { return }
    let kept = open.filter { !ids.contains($0.entry.id) }.map(\.grant)
    // The file stays with the group while another user has a grant.
    let stays = open.contains { $0.entry.uid != request.uid }
    if kept.isEmpty, !stays { facts.inodes[index].gid = first.before.gid }
    let left =
      !kept.isEmpty ? bits(kept) : stays ? UInt8(inode.mode & 7) : first.before.bits
    facts.inodes[index].mode = inode.mode & ~0o070 | UInt16(left) << 3
  }

  /// Returns the open grants of the owning group of an inode of the facts, oldest first.
  private func owningGroups(of index: Int) -> [(entry: GrantRecord, grant: OwningGroupGrant)] {
    let identities = request.inspection.identities
    guard identities.indices.contains(index), facts.inodes[index].hasACLs == false else {
      return []
    }
    let path = facts.path(of: index)
    let found = request.journaled.owningGroups(
      of: InodeGrant(
        path: path, identity: identities[index], uid: request.uid, permissions: [],
        persistence: .permanent, attribute: .mode, arguments: []))
    guard !found.isEmpty, let descriptor = try? open(index, path) else { return [] }
    defer { system.close(descriptor) }
    return found.filter { $0.grant.file.isInode(descriptor, system) }
  }

  /// Returns the open leases on an inode of the facts; nil if there are none.
  private func leases(on index: Int, _ attribute: InodeChange.Attribute) -> OpenLeases? {
    let identities = request.inspection.identities
    guard identities.indices.contains(index),
      request.journaled.entries.contains(where: { $0.inode == identities[index].inode })
    else { return nil }
    let path = facts.path(of: index)
    guard let descriptor = try? open(index, path) else { return nil }
    defer { system.close(descriptor) }
    return request.journaled.leases(
      around: InodeGrant(
        path: path, identity: identities[index], uid: request.uid, permissions: [],
        persistence: .permanent,
        attribute: attribute, arguments: [], anchor: InodeAnchor(descriptor, system)))
  }

  /// Adds warnings about a change.
  private func warn(of change: InodeChange, _ plan: inout GrantPlan) {
    // See setattr_prepare() of fs/attr.c and xattr_permission() of fs/xattr.c.
    if change.before.kind == .directory, change.losesIdleWrite(request.subject.credentials) {
      plan.warnings.append(
        "meanwhile \(request.subject.displayName) cannot set the times and user attributes of \(facts.path(of: change.inode)), the only use of w without x"
      )
    }
    let isGiven = change.before.gid != change.after.gid
    let form =
      isGiven
      ? request.inspection.attributeRule(change)
      : request.inspection.lastingForm(of: change.inode)
    if let form { plan.warnings.append(form) }
    if facts.mounts[facts.inodes[change.inode].mount].fileSystem == "overlay",
      change.before != change.after
    {
      plan.warnings.append(
        "\(facts.path(of: change.inode)) is on an overlay: from a lower layer it is copied up first, and the copy stays when the access ends"
      )
    }
  }

  /// Returns the step for a change, after checking that the inode still matches the facts.
  ///
  /// - Returns: The step, what it changes on the inode as it is, and who has leases on it.
  /// - Throws: If the inode cannot be changed safely.
  func step(
    _ missing: InodeChange, _ inode: InodeFacts
  ) throws(PermissionError) -> (GrantPlan.Step, InodeChange, Set<UInt32>) {
    let path = facts.path(of: missing.inode)
    try check(inode, missing, path)
    var grant = try bind(missing, inode, path)
    let groups = owningGroups(of: missing.inode)
    if facts.inodes[missing.inode].gid != missing.after.gid || !groups.isEmpty,
      missing.isOfGroup
    {
      return try handover(of: grant, missing, inode, groups.map(\.grant))
    }
    let look = LeaseLook(
      grant, inode, device: inode.device, request.journaled.leases(around: grant), system)
    if missing.attribute != .mode {
      grant.permissions = missing.asked.union(look.hidden(request.subject.credentials))
    }
    var change = missing
    change.before = inode
    change.after = look.inode(with: grant.lease) { _ in true }
    let after = InodeGrant.State(change.after, missing.attribute)
    (grant.before, grant.after) = (InodeGrant.State(inode, missing.attribute), after)
    grant.outcome = look.outcome(after, releasing: [])
    grant.arguments = facts.physical(
      (grant.before == after ? missing : change).command(path), missing.inode)
    let step = GrantPlan.Step(
      .inode(grant), place: path.description, needsRoot: !mayChange(inode),
      family: targets[missing.inode]?.resource.family)
    return (step, change, look.users)
  }

  /// Returns the step that gives an inode without ACLs to a group of the subject, as `step` does.
  private func handover(
    of file: InodeGrant, _ change: InodeChange, _ inode: InodeFacts, _ open: [OwningGroupGrant]
  ) throws(PermissionError) -> (GrantPlan.Step, InodeChange, Set<UInt32>) {
    let (gid, others) = (change.after.gid, UInt8(inode.mode & 7))
    let holders = request.journaled.leases(around: file)?.grants.map(\.grant) ?? []
    if let first = open.first, inode.gid != first.after.gid {
      // What is then to be restored at the end would not be known.
      throw refusal(
        "somebody else changed the group of \(file.path), which other grants gave to \(first.group)",
        path: file.path, advice: "revoke those first: permcheck list --grants")
    }
    if open.contains(where: { $0.after.gid != gid })
      || inode.gid != gid && holders.contains(where: { $0.lease.tag == .owningGroup })
    {
      throw refusal(
        "\(file.path) belongs to group \(request.users.groupName(inode.gid)) because of another grant",
        path: file.path, advice: "revoke that one first: permcheck list --grants")
    }
    let base = open.first?.before ?? .init(inode)
    var grant = OwningGroupGrant(
      file: file, group: request.users.operand(ofGroup: gid), before: base,
      after: .init(gid: gid, bits: others | change.permissions.rawValue), others: others)
    grant.present = .init(inode)
    var made = change
    made.before = inode
    made.after = inode
    made.after.gid = gid
    let shared = inode.gid == gid ? UInt8(inode.mode >> 3 & 7) : 0
    made.after.mode = inode.mode & ~0o070 | UInt16(shared | grant.after.bits) << 3
    // The same process must be able to give it back.
    let mayGive =
      own.effective.contains(.chown) || own.isMember(of: gid) && own.isMember(of: base.gid)
    let step = GrantPlan.Step(
      .owningGroup(grant), place: file.path.description, needsRoot: !mayGive || !mayChange(inode))
    return (step, made, [])
  }

  /// Whether this process may change the mode and the ACL of an inode.
  private func mayChange(_ inode: InodeFacts) -> Bool {
    inode.uid == own.user.fileSystem || own.effective.contains(.fowner)
  }

  /// Checks that an inode may be changed for this request.
  private func check(
    _ inode: InodeFacts, _ change: InodeChange, _ path: PathBytes
  ) throws(PermissionError) {
    guard facts.isReachedFromRoot(change.inode) else {
      throw refusal("the path from the root directory to \(path) is unknown", path: path)
    }
    if request.ownedOnly, inode.uid != request.uid {
      throw refusal(
        "\(path) belongs to \(request.users.userName(inode.uid)), and only the configuration of"
          + " \(request.subject.displayName) names it", path: path,
        advice: "name the folder, as in \(request.accessor)=PATH")
    }
    // The owner of a link can point it to any inode, so follow it only to inodes of that owner.
    let foreignLink = links.first { link in
      ![0, own.user.fileSystem, inode.uid].contains(link.uid)
    }
    if let link = foreignLink {
      throw refusal(
        "the path to \(path) follows a symbolic link of \(request.users.userName(link.uid)), who does"
          + " not own \(path)", path: path, advice: "use a path without this link")
    }
    let keepsGroup = own.isMember(of: inode.gid) || own.effective.contains(.fsetid)
    if inode.mode & 0o2000 != 0, mayChange(inode), !keepsGroup {
      throw refusal(
        "\(path) would lose its set-group-ID bit, because you are not in its group", path: path,
        advice: "try again as root")
    }
  }

  /// Returns the change for the inode that is at the path now, without its new state.
  ///
  /// - Returns: The change, bound to the inode; what becomes of the inode is not in it.
  /// - Throws: If the inode no longer matches the facts.
  private func bind(
    _ change: InodeChange, _ inode: InodeFacts, _ path: PathBytes
  ) throws(PermissionError) -> InodeGrant {
    let status: StatusFields
    let state: InodeGrant.State
    var anchor: InodeAnchor?
    do throws(Errno) {
      let descriptor = try open(change.inode, path)
      defer { system.close(descriptor) }
      status = try system.statx(descriptor)
      state = try InodeGrant.state(change.attribute, of: descriptor, system)
      anchor = InodeAnchor(descriptor, system)
      if let folder = try? open(inode.parent, path.parent) {
        anchor?.folder = try? system.name_to_handle_at(folder)
        system.close(folder)
      }
      anchor?.device = devices.identifier(of: status.fileSystem)
    } catch .ESTALE {
      throw changed(path)
    } catch {
      throw PermissionError(
        .changeFailed, "\(path) cannot be read", path: path, call: "open", errno: error)
    }
    let identity = InodeIdentity(status)
    guard state == .init(inode, change.attribute), status.uid == inode.uid,
      status.gid == inode.gid, status.kind == inode.kind
    else { throw changed(path) }
    return InodeGrant(
      path: path, identity: identity, uid: request.uid, user: request.subject.name,
      permissions: change.permissions,
      persistence: request.inspection.persistence(of: change.inode),
      attribute: change.attribute, arguments: [],
      bits: change.attribute == .mode ? change.after.mode & ~change.before.mode : nil,
      anchor: anchor)
  }

  private func changed(_ path: PathBytes) -> PermissionError {
    PermissionError(
      .changeFailed, "\(path) changed while it was read", path: path, errno: .EAGAIN,
      advice: "try again")
  }

  /// Opens an inode of the facts with O_PATH, without waiting for anything on its path.
  ///
  /// - Throws: ESTALE if another inode is there now.
  func open(_ index: Int, _ path: PathBytes) throws(Errno) -> Descriptor {
    let descriptor = try system.open(
      path, [.path, .noFollow], through: [], within: PathAvailability.limit)
    do throws(Errno) {
      let identities = request.inspection.identities
      let identity = InodeIdentity(try system.statx(descriptor))
      guard identities.isEmpty || identities[index] == identity else { throw .ESTALE }
      return descriptor
    } catch {
      system.close(descriptor)
      throw error
    }
  }
}

extension GrantPlanner {
  /// Returns a plan that adds the user to groups; nil if access is not missing.
  ///
  /// - Parameter strategy: The name of the strategy.
  /// - Returns: The plan, which takes effect at the next login.
  /// - Throws: If no group gives access, or the user is already a member.
  func groupPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard let name = request.subject.name, request.uid != 0,
      let user = try? system.user(named: name), user.uid == request.uid
    else {
      throw refusal("\(request.subject.displayName) cannot be added to a group")
    }
    var steps: [GrantPlan.Step] = []
    var credentials = request.subject.credentials
    for ask in request.asks {
      func isGranted(_ credentials: Credentials) -> Bool {
        AccessEvaluator(facts: facts, credentials: credentials).decide(ask).isGranted
      }
      if isGranted(credentials) { continue }
      let inodes = facts.inodes.filter { $0.kind != .symbolicLink }
      let named = inodes.flatMap { $0.acl?.entries.filter { $0.tag == .group }.map(\.id) ?? [] }
      let gids = Set(inodes.map(\.gid) + named).subtracting([0]).sorted()
      let found = gids.first { gid in
        var more = credentials
        more.groups.append(gid)
        return isGranted(more)
      }
      guard let gid = found, let group = try? system.groupName(gid) else {
        throw refusal(
          "no group gives \(name) access to \(ask.path)", path: ask.path,
          advice: "choose another strategy")
      }
      credentials.groups.append(gid)
      let grant = GroupGrant(
        user: name, group: group, uid: request.uid, gid: gid, since: system.realtime() * 1_000)
      if (try? system.groups(of: user))?.contains(gid) == true {
        throw refusal(
          "\(name) is already in group \(group), but this login does not have the group",
          advice: "log out and in again")
      }
      steps.append(
        GrantPlan.Step(
          .group(grant), place: "group \(group)",
          needsRoot: !own.isRoot))
    }
    guard !steps.isEmpty else { return nil }
    let groups = steps.map(\.place).joined(separator: " and ")
    var warnings = [
      "\(name) can then use everything that \(groups) can use, in every login",
      "\(name) can keep the group after the end of the grant, by a set-group-ID file or a running process",
    ]
    if groups.has("group audio") {
      warnings.append(
        "members of audio can record while somebody else is logged in at the screen, and can block the sound devices"
      )
    }
    return GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, steps: steps,
      outcome: .granted, needsNewLogin: true, warnings: warnings)
  }
}

extension GrantPlanner {
  /// Returns a plan of ACL entries and of a udev rule that repeats them; nil if no change helps.
  ///
  /// - Parameter strategy: The name of the strategy.
  /// - Returns: The plan; the rule is its last step.
  /// - Throws: If a resource is not a device that udev sets up, or as `plan(strategy:)` does.
  func udevPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard var plan = try plan(strategy: strategy) else { return nil }
    // udev does not search PATH, so the rule needs the full path.
    guard let setfacl = system.program("setfacl") else {
      throw refusal(
        "the rule would run setfacl(1), which is not installed",
        advice: "install the package acl")
    }
    var lines: [String] = []
    var entries: [InodeGrant] = []
    var warnings: [String] = []
    for step in plan.steps {
      guard case .inode(let grant) = step.change else { continue }
      let name = grant.path.lastComponent.description
      let isDevice = grant.identity.type == 0o020000
      guard isDevice, let family = step.family, family.mayHave(grant.identity.device),
        grant.attribute == .accessACL,
        name.isPlainName
      else {
        throw refusal(
          "\(grant.path) is not a device that udev sets up", path: grant.path,
          advice: "choose the strategy acl")
      }
      entries.append(grant)
      let match = UdevMatch(
        grant.identity.device, named: name, subsystem: family.subsystem, system)
      if let warning = match.identity.warning, !warnings.contains(warning) {
        warnings.append(warning)
      }
      let options = grant.arguments.dropLast().map(\.description).joined(separator: " ")
      lines.append(
        "\(match.text), ACTION!=\"remove\", RUN+=\"\(setfacl) \(options.dropFirst("setfacl ".count)) $env{DEVNAME}\""
      )
    }
    let head =
      "# Made by permcheck for uid \(request.uid): permcheck revoke \(request.accessor) removes it."
    let path = UdevRuleGrant.folder.appending(
      "99-permcheck-\(request.uid)-\(request.accessor).rules")
    let rule = UdevRuleGrant(
      path: path, contents: ([head] + lines).joined(separator: "\n") + "\n", entries: entries)
    plan.steps.append(
      GrantPlan.Step(.udevRule(rule), place: path.description, needsRoot: !own.isRoot))
    plan.warnings += warnings
    return plan
  }
}

extension UdevMatch.Identity {
  /// Other devices that the rule may match, for people; nil if it matches one device alone.
  fileprivate var warning: String? {
    switch self {
    case .device: nil
    case .port(let port):
      "the device has no serial number of its own, so the rule is for such a device at USB port \(port)"
    case .name:
      "the rule matches nodes by name, so a different device that gets this name later is included"
    }
  }
}
