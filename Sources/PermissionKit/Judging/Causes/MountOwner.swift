/// A file system that stores no owners and modes: they are options of its mount, as with vfat.
struct MountOwner: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefusedByBits, let remedy = Self.remedy(evidence.inspection, evidence.decision)
    else { return nil }
    return Finding(remedies: [remedy], replaces: .remedies)
  }

  /// Returns the mount options that give such a file system to the subject; nil for other ones.
  static func remedy(_ inspection: Inspection, _ decision: Decision) -> Remedy? {
    let facts = inspection.facts
    guard let index = decision.inode,
      case let mount = facts.mounts[facts.inodes[index].mount],
      !mount.rules.storesModes, !mount.point.isEmpty
    else { return nil }
    let credentials = inspection.subject.credentials
    let options =
      "uid=\(credentials.user.fileSystem),gid=\(credentials.group.fileSystem),umask=077"
    var remedy = Remedy(
      .mountOptions, command: ["umount", mount.point], needsRoot: true, persistence: .permanent,
      othersAffected: [], outcome: .granted)
    remedy.line =
      "\(options)   to the options of \(mount.point) in /etc/fstab, then mount it again"
    remedy.note =
      "\(mount.fileSystem) stores no owners and no ACLs, so chmod and setfacl do not help"
    return remedy
  }
}
