/// Turns a decision and the kernel's own answer into reasons for people.
struct ReasonFinder {
  let inspection: Inspection

  init(_ inspection: Inspection) { self.inspection = inspection }

  var facts: AccessFacts { inspection.facts }
  var users: UserDatabase { inspection.users }
  /// The subject's name for people.
  var name: String { inspection.subject.displayName }

  /// Returns the reasons why a resource is not authorized; empty if it is authorized.
  ///
  /// - Parameters:
  ///   - ask: The resource and the permissions that were asked for.
  ///   - decision: The decision on the facts.
  ///   - steps: The steps of the walk that led to the decision.
  ///   - probe: The kernel's answer; nil if the kernel was not asked.
  ///   - contradicted: Finds the reason why the kernel refuses, with an errno, what the facts grant.
  /// - Returns: The reasons, the most important one first.
  func reasons(
    _ ask: ResourceQuery, _ decision: Decision, steps: [WalkStep], probe: Probe?,
    contradicted: (Errno) -> Reason
  ) -> [Reason] {
    var reasons: [Reason] = []
    if let probe, !probe.isInconclusive,
      probe.errno != decision.errno || decision.verdict == .undetermined
    {
      if let reason = contradiction(decision, probe, ask, contradicted) {
        reasons.append(reason)
      }
      if probe.errno == nil || decision.errno == nil { return reasons }
    }
    switch decision.verdict {
    case .granted: break
    case .undetermined: reasons.append(undetermined(decision, ask, probe))
    case .refused(let errno):
      var reason = refusal(ask, decision, errno, steps: steps)
      if reason.code == .noDevice, decision.rule == .missing,
        ask.resource.kind == .directory
      {
        reason.ownAdvice = "create the folder, or name another one"
      }
      reasons.append(reason)
      let credentials = inspection.subject.credentials
      if decision.rule.bits != nil, credentials.user.fileSystem == 0 {
        // capable_wrt_inode_uidgid() wants the owner and the group mapped as well.
        let isMissing = !credentials.effective.contains(.dacOverride)
        let inode = decision.inode.map { facts.inodes[$0] }
        // generic_permission(): no capability makes a file executable that is so for nobody.
        let isForNobody =
          ask.need.contains(.execute) && decision.step == .target && inode?.kind != .directory
          && (inode?.mode ?? 0) & 0o111 == 0
        let cause =
          isForNobody
          ? "no execute bit is set, and no capability replaces that"
          : isMissing
            ? "CAP_DAC_OVERRIDE is missing"
            : "CAP_DAC_OVERRIDE does not apply, because this user namespace does not map the owner or the group"
        reasons.append(
          Reason(
            isForNobody
              ? .otherBits : isMissing ? .rootWithoutCapability : .usernsUnmapped, .proven,
            "root has no exemption here: \(cause)",
            evidence: [
              "effective capabilities 0x" + String(credentials.effective.rawValue, radix: 16)
            ]))
      }
    }
    return reasons
  }

  /// Returns the reason why the kernel's answer differs from the facts; nil if that needs no
  /// reason.
  private func contradiction(
    _ decision: Decision, _ probe: Probe, _ ask: ResourceQuery, _ contradicted: (Errno) -> Reason
  ) -> Reason? {
    let path = ask.path
    let evidence = [
      "predicted \(decision.errno?.description ?? decision.verdict.name) by \(decision.rule)",
      "\(probe.method.rawValue): \(probe.errno.map(\.description) ?? "granted")",
    ]
    guard let errno = probe.errno else {
      if decision.verdict == .undetermined { return nil }
      return Reason(
        .unreadableFacts, .suspected,
        "the kernel grants \(path) although mode and ACL refuse it; they probably changed meanwhile, or the file system has its own rules",
        evidence: evidence)
    }
    let isUnlisted = decision.inode.map { facts.inodes[$0].hasNoListedDriver } == true
    if decision.isForDriver, !isUnlisted {
      var reason = undetermined(decision, ask, probe)
      reason.evidence += evidence
      return reason
    }
    switch errno {
    case .ENXIO, .ENODEV:
      return Reason(
        .noDriver, .proven, "\(path) exists, but no driver handles it (\(errno))",
        evidence: evidence)
    case .EBUSY:
      return Reason(
        .busy, .proven, "access to \(path) is allowed, but something else is using it now",
        evidence: evidence)
    case .EACCES, .EPERM, .EROFS, .ENOSYS:
      if [.networkFileSystem, .fuseDaemon, .serverDecides].contains(decision.rule),
        let index = facts.target(of: path) ?? decision.inode
      {
        let system = facts.mounts[facts.inodes[index].mount].fileSystem
        return serverRefusal(
          path, system, isServer: !system.hasPrefix("fuse"), " (\(errno))", evidence,
          code: decision.rule == .serverDecides ? .serverDecides : .networkFS)
      }
      if decision.verdict == .undetermined, errno == .EACCES {
        // The facts left the result open, so the refusal does not point to another layer.
        var reason = undetermined(decision, ask, probe)
        reason.evidence += evidence
        return reason
      }
      return contradicted(errno)
    case .ENOKEY: return locked(path, evidence)
    case .ENOENT, .ENOTDIR:
      return Reason(.noDevice, .proven, "there is no \(path) (\(errno))", evidence: evidence)
    default:
      return Reason(
        .driver, .suspected, "opening \(path) fails with \(errno)", evidence: evidence)
    }
  }

  /// Returns the reason for a refusal by the server or FUSE daemon of a file system.
  func serverRefusal(
    _ path: PathBytes, _ system: String, isServer: Bool, _ answer: String, _ evidence: [String],
    code: Reason.Code = .networkFS
  ) -> Reason {
    let isRoot = inspection.subject.credentials.user.fileSystem == 0
    let squash = isRoot && isServer ? "; it may treat root as nobody (root squash)" : ""
    let server = isServer ? "the server of" : "the FUSE daemon that serves"
    return Reason(
      code, .proven, "\(server) \(path) (\(system)) refuses access\(answer)\(squash)",
      evidence: evidence)
  }

  /// Returns the reason for an encrypted file or directory without its key.
  func locked(_ path: PathBytes, _ evidence: [String]) -> Reason {
    Reason(
      .locked, .proven, "\(path) is encrypted and locked: its key is not there (ENOKEY)",
      evidence: evidence)
  }
}

extension ReasonFinder {
  /// Returns mode, owner and group of an inode, for people.
  func modeAndOwners(_ inode: Int) -> String {
    let facts = facts.inodes[inode]
    return
      "\(facts.summary.modeText) \(users.userName(facts.uid)):\(users.groupName(facts.gid))"
  }

  /// Returns the mode bits or ACL entry that decided, for people: `owner rw-`,
  /// `ACL user:tester:rw-`.
  func basis(_ decision: Decision) -> String {
    guard let index = decision.inode, let rule = decision.rule.bits else {
      if decision.rule == .capDACOverride { return "CAP_DAC_OVERRIDE" }
      if decision.rule == .capDACReadSearch { return "CAP_DAC_READ_SEARCH" }
      return decision.rule.description
    }
    var group: String { users.groupName(facts.inodes[index].gid) }
    switch rule {
    case .owner: return "owner \(facts.inodes[index].bits(6))"
    case .group: return "group \(group) \(facts.inodes[index].bits(3))"
    case .other, .aclOther: return "other \(facts.inodes[index].bits(0))"
    case .aclUser(let id, _):
      return "ACL user:\(users.userName(id)):\(facts.inodes[index].entry(.user, id))"
    case .aclOwningGroup: return "ACL group::\(facts.inodes[index].entry(.owningGroup)) (\(group))"
    case .aclGroup(let id, _):
      return "ACL group:\(users.groupName(id)):\(facts.inodes[index].entry(.group, id))"
    }
  }
}

extension ReasonFinder {
  /// Returns the reason why a rule refuses.
  func refusal(
    _ ask: ResourceQuery, _ decision: Decision, _ errno: Errno, steps: [WalkStep]
  ) -> Reason {
    guard let inode = decision.inode else {
      return Reason(.noDevice, .proven, "the path \(ask.path) cannot be resolved (\(errno))")
    }
    let place = facts.path(of: inode)
    let evidence =
      [modeAndOwners(inode)] + (facts.inodes[inode].acl?.entries.map(\.description) ?? [])
    if let rule = decision.rule.bits {
      let asked: Permissions = decision.step == .walk ? .execute : ask.need
      var (code, message) = bitRefusal(rule, inode, asked)
      if isIgnored(inode, asked) {
        code = .aclNotHonoured
        message =
          "the ACL allows \(name), but the kernel ignores ACLs on \(mountPoint(inode)) (\(modeAndOwners(inode)))"
      }
      if decision.step == .walk {
        return Reason(
          .parentSearch, .proven, "\(name) may not search \(place): \(message)",
          evidence: evidence)
      }
      return Reason(code, .proven, message, evidence: evidence)
    }
    let (code, message) = otherRefusal(decision, inode, place, steps: steps)
    var reason = Reason(code, .proven, message, evidence: evidence)
    if case .landlock = decision.rule { reason.ownWhose = .landlock }
    if decision.rule == .protectedSymlink { reason.ownWhose = .kernelSetting }
    return reason
  }

  /// Whether an ACL grants access, but the kernel ignores ACLs on this mount.
  private func isIgnored(_ inode: Int, _ asked: Permissions) -> Bool {
    let mount = facts.inodes[inode].mount
    guard facts.inodes[inode].acl != nil, facts.mounts[mount].rules.honoursACLs == false else {
      return false
    }
    var withACLs = facts
    withACLs.mounts[mount].isOtherMachine = true
    return AccessEvaluator(facts: withACLs, credentials: inspection.subject.credentials)
      .permits(asked, of: inode)
  }

  private func bitRefusal(
    _ rule: BitRule, _ inode: Int, _ need: Permissions
  ) -> (Reason.Code, String) {
    let facts = facts.inodes[inode]
    let seen = "(\(modeAndOwners(inode)))"
    let group = users.groupName(facts.gid)
    func lacks(_ have: Permissions) -> String {
      "no \(need.subtracting(have).words) permission"
    }
    func mask(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      let mask = facts.acl?.mask ?? []
      return (
        .aclMask,
        "the ACL grants \(whose) \(permissions), but the ACL mask (\(mask)) removes \(need.subtracting(mask).words) \(seen)"
      )
    }
    func entry(_ whose: String, _ permissions: Permissions) -> (Reason.Code, String) {
      (.aclEntry, "the ACL entry for \(whose) (\(permissions)) gives \(lacks(permissions)) \(seen)")
    }
    switch rule {
    case .owner:
      return (.ownerBits, "\(name) is the owner, and the owner has \(lacks(facts.bits(6))) \(seen)")
    case .group(false):
      return (
        .groupBits,
        "\(name) is in group \(group), and the group has \(lacks(facts.bits(3))) \(seen)"
      )
    case .other(false) where facts.bits(3).isSuperset(of: need):
      return (
        .notInGroup, "\(name) is not in group \(group) \(seen) and no ACL entry names \(name)"
      )
    case .other(false):
      return (.otherBits, "\(name) is neither the owner nor in group \(group) \(seen)")
    case .group(true), .other(true):
      return (
        .aclMask,
        "the ACL mask is empty, so the kernel ignores every ACL entry, even one for \(name) \(seen)"
      )
    case .aclUser(let id, false): return entry(name, facts.entry(.user, id))
    case .aclOwningGroup(false):
      return entry("group \(group) of \(name)", facts.entry(.owningGroup))
    case .aclGroup(let id, false):
      return entry(
        "group \(users.groupName(id)) of \(name)", facts.entry(.group, id))
    case .aclUser(let id, true): return mask("user:\(name)", facts.entry(.user, id))
    case .aclOwningGroup(true): return mask("group \(group)", facts.entry(.owningGroup))
    case .aclGroup(let id, true):
      return mask("group \(users.groupName(id))", facts.entry(.group, id))
    case .aclOther: return noEntry(facts, need, seen)
    }
  }

  /// Returns the reason if no ACL entry matches the subject.
  private func noEntry(
    _ facts: InodeFacts, _ need: Permissions, _ seen: String
  ) -> (Reason.Code, String) {
    let mask = facts.acl?.mask ?? .all
    let groups = facts.acl?.entries.filter { $0.tag == .owningGroup || $0.tag == .group } ?? []
    if groups.contains(where: { $0.permissions.intersection(mask).isSuperset(of: need) }) {
      return (
        .notInGroup,
        "\(name) is in no group to which the ACL grants \(need.letters), and no ACL entry names \(name) \(seen)"
      )
    }
    let bits = facts.bits(0)
    return (
      .otherBits,
      "no ACL entry matches \(name), and everybody else has no \(need.subtracting(bits).words) permission (\(bits))"
    )
  }

  private func otherRefusal(
    _ decision: Decision, _ inode: Int, _ place: PathBytes, steps: [WalkStep]
  ) -> (Reason.Code, String) {
    let errno = decision.errno?.description ?? ""
    let onMount = "\(place) is on \(mountPoint(inode)),"
    switch decision.rule {
    case .noDeviceMount:
      return (.nodevMount, "\(onMount) and the mount allows no devices (nodev)")
    case .noExecuteMount:
      return (.noexecMount, "\(onMount) and the mount allows no programs (noexec)")
    case .readOnlyMount, .readOnlySuperblock:
      return (.readOnlyMount, "\(onMount) which is mounted read-only (\(errno))")
    case .readOnlySubvolume:
      return (.readOnlySubvolume, "\(place) is in a read-only subvolume of btrfs (\(errno))")
    case .protectedSymlink:
      return (
        .parentSearch,
        "\(place) is another user's symbolic link in a sticky, world-writable directory, and the kernel does not follow such links (fs.protected_symlinks)"
      )
    case .noSymlinkMount:
      return (
        .parentSearch,
        "\(place) is a symbolic link on a mount that does not follow links (nosymfollow)"
      )
    case .appendOnly: return (.appendOnly, "\(place) is append-only (chattr +a)")
    case .immutable:
      return (
        .immutable,
        facts.inodes[inode].isImmutable
          ? "\(place) is immutable (chattr +i)"
          : "\(place) is immutable because its whole file system is"
      )
    case .deviceCgroup: return (.deviceCgroup, "the device cgroup refuses \(place) (\(errno))")
    case .landlock:
      return (.landlockOrLSM, "a Landlock ruleset refuses \(place) (\(errno))")
    case .driver where decision.errno == .ENXIO || decision.errno == .ENODEV:
      return (.noDriver, "\(place) exists, but no driver handles it (\(errno))")
    case .driver: return (.driver, "the driver of \(place) refuses access (\(errno))")
    case .fuseOtherUser:
      return (
        .networkFS,
        "\(mountPoint(inode)) is another user's FUSE mount without allow_other (\(errno))"
      )
    case .unmappedOwner, .unmappedSubject:
      let whose = decision.rule == .unmappedOwner ? "its owner or group" : name
      return (.usernsUnmapped, "the mount of \(place) has no id mapping for \(whose) (\(errno))")
    case .locked:
      let reason = locked(place, [])
      return (reason.code, reason.message)
    default:
      if decision.rule.layer == .lookup {
        return lookupRefusal(decision.rule, inode, place, steps)
      }
      return (.driver, "the rule \(decision.rule) refuses access to \(place) (\(errno))")
    }
  }

  private func mountPoint(_ inode: Int) -> String {
    let point = facts.mounts[facts.inodes[inode].mount].point
    return point.isEmpty ? "a mount" : point.description
  }

  /// Returns the paths of links that lead in a circle, in their order; empty if none do.
  private func circle(_ steps: [WalkStep]) -> [String] {
    var links: [Int] = []
    for step in steps {
      guard case .link(let inode) = step.event else { continue }
      if let first = links.firstIndex(of: inode) {
        return links[first...].map { facts.path(of: $0).description }
      }
      links.append(inode)
    }
    return []
  }

  private func lookupRefusal(
    _ rule: Rule, _ inode: Int, _ place: PathBytes, _ steps: [WalkStep]
  ) -> (Reason.Code, String) {
    switch rule {
    case .missing: return missing(place, steps)
    case .notADirectory: return (.noDevice, "\(place) is not a directory")
    case .tooManyLinks:
      let circle = circle(steps)
      if circle.count == 1 {
        return (.danglingSymlink, "\(circle[0]) is a symbolic link that points at itself (ELOOP)")
      }
      if circle.count > 1 {
        let names = circle.dropLast().joined(separator: ", ") + " and " + circle[circle.count - 1]
        return (.danglingSymlink, "\(names) are symbolic links that point at each other (ELOOP)")
      }
      return (
        .danglingSymlink, "the path follows too many symbolic links, the last one \(place) (ELOOP)"
      )
    case .pathTooLong, .nameTooLong: return (.noDevice, "the path is too long (ENAMETOOLONG)")
    case .emptyPath: return (.noDevice, "the path is empty (ENOENT)")
    default:
      return (.noDevice, "\(place) is a \(facts.inodes[inode].kind.rawValue), not a device")
    }
  }

  private func missing(_ place: PathBytes, _ steps: [WalkStep]) -> (Reason.Code, String) {
    let missing = facts.missingPath(steps) ?? place
    for step in steps.reversed() {
      guard case .link(let link) = step.event else { continue }
      return (
        .danglingSymlink,
        "\(facts.path(of: link)) is a symbolic link, but \(missing) does not exist"
      )
    }
    return (.noDevice, "there is no \(missing)\(relativeTo(missing))")
  }

  /// Returns the folder that a relative path of another process starts at; empty for other paths.
  private func relativeTo(_ path: PathBytes) -> String {
    guard !path.isAbsolute, let process = inspection.subject.process else { return "" }
    let folder =
      inspection.isSaved
      ? nil : inspection.system.destination(ofLink: PathBytes("/proc/\(process)/cwd"))
    return folder.map { " in \($0), the working directory of process \(process)" }
      ?? " in the working directory of process \(process)"
  }
}

// Why the facts leave a result open.
extension ReasonFinder {
  /// Returns the reason why the facts leave the result open.
  func undetermined(_ decision: Decision, _ ask: ResourceQuery, _ probe: Probe?) -> Reason {
    let path = ask.path
    let place = decision.inode.map { facts.path(of: $0) } ?? path
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    switch decision.rule {
    case .unmappedID:
      return Reason(
        .usernsUnmapped, .proven,
        "an id that decides on \(place) is not mapped in this user namespace, so its user or group is unknown",
        evidence: decision.inode.map { [modeAndOwners($0)] } ?? [])
    case .networkFileSystem, .fuseDaemon:
      return Reason(
        .networkFS, .proven,
        "\(place) is on \(mount?.fileSystem ?? "a network file system"), where a server makes the final decision",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
    case .serverDecides: return serverDecides(mount, ask, probe)
    case .ignoredACL:
      return Reason(
        .aclNotHonoured, .proven,
        "the ACL of \(place) would decide, but \(mount?.fileSystem ?? "its file system") shows ACLs without telling whether the kernel honours them",
        evidence: decision.inode.map { [modeAndOwners($0)] } ?? [])
    case .automount, .notAnswering:
      return facts.availability(at: decision.inode).reason
        ?? Reason(.unreadableFacts, .proven, "\(place) cannot be read")
    case .fileSystemRules:
      var reason = Reason(
        .unreadableFacts, .proven,
        "mode and ACL alone do not decide on \(place), because its file system has its own rules",
        evidence: mount.map { [$0.fileSystem] } ?? [])
      if inspection.subject.process != nil, probe?.method != .enter {
        reason.ownAdvice = "ask in its place, as root, with --probe enter"
      }
      return reason
    case .driver where decision.inode.map({ facts.inodes[$0].hasNoListedDriver }) == true:
      let number = decision.inode.flatMap { facts.inodes[$0].device }
      let numbers = number.map { "\($0.major):\($0.minor)" } ?? ""
      var reason = Reason(
        .driver, .proven,
        "mode and ACL grant \(place) to \(name), but no driver is listed for the device \(numbers), and only opening it shows whether there is one",
        evidence: ["/sys/dev has no \(numbers)"])
      reason.ownAdvice = adviceToOpen(ask)
      return reason
    case .driver:
      return Reason(
        .driver, .proven,
        "mode and ACL grant \(place) to \(name), but its driver has its own rule, and only opening the device shows the result"
      )
    default: return unreadable(decision.inode, ask)
    }
  }

  /// Returns the reason if the bits grant access and a server decides.
  private func serverDecides(
    _ mount: MountFacts?, _ ask: ResourceQuery, _ probe: Probe?
  ) -> Reason {
    let place = ask.path
    var message =
      "mode and ACL grant \(place) to \(name), but it is on \(mount?.fileSystem ?? "a network file system"), where a server has the last word"
    if let probe, !probe.unproven.isEmpty {
      message =
        ask.isDirectory && probe.unproven == .write && probe.method.opens
        ? "\(name) can list \(place), but only creating a file shows whether the server (\(mount?.fileSystem ?? "")) lets \(name) write there; a probe by writing (write) creates and removes one"
        : message
    } else if !inspection.method.opens {
      message += "; only an attempt as \(name) shows the answer"
    }
    return Reason(
      .serverDecides, .proven, message,
      evidence: mount.map { ["\($0.point): \($0.fileSystem) \($0.superblockOptions)"] } ?? [])
  }

  /// Returns the reason if a decisive fact could not be read: the fact, and the advice.
  private func unreadable(_ inode: Int?, _ ask: ResourceQuery) -> Reason {
    guard let inode, let fact = unreadableFact(inode, ask) else {
      var reason = Reason(
        .unreadableFacts, .proven,
        "this process cannot read everything that decides on \(ask.path)")
      reason.ownAdvice = adviceOfRoot
      return reason
    }
    let place = facts.path(of: inode)
    // ACLs and mounts are read through /proc.
    let isWithoutProc =
      fact.isReadThroughProc && !inspection.isSaved
      && (try? inspection.system.status(of: "/proc/self")) == nil
    var reason = Reason(
      .unreadableFacts, .proven,
      "this process cannot read \(fact.what) of \(place)\(fact.errno.map { " (\($0))" } ?? "")"
        + (place == ask.path ? "" : ", which decides on \(ask.path)")
        + (isWithoutProc ? ": /proc is not mounted" : ""),
      evidence: fact.errno.map { ["\(fact.what): \($0)"] } ?? [])
    reason.ownAdvice = isWithoutProc ? "mount /proc (mount -t proc proc /proc)" : adviceOfRoot
    return reason
  }

  /// The advice for root, who cannot ask somebody with more rights; nil for others.
  private var adviceOfRoot: String? {
    guard !inspection.isSaved, inspection.system.isRoot else { return nil }
    return inspection.subject.credentials.user.fileSystem == 0
      ? "let the check open it (probe)" : "check as \(name)"
  }

  /// Returns the advice to allow an open of a device that no check opens by default.
  private func adviceToOpen(_ ask: ResourceQuery) -> String {
    if inspection.method == .none { return "check as \(name) with --probe open" }
    return inspection.mayBeReplaced(inspection.place(of: ask))
      ? "ask for its node in /dev with --probe open; root opens nothing where others can put a link"
      : "ask with --probe open"
  }

  /// A fact that the kernel uses and this process could not read.
  private struct UnreadableFact {
    var what: String
    var errno: Errno?
    var isReadThroughProc = false
  }

  /// Returns the first fact on a path that could not be read; nil if all were read.
  private func unreadableFact(_ index: Int, _ ask: ResourceQuery) -> UnreadableFact? {
    let inode = facts.inodes[index]
    let place = facts.path(of: index)
    for entry in inode.entries {
      let path = place.appending(entry.name)
      guard case .unreadable(let errno) = entry.found,
        ask.path == path || ask.path.isBelow(path) || inode.entries.count == 1
      else { continue }
      return UnreadableFact(what: "the entry \(entry.name)", errno: errno)
    }
    if let errno = inode.aclError {
      return UnreadableFact(what: "the ACL", errno: errno, isReadThroughProc: true)
    }
    if facts.mounts[inode.mount].isUnreadable {
      return UnreadableFact(what: "the mount", errno: nil, isReadThroughProc: true)
    }
    return inode.kind == .symbolicLink && inode.target == nil
      ? UnreadableFact(what: "the target", errno: nil) : nil
  }
}
