extension Confinement {
  /// Whether the command that starts the place gives it its folders.
  func isGiven(_ place: Place) -> Bool {
    switch place {
    case .docker, .podman, .flatpak, .bubblewrap: true
    case .container(let name): ["systemd-nspawn", "lxc", "Kubernetes"].contains(name)
    case .firejail, .snap, .service, .privateDevices, .wsl: false
    }
  }

  /// Returns the remedies that give a folder to a place for writing.
  ///
  /// - Parameters:
  ///   - place: The place.
  ///   - path: The folder in the place.
  ///   - host: The same folder on the machine.
  /// - Returns: The remedies.
  static func given(_ place: Place, _ path: PathBytes, _ host: HostSide.Path?) -> [Remedy] {
    switch place {
    case .docker: [volume("docker", path, host)]
    case .podman: [volume("podman", path, host)]
    case .flatpak(let app): flatpak(app, .folder, path)
    case .bubblewrap: [.bubblewrap("--bind", path, from: host?.path ?? path)]
    case .container("systemd-nspawn"): [nspawn(.folder, path, host)]
    case .container("lxc"): [lxc(.folder, path, host)]
    case pod:
      [
        Remedy(
          .podGroup, [], others: ["every process in the container"],
          line: "readOnly: false   in spec.containers.volumeMounts, where mountPath is \(path)")
      ]
    case .container, .firejail, .snap, .service, .privateDevices, .wsl: []
    }
  }

  /// Returns the option that gives a container a folder of the machine.
  private static func volume(
    _ program: PathBytes, _ path: PathBytes, _ host: HostSide.Path?, more: [PathBytes] = []
  ) -> Remedy {
    let source = host?.volume ?? host?.path ?? HostSide.unknown
    let volume = "\(source):\(path)"
    let meaning =
      host == nil ? "HOSTPATH is the folder on the machine that runs the container" : host?.meaning
    return Remedy(
      .containerPath, [program, "run", PathBytes("--volume=\(volume)")] + more + ["IMAGE"],
      others: ["every process in the container"],
      note: (meaning.map { "\($0); " } ?? "") + Remedy.compose("volumes", volume))
  }

  /// Returns the remedies that change the place so that the process gets the resource.
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
    case .container("systemd-nspawn"): return [Self.nspawn(resource, path)]
    case .container("lxc"): return [Self.lxc(resource, path)]
    case .container, .privateDevices: return []
    case .flatpak(let app): return Self.flatpak(app, resource, path)
    case .snap(let name, let plugs):
      guard let plug = resource.plug else { return [] }
      if plugs?.contains(plug) == false {
        return [
          Remedy(.snapDeclaration, [], line: "plugs: [\(plug)]   in snapcraft.yaml of \(name)")
        ]
      }
      return [
        Remedy(.snapPlug, ["snap", "connect", PathBytes("\(name):\(plug)")], needsRoot: true)
      ]
    case .bubblewrap:
      return [.bubblewrap("--dev-bind", Self.node(resource, path))]
    case .firejail:
      guard case .devices(let family) = resource else { return [] }
      return [.firejail(path, family)]
    case .service(let unit, let settings):
      guard case .devices(let family) = resource else { return [] }
      return Self.lines(family, path, unit, settings).map { [.unit(unit, $0)] } ?? []
    case .wsl:
      guard case .devices(let family) = resource, family.isAttachedByUSB else { return [] }
      return [
        Remedy(
          .wslDevice, ["usbipd", "attach", "--wsl", "--busid", "BUSID"],
          note:
            "run this on Windows; the WSL kernel needs the driver; without udev root owns the node"
        )
      ]
    }
  }

  /// Returns the path to pass to a container: the node, the folder of nodes, or the folder.
  private static func node(_ resource: ConfinedResource, _ path: PathBytes) -> PathBytes {
    if case .devices(let family) = resource { family.containerDevice ?? path } else { path }
  }

  private static func flag(
    _ program: PathBytes, _ resource: ConfinedResource, _ path: PathBytes, more: [PathBytes]
  ) -> Remedy {
    if resource == .folder { return volume(program, path, nil, more: more) }
    let node = node(resource, path)
    return Remedy(
      .containerPath, [program, "run", PathBytes("--device=\(node)")] + more + ["IMAGE"],
      others: ["every process in the container"],
      note:
        "\(Remedy.compose("devices", node.description)); avoid --privileged: the container gets every device, and control of the machine"
    )
  }

  private static func nspawn(
    _ resource: ConfinedResource, _ path: PathBytes, _ host: HostSide.Path? = nil
  ) -> Remedy {
    let node = node(resource, path)
    var options = [PathBytes(host.map { "--bind=\($0.path):\(node)" } ?? "--bind=\(node)")]
    if case .devices(let family) = resource {
      options.append(
        PathBytes("--property=DeviceAllow=\(family.deviceAllow ?? path.description) rw"))
    }
    return Remedy(
      .nspawn, ["systemd-nspawn"] + options + ["…"], others: ["every process in the container"],
      note: host?.meaning)
  }

  private static func lxc(
    _ resource: ConfinedResource, _ path: PathBytes, _ host: HostSide.Path? = nil
  ) -> Remedy {
    let node = node(resource, path)
    let kind = resource != .folder && node == path ? "file" : "dir"
    let inside = String(node.description.drop { $0 == "/" })
    var lines = ["lxc.mount.entry = \(host?.path ?? node) \(inside) none bind,create=\(kind) 0 0"]
    if case .devices(let family) = resource, let major = family.numbers.first?.major {
      lines.append("lxc.cgroup2.devices.allow = c \(major):* rwm")
    }
    return Remedy(
      .lxc, [], others: ["every process in the container"], line: lines.joined(separator: "\n"),
      note: "in the configuration of the container")
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
        .flatpak, ["flatpak", "override", "--user", PathBytes(permission), PathBytes(app)],
        note: note)
    ]
  }

  /// Returns the lines that show a unit its devices; nil if the hiding setting is unknown.
  private static func lines(
    _ family: DeviceFamily, _ path: PathBytes, _ unit: SystemdUnit, _ settings: [String]
  ) -> [String]? {
    func sets(_ name: String) -> Bool { settings.contains { $0.hasPrefix("\(name)=") } }
    if sets("PrivateDevices") {
      // Without the second line it would get every device. The manager of a user cannot refuse any.
      let allowed = "DeviceAllow=\(family.deviceAllow ?? path.description) rw"
      return ["PrivateDevices=no"] + (unit.isOfUser ? [] : [allowed])
    }
    if sets("RootDirectory") || sets("RootImage") {
      return ["BindPaths=\(family.containerDevice ?? path)"]
    }
    return nil
  }
}
