/// A mount point that refuses even statx(2), by its server or automounter.
struct ClosedMount: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let facts = evidence.facts
    guard evidence.isHere, evidence.decision.rule == .unreadable,
      let index = evidence.decision.inode,
      let table = try? evidence.system.mountTable(MountTable.path(of: evidence.subject.process))
    else { return nil }
    let folder = facts.path(of: index)
    let closed = facts.inodes[index].entries.filter {
      if case .unreadable(.EACCES) = $0.found { true } else { false }
    }.map { folder.appending($0.name) }
    guard let mount = table.mounts.last(where: { closed.contains($0.point) }) else { return nil }
    let known =
      ["\(mount.fileSystem) \(mount.superblockOptions)"] + evidence.refusal.flatMap(\.evidence)
    func finding(_ message: String) -> Finding {
      Finding(
        reasons: [Reason(.networkFS, .proven, message, evidence: known)],
        replaces: .reasons)
    }
    if case .server = mount.rules.authority {
      let reason = ReasonFinder(evidence.inspection).serverRefusal(
        mount.point, mount.fileSystem, isServer: true, "", known)
      return Finding(reasons: [reason], replaces: .reasons)
    }
    return mount.fileSystem == "autofs"
      ? finding("\(mount.point) is an automount point, and the mount is refused") : nil
  }
}
