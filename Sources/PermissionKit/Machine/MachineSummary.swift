/// A description of a machine and this process, for a bug report.
///
/// It can contain names of people: replace them before you send it.
package struct MachineSummary {
  /// The titles, each with what is known; what cannot be read says so.
  package private(set) var lines: [(title: String, value: String)] = []

  private let system: any System

  /// Reads the machine.
  ///
  /// - Parameter system: The system to read.
  package init(_ system: any System) {
    self.system = system
    add("system", [release, "Linux \(line("/proc/sys/kernel/osrelease"))"])
    add("place", places)
    add("process", process)
    add("modules", securityModules)
    add("cgroup", cgroups)
    add("session", session)
    add("drivers", drivers)
    add("devices", devices)
    add("mounts", mounts)
    add(
      "sysctls",
      [
        "fs/protected_symlinks", "fs/protected_hardlinks", "fs/protected_regular",
        "fs/protected_fifos", "kernel/unprivileged_userns_clone",
        "kernel/apparmor_restrict_unprivileged_userns", "kernel/yama/ptrace_scope",
      ].compactMap { name in
        (try? system.line(of: PathBytes("/proc/sys/\(name)"))).map { "\(name) \($0)" }
      })
  }

  private mutating func add(_ title: String, _ values: [String]) {
    lines.append((title, values.isEmpty ? "none" : values.joined(separator: "; ")))
  }

  /// Returns the first line of a file, or why it cannot be read.
  private func line(_ path: PathBytes) -> String {
    do throws(Errno) {
      return try system.line(of: path).description
    } catch {
      return "(\(path): \(error))"
    }
  }

  private func text(_ path: PathBytes) -> [Substring] {
    let bytes = (try? system.contents(of: path, limit: 1 << 20)) ?? []
    return String(decoding: bytes, as: UTF8.self).parts(by: "\n")
  }

  private func exists(_ path: PathBytes) -> Bool { (try? system.status(of: path)) != nil }

  /// The name of the distribution, see os-release(5).
  private var release: String {
    let name = text("/etc/os-release").first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12)
    return name.map { $0.filter { $0 != "\"" } } ?? "unknown distribution"
  }

  private var places: [String] {
    guard let own = try? system.credentials() else { return [] }
    let confinement = Confinement(
      system, root: "/", of: Subject(source: .current, credentials: own))
    var places = confinement.found.map { place, evidence in
      let word =
        switch place {
        case .docker: "Docker"
        case .podman(let rootless): rootless ? "Podman without root" : "Podman"
        case .container(let manager): manager
        case .flatpak: "Flatpak"
        case .snap: "snap"
        case .bubblewrap: "bubblewrap"
        case .firejail: "firejail"
        case .service(_, let settings): "a unit with \(settings.joined(separator: ", "))"
        case .privateDevices: "a /dev of its own"
        case .wsl: "WSL"
        }
      return evidence.isEmpty ? word : "\(word) (\(evidence.joined(separator: ", ")))"
    }
    if let runner = confinement.runner { places.append("run by \(runner)") }
    return places + confinement.hidden.map { "not readable: \($0)" }
  }

  /// Credentials, seccomp, id map and Landlock layers, see proc_pid_status(5).
  private var process: [String] {
    let status = text("/proc/self/status")
    func field(_ name: String) -> String? {
      status.first { $0.hasPrefix("\(name):") }.map { line in
        line.parts(byAny: "\t ").joined(separator: " ")
      }
    }
    var found = ["Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"].compactMap(field)
    let groups = field("Groups")?.parts(by: " ").count ?? 1
    found.append("\(groups - 1) groups")
    found.append("uid_map \(text("/proc/self/uid_map").map(Self.squeezed).joined(separator: ", "))")
    if let layers = system.landlockLayers() { found.append("\(layers) Landlock layers") }
    return found
  }

  private static func squeezed(_ line: Substring) -> String {
    line.parts(by: " ").joined(separator: " ")
  }

  private var securityModules: [String] {
    let modules = SecurityModules(system)
    return [modules.names?.joined(separator: ",") ?? "not readable"]
      + (modules.label.map { ["label \($0)"] } ?? [])
  }

  private var cgroups: [String] {
    let found = system.cgroups(of: nil).map { group in
      "version \(group.isOfVersion1 ? 1 : 2) \(group.path)"
    }
    let rules = ProcessLayers(system, system.getpid()).deviceRules("", .read) ?? []
    return found + rules.map { "device rules: \($0)" }
  }

  /// The programs that give devices and sound, as far as their files show them.
  private var session: [String] {
    let folder = system.getenv("XDG_RUNTIME_DIR")
    func has(_ socket: PathBytes) -> Bool { folder.map { exists($0.appending(socket)) } ?? false }
    let parts: [(String, Bool)] = [
      ("systemd", exists("/run/systemd/system")), ("udev", exists("/run/udev/control")),
      ("PipeWire", has("pipewire-0")), ("PulseAudio", has("pulse/native")),
      ("polkit", exists("/usr/bin/pkexec")), ("sudo", exists("/usr/bin/sudo")),
    ]
    let own = (try? system.credentials())?.user.real
    return parts.map { name, isThere in isThere ? name : "no \(name)" }
      + Seats(system).all.map { seat in
        "\(seat.name) of \(seat.active == nil ? "nobody" : seat.active == own ? "this user" : "another user")"
      }
  }

  /// The kernel modules of cameras and sound, see /proc/modules in proc(5).
  private var drivers: [String] {
    let words: [StaticString] = [
      "video", "uvc", "v4l", "media", "snd", "sound", "gspca", "vivid", "ipu", "cam",
    ]
    let names = text("/proc/modules").compactMap { $0.parts(by: " ").first.map(String.init) }
    let found = names.filter { name in words.contains { name.has($0) } }
    return found.isEmpty ? [] : [found.joined(separator: " ")]
  }

  private var devices: [String] {
    let nodes = ((try? system.names(in: "/dev")) ?? []).map(\.description)
      .filter { $0.hasPrefix("video") || $0.hasPrefix("media") || $0.hasPrefix("v4l") }
    let sound = ((try? system.names(in: "/dev/snd")) ?? []).map { "snd/\($0)" }
    return nodes.isEmpty && sound.isEmpty ? [] : [(nodes + sound).sorted().joined(separator: " ")]
  }

  /// The mounts that most paths lead through, see proc_pid_mountinfo(5).
  private var mounts: [String] {
    let places = ["/", "/dev", "/dev/snd", "/proc", "/sys", "/run", "/tmp", "/home", "/var"]
    return text("/proc/self/mountinfo").compactMap { line in
      let fields = line.parts(by: " ")
      guard fields.count > 9, places.contains(String(fields[4])),
        let dash = fields.firstIndex(of: "-"), dash + 1 < fields.endIndex
      else { return nil }
      return "\(fields[4]) \(fields[dash + 1]) \(fields[5])"
    }
  }
}
