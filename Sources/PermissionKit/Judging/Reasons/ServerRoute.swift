/// The second way to a microphone or camera: a server of the session that offers it to programs.
///
/// Reports only what the server itself answers; its socket proves nothing. Nothing is recorded.
struct ServerRoute {
  private let inspection: Inspection
  private let family: DeviceFamily

  private var system: any System { inspection.system }
  private var subject: Subject { inspection.subject }

  init(_ inspection: Inspection, _ family: DeviceFamily) {
    self.inspection = inspection
    self.family = family
  }

  /// Returns the report about the servers of the subject; nil if there are none.
  func report() -> ResourceReport? {
    guard inspection.context.root == "/", !inspection.isSaved else { return nil }
    guard isOwn else { return nil }
    let isCaller = subject.source == .current
    let uid = subject.credentials.user.fileSystem
    let settings =
      isCaller && family.busyTest == .soundSubstreams ? PulseAudioSettings(system) : nil
    let servers = MediaServer.find(
      system, uid: uid, isCaller: isCaller, family: family, settings)
    if servers.isEmpty { return settings.flatMap(elsewhere) }
    var first: ResourceReport?
    for server in servers {
      let report = ask(server, as: uid, settings)
      // Programs go on to the next server only where one does not answer.
      if report.status != .notDetermined { return report }
      first = first ?? report
    }
    return first
  }

  /// Whether the subject is the user of this process.
  ///
  /// Servers of other users are not examined, because their owner could make a system call block or
  /// mount something.
  var isOwn: Bool {
    subject.process == nil
      && subject.credentials.user.fileSystem == (try? system.credentials())?.user.fileSystem
  }

  /// The report for a subject without any server that can be asked.
  var absence: ResourceReport {
    let name = subject.displayName
    let own = PathBytes("/run/user/\(subject.credentials.user.fileSystem)")
    guard isOwn else {
      let message = "only \(name) can ask what a \(noun) of \(name) offers"
      return report(own, .notDetermined, Reason(.mediaServer, .proven, message))
    }
    let named = subject.source == .current ? system.getenv("XDG_RUNTIME_DIR") : nil
    if subject.source == .current, named == nil,
      let server = MediaServer.find(
        system, uid: subject.credentials.user.fileSystem, isCaller: false, family: family
      ).first
    {
      var reason = Reason(
        .mediaServer, .proven,
        "XDG_RUNTIME_DIR is not set, as in cron jobs and services, so programs do not find the \(noun) at \(server.path)"
      )
      reason.ownAdvice = "set XDG_RUNTIME_DIR=\(own) for them"
      return report(server.path, .unavailable, reason)
    }
    return report(
      named ?? own, .unavailable, Reason(.noDevice, .proven, "there is no \(noun) for \(name)"))
  }

  private var noun: String { family.busyTest == .soundSubstreams ? "sound server" : "media server" }

  /// The report if what programs read names no server of this machine that is there; nil if it names none.
  private func elsewhere(_ settings: PulseAudioSettings) -> ResourceReport? {
    guard let named = settings.servers else { return nil }
    let source = settings.isVariable ? "PULSE_SERVER" : "client.conf of PulseAudio"
    if let path = settings.sockets?.first, !settings.hasOthers {
      do throws(Errno) {
        _ = try system.status(of: path)
      } catch {
        let message =
          "\(source) names \(path), which \(subject.displayName) cannot reach (\(error))"
        return report(
          path, error == .EACCES ? .denied : .unavailable, Reason(.mediaServer, .proven, message))
      }
    } else if !settings.hasOthers {
      let message =
        named.isEmpty
        ? "\(source) is empty, so programs find no \(noun)"
        : "\(source) names \(named), which is no server for programs on this machine"
      return report(named, .unavailable, Reason(.mediaServer, .proven, message))
    }
    let message =
      "\(source) names \(named), which is not a socket of this machine, so permcheck did not connect"
    return report(named, .notDetermined, Reason(.mediaServer, .proven, message))
  }

  // MARK: - The question

  private func ask(
    _ server: MediaServer, as uid: UInt32, _ settings: PulseAudioSettings?
  ) -> ResourceReport {
    let isRoot = uid == 0
    if isRoot, server.owner != 0 {
      return report(
        server, .notDetermined,
        "the \(noun) at \(server.path) belongs to another user, so root does not connect to it",
        ["owner \(inspection.users.userName(server.owner))"])
    }
    let (name, holder): (String, String)
    switch server.listener(system) {
    case .unseen:
      return report(
        server, .notDetermined,
        "the socket \(server.path) of a \(noun) is there, but no visible process listens on it; permcheck did not connect, because that might start one"
      )
    case .starter(let pid, let starter):
      return report(
        server, .notDetermined,
        "no \(noun) is running yet; \(starter) starts one when a program connects to \(server.path). permcheck did not connect, because that would start it",
        ["\(starter) (pid \(pid)) listens"])
    case .server(let pid, let program, let user):
      holder = "\(program) (pid \(pid), user \(inspection.users.userName(user)))"
      if isRoot, user != 0 {
        return report(
          server, .notDetermined,
          "the \(noun) at \(server.path) runs as another user, so root does not connect to it",
          ["\(holder) listens"])
      }
      name = Self.name(program, server.language)
    }
    do throws(Errno) {
      let devices = try server.devices(system, of: isRoot ? 0 : nil) { settings?.cookie() }
      return answer(server, name, devices, "asked: \(holder)")
    } catch .ETIMEDOUT {
      return report(
        server, .notDetermined,
        "\(name) at \(server.path) did not answer within \(ServerLine.time / 1000) ms",
        ["asked: \(holder)"], code: .notAnswering)
    } catch .EACCES {
      // PulseAudio accepts its own user and who has the cookie: pulsecore/protocol-native.c.
      let owner = inspection.users.userName(server.owner)
      return report(
        server, .denied,
        server.language == .pulseAudio
          ? "\(name) at \(server.path) refuses \(subject.displayName), who is not \(owner) and has not its cookie (~/.config/pulse/cookie of \(owner), PULSE_COOKIE)"
          : "\(name) at \(server.path) refuses \(subject.displayName)",
        ["asked: \(holder)"])
    } catch .EFBIG {
      return report(
        server, .notDetermined,
        "\(name) at \(server.path) answered with more than \(ServerLine.size >> 20) MB, which was not read",
        ["asked: \(holder)"])
    } catch {
      return report(
        server, .notDetermined, "the answer of \(name) at \(server.path) cannot be read",
        ["\(error)", "asked: \(holder)"])
    }
  }

  private static func name(_ program: String, _ language: MediaServer.Language) -> String {
    if program.hasPrefix("pipewire") || language != .pulseAudio { return "PipeWire" }
    return program.hasPrefix("pulse") ? "PulseAudio" : "the sound server \(program)"
  }

  private func answer(
    _ server: MediaServer, _ name: String, _ devices: [OfferedDevice], _ asked: String
  ) -> ResourceReport {
    let offered = devices.filter { !$0.isEmpty }
    var evidence = [asked]
    evidence += devices.map { device in
      device.isEmpty
        ? "no \(family.noun): \(device.name)"
        : "\(device.name): \(device.label)\(device.isMuted ? ", muted" : "")"
    }
    evidence += portal
    guard let first = offered.first(where: { !$0.isMuted }) ?? offered.first else {
      return report(
        server, .unavailable, "\(name) runs, but offers no \(family.noun)", evidence)
    }
    let others = offered.count - 1
    let more = others == 0 ? "" : " and \(others) other \(family.noun)\(others == 1 ? "" : "s")"
    let use = family.busyTest == .soundSubstreams ? "record through it" : "use it"
    let place = family.folder == "dev" ? family.exampleNode : family.exampleNode.parent
    var report = report(
      server, .authorized,
      "\(name) offers '\(first.label)'\(more)\(first.isMuted ? " (muted)" : ""); programs that \(use) need no access to \(place) (not tried: nothing was recorded)",
      evidence)
    report.label = first.label
    return report
  }

  /// The state of the portal by which programs in a sandbox ask for a camera.
  private var portal: [String] {
    guard family.busyTest == .videoBuffers,
      (try? system.status(of: "/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service"))
        != nil
    else { return [] }
    let runs = ((try? system.names(in: "/proc")) ?? []).contains {
      (try? system.line(of: PathBytes("/proc/\($0)/comm"))) == "xdg-desktop-por"
    }
    return ["xdg-desktop-portal \(runs ? "runs" : "is installed"): programs in a sandbox ask it"]
  }

  private func report(
    _ server: MediaServer, _ status: AuthorizationStatus, _ message: String,
    _ evidence: [String] = [], code: Reason.Code = .mediaServer
  ) -> ResourceReport {
    report(server.path, status, Reason(code, .proven, message, evidence: evidence))
  }

  private func report(
    _ path: PathBytes, _ status: AuthorizationStatus, _ reason: Reason
  ) -> ResourceReport {
    let verdict = Verdict(Finding(status: status, reasons: [reason]))
    return ResourceReport(
      path: path, label: noun, device: noun, need: [], status: verdict.status,
      reasons: verdict.reasons)
  }
}
