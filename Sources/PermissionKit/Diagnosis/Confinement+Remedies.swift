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

/// What a place keeps from the process.
enum Wanted: Hashable {
  case camera
  case microphone
  case folder

  /// Guessed from a node's or folder's path below the root.
  init?(_ path: PathBytes, isDirectory: Bool) {
    let names = path.components
    if isDirectory {
      self = .folder
    } else if names.contains("snd") {
      self = .microphone
    } else if names.contains("dev") || path.lastComponent.hasPrefix("video") {
      self = .camera
    } else {
      return nil
    }
  }
}

// MARK: - Words and ways out

extension Confinement {
  /// A reason for each place, and the flags or files to change there.
  ///
  /// `isMissing`: the node or folder is not there, rather than refused.
  func reasons(
    _ wanted: Wanted, _ path: PathBytes, isMissing: Bool
  ) -> ([Reason], [Remedy]) {
    var reasons: [Reason] = []
    var remedies: [Remedy] = []
    for (place, evidence) in found {
      if case .service(_, let settings) = place, !isMissing, settings.isEmpty { continue }
      reasons.append(
        Reason(
          place.code, .suspected, message(place, wanted, isMissing: isMissing),
          evidence: evidence + hidden))
      remedies += self.remedies(place, wanted, path)
    }
    return (reasons, remedies)
  }

  private func message(_ place: Place, _ wanted: Wanted, isMissing: Bool) -> String {
    let what =
      switch wanted {
      case .camera: "the cameras"
      case .microphone: "the microphones"
      case .folder: "that folder"
      }
    let start = "this is \(place.description)"
    switch place {
    case .snap(_, let plugs?):
      let plug = Self.plug(wanted)
      return plugs.contains(plug)
        ? "\(start), which declares the plug \(plug): it is not connected"
        : "\(start), which does not declare the plug \(plug): its author has to"
    case .flatpak where wanted == .microphone:
      return "\(start): sound is recorded through PulseAudio or PipeWire there, not by nodes"
    case .wsl where wanted != .folder:
      return "\(start), which passes no camera or sound hardware on by itself"
    case .service(_, let settings) where !settings.isEmpty:
      return "\(start), whose unit says \(settings.joined(separator: ", "))"
    default:
      return isMissing
        ? "\(start), where \(what) of the machine are only if they were given to it"
        : "\(start), which was not given \(what) in full"
    }
  }

  private static func plug(_ wanted: Wanted) -> String {
    switch wanted {
    case .camera: "camera"
    case .microphone: "audio-record"
    case .folder: "home"
    }
  }

  private func remedies(_ place: Place, _ wanted: Wanted, _ path: PathBytes) -> [Remedy] {
    let node: PathBytes =
      switch wanted {
      case .camera: path.lastComponent.hasPrefix("video") ? path : "/dev/video0"
      case .microphone: "/dev/snd"
      case .folder: path
      }
    func remedy(
      _ kind: Remedy.Kind, _ command: [PathBytes], root: Bool = false, line: String? = nil,
      note: String? = nil, others: [String] = []
    ) -> Remedy {
      var remedy = Remedy(
        kind: kind, command: command, needsRoot: root, persistence: .permanent,
        othersAffected: others, outcome: .undetermined)
      remedy.line = line
      remedy.note = note
      return remedy
    }
    func flag(_ program: PathBytes, more: [PathBytes]) -> Remedy {
      let given: PathBytes =
        wanted == .folder
        ? PathBytes("--volume=\(node):\(node)") : PathBytes("--device=\(node)")
      return remedy(
        .container, [program, "run", given] + more + ["IMAGE"],
        note: "not --privileged, which gives the container every device and the machine with them",
        others: ["all that runs in the container"])
    }
    switch place {
    case .docker: return [flag("docker", more: [])]
    case .podman:
      // Without it the groups of the user are dropped on the way in.
      return [flag("podman", more: ["--group-add=keep-groups"])]
    case .container, .privateDevices: return []
    case .flatpak(let app):
      let permission: PathBytes =
        switch wanted {
        case .camera: "--device=all"
        case .microphone: "--socket=pulseaudio"
        case .folder: PathBytes("--filesystem=\(path)")
        }
      return [
        remedy(
          .sandbox, ["flatpak", "override", "--user", permission, PathBytes(app)],
          note: wanted == .camera
            ? "this gives every device; a program that asks the camera portal needs none of it"
            : nil)
      ]
    case .snap(let name, let plugs):
      let plug = Self.plug(wanted)
      if plugs?.contains(plug) == false {
        return [remedy(.sandbox, [], line: "plugs: [\(plug)]   in snapcraft.yaml of \(name)")]
      }
      return [remedy(.sandbox, ["snap", "connect", PathBytes("\(name):\(plug)")], root: true)]
    case .bubblewrap:
      return [remedy(.sandbox, ["bwrap", "--dev-bind", node, node, "…"])]
    case .service(let unit, let settings):
      return [
        remedy(
          .service, ["systemctl", "edit", PathBytes(unit)], root: true,
          line: Self.unitLines(wanted, settings),
          note: "for this service alone; then systemctl restart \(unit)")
      ]
    case .wsl:
      guard wanted == .camera else { return [] }
      return [
        remedy(
          .driver, ["usbipd", "attach", "--wsl", "--busid", "BUSID"],
          note: "on Windows; WSL's kernel must have the driver, and without udev the node is root's"
        )
      ]
    }
  }

  private static func unitLines(_ wanted: Wanted, _ settings: [String]) -> String {
    let names = Set(settings.map { String($0.prefix { $0 != "=" }) })
    var lines = ["[Service]"]
    if wanted == .folder {
      lines += names.contains("ProtectHome") ? ["ProtectHome=no"] : []
      return (lines + (lines.count == 1 ? ["BindPaths=…"] : [])).joined(separator: " ")
    }
    // PrivateDevices= takes the nodes away whatever DeviceAllow= says.
    if names.contains("PrivateDevices") || names.isEmpty { lines.append("PrivateDevices=no") }
    lines.append("DeviceAllow=char-\(wanted == .camera ? "video4linux" : "alsa") rw")
    return lines.joined(separator: " ")
  }
}
