/// A file system without room for another file, or a user at a limit of a quota: ENOSPC and EDQUOT of a create.
///
/// The kernel asks after every permission; see inode_quota_check() in fs/quota/dquot.c.
struct FullFileSystem: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isHere, evidence.isGranted, Self.makesInode(evidence.ask),
      evidence.subject.process == nil, let errno = Self.refusal(evidence)
    else { return nil }
    let folder = evidence.ask.path.parent
    let name = evidence.subject.displayName
    let what =
      errno == .EDQUOT
      ? "\(name) is at the limit of files of a quota"
      : "the file system has no room for another file"
    let reason = Reason(
      .noSpace, .proven, "mode and ACL let \(name) make files in \(folder), but \(what) (\(errno))",
      evidence: [errno == .EDQUOT ? "quotactl: \(errno)" : "statfs: no free inodes"])
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
  }

  private static func makesInode(_ ask: ResourceQuery) -> Bool {
    switch ask.operation?.operation {
    case .create, .makeDirectory, .makeNode, .makeLink: true
    default: false
    }
  }

  private static func refusal(_ evidence: Evidence) -> Errno? {
    let (facts, system) = (evidence.facts, evidence.system)
    guard let index = facts.target(of: evidence.ask.path.parent),
      !facts.mounts[facts.inodes[index].mount].rules.mayKeepWaiting,
      let folder = try? system.openat(.currentDirectory, facts.path(of: index), .path, mode: 0)
    else { return nil }
    defer { system.close(folder) }
    let credentials = evidence.subject.credentials
    let gid =
      facts.inodes[index].mode & 0o2000 == 0
      ? credentials.group.fileSystem : facts.inodes[index].gid
    do throws(Errno) {
      try system.checkRoom(in: folder, uid: credentials.user.fileSystem, gid: gid)
      return nil
    } catch {
      let isExempt = error == .EDQUOT && credentials.effective.contains(.sysResource)
      return isExempt || error != .EDQUOT && error != .ENOSPC ? nil : error
    }
  }
}
