// Devices in use.
extension Diagnosis {
  /// Returns a reason that names the process that uses the device; nil if the inode is no device.
  func busyReason(_ ask: Ask, _ decision: Decision, _ probe: Probe?) -> Reason? {
    guard let device = device(decision) else { return nil }
    let (system, users) = (inspection.system, inspection.users)
    var evidence: [String] = []
    if let probe {
      let answer = probe.errno?.description ?? "granted"
      evidence.append("\(probe.method.rawValue): \(answer)")
    }
    let family = ask.resource.family
    if probe?.isBusy == true || family?.busyTest == .videoBuffers && buffersAreTaken(device) == true
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

  /// Returns whether all of a device is in use, where the subject itself did not try it: for another user or
  /// process, or where nothing was opened.
  func isTaken(_ ask: Ask, _ decision: Decision) -> Bool {
    guard inspection.context.root == "/", decision.isGranted, let family = ask.resource.family,
      let device = device(decision)
    else { return false }
    switch family.busyTest {
    case .none: return false
    case .soundSubstreams:
      let substreams = DeviceHolders.substreams(inspection.system, device, of: family)
      return !substreams.isEmpty && substreams.allSatisfy { $0 != nil }
    case .videoBuffers:
      if let isTaken = buffersAreTaken(device) { return isTaken }
      var holders = DeviceHolders(inspection.system, inspection.users)
      holders.find(device, of: family)
      return holders.holders.contains(where: \.streams)
    }
  }

  /// Asks the driver of a camera, by the machine's own node, whether somebody captures.
  ///
  /// One program has the buffers of a camera, so VIDIOC_REQBUFS of no buffers fails for the others, and changes
  /// nothing: see `vb2_ioctl_reqbufs()` in drivers/media/common/videobuf2/videobuf2-v4l2.c.
  ///
  /// - Returns: Nil if this process may not open the node, or the check opens nothing.
  private func buffersAreTaken(_ device: DeviceNumber) -> Bool? {
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

  /// Returns the number of the character device that the decision is about; nil for other inodes.
  func device(_ decision: Decision) -> DeviceNumber? {
    guard let index = decision.inode, inspection.facts.inodes[index].kind == .characterDevice else {
      return nil
    }
    return inspection.facts.inodes[index].device
  }
}
