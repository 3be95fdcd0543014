/// A file system without room for another file, or a user at a limit of a quota: ENOSPC and EDQUOT of a create,
/// and so of w on a folder.
///
/// The kernel asks after every permission; see inode_quota_check() in fs/quota/dquot.c.
struct FullFileSystem: Cause {
  func find(in evidence: Evidence) -> Finding? {
    let facts = evidence.facts
    let operation = evidence.ask.operation?.operation
    if let probe = evidence.probe?.shown, probe.errno == .ENOSPC || probe.errno == .EDQUOT {
      let reason = Self.reason(probe.errno ?? .ENOSPC, evidence.ask.path, evidence.subject)
      return Finding(status: .restricted, reasons: [reason], replaces: .all)
    }
    guard evidence.isHere, evidence.isGranted, evidence.future == nil,
      operation != nil || evidence.ask.createsInside,
      let folder = Self.folder(operation, evidence), facts.inodes[folder].kind == .directory
    else { return nil }
    let isOnTmpfs = facts.mounts[facts.inodes[folder].mount].fileSystem == "tmpfs"
    switch operation {
    case .write where evidence.decision.rule != .created: return nil
    case nil, .create, .write, .makeDirectory, .makeNode, .makeLink: break
    // A tmpfs counts each name as an inode, see shmem_link() in mm/shmem.c.
    case .link where isOnTmpfs: break
    default: return nil
    }
    return Self.finding(
      in: folder, facts.path(of: folder), to: evidence.subject, evidence.inspection)
  }

  /// Returns the folder that gets the new name, however the path leads there.
  private static func folder(_ operation: FileOperation?, _ evidence: Evidence) -> Int? {
    if case .link(let name) = operation { return evidence.facts.target(of: name.parent) }
    return evidence.decision.inode
  }

  /// Returns that a file system takes no new file of a user, or that this is unknown; nil if it takes one.
  static func finding(
    in folder: Int, _ path: PathBytes, to subject: Subject, _ inspection: Inspection
  ) -> Finding? {
    switch room(in: folder, to: subject, inspection) {
    case .some(let errno) where errno == .ENOSPC || errno == .EDQUOT:
      return Finding(
        status: .restricted, reasons: [reason(errno, path, subject)], replaces: .all)
    case .some(let errno):
      let unseen = Reason(
        .unreadableFacts, .proven,
        "this process cannot ask whether the file system of \(path) has room (\(errno))",
        evidence: ["statfs: \(errno)"])
      return Finding(status: .notDetermined, reasons: [unseen])
    case nil: return nil
    }
  }

  /// Returns the reason why a file system takes no new file of a user.
  private static func reason(_ errno: Errno, _ folder: PathBytes, _ subject: Subject) -> Reason {
    let name = subject.displayName
    let what =
      errno == .EDQUOT
      ? "\(name) is at the limit of files of a quota"
      : "the file system has no room for another file"
    return Reason(
      .noSpace, .proven, "mode and ACL let \(name) make files in \(folder), but \(what) (\(errno))",
      evidence: [errno == .EDQUOT ? "quotactl: \(errno)" : "statfs: no free inodes"])
  }

  /// Returns ENOSPC or EDQUOT if the file system of a folder takes no new file of a user, and the error of the
  /// question if it has no answer; nil if it takes one.
  private static func room(
    in folder: Int, to subject: Subject, _ inspection: Inspection
  ) -> Errno? {
    let (facts, system, inode) = (
      inspection.facts, inspection.system, inspection.facts.inodes[folder]
    )
    let mount = facts.mounts[inode.mount]
    // A server has its own answer.
    if mount.rules.mayKeepWaiting { return nil }
    let ids = subject.credentials
    let gid = inode.mode & 0o2000 == 0 ? ids.group.fileSystem : inode.gid
    do throws(Errno) {
      let file = try system.openat(
        .currentDirectory, inspection.place(of: folder), .path, mode: 0)
      defer { system.close(file) }
      try system.checkRoom(in: file, uid: ids.user.fileSystem, gid: gid)
      return nil
    } catch {
      if error == .EDQUOT, ids.effective.contains(.sysResource) { return nil }
      // Of others only root is told the quota, and a filter may forbid the question: where there is none, it is not needed.
      return error == .ENODATA && !mount.hasQuota ? nil : error
    }
  }
}

extension MountFacts {
  /// Whether its options name a quota: `usrquota`, `prjquota`, `quota`, `jqfmt=…`; `noquota` of XFS is none.
  fileprivate var hasQuota: Bool {
    superblockOptions.parts(by: ",").contains { option in
      option != "noquota" && (option.has("quota") || option.has("jqfmt"))
    }
  }
}
