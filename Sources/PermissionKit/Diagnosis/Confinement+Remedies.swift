extension Confinement.Place {
  /// The reason code for this kind of place.
  var code: Reason.Code {
    switch self {
    case .docker, .podman, .container, .wsl: .container
    case .flatpak, .snap, .bubblewrap, .service, .privateDevices: .sandbox
    }
  }

  /// The place as a noun phrase for people: `a Docker container`.
  var description: String {
    switch self {
    case .docker: "a Docker container"
    case .podman(let rootless): "a \(rootless ? "rootless " : "")Podman container"
    case .container(let name): "a \(name) container"
    case .flatpak(let app): "the Flatpak sandbox of \(app)"
    case .snap(let name, _): "the sandbox of the snap \(name)"
    case .bubblewrap: "a bubblewrap sandbox"
    case .service(let unit, _): "the service \(unit)"
    case .privateDevices: "a sandbox or container with its own /dev"
    case .wsl: "the Windows Subsystem for Linux (WSL)"
    }
  }
}

/// A kind of resource that a sandbox or container may hide from the process.
enum ConfinedResource: Hashable {
  /// The devices of a family.
  case devices(DeviceFamily)
  /// A folder.
  case folder

  /// The snap plug that gives access; nil if there is none.
  var plug: String? {
    switch self {
    case .devices(let family): family.snapPlug
    case .folder: "home"
    }
  }

  /// The resource as a noun phrase for people: `the cameras`.
  var description: String {
    switch self {
    case .devices(let family): "the \(family.noun)s"
    case .folder: "that folder"
    }
  }
}

// MARK: - Reasons and remedies

extension Confinement {
  /// Returns a reason for each place, and the remedies that change the place.
  ///
  /// - Parameters:
  ///   - resource: The kind of resource that the process lacks.
  ///   - path: The node or folder; an example node if no device was found.
  ///   - isMissing: Whether the resource does not exist; otherwise access was refused.
  /// - Returns: The reasons, all of them suspected, and the remedies.
  func reasons(
    _ resource: ConfinedResource, _ path: PathBytes, isMissing: Bool
  ) -> ([Reason], [Remedy]) {
    var reasons: [Reason] = []
    var remedies: [Remedy] = []
    for (place, evidence) in found {
      if case .service(_, let settings) = place, !isMissing, settings.isEmpty { continue }
      // The settings that reach a folder are told on their own.
      if case .service = place, resource == .folder { continue }
      reasons.append(
        Reason(
          place.code, .suspected, message(place, resource, isMissing: isMissing),
          evidence: evidence + hidden))
      remedies += self.remedies(place, resource, path)
    }
    return (reasons, remedies)
  }

  private func message(_ place: Place, _ resource: ConfinedResource, isMissing: Bool) -> String {
    let start = "this process seems to run in \(place.description)"
    if case .snap(_, let plugs?) = place, let plug = resource.plug {
      return plugs.contains(plug)
        ? "\(start); the snap declares the plug \(plug), which is probably not connected"
        : "\(start); the snap does not declare the plug \(plug), so its author must add the plug"
    }
    if case .flatpak = place, case .devices(let family) = resource, let way = family.flatpak?.way {
      return "\(start); \(way)"
    }
    if case .wsl = place, resource != .folder {
      return "\(start), which does not pass cameras and sound hardware on by default"
    }
    if case .service(_, let settings) = place, !settings.isEmpty {
      return "\(start), whose unit sets \(settings.joined(separator: ", "))"
    }
    return isMissing
      ? "\(start), which shows only what was passed in, perhaps not \(resource.description)"
      : "\(start), which probably limits access to \(resource.description)"
  }

  /// Whether the place is given its folders by the command that starts it.
  func isGiven(_ place: Place) -> Bool {
    switch place {
    case .docker, .podman, .flatpak, .bubblewrap: true
    case .container, .snap, .service, .privateDevices, .wsl: false
    }
  }

  /// Returns what gives a folder to the place for writing.
  static func given(_ place: Place, _ path: PathBytes) -> [Remedy] {
    switch place {
    case .docker: [flag("docker", .folder, path, more: [])]
    case .podman: [flag("podman", .folder, path, more: [])]
    case .flatpak(let app): flatpak(app, .folder, path)
    case .bubblewrap: [Remedy(.sandbox, ["bwrap", "--bind", path, path, "…"])]
    case .container, .snap, .service, .privateDevices, .wsl: []
    }
  }

  private func remedies(
    _ place: Place, _ resource: ConfinedResource, _ path: PathBytes
  ) -> [Remedy] {
    switch place {
    case .docker: return [Self.flag("docker", resource, path, more: [])]
    case .podman(let rootless):
      // Without this flag rootless Podman drops the supplementary groups of the user.
      return [
        Self.flag("podman", resource, path, more: rootless ? ["--group-add=keep-groups"] : [])
      ]
    case .container, .privateDevices: return []
    case .flatpak(let app): return Self.flatpak(app, resource, path)
    case .snap(let name, let plugs):
      guard let plug = resource.plug else { return [] }
      if plugs?.contains(plug) == false {
        return [Remedy(.sandbox, [], line: "plugs: [\(plug)]   in snapcraft.yaml of \(name)")]
      }
      return [
        Remedy(.sandbox, ["snap", "connect", PathBytes("\(name):\(plug)")], needsRoot: true)
      ]
    case .bubblewrap:
      let node = Self.node(resource, path)
      return [Remedy(.sandbox, ["bwrap", "--dev-bind", node, node, "…"])]
    case .service(let unit, let settings):
      guard case .devices(let family) = resource else { return [] }
      return [
        Remedy(
          .service, ["systemctl", "edit", PathBytes(unit)], needsRoot: true,
          line: Self.unitLines(family, path, settings),
          note: "applies to this service alone; then run systemctl restart \(unit)")
      ]
    case .wsl:
      guard case .devices(let family) = resource, family.isAttachedByUSB else { return [] }
      return [
        Remedy(
          .driver, ["usbipd", "attach", "--wsl", "--busid", "BUSID"],
          note:
            "run this on Windows; the WSL kernel needs the driver; without udev root owns the node"
        )
      ]
    }
  }

  /// Returns what to pass to a container: the node, the folder of nodes, or the folder.
  private static func node(_ resource: ConfinedResource, _ path: PathBytes) -> PathBytes {
    if case .devices(let family) = resource { family.containerDevice ?? path } else { path }
  }

  private static func flag(
    _ program: PathBytes, _ resource: ConfinedResource, _ path: PathBytes, more: [PathBytes]
  ) -> Remedy {
    let node = node(resource, path)
    let given = resource == .folder ? "--volume=\(node):\(node)" : "--device=\(node)"
    return Remedy(
      .container, [program, "run", PathBytes(given)] + more + ["IMAGE"],
      others: ["every process in the container"],
      note: "avoid --privileged: the container gets every device, and control of the machine")
  }

  private static func flatpak(
    _ app: String, _ resource: ConfinedResource, _ path: PathBytes
  ) -> [Remedy] {
    let permission: String
    var note: String?
    switch resource {
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
    _ family: DeviceFamily, _ path: PathBytes, _ settings: [String]
  ) -> String {
    let names = Set(settings.map { String($0.prefix { $0 != "=" }) })
    var lines = ["[Service]"]
    // PrivateDevices= hides the nodes even if DeviceAllow= lists them.
    if names.contains("PrivateDevices") || names.isEmpty { lines.append("PrivateDevices=no") }
    lines.append("DeviceAllow=\(family.deviceAllow ?? path.description) rw")
    return lines.joined(separator: " ")
  }
}
