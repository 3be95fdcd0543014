/// The containers, sandboxes and services around a process, which may hide devices and folders.
struct Confinement {
  /// A container, sandbox or service that this process runs in.
  enum Place: Hashable {
    case docker
    case podman(rootless: Bool)
    /// A container of another manager, with the name of the manager.
    case container(String)
    case flatpak(app: String)
    /// `plugs` holds the plugs that the snap declares; nil if they cannot be read.
    case snap(name: String, plugs: [String]?)
    case bubblewrap
    case firejail
    /// A systemd unit whose settings hide devices or folders; `settings` are lines of its files.
    case service(unit: SystemdUnit, settings: [String])
    /// /dev is not that of the machine, and nothing shows which program mounted it.
    case privateDevices
    case wsl
  }

  /// The places, each with the evidence for it, innermost first.
  fileprivate(set) var found: [(place: Place, evidence: [String])] = []
  /// The name of the CI service that runs this process; nil elsewhere.
  fileprivate(set) var runner: String?
  /// The files that this process was not able to read, as lines of evidence.
  fileprivate(set) var hidden: [String] = []

  fileprivate init() {}

  /// Finds the containers, sandboxes and services of a subject's process, or of this one, below a folder that
  /// stands for `/`.
  ///
  /// Keeps no system: a system caches this value, and neither would ever be freed.
  init(_ system: any System, root: PathBytes, of subject: Subject) {
    let process = subject.process
    let inside = process.map { PathBytes("/proc/\($0)/root") } ?? root
    // The markers of this process are root's; those of another one are what its user put there.
    let door =
      inside == "/"
      ? system
      : system.door(
        below: inside, as: process == nil ? nil : subject.credentials)
    var search = ConfinementSearch(
      system: system, root: root, process: process, subject: subject, inside: inside, door: door)
    search.run()
    self = search.confinement
  }

  /// A container of Kubernetes.
  static let pod = Place.container("Kubernetes")

  /// The container or sandbox, as `this container`, beyond which nothing can be determined; nil if there
  /// is none.
  var boundary: String? {
    for (place, _) in found {
      switch place {
      case .docker, .podman, .container: return "this container"
      case .flatpak, .snap, .bubblewrap, .firejail: return "this sandbox"
      case .service, .privateDevices, .wsl: continue
      }
    }
    return nil
  }
}

/// Finds the containers, sandboxes and services of a process.
private struct ConfinementSearch {
  var confinement = Confinement()
  let system: any System
  let root: PathBytes
  /// The process; nil for this process.
  let process: Int32?
  let subject: Subject
  /// The root directory of the process, as this process sees it.
  let inside: PathBytes
  /// The door to that directory.
  let door: any System

  mutating func run() {
    let privateDevices = hasPrivateDevices
    findSandboxes()
    findContainers()
    if privateDevices {
      findAncestor("bwrap", .bubblewrap)
      findAncestor("firejail", .firejail)
    }
    findService(privateDevices && confinement.found.isEmpty)
    if confinement.found.isEmpty, privateDevices {
      confinement.found.append((.privateDevices, ["/dev is no devtmpfs"]))
    }
    let release = line("proc/sys/kernel/osrelease") ?? ""
    if isOfWSL(release) {
      confinement.found.append((.wsl, ["kernel \(release)"]))
    }
    if root == "/", process == nil {
      confinement.runner = Self.runners.first { system.getenv($0.variable) != nil }?.name
    }
  }

  private mutating func findAncestor(_ program: String, _ place: Confinement.Place) {
    guard confinement.found.isEmpty, system.hasAncestor(program, process ?? system.getpid()) else {
      return
    }
    confinement.found.append((place, ["/dev is no devtmpfs", "\(program) is an ancestor process"]))
  }

  private static let runners: [(variable: String, name: String)] = [
    ("GITHUB_ACTIONS", "GitHub Actions"), ("GITLAB_CI", "GitLab CI"),
    ("CIRCLECI", "CircleCI"), ("TRAVIS", "Travis CI"), ("TF_BUILD", "Azure Pipelines"),
    ("BUILDKITE", "Buildkite"), ("JENKINS_URL", "Jenkins"), ("CI", "a CI service"),
  ]

  /// Returns whether a kernel's release names Microsoft, in either case.
  private func isOfWSL(_ release: String) -> Bool {
    let bytes = Array(release.utf8)
    return bytes.indices.contains { bytes[$0...].starts(with: "icrosoft".utf8) }
  }

  private func contents(_ path: String) -> String? { text(inside.appending(path), by: door) }

  private func text(_ path: PathBytes, by system: any System) -> String? {
    (try? system.contents(of: path, limit: 1 << 18)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a file of the process's folder in /proc.
  private func ofProcess(_ name: String) -> String? {
    text(PathBytes("/proc/\(process.map(String.init) ?? "self")/\(name)"), by: system)
  }

  /// Returns an environment variable of the process, as it was at its start for another one.
  private func variable(_ name: String) -> PathBytes? {
    guard process != nil else { return system.getenv(name) }
    let all = ofProcess("environ")?.parts(by: "\0") ?? []
    return all.first { $0.hasPrefix("\(name)=") }.map {
      PathBytes(String($0.dropFirst(name.count + 1)))
    }
  }

  private func line(_ path: String) -> String? {
    contents(path)?.parts(by: "\n").first.map(String.init)
  }

  private func exists(_ path: String) -> Bool {
    (try? door.status(of: inside.appending(path))) != nil
  }

  // MARK: - Containers

  private mutating func findContainers() {
    // The marker of an image stays where the image runs as a machine of its own; a variable does not.
    if let marked, marked.place == Confinement.pod || !isOnMachine {
      confinement.found.append(marked)
    }
  }

  /// The container that a marker file names, with the evidence; nil if there is no marker.
  private var marked: (place: Confinement.Place, evidence: [String])? {
    // CRI-O and cri-dockerd leave the marker of their engine as well.
    if confinement.found.isEmpty, root == "/", variable("KUBERNETES_SERVICE_HOST") != nil {
      return (Confinement.pod, ["KUBERNETES_SERVICE_HOST is set"])
    }
    if exists("run/.containerenv") {
      // Podman fills the file only for some containers; a user namespace tells as much.
      let rootless = contents("run/.containerenv")?.has("rootless=1") == true || hasOwnUsers
      return (.podman(rootless: rootless), ["/run/.containerenv"])
    }
    if exists(".dockerenv") { return (.docker, ["/.dockerenv"]) }
    // A sandbox that was found sets these files as well.
    guard confinement.found.isEmpty else { return nil }
    let manager = line("run/systemd/container") ?? line("run/host/container-manager")
    return manager.map { (.container($0), ["container manager \($0)"]) }
  }

  /// Whether /dev was made for this process and is not the devtmpfs of the machine.
  private var hasPrivateDevices: Bool {
    guard root == "/", let mounts else { return false }
    let last = mounts.mounts(at: "/dev").last
    return last.map { $0.fileSystem != "devtmpfs" } ?? false
  }

  /// The mounts that the process sees; nil if they cannot be read.
  private var mounts: MountTable? {
    let path = MountTable.path(of: process)
    return try? system.mountTable(path)
  }

  /// Whether the process is in the first namespaces of the machine, and on its root file system.
  ///
  /// Their numbers are fixed, see include/linux/proc_ns.h.
  private var isOnMachine: Bool {
    guard root == "/", mounts?.mounts(at: "/").first?.fileSystem != "overlay"
    else { return false }
    let folder = "/proc/\(process.map(String.init) ?? "self")/ns"
    func isFirst(_ name: String, _ number: UInt64) -> Bool {
      (try? system.status(of: PathBytes("\(folder)/\(name)")))?.inode == number
    }
    return isFirst("ipc", 0xEFFF_FFFF) && isFirst("uts", 0xEFFF_FFFE)
      && isFirst("user", 0xEFFF_FFFD) && isFirst("pid", 0xEFFF_FFFC)
      && isFirst("cgroup", 0xEFFF_FFFB)
  }

  /// Whether the process is in a user namespace of its own.
  private var hasOwnUsers: Bool {
    root == "/"
      && ofProcess("uid_map").flatMap { IDMap(lines: Array($0.utf8)) }?.isIdentity == false
  }

  // MARK: - Sandboxes of applications

  private mutating func findSandboxes() {
    if let info = contents(".flatpak-info") {
      let name = info.parts(by: "\n").first { $0.hasPrefix("name=") }?.dropFirst(5)
      confinement.found.append((.flatpak(app: name.map(String.init) ?? "APP"), ["/.flatpak-info"]))
    }
    if let folder = variable("SNAP"), folder.isAbsolute,
      let name = variable("SNAP_INSTANCE_NAME") ?? variable("SNAP_NAME")
    {
      let file = String(folder.description.drop { $0 == "/" }) + "/meta/snap.yaml"
      // The variable is that of whoever started the process, also one that became root.
      let path = inside.appending(file)
      let yaml = text(
        path,
        by: process == nil
          ? system.door(to: path, of: subject)
          : subject.credentials.user.fileSystem != 0
            ? door
            : system.door(below: inside, as: Credentials(uid: 65534, gid: 65534, groups: [])))
      if yaml == nil { confinement.hidden.append("not visible: \(folder)/meta/snap.yaml") }
      // The system does not confine a classic snap.
      guard yaml?.has("\nconfinement: classic") != true else { return }
      confinement.found.append(
        (
          .snap(name: name.description, plugs: yaml.map(Self.plugs)),
          ["SNAP=\(folder)"]
        ))
    }
  }

  /// Returns the names below every `plugs:` of a snap.yaml: list, map or inline list.
  static func plugs(_ yaml: String) -> [String] {
    var plugs: [String] = []
    var depth: Int?
    for line in yaml.parts(by: "\n") {
      let text = line.drop { $0 == " " }
      let indent = line.count - text.count
      if text.isEmpty || text.first == "#" { continue }
      if text.hasPrefix("plugs:") {
        depth = indent
        let rest = text.dropFirst(6).filter { !"[] \"'".contains($0) }
        plugs += rest.parts(by: ",").map(String.init)
        continue
      }
      guard let above = depth else { continue }
      // YAML allows a list at the same indentation as its key.
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

  private mutating func findService(_ privateDevices: Bool) {
    guard root == "/", let groups = ofProcess("cgroup"), groups.has(".service"),
      let unit = SystemdUnit.units(groups).last, unit.section == "Service",
      // The user manager of a login is a service too, but not a unit to name here.
      !unit.name.hasPrefix("user@")
    else { return }
    let home = unit.isOfUser ? variable("HOME") : nil
    let (unitSettings, seen, _) = UnitSettings.read(
      unit, home: home, of: subject, below: root, system)
    let settings = unitSettings.restrictive
    if !seen { confinement.hidden.append("not visible: the files of \(unit.name)") }
    // If the unit files cannot be read, a private /dev is the evidence.
    guard !settings.isEmpty || privateDevices && !seen else { return }
    let evidence =
      ["unit \(unit.name)"] + settings + (privateDevices ? ["/dev is no devtmpfs"] : [])
    confinement.found.append((.service(unit: unit, settings: settings), evidence))
  }
}

extension System {
  /// Returns whether a process or an ancestor of it runs a program of that name.
  func hasAncestor(_ program: String, _ process: Int32) -> Bool {
    var next: Int32? = process
    for _ in 0..<32 {
      guard let pid = next, pid > 0, let status = status(ofProcess: pid) else { break }
      if status.name == program { return true }
      next = status.parent
    }
    return false
  }
}
