/// A container whose start decides: what is given to it there outlives it, nothing that is changed
/// inside does.
struct ContainerStart: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let (facts, ask, credentials) = (
      evidence.facts, evidence.ask, evidence.subject.credentials
    )
    guard evidence.isRefusedByStoredBits, credentials.user.fileSystem != 0,
      let index = evidence.decision.inode
    else { return nil }
    let inode = facts.inodes[index]
    let isOfGroup = evidence.refusal.first?.code == .notInGroup
    guard
      isOfGroup && ask.path.isBelow(evidence.inspection.context.root.appending("dev"))
        || Self.mayBeContained(evidence)
    else { return nil }
    let places = evidence.confinement.found.map(\.place).filter(\.isContainer)
    guard !places.isEmpty else { return nil }
    let isPod = places.contains(Confinement.pod)
    let isDevice = inode.kind.isDevice
    var inside = evidence.leastChange
    var entries: [Remedy] = []
    if evidence.isAtRoot, inside.allSatisfy(\.needsRoot), !isPod {
      entries = RemedyFinder(evidence.inspection).remedies(ask, on: evidence.host)
    }
    var finding = Finding(replaces: .remedies)
    var flags: [Remedy] = []
    if isOfGroup, isDevice || !entries.isEmpty || isPod {
      flags = Self.groups(places, inode.gid, evidence)
      if isDevice, let reason = Self.foreignGroup(inode.gid, evidence) {
        finding.reasons = [reason]
      }
    } else if isPod, inode.kind == .directory {
      flags = [.podFolder(credentials.group.fileSystem)]
    }
    // Root in this user namespace may not change what belongs to nobody in it. The manifest makes a pod,
    // and nothing that is changed in it lasts.
    if inode.uid == facts.overflow?.uid || isPod && !flags.isEmpty { inside = [] }
    finding.remedies = (isDevice ? flags + entries : entries + flags) + inside
    return finding
  }

  /// Whether looking for a container is worth its cost: a machine mostly has a whole file system at
  /// `/`.
  private static func mayBeContained(_ evidence: Evidence) -> Bool {
    let facts = evidence.facts
    guard evidence.isAtRoot else { return false }
    return facts.overflow != nil
      || HostSide.mayBeRoot(facts.mounts[facts.inodes[facts.root].mount])
  }

  /// Groups that own devices, see 50-udev-default.rules of systemd, and sockets.
  private static let deviceGroups: Set<String> = [
    "audio", "cdrom", "dialout", "disk", "docker", "floppy", "gpio", "i2c", "input", "kvm",
    "libvirt", "lp", "optical", "plugdev", "render", "scanner", "sgx", "spi", "tape", "tss", "tty",
    "uucp", "video",
  ]

  /// Returns a note that the group of a node has another name in the image, or none; nil if the
  /// name is right.
  private static func foreignGroup(_ gid: UInt32, _ evidence: Evidence) -> Reason? {
    let name = evidence.users.groupName(gid)
    if gid == evidence.facts.overflow?.gid || deviceGroups.contains(name) { return nil }
    let isNamed = name != String(gid)
    let what =
      isNamed
      ? "this container calls it \(name), which may be another group"
      : "it has no name in this container"
    return Reason(
      .foreignGroup, .suspected,
      "gid \(gid) is the number that the machine has for the group of the device: \(what)",
      evidence: ["group \(gid): \(isNamed ? name : "not in the data base")"])
  }

  /// Returns the remedies that give the group of an inode to a container.
  static func groups(
    _ places: [Confinement.Place], _ gid: UInt32, _ evidence: Evidence
  ) -> [Remedy] {
    // Then it seems to have no id in this user namespace, and so appears as nobody's.
    guard gid == evidence.facts.overflow?.gid else {
      return places.compactMap { Remedy.groupFlag($0, gid) }
    }
    return places.compactMap { place in
      switch place {
      case .podman(rootless: true): Remedy.groupFlag(place, gid)
      case .container("lxc"):
        evidence.ask.resource.family.map { .lxcGroup(evidence.ask.path, $0, evidence.users) }
      default: nil
      }
    }
  }
}

extension Confinement.Place {
  /// Whether a container manager outside starts the place, with its devices, groups and folders.
  var isContainer: Bool {
    switch self {
    case .docker, .podman, .container: true
    case .flatpak, .snap, .bubblewrap, .firejail, .service, .privateDevices, .wsl: false
    }
  }
}
