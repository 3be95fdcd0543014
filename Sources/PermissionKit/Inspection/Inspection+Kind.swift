extension Inspection {
  /// Returns a reason if an inode has another type than a resource needs, or is another device.
  ///
  /// - Parameters:
  ///   - resource: The resource.
  ///   - index: The inode at its path.
  /// - Returns: The reason; nil if the inode may be what is needed.
  func otherKind(_ resource: Resource, _ index: Int) -> Reason? {
    guard let wanted = resource.kind else { return nil }
    let (inode, path) = (facts.inodes[index], resource.path)
    if inode.kind != wanted {
      return Reason(
        .noDevice, .proven, "\(path) is not a \(wanted.noun)", evidence: [inode.summary.modeText])
    }
    guard resource.isNamed, !isSaved, let family = resource.family, let number = inode.device,
      let other = family.otherDevice(at: path, number, below: context.root, system)
    else { return nil }
    return Reason(
      .noDevice, .proven, "\(path) is \(other), not a \(family.noun)",
      evidence: ["device \(number.major):\(number.minor)"])
  }
}
