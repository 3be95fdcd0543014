/// Where this process runs, as far as that decides which devices and folders it is shown.
struct Confinement {
  /// One of the walls around the process.
  enum Place: Hashable {
    case docker
    case podman(rootless: Bool)
    /// Another container manager, by its name.
    case container(String)
    case flatpak(app: String)
    /// `plugs` are those that the snap's author declared; nil where they cannot be read.
    case snap(name: String, plugs: [String]?)
    case bubblewrap
    /// A unit whose settings take devices or folders away; the settings as its files have them.
    case service(unit: String, settings: [String])
    /// /dev is not the machine's own, and nothing tells whose it is.
    case privateDevices
    case wsl
  }

  /// The places and what shows that the process is there, the innermost first.
  private(set) var found: [(place: Place, evidence: [String])] = []
  /// The name of the CI service that runs this process; nil elsewhere.
  private(set) var runner: String?
  /// What could not be looked at.
  private(set) var hidden: [String] = []

  private let system: any System
  private let root: PathBytes

  init(_ context: AccessContext) {
    system = context.system
    root = context.root
    let privateDevices = hasPrivateDevices
    findSandboxes()
    findContainers()
    if found.isEmpty, privateDevices, isBelow("bwrap") {
      found.append((.bubblewrap, ["/dev is no devtmpfs", "bwrap is among the processes above"]))
    }
    findService(privateDevices && found.isEmpty)
    if found.isEmpty, privateDevices {
      found.append((.privateDevices, ["/dev is no devtmpfs"]))
    }
    let release = line("proc/sys/kernel/osrelease") ?? ""
    if release.lowercased().contains("microsoft") {
      found.append((.wsl, ["kernel \(release)"]))
    }
    if root == "/" {
      runner = Self.runners.first { system.getenv($0.variable) != nil }?.name
    }
  }

  private static let runners: [(variable: String, name: String)] = [
    ("GITHUB_ACTIONS", "GitHub Actions"), ("GITLAB_CI", "GitLab CI"),
    ("CIRCLECI", "CircleCI"), ("TRAVIS", "Travis CI"), ("TF_BUILD", "Azure Pipelines"),
    ("BUILDKITE", "Buildkite"), ("JENKINS_URL", "Jenkins"), ("CI", "a CI service"),
  ]

  private func contents(_ path: String) -> String? {
    (try? system.contents(of: root.appending(path), limit: 1 << 18)).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  private func line(_ path: String) -> String? {
    contents(path)?.split(separator: "\n").first.map(String.init)
  }

  private func exists(_ path: String) -> Bool {
    (try? system.status(of: root.appending(path))) != nil
  }

  // MARK: - Containers

  private mutating func findContainers() {
    if let file = contents("run/.containerenv") {
      let rootless = file.contains("rootless=1")
      found.append((.podman(rootless: rootless), ["/run/.containerenv"]))
    } else if exists(".dockerenv") {
      found.append((.docker, ["/.dockerenv"]))
    } else if let manager = line("run/systemd/container") ?? line("run/host/container-manager") {
      found.append((.container(manager), ["container manager \(manager)"]))
    } else if root == "/", system.getenv("KUBERNETES_SERVICE_HOST") != nil {
      found.append((.container("Kubernetes"), ["KUBERNETES_SERVICE_HOST is set"]))
    }
  }

  /// Whether /dev was made for this process: not the devtmpfs of the machine.
  private var hasPrivateDevices: Bool {
    guard root == "/", let bytes = try? system.contents(of: "/proc/self/mountinfo", limit: 1 << 26)
    else { return false }
    let last = MountTable(mountinfo: bytes).mounts.last { $0.point == "/dev" }
    return last.map { $0.fileSystem != "devtmpfs" } ?? false
  }

  /// Whether a program of that name is among the processes above this one.
  private func isBelow(_ program: String) -> Bool {
    var next: Int32? = system.getpid()
    for _ in 0..<32 {
      guard let pid = next, pid > 0, let status = system.status(ofProcess: pid) else { break }
      if status.name == program { return true }
      next = status.parent
    }
    return false
  }

  // MARK: - Sandboxes of applications

  private mutating func findSandboxes() {
    if let info = contents(".flatpak-info") {
      let name = info.split(separator: "\n").first { $0.hasPrefix("name=") }?.dropFirst(5)
      found.append((.flatpak(app: name.map(String.init) ?? "APP"), ["/.flatpak-info"]))
    }
    if let folder = system.getenv("SNAP"), folder.isAbsolute,
      let name = system.getenv("SNAP_INSTANCE_NAME") ?? system.getenv("SNAP_NAME")
    {
      let file = String(folder.description.drop { $0 == "/" }) + "/meta/snap.yaml"
      let yaml = contents(file)
      if yaml == nil { hidden.append("not visible: \(folder)/meta/snap.yaml") }
      // A classic snap is not confined.
      guard yaml?.contains("\nconfinement: classic") != true else { return }
      found.append(
        (
          .snap(name: name.description, plugs: yaml.map(Self.plugs)),
          ["SNAP=\(folder)"]
        ))
    }
  }

  /// The names under every `plugs:` of a snap.yaml, be they a list, a map or in brackets.
  static func plugs(_ yaml: String) -> [String] {
    var plugs: [String] = []
    var depth: Int?
    for line in yaml.split(separator: "\n") {
      let text = line.drop { $0 == " " }
      let indent = line.count - text.count
      if text.isEmpty || text.first == "#" { continue }
      if text.hasPrefix("plugs:") {
        depth = indent
        let rest = text.dropFirst(6).filter { !"[] \"'".contains($0) }
        plugs += rest.split(separator: ",").map(String.init)
        continue
      }
      guard let above = depth else { continue }
      // A list may stand as far left as its key.
      guard indent > above || indent == above && text.first == "-" else {
        depth = nil
        continue
      }
      let name = text.drop { $0 == "-" || $0 == " " }.prefix { $0 != ":" && $0 != " " }
      plugs.append(String(name.filter { $0 != "\"" && $0 != "'" }))
    }
    return plugs
  }

  // MARK: - Services

  /// The settings of systemd.exec(5) and systemd.resource-control(5) that take something away.
  private static let telling = [
    "PrivateDevices", "DevicePolicy", "DeviceAllow", "SystemCallFilter", "ProtectHome",
    "InaccessiblePaths", "ReadOnlyPaths", "ProtectSystem", "TemporaryFileSystem", "RootDirectory",
    "RootImage",
  ]

  private mutating func findService(_ privateDevices: Bool) {
    guard root == "/", let groups = contents("proc/self/cgroup") else { return }
    let units = groups.split { $0 == "\n" || $0 == "/" }.filter { $0.hasSuffix(".service") }
    // The user's manager is a service as well, and so is a login's.
    guard let unit = units.last.map(String.init), !unit.hasPrefix("user@") else { return }
    var settings: [String] = []
    var seen = false
    for folder in [
      "run/systemd/transient", "etc/systemd/system", "run/systemd/system",
      "usr/lib/systemd/system", "lib/systemd/system",
    ] {
      guard let file = contents("\(folder)/\(unit)") else { continue }
      seen = true
      settings += Self.settings(file)
      break
    }
    for folder in ["etc/systemd/system", "run/systemd/system", "run/systemd/transient"] {
      let dropIns = "\(folder)/\(unit).d"
      for name in (try? system.names(in: root.appending(dropIns))) ?? [] {
        settings += Self.settings(contents("\(dropIns)/\(name)") ?? "")
      }
    }
    if !seen { hidden.append("not visible: the files of \(unit)") }
    // Where its files cannot be read, a /dev of its own is the sign.
    guard !settings.isEmpty || privateDevices && !seen else { return }
    let evidence = ["unit \(unit)"] + settings + (privateDevices ? ["/dev is no devtmpfs"] : [])
    found.append((.service(unit: unit, settings: settings), evidence))
  }

  private static func settings(_ file: String) -> [String] {
    file.split(separator: "\n").filter { line in
      let name = line.prefix { $0 != "=" }
      guard telling.contains(String(name)) else { return false }
      return !["=no", "=false", "=0", "=off", "=auto", "="].contains(line.dropFirst(name.count))
    }.map(String.init)
  }
}

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
    if path.bytes.contains("/snd") {
      self = .microphone
    } else if path.bytes.contains("/dev") || path.lastComponent.hasPrefix("video") {
      self = .camera
    } else if isDirectory {
      self = .folder
    } else {
      return nil
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: String) -> Bool {
    let needle = Array(text.utf8)
    guard needle.count <= count else { return false }
    return (0...(count - needle.count)).contains { self[$0...].starts(with: needle) }
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
