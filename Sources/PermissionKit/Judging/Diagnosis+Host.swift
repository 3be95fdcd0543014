// What whoever starts a container gives it: nothing that is changed inside outlives it.
extension Diagnosis {
  private var host: HostSide {
    HostSide(inspection.system, process: inspection.subject.process)
  }

  /// Returns where the folder of a question is on the machine, if a container shows that folder.
  func hostPath(_ ask: ResourceQuery, _ decision: Decision) -> HostSide.Path? {
    let facts = inspection.facts
    guard let index = decision.inode, inspection.context.root == "/" else { return nil }
    let mount = facts.mounts[facts.inodes[index].mount]
    // What is asked for may be below what is mounted; what was given is the mount point.
    let isWhole = ask.path == mount.point || ask.path.isBelow(mount.point)
    return host.path(of: isWhole ? ask.path : mount.point, on: mount)
  }

  /// Puts the changes that are made outside of a container first, where mode or ACL refuse.
  func addOutside(_ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision) {
    let credentials = inspection.subject.credentials
    let isOfGroup = report.reasons.first?.code == .notInGroup
    guard credentials.user.fileSystem != 0, let index = decision.inode,
      case let inode = inspection.facts.inodes[index],
      isOfGroup && ask.path.isBelow(inspection.context.root.appending("dev")) || mayBeContained
    else { return }
    let places = confinement.found.map(\.place).filter(\.isContainer)
    guard !places.isEmpty else { return }
    let isDevice = inode.kind.isDevice
    var entries: [Remedy] = []
    if inspection.context.root == "/", report.remedies.allSatisfy(\.needsRoot),
      !places.contains(Confinement.pod)
    {
      entries = RemedyFinder(inspection).remedies(ask, on: host)
    }
    var flags: [Remedy] = []
    if isOfGroup, isDevice || !entries.isEmpty || isPod(places) {
      flags = groups(places, inode.gid, ask)
      if isDevice, let reason = foreignGroup(inode.gid) { report.reasons.append(reason) }
    } else if isPod(places), inode.kind == .directory {
      flags = [.podFolder(credentials.group.fileSystem)]
    }
    // Root in this user namespace may not change what belongs to nobody in it.
    if inode.uid == inspection.facts.overflow?.uid { report.remedies = [] }
    // The manifest makes a pod, and nothing that is changed in it lasts.
    if isPod(places), !flags.isEmpty { report.remedies = [] }
    report.remedies = (isDevice ? flags + entries : entries + flags) + report.remedies
  }

  private func isPod(_ places: [Confinement.Place]) -> Bool { places.contains(Confinement.pod) }

  /// Whether looking for a container is worth its cost: a machine mostly has a whole file system at
  /// `/`.
  private var mayBeContained: Bool {
    let facts = inspection.facts
    guard inspection.context.root == "/" else { return false }
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
  private func foreignGroup(_ gid: UInt32) -> Reason? {
    let name = inspection.users.groupName(gid)
    if isUnmapped(gid) { return nil }
    if Self.deviceGroups.contains(name) { return nil }
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
  private func groups(
    _ places: [Confinement.Place], _ gid: UInt32, _ ask: ResourceQuery
  ) -> [Remedy] {
    guard isUnmapped(gid) else { return places.compactMap { Remedy.groupFlag($0, gid) } }
    return places.compactMap { place in
      switch place {
      case .podman(rootless: true): Remedy.groupFlag(place, gid)
      case .container("lxc"):
        ask.resource.family.map { .lxcGroup(ask.path, $0, inspection.users) }
      default: nil
      }
    }
  }

  /// Whether the group seems to have no id in this user namespace, and so appears as nobody's.
  private func isUnmapped(_ gid: UInt32) -> Bool { inspection.facts.overflow?.gid == gid }

  /// Adds the user namespace of a container in which an owner or group has no id.
  func confineGroups(_ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision) {
    let places = confinement.found.filter(\.place.isContainer)
    for (place, evidence) in places {
      let drops = place == .podman(rootless: true)
      report.reasons.append(
        Reason(
          .container, .suspected,
          "this process seems to run in \(place.description)\(drops ? ", which drops the user's supplementary groups" : "")",
          evidence: evidence))
    }
    guard let index = decision.inode, !places.isEmpty, inspection.context.root == "/" else {
      return
    }
    let gid = inspection.facts.inodes[index].gid
    report.remedies =
      groups(places.map(\.place), gid, ask) + RemedyFinder(inspection).remedies(ask, on: host)
      + report.remedies
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
