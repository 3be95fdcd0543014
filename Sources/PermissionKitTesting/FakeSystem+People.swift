@_spi(SystemCalls) public import PermissionKit
internal import Synchronization

// Users, the process that asks, the seat, and who uses a device.
extension FakeSystem {
  /// Adds a user, with a group of the same name and a home directory.
  ///
  /// Group video has gid 44, audio 29; other groups are numbered from 2000.
  ///
  /// - Parameters:
  ///   - name: The name of the user, and of the user's own group.
  ///   - groups: The names of further groups that the user is in.
  /// - Returns: The uid: the next free one from 1000.
  @discardableResult public func addUser(_ name: String, groups: [String] = []) -> UInt32 {
    added(name, groups).uid
  }

  func added(_ name: String, _ groups: [String]) -> UserRecord {
    let uid = state.withLock { state in
      var uid: UInt32 = 1000
      while state.groups[uid] != nil || state.users.contains(where: { $0.uid == uid }) { uid += 1 }
      return uid
    }
    let user = UserRecord(name: name, uid: uid, gid: uid, home: PathBytes("/home/\(name)"))
    addGroup(uid, name)
    addUser(user, groups: groups.map(gid))
    add(user.home, FakeNode(kind: .directory, mode: 0o755, uid: uid, gid: uid))
    return user
  }

  /// Adds a user to a group, in the data base only: running processes keep their groups.
  ///
  /// - Parameters:
  ///   - group: The name of the group, which is made if it is not there.
  ///   - name: The name of a user of `addUser`.
  /// - Throws: `unknownUser`.
  public func addToGroup(_ group: String, _ name: String) throws(PermissionError) {
    _ = try user(name)
    let gid = gid(group)
    state.withLock { $0.members[name, default: []].append(gid) }
    writeUsers()
  }

  /// Makes a user run the calling process, with the groups of the data base.
  ///
  /// - Parameter name: The name of a user of `addUser`, or `root`.
  /// - Throws: `unknownUser`.
  public func become(_ name: String) throws(PermissionError) {
    become(try user(name))
  }

  func become(_ user: UserRecord) {
    let groups = state.withLock { $0.members[user.name] ?? [] }
    become(Credentials(uid: user.uid, gid: user.gid, groups: groups))
    setEnvironment("HOME", user.home)
    setSeccomp(0)
  }

  /// Makes a user active at seat0, and gives that user the cameras and sound cards there, as
  /// systemd-logind(8) does.
  ///
  /// - Parameter name: The name of a user of `addUser`; nil for nobody.
  /// - Throws: `unknownUser`.
  public func setSeat(_ name: String?) throws(PermissionError) {
    let uid = try name.map { (name) throws(PermissionError) in try user(name).uid }
    let active = uid.map { "ACTIVE_UID=\($0)\n" } ?? ""
    add("/run/systemd/seats/seat0", .file("IS_SEAT0=1\n" + active))
    giveToSeat()
  }

  /// Gives the nodes with udev's tag to the active user of the seat.
  func giveToSeat() {
    guard let seat = contents("/run/systemd/seats/seat0") else { return }
    let uid = seat.parts(by: "=").last.flatMap { UInt32($0.dropLast()) }
    state.withLock { state in
      for index in state.facts.inodes.indices {
        guard let device = state.facts.inodes[index].device,
          Self.inode(
            of: PathBytes("/run/udev/tags/uaccess/c\(device.major):\(device.minor)"), state) != nil
        else { continue }
        Self.set(&state.facts.inodes[index], access: uid)
      }
    }
  }

  /// Gives read and write permission to one user by the ACL, and takes it from every other named
  /// user.
  private static func set(_ inode: inout InodeFacts, access uid: UInt32?) {
    let group =
      inode.acl?.entries.first { $0.tag == .owningGroup }?.permissions
      ?? Permissions(rawValue: UInt8(inode.mode >> 3 & 7))
    inode.acl = uid.map { uid in
      AccessControlList([
        .init(.owner, Permissions(rawValue: UInt8(inode.mode >> 6 & 7))),
        .init(.user, id: uid, [.read, .write]), .init(.owningGroup, group),
        .init(.mask, group.union([.read, .write])),
        .init(.other, Permissions(rawValue: UInt8(inode.mode & 7))),
      ])
    }
    let shown = inode.acl?.mask ?? group
    inode.mode = inode.mode & ~0o070 | UInt16(shown.rawValue) << 3
  }

  /// Makes another process use a device, which is then busy.
  ///
  /// - Parameters:
  ///   - path: A node of `addCamera` or `addMicrophone`, or another device's.
  ///   - program: The name of the program.
  ///   - pid: The number of the process.
  ///   - name: The name of its user; nil for the user of the calling process, who alone sees which
  ///     files it has open.
  /// - Throws: `unknownUser`.
  public func occupy(
    _ path: PathBytes, by program: String, pid: Int32 = 77, user name: String? = nil
  ) throws(PermissionError) {
    let own = state.withLock { $0.credentials.user.real }
    let user = try name.map { (name) throws(PermissionError) in try self.user(name).uid } ?? own
    let folder = PathBytes("/proc/\(pid)")
    let credentials = Credentials(uid: user, gid: user, groups: [])
    add(folder.appending("status"), .file(Self.status(program, credentials)))
    add(folder.appending("fd"), FakeNode(kind: .directory, mode: 0o500, uid: user))
    add(folder.appending("fd/3"), FakeNode(kind: .symbolicLink, target: path))
    setBusy(path, true)
    if let stream = Self.stream(path) {
      add(stream, .file("state: RUNNING\nowner_pid   : \(pid)\n"))
    }
  }

  /// Ends the use that `occupy` began.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - pid: The number of the process that used it, which ends.
  public func release(_ path: PathBytes, pid: Int32 = 77) {
    remove(PathBytes("/proc/\(pid)"))
    setBusy(path, false)
    if let stream = Self.stream(path) { add(stream, .file("closed\n")) }
  }

  /// Sets whether a device is busy: a camera then opens but does not capture; other devices do not
  /// open.
  private func setBusy(_ path: PathBytes, _ isBusy: Bool) {
    let errno = isBusy ? Errno.EBUSY : nil
    state.withLock { state in
      guard let inode = Self.inode(of: path, state) else { return }
      if state.facts.inodes[inode].device?.major == 81 {
        state.forcedOn["reqbufs", default: [:]][inode] = errno
      } else {
        state.facts.inodes[inode].driverErrno = errno
      }
    }
  }

  /// The status file of an ALSA stream: `/proc/asound/card0/pcm0c/sub0/status` for `pcmC0D0c`.
  private static func stream(_ path: PathBytes) -> PathBytes? {
    let name = path.lastComponent.description
    guard name.hasPrefix("pcmC"), let device = name.firstIndex(of: "D") else { return nil }
    let card = name[name.index(name.startIndex, offsetBy: 4)..<device]
    let number = name[name.index(after: device)...]
    return PathBytes("/proc/asound/card\(card)/pcm\(number)/sub0/status")
  }

  // MARK: - The process that asks

  /// Rewrites /proc/self/status.
  func setSeccomp(_ mode: Int) {
    let credentials = state.withLock { $0.credentials }
    add("/proc/self/status", .file(Self.status("test", credentials, seccomp: mode)))
  }

  /// Returns a file like /proc/PID/status, see proc(5).
  private static func status(
    _ name: String, _ credentials: Credentials, seccomp: Int = 0
  ) -> String {
    func ids(_ ids: Credentials.IDs) -> String {
      "\(ids.real)\t\(ids.effective)\t\(ids.effective)\t\(ids.fileSystem)"
    }
    let groups = credentials.groups.map(String.init).joined(separator: " ")
    let capabilities = credentials.isRoot ? "000001ffffffffff" : "0000000000000000"
    // Without CAP_SYS_ADMIN, as in a container: nobody here changes what was mounted at its start.
    return """
      Name:\t\(name)
      PPid:\t1
      Uid:\t\(ids(credentials.user))
      Gid:\t\(ids(credentials.group))
      Groups:\t\(groups) 
      CapPrm:\t\(capabilities)
      CapEff:\t\(capabilities)
      CapBnd:\t000001ffffdfffff
      NoNewPrivs:\t0
      Seccomp:\t\(seccomp)

      """
  }

  // MARK: - Names

  /// Writes the users and groups to /etc/passwd and /etc/group.
  func writeUsers() {
    var (passwd, group) = ("", "")
    state.withLock { state in
      for user in state.users {
        passwd += "\(user.name):x:\(user.uid):\(user.gid)::\(user.home):/bin/sh\n"
      }
      // A group without a name has its number there.
      let gids = Set(state.groups.keys).union(state.members.values.joined())
      for gid in gids.sorted() {
        let members = state.users.map(\.name).filter { state.members[$0]?.contains(gid) == true }
        group += "\(state.groups[gid] ?? "\(gid)"):x:\(gid):\(members.joined(separator: ","))\n"
      }
    }
    add("/etc/passwd", .file(passwd))
    add("/etc/group", .file(group))
  }

  private func user(_ name: String) throws(PermissionError) -> UserRecord {
    let user = state.withLock { $0.users.last { $0.name == name } }
    guard let user else {
      throw PermissionError(
        .unknownUser, "the fake machine has no user \(name)", advice: "add it: addUser(\"\(name)\")"
      )
    }
    return user
  }

  func gid(_ name: String) -> UInt32 {
    defer { writeUsers() }
    return state.withLock { state in
      if let known = state.groups.first(where: { $0.value == name }) { return known.key }
      var gid: UInt32 = 2000
      while state.groups[gid] != nil { gid += 1 }
      state.groups[gid] = name
      return gid
    }
  }

  private func contents(_ path: PathBytes) -> String? {
    state.withLock { state in
      Self.inode(of: path, state).map { String(decoding: state.contents[$0] ?? [], as: UTF8.self) }
    }
  }
}
