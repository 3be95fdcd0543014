extension Confinement {
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

  /// Returns what gives the resource to the process, by changing the place.
  func remedies(
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
      return [.unit(unit, Self.unitLines(family, path, settings))]
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
