/// A device that another program uses, a program that runs and shall be written, or one that is written and shall run.
struct BusyDevice: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, let reason = Self.reason(evidence) ?? Self.reasonNotToRun(evidence)
    else { return nil }
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
  }

  private static func reason(_ evidence: Evidence) -> Reason? {
    let probe = evidence.probe?.shown
    if probe?.isBusy == true || probe?.errno == .EBUSY || probe?.errno == .ETXTBSY {
      return reason(evidence, probe)
    }
    if let reason = reasonOfTerminal(evidence) { return reason }
    // In the place of another process nobody asks the driver.
    guard evidence.isGranted, probe?.method.opens != true || probe?.method == .enter,
      isBusy(evidence)
    else { return nil }
    return reason(evidence, probe)
  }

  /// Returns a reason that names the process that uses the device; nil if the inode is no device.
  private static func reason(_ evidence: Evidence, _ probe: Probe?) -> Reason? {
    let (ask, system, users) = (evidence.ask, evidence.system, evidence.users)
    var known: [String] = []
    if let probe {
      known.append("\(probe.method.rawValue): \(probe.errno?.description ?? "granted")")
    }
    guard let device = evidence.device(evidence.facts.target(of: ask.path)) else {
      guard let running = running(evidence) else {
        // Only this process was asked, which does not see who runs it.
        return probe?.errno == .ETXTBSY
          ? DeviceHolders(system, users).reason(running: ask.path, evidence: known) : nil
      }
      return running.reason(running: ask.path, evidence: known)
    }
    let family = ask.resource.family
    if probe?.isBusy == true
      || family?.busyTest == .videoBuffers && buffersAreInUse(device, evidence.inspection) == true
    {
      known.append("VIDIOC_REQBUFS: EBUSY, another program captures")
    }
    if probe?.method.opens != true {
      let owners = DeviceHolders.substreams(system, device, of: family).compactMap { $0 }
      known += owners.map { "/proc/asound: owner_pid \($0)" }
    }
    var holders = DeviceHolders(system, users)
    holders.find(device, of: family)
    return holders.reason(
      ask.path, for: users.userName(evidence.subject.credentials.user.fileSystem),
      evidence: known)
  }

  /// Returns a reason that names who holds a terminal for itself: EBUSY of tty_open() in drivers/tty/tty_io.c.
  private static func reasonOfTerminal(_ evidence: Evidence) -> Reason? {
    let (inspection, system) = (evidence.inspection, evidence.system)
    guard evidence.isAtRoot, evidence.isGranted, inspection.context.probe.opens,
      evidence.ask.operation == nil, !evidence.ask.opened.isEmpty,
      !evidence.subject.credentials.effective.contains(.sysAdmin),
      let index = evidence.facts.target(of: evidence.ask.path),
      var device = evidence.device(index), inspection.identities.indices.contains(index)
    else { return nil }
    var node: InodeIdentity? = inspection.identities[index]
    // /dev/tty opens the controlling terminal of each process: tty_open_current_tty().
    if device == .terminal {
      let process = evidence.subject.process ?? system.getpid()
      guard let own = system.stat(ofProcess: process)?.terminal else { return nil }
      device = own
      node = DeviceHolders.node(own, openIn: process, system)
    }
    let isPseudo = (136...143).contains(device.major)
    guard !isPseudo || node != nil,
      isPseudo
        || system.destination(
          ofLink: PathBytes("/sys/dev/char/\(device.major):\(device.minor)/subsystem"))?
          .lastComponent == "tty"
    else { return nil }
    var holders = DeviceHolders(system, evidence.users)
    guard holders.findTerminal(device, isPseudo ? node : nil) == true
    else { return nil }
    return holders.reason(
      evidence.ask.path, for: evidence.users.userName(evidence.subject.credentials.user.fileSystem),
      evidence: ["TIOCGEXCL: only who has CAP_SYS_ADMIN may open it"])
  }

  /// Returns whether every usable part of a device is in use, if the subject itself did not try to
  /// open it.
  private static func isBusy(_ evidence: Evidence) -> Bool {
    if running(evidence) != nil { return true }
    guard evidence.isAtRoot, let family = evidence.ask.resource.family,
      let device = evidence.device(evidence.facts.target(of: evidence.ask.path))
    else { return false }
    switch family.busyTest {
    case .none: return false
    case .soundSubstreams:
      let substreams = DeviceHolders.substreams(evidence.system, device, of: family)
      return !substreams.isEmpty && substreams.allSatisfy { $0 != nil }
    case .videoBuffers:
      if let isTaken = buffersAreInUse(device, evidence.inspection) { return isTaken }
      var holders = DeviceHolders(evidence.system, evidence.users)
      holders.find(device, of: family)
      return holders.holders.contains(where: \.streams)
    }
  }

  /// Returns the processes that run the program that is to be written; nil if none is visible.
  ///
  /// Linux 6.11 allowed everybody to write it.
  private static func running(_ evidence: Evidence) -> DeviceHolders? {
    let (facts, ask, identities) = (
      evidence.facts, evidence.ask, evidence.inspection.identities
    )
    guard evidence.isAtRoot, ask.need.contains(.write) || ask.truncates,
      let index = facts.target(of: ask.path), facts.inodes[index].kind == .regular,
      facts.inodes[index].mode & 0o111 != 0, identities.indices.contains(index)
    else { return nil }
    var holders = DeviceHolders(evidence.system, evidence.users)
    holders.findRunning(identities[index])
    guard !holders.holders.isEmpty, evidence.system.refusesWritingOfPrograms else { return nil }
    return holders
  }

  /// Returns a reason that names who has the program, its interpreter or its loader open for writing, so that
  /// execve(2) is ETXTBSY; nil if nobody is visible who has: exe_file_deny_write_access() of do_open_execat() in
  /// fs/exec.c.
  private static func reasonNotToRun(_ evidence: Evidence) -> Reason? {
    let (facts, identities) = (evidence.facts, evidence.inspection.identities)
    guard evidence.isAtRoot, case .execute? = evidence.ask.operation?.operation,
      evidence.future == nil
    else { return nil }
    // What the kernel opens before it refuses something else.
    let programs = evidence.inspection.evaluator.steps(evidence.ask).compactMap { step -> Int? in
      guard case .permission(let index, _, .granted, _) = step.event,
        facts.inodes[index].program != nil, identities.indices.contains(index)
      else { return nil }
      return index
    }
    let answers = programs.map { isWritten($0, evidence) }
    // What the kernel answers for all of them needs no search.
    if !programs.isEmpty, answers.allSatisfy({ $0 == false }) { return nil }
    var holders = DeviceHolders(evidence.system, evidence.users)
    let open = programs.indices.filter { answers[$0] != false }
    let written = holders.findWriting(open.map { identities[programs[$0]] }).map { open[$0] }
    guard let first = answers.firstIndex(of: true) ?? written else { return nil }
    return holders.reason(
      writing: facts.path(of: programs[first]), isNamed: first == written)
  }

  /// Asks the kernel whether a file is open, or mapped, for writing: deny_write_access() of do_open_execat() in fs/exec.c.
  ///
  /// A file that this process may not read or execute is not asked about, nor one of a server, who could keep the call
  /// waiting, nor any where a filter of system calls might end this process. While the file is open here, nobody gets a
  /// lease on it for which the kernel would wait, see fcntl(2).
  ///
  /// - Returns: Nil if the kernel does not say.
  private static func isWritten(_ index: Int, _ evidence: Evidence) -> Bool? {
    let (facts, system) = (evidence.facts, evidence.system)
    guard evidence.inspection.context.probe != .none,
      !facts.mounts[facts.inodes[index].mount].rules.mayKeepWaiting,
      system.status(ofProcess: system.getpid())?.seccomp == 0,
      let place = openProgram(index, evidence)
    else { return nil }
    defer { system.close(place) }
    guard (try? system.statx(place))?.kind == .regular,
      let file = try? system.openat(
        .currentDirectory, place.link, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
    else { return nil }
    defer { system.close(file) }
    do throws(Errno) {
      let identity = InodeIdentity(try system.statx(file))
      guard identity == evidence.inspection.identities[index] else { return nil }
      try system.checkExecution(file)
      return false
    } catch {
      return error == .ETXTBSY ? true : nil
    }
  }

  private static func openProgram(_ index: Int, _ evidence: Evidence) -> Descriptor? {
    let (facts, path, system) = (evidence.facts, evidence.ask.path, evidence.system)
    // What a link of /proc leads to need not have a path.
    let isJump = facts.target(of: path) == index && facts.inodes.contains { $0.jump == index }
    return try? system.openat(
      .currentDirectory, isJump ? path : facts.path(of: index),
      isJump ? .path : [.path, .noFollow], mode: 0)
  }

  /// Asks the driver of a camera, through the machine's own node, whether a program captures.
  ///
  /// Only one program has the buffers of a camera, so VIDIOC_REQBUFS of no buffers fails for the
  /// others, and changes nothing: see `vb2_ioctl_reqbufs()` in
  /// drivers/media/common/videobuf2/videobuf2-v4l2.c.
  ///
  /// - Returns: Nil if this process may not open the node, or the check opens nothing.
  private static func buffersAreInUse(_ device: DeviceNumber, _ inspection: Inspection) -> Bool? {
    let system = inspection.system
    guard inspection.context.probe.opens, let name = inspection.registeredName(device),
      let node = try? system.openat(
        .currentDirectory, PathBytes("/dev").appending(name),
        [.readWrite, .nonBlocking, .noControllingTerminal, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(node) }
    guard (try? system.statx(node))?.device == device else { return nil }
    do throws(Errno) {
      try system.reqbufs(none: node)
      return false
    } catch {
      return error == .EBUSY
    }
  }
}

extension ResourceQuery {
  /// Whether the operation empties a file, which a running program refuses: vfs_truncate() in fs/open.c.
  fileprivate var truncates: Bool {
    switch operation?.operation {
    case .truncate?, .write?: true
    default: false
    }
  }
}

extension System {
  /// Whether the kernel refuses to open a running program for writing, as an attempt of this
  /// process shows.
  fileprivate var refusesWritingOfPrograms: Bool {
    guard let file = try? openat(.currentDirectory, "/proc/self/exe", .writeOnly, mode: 0) else {
      return true
    }
    close(file)
    return false
  }
}
