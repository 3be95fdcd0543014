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
    let ids = inspection.subject.credentials
    guard
      let options = mount.options(
        giving: decision.asked, to: ids.user.fileSystem, ids.group.fileSystem,
        facts.inodes[index])
    else { return nil }
    var others: [String] = []
    if options.givesGroup,
      inspection.others(in: ids.group.fileSystem, than: [ids.user.fileSystem]) != 0
    {
      others = ["everybody else in group \(inspection.users.groupName(ids.group.fileSystem))"]
    }
    var remedy = Remedy(
      .mountOptions, command: ["umount", mount.point], needsRoot: true, persistence: .permanent,
      othersAffected: others, outcome: .granted)
    remedy.line =
      "\(options.text)   to the options of \(mount.point) in /etc/fstab, then mount it again"
    remedy.note =
      mount.fileSystem == "fuseblk"
      ? "ntfs-3g takes owners and modes from its mount options uid=, gid= and umask=, unless permissions is one of them, so chmod and setfacl do not help"
      : "\(mount.fileSystem) takes owners and modes from its mount options, so chmod and setfacl do not help"
    if options.takesGroup {
      remedy.note? +=
        "; group \(inspection.users.groupName(facts.inodes[index].gid)) loses what it has"
    }
    return remedy
  }

  /// Returns the path of the file whose owner and mode a pool of mergerfs shows, as its daemon says; nil for others.
  static func branch(of index: Int, _ evidence: Evidence) -> PathBytes? {
    let mount = evidence.facts.mounts[evidence.facts.inodes[index].mount]
    // Any user can mount what calls itself so, and say what he likes.
    guard evidence.isHere, mount.fileSystem == "fuse.mergerfs",
      case .fuse(uid: 0, _, _, _) = mount.rules.authority
    else { return nil }
    let system = evidence.system.withCallProcess(mount.point, within: PathAvailability.limit)
    guard
      let file = try? system.openat(
        .currentDirectory, evidence.inspection.place(of: index), [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(file) }
    guard let bytes = try? system.getxattr(.branch, of: file) else { return nil }
    let path = PathBytes(bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes)
    let isPlain = path.isAbsolute && bytes.count < 4096 && !bytes.contains(0)
    return isPlain && !path.components.contains("..") ? path : nil
  }
}

/// Options of a mount that gives all its files one owner and one mode.
private struct OwnerOptions {
  var text: String
  /// Whether the group of the subject becomes that of the files.
  var givesGroup = false
  /// Whether the group that the files have now loses rights.
  var takesGroup = false
}

extension MountFacts {
  /// Returns the options that give a user permissions, and take as little as possible from others; nil where files have
  /// modes of their own, or where another option refuses.
  fileprivate func options(
    giving asked: Permissions, to uid: UInt32, _ gid: UInt32, _ inode: InodeFacts
  ) -> OwnerOptions? {
    if isReadOnly && asked.contains(.write)
      || flags.contains(.noExecute) && asked.contains(.execute)
        && inode.kind != .directory
    {
      return nil
    }
    // A folder is of no use without x, and files have the same mask.
    let wanted = UInt8(asked.union([.read, .execute]).rawValue)
    var digits = [UInt8(inode.mode >> 6 & 7), UInt8(inode.mode >> 3 & 7), UInt8(inode.mode & 7)]
    // root needs no bits, and whoever else has the files keeps them.
    let isShared = inode.uid != 0 && inode.uid != uid
    var options = OwnerOptions(text: "", givesGroup: isShared)
    if isShared {
      options.takesGroup = inode.gid != gid && inode.gid != 0 && digits[1] & ~digits[2] != 0
      digits[1] = (inode.gid == gid ? digits[1] : digits[2]) | wanted
    } else {
      digits[0] |= wanted
    }
    let ids = "uid=\(isShared ? inode.uid : uid),gid=\(isShared ? gid : inode.gid)"
    let modes = digits.map(String.init).joined()
    let mask = digits.map { String(7 - $0) }.joined()
    switch fileSystem {
    // Without POSIX extensions a server of Windows has no modes, see mount.cifs(8).
    case "cifs", "smb3":
      let own = superblockOptions.parts(by: ",")
      let isOwn = own.contains { ["posix", "cifsacl", "modefromsid", "idsfromsid"].contains($0) }
      if isOwn || !own.contains(where: { $0.hasPrefix("file_mode=") }) { return nil }
      options.text = "\(ids),file_mode=0\(modes),dir_mode=0\(modes)"
    case "fuseblk": options.text = "\(ids),umask=\(mask)"
    default:
      if rules.storesModes { return nil }
      options.text = "\(ids),umask=\(mask)"
    }
    return options
  }
}
