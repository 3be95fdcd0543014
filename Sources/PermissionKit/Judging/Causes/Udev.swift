/// A node that no rule of udev has seen: it is as the kernel created it, accessible to root alone.
///
/// See devtmpfs_create_node() in drivers/base/devtmpfs.c.
struct Udev: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let (facts, decision, system) = (evidence.facts, evidence.decision, evidence.system)
    // No udev runs in an image below --root.
    guard evidence.isRefusedByStoredBits, evidence.isAtRoot, decision.step == .target,
      let index = decision.inode, case let node = facts.inodes[index], node.kind.isDevice,
      node.uid == 0, node.gid == 0, node.mode & 0o7177 == 0, evidence.ask.path.isBelow("/dev"),
      // udev(7) makes it when it starts.
      case .absent = system.look(
        at: "/run/udev/control", { () throws(Errno) in try system.status(of: "/run/udev/control") })
    else { return nil }
    let reason = Reason(
      .noUdev, .suspected,
      "udev does not run here, so no rule has given \(evidence.ask.path) a group",
      evidence: ["there is no /run/udev/control"])
    // Who starts a container gives it its nodes.
    if evidence.confinement.found.contains(where: \.place.isContainer) {
      return Finding(reasons: [reason])
    }
    let hasSystemd = (try? system.status(of: "/run/systemd/system")) != nil
    return Finding(
      reasons: [reason], remedies: [.udev(facts.path(of: index), hasSystemd: hasSystemd)])
  }
}
