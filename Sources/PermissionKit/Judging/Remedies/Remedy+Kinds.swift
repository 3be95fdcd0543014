extension Remedy {
  /// Creates a remedy other than mode or ACL; its outcome cannot be simulated.
  init(
    _ form: Form, _ command: [PathBytes], needsRoot: Bool = false,
    _ persistence: Persistence = .permanent, others: [String] = [], line: String? = nil,
    note: String? = nil
  ) {
    self.init(
      form, command: command, needsRoot: needsRoot, persistence: persistence,
      othersAffected: others, outcome: .undetermined)
    self.line = line
    self.note = note
  }

  // MARK: - Mounts and drivers

  /// Returns a remedy for CI machines without devices: a driver that needs no hardware.
  static func testDevice(_ driver: String) -> Remedy {
    Remedy(
      .testDriver, ["modprobe", PathBytes(driver)], needsRoot: true, .untilReboot,
      note: "a test driver, if the runner's kernel has it; otherwise skip what is unavailable")
  }

  /// The remedy that lets other users enter a FUSE mount.
  static var allowOther: Remedy {
    Remedy(
      .allowOther, [], needsRoot: true, others: ["everybody whom the FUSE daemon lets in"],
      line: "user_allow_other   in /etc/fuse.conf, and mount with -o allow_other",
      note: "also mount with default_permissions; otherwise the kernel ignores mode bits")
  }

  // MARK: - Groups

  /// The remedy that gives a group to one shell, see newgrp(1).
  ///
  /// - Returns: The remedy, which lasts as long as the shell.
  static func newGroup(_ group: String, _ moved: Decision) -> Remedy {
    var remedy = Remedy(
      .newGroup, ["newgrp", PathBytes(group)], .untilLogout,
      note:
        "gives the group to one shell, and asks for the group's password where the account has none; after a new login every process has it"
    )
    remedy.outcome =
      moved.isGranted ? .granted : moved.errno == nil ? .undetermined : .refused
    return remedy
  }

  /// The remedy that starts a service again, which then has the groups of its user.
  ///
  /// - Returns: The remedy.
  static func restart(_ unit: String, _ moved: Decision) -> Remedy {
    var remedy = Remedy(.restart, ["systemctl", "restart", PathBytes(unit)], needsRoot: true)
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
        .podGroup, [], others: ["every process in the pod"],
        line: "spec.securityContext.supplementalGroups: [\(gid)]   in the manifest of the pod",
        note: "a pod is made anew from its manifest, so a change of the node inside does not last")
    case .docker: command = ["docker", "run", PathBytes("--group-add=\(gid)"), "IMAGE"]
    case .podman(rootless: true):
      var remedy = keepGroups
      remedy.othersAffected = ["every process in the container"]
      return remedy
    case .podman: command = ["podman", "run", PathBytes("--group-add=\(gid)"), "IMAGE"]
    case .container, .flatpak, .snap, .bubblewrap, .firejail, .service, .privateDevices, .wsl:
      return nil
    }
    return Remedy(
      .containerGroup, command, others: ["every process in the container"],
      note: compose("group_add", "\"\(gid)\""))
  }

  /// Returns the lines that allow an LXC container with id maps of its own to use a node.
  static func lxcGroup(_ node: PathBytes, _ family: DeviceFamily, _ users: UserDatabase) -> Remedy {
    let names = [
      "video4linux": "video", "sound": "audio", "tty": "dialout", "drm": "render",
      "input": "input",
    ]
    let gid = names[family.subsystem].flatMap { try? users.gid(of: $0) }.map(String.init) ?? "GID"
    return Remedy(
      .lxc, [], others: ["every process in the container that has the group"],
      line:
        "dev0: \(node),gid=\(gid)   in /etc/pve/lxc/ID.conf of Proxmox, with the number inside\nlxc.idmap = g GID GID 1   elsewhere, with the number outside, which the other ranges leave out; also root:GID:1 in /etc/subgid",
      note: "in the configuration of the container")
  }

  /// Returns the group of a pod for the volumes that the kubelet gives to it.
  static func podFolder(_ gid: UInt32) -> Remedy {
    // https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
    Remedy(
      .podGroup, [], others: ["every process in the pod"],
      line: "spec.securityContext.fsGroup: \(gid)   in the manifest of the pod",
      note: "a volume of the kind hostPath stays as it is")
  }

  /// Returns the line of a compose file that corresponds to an option of docker(1) or podman(1).
  static func compose(_ key: String, _ value: String) -> String {
    "in compose.yaml: \(key): [\(value)]"
  }

  /// The flag that makes a rootless container keep the supplementary groups of the user.
  static var keepGroups: Remedy {
    Remedy(.keepGroups, ["podman", "run", "--group-add=keep-groups", "IMAGE"])
  }

  /// Returns a udev rule that gives a device to the active user of its seat, see 70-uaccess.rules
  /// of systemd.
  ///
  /// - Returns: The remedy, one command that writes the rule and sets the node up anew.
  static func seatRule(_ match: UdevMatch, _ node: PathBytes) -> Remedy {
    // 73-seat-late.rules acts on the tag.
    let file = "/etc/udev/rules.d/70-seat-\(node.lastComponent).rules"
    let script =
      "echo '\(match.text), TAG+=\"uaccess\"' >\(file) && udevadm control --reload && udevadm trigger --action=change \(node)"
    return Remedy(
      .seatRule, ["sh", "-c", PathBytes(script)], needsRoot: true,
      others: ["every user logged in at the screen, now and later"],
      note: "for people who use this screen in turn, not for a service")
  }

  /// Returns the remedy that starts udev, which applies its rules to one node.
  static func udev(_ node: PathBytes, hasSystemd: Bool) -> Remedy {
    var remedy = Remedy(
      .udev,
      hasSystemd
        ? ["systemctl", "start", "systemd-udevd"] : ["/lib/systemd/systemd-udevd", "--daemon"],
      needsRoot: true,
      others: ["users to whom the rules of udev give devices, as on other machines"],
      note: "its rules give each kind of device a group")
    remedy.after = ["udevadm", "trigger", "--settle", "--action=add", node]
    return remedy
  }

  // MARK: - Policies and units

  /// Returns the change of a profile or policy that allows the access; nil if none is known.
  static func policy(_ modules: SecurityModules, _ path: PathBytes) -> Remedy? {
    if let profile = modules.profile {
      return Remedy(
        .profile, ["aa-logprof"], needsRoot: true,
        others: ["every process that the profile \(profile) confines"],
        line: "\(path) rw,   in the AppArmor profile \(profile)")
    }
    guard modules.isContainerContext else { return nil }
    return Remedy(
      .policyBoolean, ["setsebool", "-P", "container_use_devices", "1"], needsRoot: true,
      others: ["every container"])
  }

  /// The option of bwrap(1) that binds a path, after those that cover it.
  static func bubblewrap(
    _ option: PathBytes, _ path: PathBytes, from host: PathBytes? = nil
  ) -> Remedy {
    Remedy(.bubblewrap, ["bwrap", "…", option, host ?? path, path, "PROGRAM"])
  }

  /// Returns the options of firejail(1) that undo what its profiles hide: the node, or the folder
  /// of nodes.
  static func firejail(_ path: PathBytes, _ family: DeviceFamily?) -> Remedy {
    let node = family?.containerDevice ?? path
    let settings =
      family == nil ? [] : ["private-dev"] + (family == .camera ? ["novideo"] : ["nosound"])
    let options = settings.map { PathBytes("--ignore=\($0)") }
    return Remedy(
      .firejail, ["firejail"] + options + [PathBytes("--noblacklist=\(node)"), "…"],
      note: "leave out what its command line hides")
  }

  /// Returns the remedy that adds lines to a drop-in of a unit.
  static func unit(_ unit: SystemdUnit, _ lines: [String]) -> Remedy {
    var remedy = Remedy(
      .unitSettings, unit.systemctl("edit", unit.name), needsRoot: !unit.isOfUser,
      line: (["[\(unit.section)]"] + lines).joined(separator: "\n"),
      note: "applies to \(unit.name) alone")
    remedy.after = unit.systemctl("restart", unit.name)
    return remedy
  }

  /// Returns the remedy by which the policy of a unit allows a device, now and at the next start.
  static func device(_ unit: SystemdUnit, _ device: String) -> Remedy {
    Remedy(
      .unitDevice, unit.systemctl("set-property", unit.name, "DeviceAllow=\(device) rw"),
      needsRoot: true, others: unit.section == "Slice" ? ["what else runs in \(unit.name)"] : [])
  }
}
