// Devices in use.
extension Diagnosis {
  /// Returns a reason that names the process that uses the device; nil if the inode is no device.
  func busyReason(_ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?) -> Reason? {
    let (system, users) = (inspection.system, inspection.users)
    var evidence: [String] = []
    if let probe {
      let answer = probe.errno?.description ?? "granted"
      evidence.append("\(probe.method.rawValue): \(answer)")
    }
    guard let device = device(decision.inode) else {
      guard let running = running(ask) else {
        // Only this process was asked, which does not see who runs it.
        return probe?.errno == .ETXTBSY
          ? DeviceHolders(system, users).reason(running: ask.path, evidence: evidence) : nil
      }
      return running.reason(running: ask.path, evidence: evidence)
    }
    let family = ask.resource.family
    if probe?.isBusy == true || family?.busyTest == .videoBuffers && buffersAreInUse(device) == true
    {
      evidence.append("VIDIOC_REQBUFS: EBUSY, another program captures")
    }
    if probe?.method.opens != true {
      let owners = DeviceHolders.substreams(system, device, of: family).compactMap { $0 }
      evidence += owners.map { "/proc/asound: owner_pid \($0)" }
    }
    var holders = DeviceHolders(system, users)
    holders.find(device, of: family)
    return holders.reason(
      ask.path, for: users.userName(inspection.subject.credentials.user.fileSystem),
      evidence: evidence)
  }

  /// Returns whether every usable part of a device is in use, if the subject itself did not try to
  /// open it.
  func isBusy(_ ask: ResourceQuery) -> Bool {
    if running(ask) != nil { return true }
    guard inspection.context.root == "/", let family = ask.resource.family,
      let device = device(inspection.facts.target(of: ask.path))
    else { return false }
    switch family.busyTest {
    case .none: return false
    case .soundSubstreams:
      let substreams = DeviceHolders.substreams(inspection.system, device, of: family)
      return !substreams.isEmpty && substreams.allSatisfy { $0 != nil }
    case .videoBuffers:
      if let isTaken = buffersAreInUse(device) { return isTaken }
      var holders = DeviceHolders(inspection.system, inspection.users)
      holders.find(device, of: family)
      return holders.holders.contains(where: \.streams)
    }
  }

  /// Returns the processes that run the program that is to be written; nil if none is visible.
  ///
  /// Linux 6.11 allowed everybody to write it.
  private func running(_ ask: ResourceQuery) -> DeviceHolders? {
    let facts = inspection.facts
    guard inspection.context.root == "/", ask.need.contains(.write) || ask.truncates,
      !inspection.isSaved, let index = facts.target(of: ask.path),
      facts.inodes[index].kind == .regular,
      facts.inodes[index].mode & 0o111 != 0, inspection.identities.indices.contains(index)
    else { return nil }
    var holders = DeviceHolders(inspection.system, inspection.users)
    holders.findRunning(inspection.identities[index])
    guard !holders.holders.isEmpty, inspection.system.refusesWritingOfPrograms else { return nil }
    return holders
  }

  /// Asks the driver of a camera, through the machine's own node, whether a program captures.
  ///
  /// Only one program has the buffers of a camera, so VIDIOC_REQBUFS of no buffers fails for the
  /// others, and changes nothing: see `vb2_ioctl_reqbufs()` in
  /// drivers/media/common/videobuf2/videobuf2-v4l2.c.
  ///
  /// - Returns: Nil if this process may not open the node, or the check opens nothing.
  private func buffersAreInUse(_ device: DeviceNumber) -> Bool? {
    let system = inspection.system
    guard inspection.context.probe.opens,
      let name = inspection.registeredName(device),
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

  /// Returns the number of a character device; nil for other inodes.
  func device(_ index: Int?) -> DeviceNumber? {
    guard let index, inspection.facts.inodes[index].kind == .characterDevice else { return nil }
    return inspection.facts.inodes[index].device
  }
}

extension ResourceQuery {
  /// Whether the operation is truncate(2), which also writes: vfs_truncate() in fs/open.c.
  fileprivate var truncates: Bool {
    if case .truncate? = operation?.operation { true } else { false }
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
