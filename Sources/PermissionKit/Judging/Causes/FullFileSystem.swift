/// A file system without room for another file, or a user at a limit of a quota: ENOSPC and EDQUOT of a create.
///
/// The kernel asks after every permission; see inode_quota_check() in fs/quota/dquot.c.
struct FullFileSystem: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let facts = evidence.facts
    // mkdir(2) takes slashes at the end of the new name.
    let slash = UInt8(ascii: "/")
    let named = evidence.ask.path.bytes.lastIndex { $0 != slash } ?? 0
    let path = PathBytes(Array(evidence.ask.path.bytes[...named])).parent
    guard evidence.isHere, evidence.isGranted, let operation = evidence.ask.operation?.operation,
      let folder = facts.target(of: path),
      let errno = Self.refusal(in: folder, to: evidence.subject, evidence.inspection)
    else { return nil }
    switch operation {
    case .create, .makeDirectory, .makeNode, .makeLink: break
    // simple_link() of a tmpfs counts each name as an inode, see shmem_link() in mm/shmem.c.
    case .link
    where errno == .ENOSPC && facts.mounts[facts.inodes[folder].mount].fileSystem == "tmpfs": break
    default: return nil
    }
    let reason = Self.reason(errno, path, evidence.subject)
    return Finding(status: .restricted, reasons: [reason], replaces: .all)
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
