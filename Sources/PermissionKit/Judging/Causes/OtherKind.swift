/// A file of another type than what is needed, or another device.
struct OtherKind: Cause {
  func find(in evidence: Evidence) -> Finding? {
    evidence.otherKind.map { Finding(status: .unavailable, reasons: [$0], replaces: .all) }
  }

  /// Returns a reason if an inode has another type than a resource needs, or is another device.
  ///
  /// - Returns: The reason; nil if the inode may be what is needed.
  static func reason(
    _ inspection: Inspection, _ resource: Resource, _ index: Int
  ) -> Reason? {
    guard let wanted = resource.kind else { return nil }
    let (facts, system, context) = (inspection.facts, inspection.system, inspection.context)
    let (inode, path) = (facts.inodes[index], resource.path)
    if inode.kind != wanted {
      return Reason(
        .noDevice, .proven, "\(path) is not a \(wanted.noun)", evidence: [inode.summary.modeText])
    }
    guard resource.isNamed, !inspection.isSaved, let family = resource.family,
      let number = inode.device
    else {
      return nil
    }
    let device = "device \(number.major):\(number.minor)"
    func reason(_ other: String, _ evidence: [String]) -> Reason {
      Reason(
        .noDevice, .proven, "\(path) is \(other), not a \(family.noun)",
        evidence: [device] + evidence)
    }
    if let other = family.otherDevice(
      at: facts.path(of: index), number, below: context.root, system)
    {
      return reason(other, [])
    }
    guard family.busyTest != .none, let name = inspection.registeredName(number)?.lastComponent
    else {
      return nil
    }
    if family.busyTest == .soundSubstreams {
      return DeviceCatalog.isControl(name) ? reason("the control node of a sound card", []) : nil
    }
    let catalog = DeviceCatalog(
      system, root: context.root,
      mayOpen: context.probesAsSelf.opens || system.isRoot && context.probe.opens)
    return catalog.otherVideoNode(name, number).map { reason($0.noun, [$0.evidence]) }
  }

  /// The note of `-v` about a named device whose number the kernel does not know; nil for other
  /// devices.
  static func doubt(
    _ inspection: Inspection, _ resource: Resource, _ index: Int
  ) -> String? {
    guard resource.isNamed, !inspection.isSaved, let family = resource.family,
      let number = inspection.facts.inodes[index].device, inspection.registeredName(number) == nil
    else { return nil }
    return
      "the kernel knows no device \(number.major):\(number.minor); by its name and its number it may be a \(family.noun)"
  }
}
