extension Remedy {
  /// Creates a remedy other than mode or ACL; its outcome cannot be simulated.
  init(
    _ kind: Kind, _ command: [PathBytes], needsRoot: Bool = false,
    _ persistence: Persistence = .permanent, others: [String] = [], line: String? = nil,
    note: String? = nil
  ) {
    self.init(
      kind: kind, command: command, needsRoot: needsRoot, persistence: persistence,
      othersAffected: others, outcome: .undetermined)
    self.line = line
    self.note = note
  }

  // MARK: - Mounts and drivers

  /// Returns a remedy for CI machines without devices: a driver that needs no hardware.
  static func testDevice(_ driver: String) -> Remedy {
    Remedy(
      .driver, ["modprobe", PathBytes(driver)], needsRoot: true, .untilReboot,
      note: "a test driver, if the runner's kernel has it; otherwise skip what is unavailable")
  }

  /// The remedy that lets other users enter a FUSE mount.
  static var allowOther: Remedy {
    Remedy(
      .mount, [], needsRoot: true, others: ["everybody whom the FUSE daemon lets in"],
      line: "user_allow_other   in /etc/fuse.conf, and mount with -o allow_other",
      note: "also mount with default_permissions; otherwise the kernel ignores mode bits")
  }

  // MARK: - Groups

  /// The remedy that gives a group to one shell, see newgrp(1).
  ///
  /// - Returns: The remedy, which lasts as long as the shell.
  static func newGroup(_ group: String, _ moved: Decision) -> Remedy {
    var remedy = Remedy(
      .login, ["newgrp", PathBytes(group)], .untilLogout,
      note: "gives the group to one shell; after a new login every process has it")
    remedy.outcome =
      moved.isGranted ? .granted : moved.errno == nil ? .undetermined : .refused
    return remedy
  }

  /// The remedy that starts a service again, which then has the groups of its user.
  ///
  /// - Returns: The remedy.
  static func restart(_ unit: String, _ moved: Decision) -> Remedy {
    var remedy = Remedy(.service, ["systemctl", "restart", PathBytes(unit)], needsRoot: true)
    remedy.outcome =
      moved.isGranted ? .granted : moved.errno == nil ? .undetermined : .refused
    return remedy
  }

  /// The flag that gives a container the number of a node's group; nil for other places.
  static func groupFlag(_ place: Confinement.Place, _ gid: UInt32) -> Remedy? {
    let command: [PathBytes]
    switch place {
    case Confinement.pod:
      // https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
      return Remedy(
        .container, [], others: ["every process in the pod"],
        line: "spec.securityContext.supplementalGroups: [\(gid)]   in the manifest of the pod",
        note: "a pod is made anew from its manifest, so a change of the node inside does not last")
    case .docker: command = ["docker", "run", PathBytes("--group-add=\(gid)"), "IMAGE"]
    case .podman(rootless: true): command = keepGroups.command
    case .podman: command = ["podman", "run", PathBytes("--group-add=\(gid)"), "IMAGE"]
    case .container, .flatpak, .snap, .bubblewrap, .service, .privateDevices, .wsl: return nil
    }
    return Remedy(.container, command, others: ["every process in the container"])
  }

  /// The flag that makes a rootless container keep the supplementary groups of the user.
  static var keepGroups: Remedy {
    Remedy(.container, ["podman", "run", "--group-add=keep-groups", "IMAGE"])
  }

  /// The udev rule that gives a device to whoever is at its seat, see 70-uaccess.rules of systemd.
  ///
  /// - Returns: The remedy, one command that writes the rule and sets the node up anew.
  static func seatRule(_ match: UdevMatch, _ node: PathBytes) -> Remedy {
    // 73-seat-late.rules acts on the tag.
    let file = "/etc/udev/rules.d/70-seat-\(node.lastComponent).rules"
    let script =
      "echo '\(match.text), TAG+=\"uaccess\"' >\(file) && udevadm control --reload && udevadm trigger --action=change \(node)"
    return Remedy(
      .file, ["sh", "-c", PathBytes(script)], needsRoot: true,
      others: ["whoever is logged in at the screen, now and later"],
      note: "for people who use this screen in turn, not for a service")
  }

  // MARK: - Policies and units

  /// The change of a profile or policy that lets the process in; nil where none is known.
  static func policy(_ modules: SecurityModules, _ path: PathBytes) -> Remedy? {
    if let profile = modules.profile {
      return Remedy(
        .sandbox, ["aa-logprof"], needsRoot: true,
        others: ["every process that the profile \(profile) confines"],
        line: "\(path) rw,   in the AppArmor profile \(profile)")
    }
    guard modules.isContainerContext else { return nil }
    return Remedy(
      .sandbox, ["setsebool", "-P", "container_use_devices", "1"], needsRoot: true,
      others: ["every container"])
  }

  /// The lines that a drop-in of a unit needs.
  static func unit(_ unit: String, _ lines: String) -> Remedy {
    Remedy(
      .service, ["systemctl", "edit", PathBytes(unit)], needsRoot: true, line: lines,
      note: "applies to this service alone; then run systemctl restart \(unit)")
  }
}
