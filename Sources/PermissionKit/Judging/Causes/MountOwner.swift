/// A file system whose owners and modes are options of its mount, as with vfat and ntfs-3g.
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
      !mount.point.isEmpty
    else { return nil }
    let credentials = inspection.subject.credentials
    let (uid, gid) = (credentials.user.fileSystem, credentials.group.fileSystem)
    let owner = facts.inodes[index].uid
    // Who has the files now keeps them.
    let isShared = owner != 0 && owner != uid
    guard let modes = mount.optionsForModes(isShared ? 7 : 0) else { return nil }
    let options = "uid=\(isShared ? owner : uid),gid=\(gid),\(modes)"
    let isGroupOfOthers = isShared && inspection.others(in: gid, than: uid) != 0
    var remedy = Remedy(
      .mountOptions, command: ["umount", mount.point], needsRoot: true, persistence: .permanent,
      othersAffected: isGroupOfOthers
        ? ["everybody else in group \(inspection.users.groupName(gid)): rwx"] : [],
      outcome: .granted)
    remedy.line =
      "\(options)   to the options of \(mount.point) in /etc/fstab, then mount it again"
    remedy.note =
      mount.fileSystem == "fuseblk"
      ? "ntfs-3g takes owners and modes from its mount options uid=, gid= and umask=, unless permissions is one of them, so chmod and setfacl do not help"
      : "\(mount.fileSystem) takes owners and modes from its mount options, so chmod and setfacl do not help"
    return remedy
  }

  /// Returns the path of the file whose owner and mode a pool of mergerfs shows, as its daemon says; nil for others.
  static func branch(of index: Int, _ evidence: Evidence) -> PathBytes? {
    let mount = evidence.facts.mounts[evidence.facts.inodes[index].mount]
    guard evidence.isHere, mount.fileSystem == "fuse.mergerfs" else { return nil }
    let system = evidence.system.withCallProcess(mount.point, within: PathAvailability.limit)
    guard
      let file = try? system.openat(
        .currentDirectory, evidence.inspection.place(of: index), [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(file) }
    guard let bytes = try? system.getxattr(.branch, of: file) else { return nil }
    let path = PathBytes(bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes)
    return path.isAbsolute ? path : nil
  }
}

extension MountFacts {
  /// Returns the options that open what is mounted to its owner, and to a group by these bits; nil where files have
  /// modes of their own.
  fileprivate func optionsForModes(_ group: Int) -> String? {
    switch fileSystem {
    // Without POSIX extensions a server of Windows has no modes, see mount.cifs(8).
    case "cifs", "smb3":
      let options = superblockOptions.parts(by: ",")
      let isOwn = options.contains {
        ["posix", "cifsacl", "modefromsid", "idsfromsid"].contains($0)
      }
      return isOwn || !options.contains { $0.hasPrefix("file_mode=") }
        ? nil : "file_mode=07\(group)0,dir_mode=07\(group)0"
    case "fuseblk": return "umask=0\(7 - group)7"
    default: return rules.storesModes ? nil : "umask=0\(7 - group)7"
    }
  }
}
