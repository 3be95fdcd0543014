/// A mount point that refuses even statx(2): another user's FUSE mount, or a server.
///
/// See fuse_allow_current_process() in fs/fuse/dir.c.
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
    func finding(_ message: String, _ remedies: [Remedy] = []) -> Finding {
      Finding(
        reasons: [Reason(.networkFS, .proven, message, evidence: known)], remedies: remedies,
        replaces: .reasons)
    }
    let options = mount.superblockOptions.parts(by: ",")
    if mount.fileSystem.hasPrefix("fuse"), !options.contains("allow_other") {
      let owner = options.first { $0.hasPrefix("user_id=") }.flatMap { UInt32($0.dropFirst(8)) }
      return finding(
        "\(mount.point) is a FUSE mount of \(owner.map { evidence.users.userName($0) } ?? "another user") without allow_other, so no other user may enter it, not even root",
        [.allowOther])
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
