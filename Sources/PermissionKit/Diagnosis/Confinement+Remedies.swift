extension Confinement.Place {
  /// The code that stands for such a place.
  var code: Reason.Code {
    switch self {
    case .docker, .podman, .container, .wsl: .container
    case .flatpak, .snap, .bubblewrap, .service, .privateDevices: .sandbox
    }
  }

  /// For people: `a Docker container`.
  var description: String {
    switch self {
    case .docker: "a Docker container"
    case .podman(let rootless): "a \(rootless ? "rootless " : "")Podman container"
    case .container(let name): "a container of \(name)"
    case .flatpak(let app): "the Flatpak sandbox of \(app)"
    case .snap(let name, _): "the sandbox of the snap \(name)"
    case .bubblewrap: "a sandbox of bubblewrap"
    case .service(let unit, _): "the service \(unit)"
    case .privateDevices: "a sandbox or container with a /dev of its own"
    case .wsl: "WSL, the Linux of Windows"
    }
  }
}

/// What a sandbox or container may keep from the process.
enum ConfinedThing: Hashable {
  /// The devices of a family.
  case devices(DeviceFamily)
  /// A folder.
  case folder

  /// The plug of a snap that gives it; nil if there is none.
  var plug: String? {
    switch self {
    case .devices(let family): family.snapPlug
    case .folder: "home"
    }
  }

  /// For people: `the cameras`.
  var description: String {
    switch self {
    case .devices(let family): "the \(family.noun)s"
    case .folder: "that folder"
    }
  }
}

// MARK: - Words and ways out

extension Confinement {
  /// Returns a reason for each place, and the flags or files to change there.
  ///
  /// - Parameters:
  ///   - thing: What is kept from the process.
  ///   - path: The node or folder; of devices that were looked for in vain, an example.
  ///   - isMissing: It is not there, rather than refused.
  /// - Returns: The reasons, all of them suspected, and the ways out.
  func reasons(
    _ thing: ConfinedThing, _ path: PathBytes, isMissing: Bool
  ) -> ([Reason], [Remedy]) {
    var reasons: [Reason] = []
    var remedies: [Remedy] = []
    for (place, evidence) in found {
      if case .service(_, let settings) = place, !isMissing, settings.isEmpty { continue }
      reasons.append(
        Reason(
          place.code, .suspected, message(place, thing, isMissing: isMissing),
          evidence: evidence + hidden))
      remedies += self.remedies(place, thing, path)
    }
    return (reasons, remedies)
  }

  private func message(_ place: Place, _ thing: ConfinedThing, isMissing: Bool) -> String {
    let start = "this is \(place.description)"
    if case .snap(_, let plugs?) = place, let plug = thing.plug {
      return plugs.contains(plug)
        ? "\(start), which declares the plug \(plug): it is not connected"
        : "\(start), which does not declare the plug \(plug): its author has to"
    }
    if case .flatpak = place, case .devices(let family) = thing, let way = family.flatpak?.way {
      return "\(start): \(way)"
    }
    if case .wsl = place, thing != .folder {
      return "\(start), which passes no camera or sound hardware on by itself"
    }
    if case .service(_, let settings) = place, !settings.isEmpty {
      return "\(start), whose unit says \(settings.joined(separator: ", "))"
    }
    return isMissing
      ? "\(start), where \(thing.description) of the machine are only if they were given to it"
      : "\(start), which was not given \(thing.description) in full"
  }

  private func remedies(
    _ place: Place, _ thing: ConfinedThing, _ path: PathBytes
  ) -> [Remedy] {
    switch place {
    case .docker: return [Self.flag("docker", thing, path, more: [])]
    case .podman:
      // Without it the groups of the user are dropped on the way in.
      return [Self.flag("podman", thing, path, more: ["--group-add=keep-groups"])]
    case .container, .privateDevices: return []
    case .flatpak(let app): return Self.flatpak(app, thing, path)
    case .snap(let name, let plugs):
      guard let plug = thing.plug else { return [] }
      if plugs?.contains(plug) == false {
        return [Remedy(.sandbox, [], line: "plugs: [\(plug)]   in snapcraft.yaml of \(name)")]
      }
      return [
        Remedy(.sandbox, ["snap", "connect", PathBytes("\(name):\(plug)")], needsRoot: true)
      ]
    case .bubblewrap:
      let node = Self.node(thing, path)
      return [Remedy(.sandbox, ["bwrap", "--dev-bind", node, node, "…"])]
    case .service(let unit, let settings):
      return [
        Remedy(
          .service, ["systemctl", "edit", PathBytes(unit)], needsRoot: true,
          line: Self.unitLines(thing, path, settings),
          note: "for this service alone; then systemctl restart \(unit)")
      ]
    case .wsl:
      guard case .devices(let family) = thing, family.isAttachedByUSB else { return [] }
      return [
        Remedy(
          .driver, ["usbipd", "attach", "--wsl", "--busid", "BUSID"],
          note: "on Windows; WSL's kernel must have the driver, and without udev the node is root's"
        )
      ]
    }
  }

  /// What a container is given: the node, the folder of nodes, or the folder.
  private static func node(_ thing: ConfinedThing, _ path: PathBytes) -> PathBytes {
    if case .devices(let family) = thing { family.containerDevice ?? path } else { path }
  }

  private static func flag(
    _ program: PathBytes, _ thing: ConfinedThing, _ path: PathBytes, more: [PathBytes]
  ) -> Remedy {
    let node = node(thing, path)
    let given = thing == .folder ? "--volume=\(node):\(node)" : "--device=\(node)"
    return Remedy(
      .container, [program, "run", PathBytes(given)] + more + ["IMAGE"],
      others: ["all that runs in the container"],
      note: "not --privileged, which gives the container every device and the machine with them")
  }

  private static func flatpak(
    _ app: String, _ thing: ConfinedThing, _ path: PathBytes
  ) -> [Remedy] {
    let permission: String
    var note: String?
    switch thing {
    case .folder: permission = "--filesystem=\(path)"
    case .devices(let family):
      guard let flatpak = family.flatpak else { return [] }
      (permission, note) = (flatpak.permission, flatpak.note)
    }
    return [
      Remedy(
        .sandbox, ["flatpak", "override", "--user", PathBytes(permission), PathBytes(app)],
        note: note)
    ]
  }

  private static func unitLines(
    _ thing: ConfinedThing, _ path: PathBytes, _ settings: [String]
  ) -> String {
    let names = Set(settings.map { String($0.prefix { $0 != "=" }) })
    var lines = ["[Service]"]
    switch thing {
    case .folder:
      lines += names.contains("ProtectHome") ? ["ProtectHome=no"] : []
      return (lines + (lines.count == 1 ? ["BindPaths=…"] : [])).joined(separator: " ")
    case .devices(let family):
      // PrivateDevices= takes the nodes away whatever DeviceAllow= says.
      if names.contains("PrivateDevices") || names.isEmpty { lines.append("PrivateDevices=no") }
      lines.append("DeviceAllow=\(family.deviceAllow ?? path.description) rw")
      return lines.joined(separator: " ")
    }
  }
}
