/// The sentence of a result that the facts leave open.
struct OpenReason {
  let finder: ReasonFinder
  let decision: Decision
  let ask: ResourceQuery
  /// The kernel's own answer; nil if it was not asked.
  let probe: Probe?

  private var inspection: Inspection { finder.inspection }
  private var facts: AccessFacts { finder.facts }
  private var name: String { finder.name }

  /// The reason why the facts leave the result open.
  var reason: Reason {
    let path = ask.path
    let place = decision.inode.map { facts.path(of: $0) } ?? path
    let mount = decision.inode.map { facts.mounts[facts.inodes[$0].mount] }
    switch decision.rule {
    case .unmappedID:
      return Reason(
        .usernsUnmapped, .proven,
        "an id that decides on \(place) is not mapped in this user namespace, so its user or group is unknown",
        evidence: decision.inode.map { [finder.modeAndOwners($0)] } ?? [])
    case .fuseDaemon where decision.inode.map({ facts.inodes[$0].isClosed }) == true:
      var reason = Reason(
        .networkFS, .proven,
        inspection.facts.overflow != nil || inspection.subject.credentials.userNamespace != nil
          ? "\(place) is a FUSE mount without allow_other, and which user of this user namespace mounted it is not known"
          : "\(name) mounted \(place) without allow_other and may enter it, but nobody else sees what is inside",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
      reason.ownAdvice = "check as \(name)"
      return reason
    case .fuseDaemon:
      var reason = Reason(
        .networkFS, .proven,
        "\(place) is on \(mount?.fileSystem ?? "FUSE"), whose daemon makes the final decision",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
      reason.ownAdvice =
        ask.operation == nil
        ? "check as \(name): only the daemon knows"
        : "only doing it as \(name) shows whether the daemon allows it"
      return reason
    case .networkFileSystem:
      return Reason(
        .networkFS, .proven,
        "\(place) is on \(mount?.fileSystem ?? "a network file system"), where a server makes the final decision",
        evidence: mount.map { ["\($0.point): \($0.superblockOptions)"] } ?? [])
    case .serverDecides: return serverDecides(mount)
    case .ignoredACL:
      return Reason(
        .aclNotHonoured, .proven,
        "the ACL of \(place) would decide, but \(mount?.fileSystem ?? "its file system") shows ACLs without telling whether the kernel honours them",
        evidence: decision.inode.map { [finder.modeAndOwners($0)] } ?? [])
    case .automount, .notAnswering:
      return facts.availability(at: decision.inode).reason
        ?? Reason(.unreadableFacts, .proven, "\(place) cannot be read")
    case .fileSystemRules:
      var reason = Reason(
        .unreadableFacts, .proven,
        "mode and ACL alone do not decide on \(place), because its file system has its own rules"
          + (refusal.map { ", which refuse \($0)" } ?? ""),
        evidence: mount.map { [$0.fileSystem] } ?? [])
      reason.ownAdvice = adviceOfRoot
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
      reason.ownAdvice = adviceToOpen
      return reason
    case .driver
    where probe?.errno == nil && decision.inode.map({ facts.inodes[$0].driverError != nil }) == true:
      var reason = Reason(
        .unreadableFacts, .proven,
        "mode and ACL grant \(place) to \(name), but this process cannot see in /sys whether a driver serves it, and only opening it shows that",
        evidence: decision.inode.flatMap { facts.inodes[$0].driverError }.map {
          ["/sys/dev: \($0)"]
        } ?? [])
      reason.ownAdvice = adviceToOpen
      return reason
    case .driver:
      return Reason(
        .driver, .proven,
        "mode and ACL grant \(place) to \(name), but its driver "
          + (refusal.map { "refuses \($0)" }
            ?? "has its own rule, and only opening the device shows the result"))
    default: return unreadable
    }
  }

  /// The kernel's own refusal, in parentheses; nil if it was not asked, or grants.
  private var refusal: String? { probe?.errno.map { "(\($0))" } }

  /// Returns the reason if the bits grant access and a server decides.
  private func serverDecides(_ mount: MountFacts?) -> Reason {
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

  /// The reason if a decisive fact could not be read: the fact, and the advice.
  private var unreadable: Reason {
    guard let inode = decision.inode, let fact = unreadableFact(inode) else {
      var reason = Reason(
        .unreadableFacts, .proven,
        facts.startError.map { error in
          "the working directory cannot be opened (\(error)), so this process does not see where \(ask.path) leads"
        } ?? "this process cannot read everything that decides on \(ask.path)")
      reason.ownAdvice = adviceOfRoot
      return reason
    }
    let place = facts.path(of: inode)
    // ACLs and mounts are read through /proc.
    let isWithoutProc = fact.isReadThroughProc && inspection.isWithoutProc
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

  /// The advice to allow an open of a device that no check opens by default.
  private var adviceToOpen: String {
    if inspection.method == .none { return "check as \(name) with --probe open" }
    return Opener(inspection, ask).mayBeReplaced
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
  private func unreadableFact(_ index: Int) -> UnreadableFact? {
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
    if let subvolume = inode.subvolume, subvolume.isReadOnly == nil {
      return UnreadableFact(what: "the subvolume", errno: nil, isReadThroughProc: true)
    }
    if let errno = inode.keyError {
      return UnreadableFact(what: "the key of the encryption", errno: errno)
    }
    if facts.mounts[inode.mount].isUnreadable {
      return UnreadableFact(what: "the mount", errno: nil, isReadThroughProc: true)
    }
    return inode.kind == .symbolicLink && inode.target == nil
      ? UnreadableFact(what: "the target", errno: nil) : nil
  }
}

extension AccessFacts {
  /// Returns what could not be seen of an inode: the name that leads on, its ACL, the target of a link.
  func unseen(at index: Int, onTheWayTo path: PathBytes) -> [Unseen] {
    let (inode, place) = (inodes[index], self.path(of: index))
    var all: [Unseen] = []
    for entry in inode.entries {
      let below = place.appending(entry.name)
      guard case .unreadable(let errno) = entry.found, path == below || path.isBelow(below)
      else { continue }
      all.append(Unseen(below, errno))
    }
    if let errno = inode.aclError { all.append(Unseen(place, call: "getxattr", errno)) }
    if let errno = inode.keyError { all.append(Unseen(place, call: "ioctl", errno)) }
    return all
  }
}
