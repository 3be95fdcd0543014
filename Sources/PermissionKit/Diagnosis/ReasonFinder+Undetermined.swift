// Why the facts leave a result open.
extension ReasonFinder {
  /// Returns the reason why the facts leave the result open.
  func undetermined(_ decision: Decision, _ ask: Ask, _ probe: Probe?) -> Reason {
    let path = ask.path
    let place = decision.inode.map { facts.path(of: $0) } ?? path
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    switch decision.rule.layer {
    case .unknown(.unmappedID):
      return Reason(
        .usernsUnmapped, .proven,
        "an id that decides on \(place) is not mapped in this user namespace, so its user or group is unknown",
        evidence: decision.inode.map { [modeAndOwners($0)] } ?? [])
    case .unknown(.networkServer), .unknown(.fuseDaemon):
      return Reason(
        .networkFS, .proven,
        "\(place) is on \(mount?.fileSystem ?? "a network file system"), where a server makes the final decision",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
    case .unknown(.serverDecides): return serverDecides(mount, ask, probe)
    case .unknown(.unheededACL):
      return Reason(
        .aclNotHonoured, .proven,
        "the ACL of \(place) would decide, but \(mount?.fileSystem ?? "its file system") shows ACLs without telling whether the kernel heeds them",
        evidence: decision.inode.map { [modeAndOwners($0)] } ?? [])
    case .unknown(.automount), .unknown(.notAnswering):
      return facts.reach(at: decision.inode).reason
        ?? Reason(.unreadableFacts, .proven, "\(place) cannot be looked at")
    case .unknown(.fileSystemRules):
      return Reason(
        .unreadableFacts, .proven,
        "mode and ACL alone do not decide on \(place), because its file system has its own rules",
        evidence: mount.map { [$0.fileSystem] } ?? [])
    case .driver:
      return Reason(
        .driver, .proven,
        "mode and ACL grant \(place) to \(name), but its driver has its own rule, and only opening the device shows the result"
      )
    case .unknown(.unreadable), .bits, .capability, .lookup, .link, .mount, .attribute,
      .idMapping, .deviceCgroup, .securityModule, .fileSystem, .call, .nothing:
      return unreadable(decision.inode, ask)
    }
  }

  /// Returns the reason where the bits grant access and somebody else has the last word.
  private func serverDecides(
    _ mount: MountFacts?, _ ask: Ask, _ probe: Probe?
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

  /// Returns the reason where a fact that decides could not be read: which one, and what helps.
  private func unreadable(_ inode: Int?, _ ask: Ask) -> Reason {
    let (what, errno) = inode.flatMap(unreadableFact) ?? ("everything that decides", nil)
    let error = errno.map { " (\($0))" } ?? ""
    let place = inode.map { facts.path(of: $0) }
    let onPath = place.map { $0 == ask.path ? "" : ", which decides on \(ask.path)" } ?? ""
    // ACLs and mounts are read through /proc.
    let isWithoutProc =
      !inspection.isSaved && (try? inspection.system.status(of: "/proc/self")) == nil
    var reason = Reason(
      .unreadableFacts, .proven,
      "this process cannot read \(what) of \(place ?? ask.path)\(error)\(onPath)"
        + (isWithoutProc ? ": /proc is not mounted" : ""),
      evidence: errno.map { ["\(what): \($0)"] } ?? [])
    if isWithoutProc {
      reason.ownAdvice = "mount it (mount -t proc proc /proc)"
    } else if !inspection.isSaved, (try? inspection.system.credentials())?.user.effective == 0 {
      // There is nobody with more rights on this machine.
      reason.ownAdvice = "check as \(name)"
    }
    return reason
  }

  /// Returns what could not be read about an inode; nil if all was.
  private func unreadableFact(_ inode: Int) -> (what: String, errno: Errno?)? {
    let inode = facts.inodes[inode]
    for entry in inode.entries {
      if case .unreadable(let errno) = entry.found { return ("the entry \(entry.name)", errno) }
    }
    if let errno = inode.aclError { return ("the ACL", errno) }
    return facts.mounts[inode.mount].isUnreadable ? ("the mount", nil) : nil
  }
}
