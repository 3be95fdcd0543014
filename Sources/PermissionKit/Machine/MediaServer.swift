/// A server of a user's session that offers microphones or cameras, so that programs open no node.
struct MediaServer {
  /// The protocol of a server.
  enum Language: Hashable {
    case pulseAudio
    case pipeWire(mediaClass: String)

    /// The process names of the servers with this protocol.
    var servers: [String] {
      switch self {
      case .pulseAudio: ["pipewire-pulse", "pulseaudio"]
      case .pipeWire: ["pipewire"]
      }
    }
  }

  /// The process that listens on a socket.
  enum Listener: Hashable {
    /// A server runs.
    case server(pid: Int32, name: String, uid: UInt32)
    /// This program starts a server when somebody connects.
    case starter(pid: Int32, name: String)
    /// No process that can be seen listens; there may be one in another namespace, or of another user.
    case unseen
  }

  /// The socket.
  let path: PathBytes
  /// The protocol of the server.
  let language: Language
  /// The owner of the socket.
  let owner: UInt32

  // MARK: - Search

  /// Returns the sockets for a subject, in the order in which programs try them.
  ///
  /// - Parameters:
  ///   - system: The system to look at.
  ///   - uid: The user whose servers are meant.
  ///   - isCaller: Whether programs would read the environment of this process.
  ///   - family: The kind of device.
  ///   - settings: What clients of PulseAudio would read; nil if those of this process do not count.
  /// - Returns: The sockets that are there.
  static func find(
    _ system: any System, uid: UInt32, isCaller: Bool, family: DeviceFamily,
    _ settings: PulseAudioSettings? = nil
  ) -> [MediaServer] {
    guard let mediaClass = family.mediaClass else { return [] }
    func variable(_ name: String) -> PathBytes? {
      guard isCaller, let value = system.getenv(name), !value.isEmpty else { return nil }
      return value
    }
    // Programs without it do not guess.
    let runtime = isCaller ? variable("XDG_RUNTIME_DIR") : PathBytes("/run/user/\(uid)")
    func server(_ path: PathBytes, _ language: Language) -> MediaServer? {
      // The environment of root may name a place of somebody else's.
      guard path.isAbsolute, system.availability(of: path) == .immediate,
        let status = try? system.status(of: path), status.kind == .socket
      else { return nil }
      return MediaServer(path: path, language: language, owner: status.uid)
    }
    var pulse: [PathBytes] = []
    if family.busyTest == .soundSubstreams {
      if let named = settings?.sockets {
        pulse = named
      } else {
        let folder =
          variable("PULSE_RUNTIME_PATH") ?? runtime?.appending("pulse")
          ?? variable("HOME").flatMap { ownFolder(of: $0, system) }
        pulse = (folder.map { [$0.appending("native")] } ?? []) + ["/run/pulse/native"]
      }
    }
    let remote = variable("PIPEWIRE_REMOTE") ?? "pipewire-0"
    let folder = variable("PIPEWIRE_RUNTIME_DIR") ?? runtime
    let pipeWire: [PathBytes] =
      remote.isAbsolute
      ? [remote] : (folder.map { [$0.appending(remote)] } ?? []) + ["/run/pipewire/pipewire-0"]
    return pulse.compactMap { server($0, .pulseAudio) }
      + pipeWire.compactMap { server($0, .pipeWire(mediaClass: mediaClass)) }
  }

  /// Returns where PulseAudio has its socket without XDG_RUNTIME_DIR: pa_get_runtime_dir() of its pulsecore/core-util.c.
  private static func ownFolder(of home: PathBytes, _ system: any System) -> PathBytes? {
    (try? system.line(of: "/etc/machine-id")).map {
      home.appending(".config/pulse").appending(PathBytes($0.bytes + Array("-runtime".utf8)))
    }
  }

  // MARK: - Who listens

  /// The programs that listen for others and start them, by the name of their process.
  private static let starters = ["systemd", "systemd-socket-", "init"]

  /// Finds the process that listens, without connecting: a connection may start a server.
  ///
  /// - Parameter system: The system to look at.
  /// - Returns: What is known of the process.
  func listener(_ system: any System) -> Listener {
    let sockets = listening(system)
    if sockets.isEmpty { return .unseen }
    var starter: Listener?
    var likely: Listener?
    let all = ((try? system.names(in: "/proc")) ?? []).compactMap { Int32($0.description) }
    let named = all.map { pid in
      (pid, (try? system.line(of: PathBytes("/proc/\(pid)/comm")))?.description ?? "")
    }
    // The usual servers first, since looking at every open file of a session takes long.
    let usual = named.filter { $0.1.hasPrefix("pipewire") || $0.1.hasPrefix("pulse") }
    let others = named.filter { process in !usual.contains { $0.0 == process.0 } }
    for (pid, name) in usual + others {
      let holds = holds(sockets, pid, system)
      if holds == false { continue }
      guard let uid = system.status(ofProcess: pid)?.credentials.user.effective else { continue }
      if holds == nil {
        // A sandbox hides what even its own user's processes have open, see ptrace(2).
        if likely == nil, uid == owner, language.servers.contains(name) {
          likely = .server(pid: pid, name: name, uid: uid)
        }
      } else if Self.starters.contains(name) {
        starter = .starter(pid: pid, name: name)
      } else {
        return .server(pid: pid, name: name, uid: uid)
      }
    }
    // What was seen counts more than what a name suggests.
    return starter ?? likely ?? .unseen
  }

  /// Returns whether a process has one of the sockets open; nil if that is hidden from this process.
  private func holds(_ sockets: Set<UInt64>, _ pid: Int32, _ system: any System) -> Bool? {
    let folder = PathBytes("/proc/\(pid)/fd")
    var isHidden = false
    do throws(Errno) {
      for number in try system.names(in: folder) {
        do throws(Errno) {
          let status = try system.status(of: folder.appending(number))
          if status.kind == .socket, sockets.contains(status.inode) { return true }
        } catch .ENOENT {
        } catch {
          isHidden = true
        }
      }
    } catch .ENOENT {
    } catch {
      isHidden = true
    }
    return isHidden ? nil : false
  }

  /// Returns the inode number of the socket that listens at the path, from /proc/net/unix.
  ///
  /// Anybody can write lines there by the name of a socket, so none of its paths is looked at, and two
  /// lines about the same path are ambiguous.
  private func listening(_ system: any System) -> Set<UInt64> {
    guard let bytes = try? system.contents(of: "/proc/net/unix", limit: 1 << 24) else { return [] }
    let paths = [path, realPath(system)]
    var found: [UInt64] = []
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      // Num RefCount Protocol Flags Type St Inode Path; the flag is __SO_ACCEPTCON.
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
      guard fields.count == 8, fields[3].elementsEqual("00010000".utf8),
        paths.contains(PathBytes(Array(fields[7]))),
        let inode = UInt64(String(decoding: fields[6], as: UTF8.self))
      else { continue }
      found.append(inode)
    }
    return found.count == 1 ? Set(found) : []
  }

  /// The path without links in its folders.
  private func realPath(_ system: any System) -> PathBytes {
    guard
      let folder = try? system.openat(
        .currentDirectory, path.parent, [.path, .directory], mode: 0)
    else { return path }
    defer { system.close(folder) }
    let link = folder.link
    guard
      let entry = try? system.openat(.currentDirectory, link, [.path, .noFollow], mode: 0)
    else { return path }
    defer { system.close(entry) }
    return (try? system.readlinkat(entry))?.appending(path.lastComponent) ?? path
  }

  // MARK: - The question

  /// Asks the server for its devices.
  ///
  /// Connects to the inspected socket itself, even if its path was replaced since.
  ///
  /// - Parameters:
  ///   - system: The system that connects.
  ///   - owner: The owner that the socket must have; nil for any.
  ///   - cookie: Returns what proves to PulseAudio who this process is, if it refuses it without; nil if there is nothing.
  /// - Returns: The devices, empty ones among them.
  /// - Throws: EACCES if the server or the socket refuses; ECONNREFUSED if nobody listens; the errors
  ///   of `ServerLine`.
  func devices(
    _ system: any System, of owner: UInt32?, cookie: () -> [UInt8]?
  ) throws(Errno) -> [OfferedDevice] {
    let socket = try system.openat(.currentDirectory, path, .path, mode: 0)
    defer { system.close(socket) }
    let status = try system.statx(socket)
    guard status.kind == .socket, owner == nil || status.uid == owner else { throw .EACCES }
    var line = try ServerLine(system, socket.link)
    switch language {
    case .pulseAudio:
      do throws(Errno) {
        return try PulseAudioProtocol.sources(&line)
      } catch {
        guard error == .EACCES, let cookie = cookie() else { throw error }
        var second = try ServerLine(system, socket.link)
        return try PulseAudioProtocol.sources(&second, cookie)
      }
    case .pipeWire(let mediaClass):
      return try PipeWireProtocol.nodes(ofClass: mediaClass, &line)
    }
  }
}
