// What single file systems know of an inode: encryption, subvolumes.
extension FactsReader {
  /// Returns whether the key of an encrypted inode is missing.
  func isLocked(_ descriptor: Descriptor, _ index: Int) -> Bool {
    guard facts.inodes[index].kind == .directory else {
      // A file has the policy of its directory, see fscrypt_has_permitted_context().
      return facts.inodes[facts.inodes[index].parent].isLocked
    }
    // The ioctl needs a descriptor that is open for reading.
    let system = systems[facts.inodes[index].mount]
    guard let directory = try? system.openat(descriptor, ".", [.readOnly, .directory], mode: 0)
    else {
      return false
    }
    defer { system.close(directory) }
    return (try? system.encryptionKeyIsPresent(directory)) == false
  }

  /// Returns the subvolume of btrfs that holds an inode.
  ///
  /// The kernel refuses writing with EROFS before it checks any right, so an attempt by anybody
  /// shows it: btrfs_permission() of fs/btrfs/inode.c. On a read-only mount the attempt would show
  /// nothing, and the mount refuses in any case.
  mutating func subvolume(
    _ descriptor: Descriptor, _ status: StatusFields, _ mount: MountFacts
  ) -> InodeFacts.Subvolume {
    let device = status.fileSystem
    var isReadOnly = subvolumes[device]
    if isReadOnly == nil, !mount.isReadOnly, status.kind.map({ !$0.isSpecial }) == true {
      isReadOnly = system.refusesWriting(descriptor.link)
      // Where no owner is unmapped, the bits are asked after the subvolume.
      if isReadOnly == nil, facts.overflow == nil, !status.isImmutable { isReadOnly = false }
      subvolumes[device] = isReadOnly
    }
    return InodeFacts.Subvolume(device: device, isReadOnly: isReadOnly ?? false)
  }
}

extension System {
  /// Returns whether the file system refuses writing with EROFS, as an attempt shows; nil if the
  /// attempt fails for another reason.
  func refusesWriting(_ path: PathBytes) -> Bool? {
    do throws(Errno) {
      try faccessat2(path, .write)
      return false
    } catch .EROFS {
      return true
    } catch {
      return nil
    }
  }
}
