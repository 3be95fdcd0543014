// Nodes that no rule of udev has seen.
extension Diagnosis {
  /// Adds a reason that udev does not run, if a node is as the kernel created it: accessible to
  /// root alone, see devtmpfs_create_node() in drivers/base/devtmpfs.c.
  func addUdev(_ report: inout ResourceReport, _ ask: ResourceQuery, _ decision: Decision) {
    let facts = inspection.facts
    // No udev runs in an image below --root.
    guard inspection.context.root == "/", decision.step == .target, let index = decision.inode,
      case let node = facts.inodes[index], node.kind.isDevice, node.uid == 0, node.gid == 0,
      node.mode & 0o7177 == 0, ask.path.isBelow("/dev"),
      // udev(7) makes it when it starts.
      (try? inspection.system.status(of: "/run/udev/control")) == nil
    else { return }
    report.reasons.append(
      Reason(
        .noUdev, .suspected,
        "udev does not run here, so no rule has given \(ask.path) a group",
        evidence: ["there is no /run/udev/control"]))
    // Who starts a container gives it its nodes.
    guard !confinement.found.contains(where: \.place.isContainer) else { return }
    let path = facts.path(of: index)
    let hasSystemd = (try? inspection.system.status(of: "/run/systemd/system")) != nil
    report.remedies.append(.udev(path, hasSystemd: hasSystemd))
  }
}
