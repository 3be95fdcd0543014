// What somebody else can change, exchange or keep waiting is read by the door, and by nothing else.
extension System {
  /// Returns the door to what is below a root directory, see `System.door(below:as:within:)`.
  ///
  /// An ordinary user who looks at his own files has no more rights than behind the door, and gets this system.
  package func door(below root: PathBytes, as user: Credentials?) -> any System {
    if root == "/", let own = try? credentials(), own.effective.isEmpty, own.user.effective != 0,
      user == nil || user?.user == own.user && user?.group == own.group,
      (try? mountTable())?.hasBlocking == false
    {
      return self
    }
    return door(below: root, as: user, within: PathAvailability.limit)
  }

  /// Returns the system of the machine below another root: no link there leads out of it; this system for `/`.
  package func machine(below root: PathBytes) -> any System {
    root == "/" || (self as? LinuxSystem)?.callProcess?.root == root
      ? self : door(below: root, as: nil, within: PathAvailability.limit)
  }

  /// Returns the door to a file that a user keeps, such as a setting in a home directory.
  ///
  /// It has the ids of the user. What names a home for root, HOME or the variables of a process, may be somebody else's, as
  /// after su(1) with -m: where others than root can change the way, it has the ids of its first owner who is not root.
  ///
  /// - Parameters:
  ///   - file: The file, which begins with `root`.
  ///   - subject: The user.
  ///   - root: The folder that stands for `/`.
  /// - Returns: The door, for this file and the folder that it is in.
  package func door(
    to file: PathBytes, of subject: Subject, below root: PathBytes = "/"
  ) -> any System {
    var user = subject.credentials
    if user.user.fileSystem == 0, let other = otherOwner(onTheWayTo: file.parent) { user = other }
    return door(below: root, as: user)
  }

  /// Returns whether only root can change to which file a path leads.
  func onlyRootChanges(_ path: PathBytes) -> Bool {
    otherOwner(onTheWayTo: absolute(path) ?? path) == nil
  }

  /// Returns whose ids a way deserves that others than root can change: those of the first owner on it who is not root, or
  /// of nobody; nil if only root can change it, and each link on it.
  private func otherOwner(onTheWayTo path: PathBytes) -> Credentials? {
    let nobody = Credentials(uid: 65534, gid: 65534, groups: [])
    var place: PathBytes = "/"
    var names = path.components[...]
    var (trusted, links, isShared) = (DeviceNumber?.none, 0, false)
    while true {
      guard let reader = examiner(of: place),
        let descriptor = try? reader.openat(.currentDirectory, place, [.path, .noFollow], mode: 0)
      else { return nobody }
      defer { reader.close(descriptor) }
      guard let status = try? reader.statx(descriptor) else { return nobody }
      if status.uid != 0 { return Credentials(uid: status.uid, gid: status.gid, groups: []) }
      if status.fileSystem != trusted, trusted != nil, claimsOwners(descriptor, status) {
        return nobody
      }
      trusted = status.fileSystem
      if status.kind == .symbolicLink {
        links += 1
        guard links <= 40, let target = try? reader.readlinkat(descriptor) else { return nobody }
        names = target.components + names
        place = target.isAbsolute ? "/" : place.parent
      } else if status.mode & 0o022 != 0, status.kind == .directory {
        // In a folder with the sticky bit nobody else exchanges what is root's, and the next name is looked at.
        isShared = isShared || status.mode & 0o1000 == 0 || names.isEmpty
      }
      guard let name = names.popFirst() else { return isShared ? nobody : nil }
      if name == ".." { return nobody }
      place = place.appending(name)
    }
  }

  /// Returns the door to a file that the user of this process keeps.
  package func door(toOwn file: PathBytes) -> any System {
    guard let own = try? credentials() else {
      return door(below: "/", as: nil)
    }
    return door(to: file, of: Subject(source: .current, credentials: own))
  }

  /// Returns whether only root can change the file at an absolute path.
  ///
  /// The file, and every folder on the path, belongs to root, nobody else may write there, and no
  /// component is a link. Owners that a FUSE daemon or a removable disk reports prove nothing, see
  /// `claimsOwners`.
  package func isWritableOnlyByRoot(_ path: PathBytes, _ kind: FileKind = .regular) -> Bool {
    var place: PathBytes = "/"
    var names = path.components[...]
    var trusted: DeviceNumber?
    while true {
      guard
        let descriptor = try? openat(.currentDirectory, place, [.path, .noFollow], mode: 0)
      else { return false }
      defer { close(descriptor) }
      // The group bits of a file with an ACL are its mask, see acl(5).
      guard let status = try? statx(descriptor), status.uid == 0, status.mode & 0o022 == 0,
        status.kind == (names.isEmpty ? kind : .directory)
      else { return false }
      if status.fileSystem != trusted {
        if trusted != nil, claimsOwners(descriptor, status) { return false }
        trusted = status.fileSystem
      }
      guard let name = names.popFirst() else { return true }
      if name == ".." { return false }
      place = place.appending(name)
    }
  }

  /// Whether another user than root may have chosen the owners in a file system.
  ///
  /// A FUSE daemon serves it, or it is a disk that was mounted without trust (`nosuid,nodev`), as
  /// udisks does for users.
  private func claimsOwners(_ descriptor: Descriptor, _ status: StatusFields) -> Bool {
    guard let fields = try? fstatfs(descriptor) else { return true }
    // FUSE_SUPER_MAGIC of linux/magic.h; ST_NOSUID and ST_NODEV of statvfs(3).
    let isUntrusted = fields.flags & 2 != 0 && fields.flags & 4 != 0
    return fields.type == 0x6573_5546 || status.fileSystem.major != 0 && isUntrusted
  }
}
