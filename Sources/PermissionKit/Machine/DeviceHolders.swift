/// The processes that have a device open, as far as /proc shows them to this process.
///
/// - SeeAlso: proc_pid_fd(5); /proc/asound/card*/pcm*/sub*/status, by sound/core/pcm.c
struct DeviceHolders {
  /// One process that has the device open.
  struct Holder: Hashable {
    var pid: Int32
    /// The name of the process; nil if /proc hides it.
    var name: String?
    var user: String?
    /// The start of the process, in microseconds since 1970-01-01 UTC.
    var since: Int64?
    /// Whether the process maps the device's buffers, or owns the stream according to ALSA.
    var streams = false
  }

  private let system: any System
  private let users: UserDatabase
  private(set) var holders: [Holder] = []
  /// Whether /proc hides the open files of some process.
  private(set) var someAreHidden = false
  /// The owner of each substream in /proc/asound; nil for a substream that is closed.
  private(set) var substreams: [Int32?] = []

  init(_ system: any System, _ users: UserDatabase) {
    self.system = system
    self.users = users
  }

  // MARK: - Search

  /// The processes that /proc lists.
  private var processes: [Int32] {
    ((try? system.names(in: "/proc")) ?? []).compactMap { Int32($0.description) }
  }

  /// Finds every process except this one that has the device open.
  mutating func find(_ device: DeviceNumber, of family: DeviceFamily?) {
    substreams = Self.substreams(system, device, of: family)
    let own = system.getpid()
    for pid in processes where pid != own {
      let folder = PathBytes("/proc/\(pid)/fd")
      do throws(Errno) {
        let numbers = try system.names(in: folder)
        if numbers.contains(where: { isDevice(folder.appending($0), device) }) {
          add(pid, streams: maps(pid, device))
        }
      } catch .ENOENT {
      } catch {
        someAreHidden = true
      }
    }
    for case let owner? in substreams where owner != own { add(owner, streams: true) }
  }

  /// Finds every process that has a terminal open, and returns whether one of them took it for itself (TIOCEXCL of
  /// ioctl_tty(2)); nil if that cannot be asked, or if nobody has it open.
  ///
  /// A terminal that is open is opened once more, which changes nothing.
  ///
  /// - Parameters:
  ///   - device: The number of the terminal.
  ///   - node: The inode, if each mount has terminals of its own, as devpts does; nil for others.
  /// - Returns: Whether nobody without CAP_SYS_ADMIN can open it.
  mutating func findTerminal(_ device: DeviceNumber, _ node: InodeIdentity?) -> Bool? {
    var isExclusive: Bool?
    for pid in processes {
      let folder = PathBytes("/proc/\(pid)/fd")
      do throws(Errno) {
        for number in try system.names(in: folder) where isDevice(folder.appending(number), device)
        {
          let path = folder.appending(number)
          guard let file = try? system.openat(.currentDirectory, path, .path, mode: 0) else {
            continue
          }
          defer { system.close(file) }
          guard let status = try? system.statx(file), status.kind == .characterDevice,
            status.device == device, node.map({ $0 == InodeIdentity(status) }) ?? true
          else { continue }
          add(pid, streams: false)
          if isExclusive == nil { isExclusive = isHeldForOne(file) }
        }
      } catch .ENOENT {
      } catch {
        someAreHidden = true
      }
    }
    return isExclusive
  }

  /// Returns the inode of a device that a process has open; nil if none is seen.
  static func node(
    _ device: DeviceNumber, openIn process: Int32, _ system: any System
  ) -> InodeIdentity? {
    let folder = PathBytes("/proc/\(process)/fd")
    return ((try? system.names(in: folder)) ?? []).lazy.compactMap { number in
      guard let status = try? system.status(of: folder.appending(number)),
        status.kind == .characterDevice, status.device == device
      else { return nil }
      return InodeIdentity(status)
    }.first
  }

  /// Asks an inode that is open already, and not another one that took its place.
  private func isHeldForOne(_ terminal: Descriptor) -> Bool? {
    do throws(Errno) {
      let file = try system.openat(
        .currentDirectory, terminal.link, [.readOnly, .nonBlocking, .noControllingTerminal],
        mode: 0)
      defer { system.close(file) }
      return try system.isExclusive(file)
    } catch {
      return error == .EBUSY ? true : nil
    }
  }

  /// Finds every process that runs a file, which the kernel then lets nobody write: exe_file_deny_write_access()
  /// in kernel/fork.c.
  mutating func findRunning(_ file: InodeIdentity) {
    for pid in processes {
      do throws(Errno) {
        let status = try system.status(of: PathBytes("/proc/\(pid)/exe"))
        if InodeIdentity(status) == file { add(pid, streams: false) }
      } catch .ENOENT {
      } catch {
        someAreHidden = true
      }
    }
  }

  /// Finds every process that has one of some files open for writing; returns the place of the first such file.
  mutating func findWriting(_ files: [InodeIdentity]) -> Int? {
    var found: [Int: Set<Int32>] = [:]
    for pid in files.isEmpty ? [] : processes {
      let folder = PathBytes("/proc/\(pid)/fd")
      do throws(Errno) {
        for number in try system.names(in: folder) {
          guard let status = try? system.status(of: folder.appending(number)),
            let place = files.firstIndex(of: InodeIdentity(status)),
            isOpenForWriting(pid, number)
          else { continue }
          found[place, default: []].insert(pid)
        }
      } catch .ENOENT {
      } catch {
        someAreHidden = true
      }
    }
    guard let first = found.keys.min() else { return nil }
    for pid in found[first, default: []].sorted() { add(pid, streams: false) }
    return first
  }

  /// Reads the access mode of a descriptor, see proc_pid_fdinfo(5).
  private func isOpenForWriting(_ pid: Int32, _ descriptor: PathBytes) -> Bool {
    let path = PathBytes("/proc/\(pid)/fdinfo").appending(descriptor)
    guard let text = try? system.contents(of: path, limit: 1 << 16) else { return false }
    let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "flags:".utf8) }
    let flags = line.flatMap {
      UInt32(String(decoding: $0.filter { $0 > 0x2f && $0 < 0x38 }, as: UTF8.self), radix: 8)
    }
    // O_PATH opens nothing, and 3 only lets ioctl(2) be called.
    return flags.map { ($0 & 3 == 1 || $0 & 3 == 2) && $0 & 0o10000000 == 0 } ?? false
  }

  /// Finds every process that has a socket open which listens at a path, by proc_net_unix(5).
  mutating func findListening(at path: PathBytes) {
    guard let table = try? system.contents(of: "/proc/net/unix", limit: 1 << 22) else { return }
    // Num RefCount Protocol Flags Type St Inode Path; SO_ACCEPTCON is 0x10000.
    let inodes = table.split(separator: UInt8(ascii: "\n")).compactMap { line -> UInt64? in
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
      guard fields.count == 8, fields[3].elementsEqual("00010000".utf8),
        fields[7].elementsEqual(path.bytes)
      else { return nil }
      return UInt64(String(decoding: fields[6], as: UTF8.self))
    }
    if inodes.isEmpty { return }
    for pid in processes {
      let folder = PathBytes("/proc/\(pid)/fd")
      let isOne = ((try? system.names(in: folder)) ?? []).contains { name in
        guard let status = try? system.status(of: folder.appending(name)) else { return false }
        return status.kind == .socket && inodes.contains(status.inode)
      }
      if isOne { add(pid, streams: false) }
    }
  }

  private func isDevice(_ descriptor: PathBytes, _ device: DeviceNumber) -> Bool {
    guard let status = try? system.status(of: descriptor) else { return false }
    return status.kind == .characterDevice && status.device == device
  }

  private mutating func add(_ pid: Int32, streams: Bool) {
    if let known = holders.firstIndex(where: { $0.pid == pid }) {
      holders[known].streams = holders[known].streams || streams
      return
    }
    let status = system.status(ofProcess: pid)
    holders.append(
      Holder(
        pid: pid, name: status?.name,
        user: status.map { users.userName($0.credentials.user.real) }, since: start(of: pid),
        streams: streams))
  }

  /// Returns whether the process maps memory of the device, as V4L2_MEMORY_MMAP does.
  private func maps(_ pid: Int32, _ device: DeviceNumber) -> Bool {
    guard let bytes = try? system.contents(of: PathBytes("/proc/\(pid)/maps"), limit: 1 << 24)
    else { return false }
    return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
      guard let slash = line.firstIndex(of: UInt8(ascii: "/")),
        line[slash...].starts(with: "/dev/".utf8)
      else { return false }
      return isDevice(PathBytes(Array(line[slash...])), device)
    }
  }

  /// Converts field 22 of /proc/PID/stat, in ticks of 1/100 s since the start of the system.
  private func start(of pid: Int32) -> Int64? {
    guard let stat = system.stat(ofProcess: pid), let all = try? system.contents(of: "/proc/stat")
    else { return nil }
    let boot = String(decoding: all, as: UTF8.self).parts(by: "\n")
      .first { $0.hasPrefix("btime ") }.flatMap { Int64($0.dropFirst(6)) }
    return boot.map { $0 * 1_000_000 + Int64(clamping: stat.start) * 10_000 }
  }

  // MARK: - ALSA

  /// Returns the owner of each substream of a PCM; nil for a substream that is closed.
  static func substreams(
    _ system: any System, _ device: DeviceNumber, of family: DeviceFamily?
  ) -> [Int32?] {
    guard family?.busyTest == .soundSubstreams,
      let uevent = try? system.contents(
        of: PathBytes("/sys/dev/char/\(device.major):\(device.minor)/uevent"), limit: 1 << 12),
      let name = String(decoding: uevent, as: UTF8.self).parts(by: "\n")
        .first(where: { $0.hasPrefix("DEVNAME=snd/pcmC") })?.dropFirst(16)
    else { return [] }
    // Card and device, such as 0D0c.
    let parts = name.parts(by: "D")
    guard parts.count == 2 else { return [] }
    let folder = PathBytes("/proc/asound/card\(parts[0])/pcm\(parts[1])")
    return ((try? system.names(in: folder)) ?? []).filter { $0.hasPrefix("sub") }.compactMap {
      guard
        let bytes = try? system.contents(of: folder.appending($0).appending("status"), limit: 4096)
      else { return nil }
      let owner = String(decoding: bytes, as: UTF8.self).parts(by: "\n")
        .first { $0.hasPrefix("owner_pid") }?.parts(by: ":").last
      return .some(owner.flatMap { Int32($0.drop { $0 == " " }) })
    }
  }

  // MARK: - Text for people

  /// Returns a reason that names the processes that run a program which is to be written.
  func reason(running path: PathBytes, evidence: [String]) -> Reason {
    let who =
      holders.isEmpty ? "some process" : holders.map(described).joined(separator: " and ")
    var reason = Reason(
      .busy, .proven, "\(who) runs \(path) now, so nobody may write to it (ETXTBSY)",
      evidence: evidence)
    reason.ownAdvice = "end the program, or write a new file and rename it to \(path)"
    return reason
  }

  /// Returns a reason that names the processes that have a program open for writing, or says that none is visible.
  func reason(writing path: PathBytes, isNamed: Bool) -> Reason {
    guard isNamed else {
      var reason = Reason(
        .busy, .proven,
        "\(path) is open or mapped for writing, so nobody may execute it (ETXTBSY)",
        evidence: [
          "execveat(AT_EXECVE_CHECK): ETXTBSY", "no visible process has it open for writing",
        ])
      reason.ownAdvice =
        system.isRoot
        ? "wait until it is unmapped: /proc/PID/maps shows what a process has mapped"
        : "wait until it is closed and unmapped: only root sees who has it open"
      return reason
    }
    // This process may have got the descriptor from the one that started it.
    let own = system.getpid()
    let others = holders.filter { $0.pid != own }
    let named = others.isEmpty ? holders : others
    let more = named.count > 2 ? ["\(named.count - 2) more"] : []
    let who = (named.prefix(2).map(described) + more).joined(separator: " and ")
    let verb = named.count == 1 ? "has" : "have"
    var reason = Reason(
      .busy, .proven, "\(who) \(verb) \(path) open for writing, so nobody may execute it (ETXTBSY)")
    reason.ownAdvice = "wait until it is closed, or end the process that writes it"
    return reason
  }

  /// Returns a reason that names the processes that use the device, streaming processes first.
  ///
  /// - Parameters:
  ///   - path: The path of the node.
  ///   - user: The name of the subject, whose own servers share the device with other programs.
  ///   - evidence: What shows that the device is in use.
  /// - Returns: The reason, with its own advice where a server of the user holds the device.
  func reason(_ path: PathBytes, for user: String?, evidence: [String]) -> Reason {
    let streaming = holders.filter(\.streams)
    let named = streaming.isEmpty ? holders : streaming
    let who: String
    switch named.count {
    case 0: who = "something else"
    case 1: who = described(named[0])
    default: who = named.map(described).joined(separator: " or ")
    }
    var seen = evidence
    seen += holders.map {
      "\(described($0))\($0.streams ? ", streaming" : ", open")"
        + ($0.since.map { ", running since \(Timestamp.rfc3339($0))" } ?? "")
    }
    if holders.isEmpty || holders.allSatisfy({ $0.name == nil }) {
      seen.append(
        someAreHidden
          ? "it is not visible who uses it: only root sees the open files of other users' processes"
          : "no visible process uses the device")
    } else if someAreHidden {
      seen.append("not visible: whether processes of other users also use the device")
    }
    var reason = Reason(
      .busy, .proven, "access to \(path) is allowed, but \(who) is using it now", evidence: seen)
    if !named.isEmpty,
      named.allSatisfy({ $0.name.flatMap { Self.role[$0] } != nil && $0.user == user })
    {
      reason.ownAdvice =
        "use it through that server, which shares it among programs, or end the program that it serves"
    }
    return reason
  }

  private func described(_ holder: Holder) -> String {
    guard let name = holder.name else { return "process \(holder.pid)" }
    let user = holder.user.map { ", user \($0)" } ?? ""
    return "\(name)\(Self.role[name].map { ", \($0)" } ?? "") (pid \(holder.pid)\(user))"
  }

  /// The role of programs that hold a device on behalf of other programs.
  private static let role = [
    "pipewire": "the media server of the desktop, on behalf of a program",
    "wireplumber": "PipeWire's session manager, which examines devices",
    "pipewire-pulse": "PipeWire's PulseAudio server, on behalf of a program",
    "pulseaudio": "the sound server of the desktop, on behalf of a program",
  ]
}
