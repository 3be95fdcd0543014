// What single file systems know of an inode: encryption, subvolumes, closed FUSE mounts.
extension FactsReader {
  /// Returns the whole path of a directory, also of one that relative paths begin at; nil if it is unknown.
  func place(of directory: Int) -> PathBytes? {
    if facts.isReachedFromRoot(directory) { return facts.path(of: directory) }
    guard process == nil else { return nil }
    return seen.inodes[directory].descriptor.flatMap { system.destination(ofLink: $0.link) }
  }

  /// Returns the FUSE mount at a name, if the kernel lets only the user in who mounted it: fuse_getattr() of
  /// fs/fuse/dir.c refuses everybody else.
  func closedMount(_ name: PathBytes, in directory: Int) -> MountFacts? {
    guard let table = mountTable, let path = place(of: directory),
      let mount = table.mounts(at: path.appending(name)).last,
      case .fuse(_, _, allowsOthers: false, _) = mount.rules.authority
    else { return nil }
    return mount
  }

  /// Returns whether the key of an encrypted inode is missing, or the error of the look for it.
  func lock(_ descriptor: Descriptor, _ index: Int) -> (isLocked: Bool, error: Errno?) {
    guard facts.inodes[index].kind == .directory else {
      // A file has the policy of its directory, see fscrypt_has_permitted_context().
      let parent = facts.inodes[facts.inodes[index].parent]
      return (parent.isLocked, parent.keyError)
    }
    do throws(Errno) {
      // The ioctl needs a descriptor that is open for reading.
      let system = systems[facts.inodes[index].mount]
      let directory = try system.openat(descriptor, ".", [.readOnly, .directory], mode: 0)
      defer { system.close(directory) }
      return (try !system.encryptionKeyIsPresent(directory), nil)
    } catch {
      return (false, error)
    }
  }

  /// Returns the id mapping of a mount, in which nothing is translated; nil if it cannot be read.
  func idMapping(_ descriptor: Descriptor) -> (map: IDMapping?, Void)? {
    do throws(Errno) {
      // statx and getxattr return translated ids, so the mapping only has to tell which ids the
      // mount maps.
      return (try system.statmount(descriptor)?.identityOfVisibleIDs, ())
    } catch {
      return nil
    }
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
    if mount.isReadOnly || status.kind?.isSpecial != false {
      return InodeFacts.Subvolume(device: device, isReadOnly: subvolumes[device] ?? false)
    }
    var isReadOnly = subvolumes[device]
    if isReadOnly == nil {
      isReadOnly = system.refusesWriting(descriptor.link)
      // Where the owners are mapped, the bits are asked after the subvolume; without /proc nothing was asked.
      let isOfNobody = status.uid == facts.overflow?.uid || status.gid == facts.overflow?.gid
      if isReadOnly == nil, !isOfNobody, !status.isImmutable, system.isThere(descriptor.link) {
        isReadOnly = false
      }
      subvolumes[device] = isReadOnly
    }
    return InodeFacts.Subvolume(device: device, isReadOnly: isReadOnly)
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
