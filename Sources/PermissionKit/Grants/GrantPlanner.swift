/// Works out plans on the facts, and ties them to the inodes that are there.
struct GrantPlanner {
  private let request: GrantRequest
  private var system: any System { request.system }
  private var facts: AccessFacts { request.facts }
  private let own: Credentials

  init(_ request: GrantRequest) throws(PermissionError) {
    self.request = request
    do throws(Errno) {
      own = try request.system.credentials()
    } catch {
      throw PermissionError(
        .system, "the credentials of this process cannot be read", call: "getgroups", errno: error)
    }
  }

  private func refusal(
    _ message: String, path: PathBytes? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(.changeFailed, message, path: path, advice: advice)
  }

  // MARK: - Entries and bits

  func plan(strategy: String) throws(PermissionError) -> GrantPlan? {
    var least = LeastChange(facts: facts, credentials: request.subject.credentials)
    var isHelped = false
    for resource in request.resources {
      let isDirectory = (resource.kind ?? facts.kind(of: resource.path)) == .directory
      let decision = least.grant(resource.need, path: resource.path, isDirectory: isDirectory)
      if decision.isGranted {
        isHelped = true
      } else if request.isRecursive {
        throw refusal(
          "\(resource.path) cannot be granted (\(decision.rule)), so nothing is",
          path: resource.path)
      }
    }
    guard isHelped, !least.changes.isEmpty else { return nil }
    var plan = GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, outcome: .granted)
    for change in least.changes {
      let classes = SubjectClasses(of: change.before, and: change.after, without: request.uid)
      for gain in classes.gains.map(request.users.describe)
      where !plan.othersAffected.contains(gain) {
        plan.othersAffected.append(gain)
      }
      plan.steps.append(try step(change))
    }
    if request.isRecursive { try addDefaults(&plan, least) }
    if !plan.othersAffected.isEmpty, !request.allowsOthers {
      throw refusal(
        "no change gives \(request.subject.displayName) access and nobody else: "
          + plan.othersAffected.joined(separator: "; "),
        advice: "--allow-others does it all the same")
    }
    return plan
  }

  /// Ties a change that was found on the facts to the inode that is there, and looks whether it is
  /// still as the facts have it.
  private func step(_ change: InodeChange) throws(PermissionError) -> GrantPlan.Step {
    let path = facts.path(of: change.inode)
    guard facts.isReachedFromRoot(change.inode) else {
      throw refusal("the way to \(path) from the root is not known", path: path)
    }
    // Whoever owns a link may turn it to anybody's inode: it counts for inodes of its owner alone.
    let strangers = facts.inodes.filter { inode in
      inode.kind == .symbolicLink
        && ![0, own.user.fileSystem, change.before.uid].contains(inode.uid)
    }
    if let link = strangers.first {
      throw refusal(
        "the way to \(path) leads through a link of \(request.users.userName(link.uid)), who does not"
          + " own it", path: path, advice: "name the path without the link")
    }
    let grant = try tie(change, path)
    let isOwn = change.before.uid == own.user.fileSystem || own.effective.contains(.fowner)
    let keepsGroup = own.isMember(of: change.before.gid) || own.effective.contains(.fsetid)
    if change.before.mode & 0o2000 != 0, isOwn, !keepsGroup {
      throw refusal(
        "\(path) would lose its set-group-ID bit, for its group is not one of yours", path: path,
        advice: "ask as root")
    }
    return GrantPlan.Step(.inode(grant), place: path.description, needsRoot: !isOwn)
  }

  private func tie(
    _ change: InodeChange, _ path: PathBytes
  ) throws(PermissionError) -> InodeGrant {
    let status: StatusFields
    let state: InodeGrant.State
    do throws(Errno) {
      let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      defer { system.close(descriptor) }
      status = try system.statx(descriptor)
      state = try InodeGrant.state(change.attribute, of: descriptor, system)
    } catch {
      throw PermissionError(
        .changeFailed, "\(path) cannot be looked at", path: path, call: "open", errno: error)
    }
    let before = InodeGrant.State(change.before, change.attribute)
    let identity = InodeIdentity(status)
    let isSame = request.identities.isEmpty || request.identities[change.inode] == identity
    guard isSame, state == before, status.uid == change.before.uid, status.gid == change.before.gid,
      status.kind == change.before.kind
    else {
      throw PermissionError(
        .changeFailed, "\(path) changed while it was looked at", path: path, errno: .EAGAIN,
        advice: "ask again")
    }
    return InodeGrant(
      path: path, identity: identity, uid: request.uid, user: request.subject.name,
      permissions: change.permissions,
      before: before, after: .init(change.after, change.attribute),
      persistence: Persistence(fileSystem: facts.mounts[change.before.mount].fileSystem),
      attribute: change.attribute, arguments: change.command(path))
  }

  // MARK: - What is created later

  /// Default entries where there is a default ACL, and everywhere when others may gain, for a default
  /// ACL takes the place of the umask.
  private func addDefaults(_ plan: inout GrantPlan, _ least: LeastChange) throws(PermissionError) {
    var isLeftOut = false
    for resource in request.resources where resource.kind == .directory {
      guard let index = facts.inode(at: resource.path) else { continue }
      var inode = least.facts.inodes[index]
      let path = facts.path(of: index)
      do throws(Errno) {
        let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
        defer { system.close(descriptor) }
        inode.defaultACL = try InodeGrant.state(.defaultACL, of: descriptor, system).acl
      } catch {
        throw PermissionError(
          .changeFailed, "\(path) cannot be looked at", path: path, call: "getxattr", errno: error)
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
          "whom the umask of others keeps out of what they create in \(path)")
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
        "what is created there later is not included: a default ACL would take the place of everybody's umask (--allow-others)"
      )
    }
  }
}

/// All that is in a directory, to be granted as a whole.
struct FolderContents {
  let system: any System

  /// Something below a resource, and which inode it was when it was looked at.
  struct Found {
    var resource: Resource
    var identity: InodeIdentity
  }

  /// The files and directories below a resource, each with what is needed of it; links, special files
  /// and other file systems are left out.
  ///
  /// - Throws: Where not all can be listed, or a file has another name elsewhere: its owner could
  ///   have put anybody's file here.
  func resources(below resource: Resource) throws(PermissionError) -> [Found] {
    var found: [Found] = []
    var folders = [resource.path]
    var path = resource.path
    do throws(Errno) {
      let top = try system.status(of: path)
      let own = try system.credentials().user.fileSystem
      while let folder = folders.popLast() {
        path = folder
        for name in try system.names(in: folder) {
          path = folder.appending(name)
          let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
          defer { system.close(descriptor) }
          let status = try system.statx(descriptor)
          guard status.mount == top.mount, status.fileSystem == top.fileSystem,
            let kind = status.kind, kind == .directory || kind == .regular
          else { continue }
          if kind == .regular, status.links > 1, own == 0 || status.uid != own {
            throw .EMLINK
          }
          var one = resource
          one.path = path
          one.kind = kind
          one.lesserNeed = nil
          if kind == .regular { one.need.remove(.execute) }
          if kind == .directory { folders.append(path) }
          found.append(Found(resource: one, identity: .init(status)))
        }
      }
    } catch .EMLINK {
      throw PermissionError(
        .changeFailed, "\(path) has another name elsewhere, which would be granted, too",
        path: path)
    } catch {
      throw PermissionError(
        .changeFailed, "\(path) cannot be looked at, so not all in \(resource.path) can be granted",
        path: path, call: "open", errno: error)
    }
    return found
  }
}

extension PathBytes {
  /// Whether it is in the folder, or below one in it.
  func isBelow(_ folder: PathBytes) -> Bool {
    let slash = UInt8(ascii: "/")
    return bytes.starts(with: folder.bytes.last == slash ? folder.bytes : folder.bytes + [slash])
  }
}

extension AccessFacts {
  /// The inode that `path` names, whoever asks, the last component not followed.
  func inode(at path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    let decision = AccessEvaluator(facts: self, credentials: anybody)
      .decide(.open([.path, .noFollow]), path: path)
    return decision.isGranted ? decision.inode : nil
  }
}

// MARK: - Groups and rules

extension GrantPlanner {
  func groupPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard let name = request.subject.name, request.uid != 0,
      (try? system.getpwnam(name))?.uid == request.uid
    else {
      throw refusal("\(request.subject.displayName) is not one who could be put into a group")
    }
    var steps: [GrantPlan.Step] = []
    var credentials = request.subject.credentials
    for resource in request.resources {
      let isDirectory = (resource.kind ?? facts.kind(of: resource.path)) == .directory
      func isGranted(_ credentials: Credentials) -> Bool {
        AccessEvaluator(facts: facts, credentials: credentials)
          .decide(resource.need, resource.path, isDirectory: isDirectory).isGranted
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
      guard let gid = found, let group = try? system.getgrgid(gid) else {
        throw refusal(
          "no group gives \(name) access to \(resource.path)", path: resource.path,
          advice: "choose another strategy")
      }
      credentials.groups.append(gid)
      let grant = GroupGrant(user: name, group: group)
      if try grant.progress(system) == .after {
        throw refusal(
          "\(name) is in group \(group) already, but this login began before",
          advice: "log in again")
      }
      steps.append(
        GrantPlan.Step(
          .group(grant), place: "group \(group)",
          needsRoot: own.user.effective != 0))
    }
    guard !steps.isEmpty else { return nil }
    let groups = steps.map(\.place).joined(separator: " and ")
    var warnings = ["\(name) then may use all that \(groups) may, from any login, not this alone"]
    if groups.contains("group audio") {
      warnings.append(
        "members of audio can listen while somebody else sits at the machine, and keep others from the sound devices"
      )
    }
    return GrantPlan(
      accessor: request.accessor, subject: request.subject, strategy: strategy, steps: steps,
      outcome: .granted, needsNewLogin: true, warnings: warnings)
  }

  func udevPlan(strategy: String) throws(PermissionError) -> GrantPlan? {
    guard var plan = try plan(strategy: strategy) else { return nil }
    // udev has no PATH to look in.
    let setfacl = system.program("setfacl")
    var lines: [String] = []
    var entries: [InodeGrant] = []
    for step in plan.steps {
      guard case .inode(let grant) = step.change else { continue }
      let name = grant.path.lastComponent.description
      let isDevice = grant.identity.type == 0o020000
      let subsystem: [UInt32: String] = [81: "video4linux", 116: "sound"]
      guard isDevice, let subsystem = subsystem[grant.identity.device.major],
        grant.attribute == .accessACL, name.isPlainName
      else {
        throw refusal(
          "\(grant.path) is not a device that udev sets up", path: grant.path,
          advice: "choose the strategy acl")
      }
      entries.append(grant)
      let options = grant.arguments.dropLast().map(\.description).joined(separator: " ")
      lines.append(
        "SUBSYSTEM==\"\(subsystem)\", KERNEL==\"\(name)\", ACTION!=\"remove\", RUN+=\"\(setfacl) \(options.dropFirst("setfacl ".count)) $env{DEVNAME}\""
      )
    }
    let head =
      "# Made by permcheck for uid \(request.uid): permcheck revoke \(request.accessor) removes it."
    let path = UdevRuleGrant.folder.appending(
      "99-permcheck-\(request.uid)-\(request.accessor).rules")
    let rule = UdevRuleGrant(
      path: path, contents: ([head] + lines).joined(separator: "\n") + "\n", entries: entries)
    plan.steps.append(
      GrantPlan.Step(.udevRule(rule), place: path.description, needsRoot: own.user.effective != 0))
    plan.warnings.append(
      "the rule is for nodes of that name, whichever device they are of after the next plugging in")
    return plan
  }
}

extension String {
  /// Letters, digits, `_` and `-` alone: nothing that udev or a shell takes for something else.
  var isPlainName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
        default: false
        }
      }
  }
}
