/// A file system without room for another file, or a user at a limit of a quota: ENOSPC and EDQUOT of a create.
///
/// The kernel asks after every permission; see inode_quota_check() in fs/quota/dquot.c.
struct FullFileSystem: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let facts = evidence.facts
    guard evidence.isHere, evidence.isGranted, let operation = evidence.ask.operation?.operation,
      let folder = Self.folder(operation, evidence), facts.inodes[folder].kind == .directory,
      let errno = Self.refusal(in: folder, to: evidence.subject, evidence.inspection)
    else { return nil }
    switch operation {
    case .create, .makeDirectory, .makeNode, .makeLink: break
    // A tmpfs counts each name as an inode, see shmem_link() in mm/shmem.c.
    case .link
    where errno == .ENOSPC && facts.mounts[facts.inodes[folder].mount].fileSystem == "tmpfs": break
    default: return nil
    }
    let reason = Self.reason(errno, facts.path(of: folder), evidence.subject)
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
  }

  /// Returns the folder that gets the new name, however the path leads there.
  private static func folder(_ operation: FileOperation, _ evidence: Evidence) -> Int? {
    if case .link(let name) = operation { return evidence.facts.target(of: name.parent) }
    return evidence.decision.inode
  }

  /// Returns the reason why a file system takes no new file of a user.
  static func reason(_ errno: Errno, _ folder: PathBytes, _ subject: Subject) -> Reason {
    let name = subject.displayName
    let what =
      errno == .EDQUOT
      ? "\(name) is at the limit of files of a quota"
      : "the file system has no room for another file"
    return Reason(
      .noSpace, .proven, "mode and ACL let \(name) make files in \(folder), but \(what) (\(errno))",
      evidence: [errno == .EDQUOT ? "quotactl: \(errno)" : "statfs: no free inodes"])
  }

  /// Returns ENOSPC or EDQUOT if the file system of a folder takes no new file of a user; nil if it does, or if
  /// that is not known.
  static func refusal(in folder: Int, to subject: Subject, _ inspection: Inspection) -> Errno? {
    let (facts, system, inode) = (
      inspection.facts, inspection.system, inspection.facts.inodes[folder]
    )
    // Another process may have other mounts.
    guard inspection.subject.process == nil, !facts.mounts[inode.mount].rules.mayKeepWaiting,
      let file = try? system.openat(.currentDirectory, facts.path(of: folder), .path, mode: 0)
    else { return nil }
    defer { system.close(file) }
    let ids = subject.credentials
    let gid = inode.mode & 0o2000 == 0 ? ids.group.fileSystem : inode.gid
    do throws(Errno) {
      try system.checkRoom(in: file, uid: ids.user.fileSystem, gid: gid)
      return nil
    } catch {
      let isExempt = error == .EDQUOT && ids.effective.contains(.sysResource)
      return isExempt || error != .EDQUOT && error != .ENOSPC ? nil : error
    }
  }
}
