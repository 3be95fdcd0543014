/// Finds how the login session affects a decision: by its groups, and by the seat.
///
/// - SeeAlso: sd-login(3), loginctl(1), `70-uaccess.rules` of systemd
struct Session {
  private let inspection: Inspection

  init(_ inspection: Inspection) { self.inspection = inspection }

  private var system: any System { inspection.system }
  private var root: PathBytes { inspection.context.root }
  private var users: UserDatabase { inspection.users }
  private var subject: Subject { inspection.subject }
  private var facts: AccessFacts { inspection.facts }
  private var uid: UInt32 { subject.credentials.user.fileSystem }

  // MARK: - Groups

  /// Returns the reason that the process lacks the group, and names the session to restart.
  func staleReason(_ gid: UInt32) -> Reason {
    let group = users.groupName(gid)
    let name = subject.displayName
    var evidence = [
      "user database: \(name) in \(group) (\(gid))",
      "process: groups \(subject.credentials.groups.sorted().map(String.init).joined(separator: " "))",
    ]
    var top: (pid: Int32, name: String)?
    let own = subject.process ?? system.getpid()
    var next: Int32? = own
    var depth = 0
    while let pid = next, pid > 0, depth < 64 {
      depth += 1
      guard let status = system.status(ofProcess: pid) else {
        evidence.append("process \(pid): not visible, so its ancestors are unknown")
        break
      }
      guard status.credentials.user.fileSystem == uid else { break }
      if status.credentials.isMember(of: gid) {
        evidence.append("\(status.name) (pid \(pid)) has the group, but its child process does not")
        break
      }
      top = (pid, status.name)
      evidence.append("\(status.name) (pid \(pid)) does not have the group")
      next = status.parent
    }
    let remedy = top.map { restartAdvice($0.pid, $0.name, isAlone: $0.pid == own) }
    let process = subject.process.map { "process \($0)" } ?? "this process"
    return Reason(
      .staleGroups, .proven,
      "\(name) is in group \(group) now, but \(process) runs without that group: \(remedy ?? "log out and in again")",
      evidence: evidence)
  }

  /// Returns advice on how to restart the session.
  ///
  /// - Parameters:
  ///   - pid: The topmost process of the user that lacks the group.
  ///   - program: The name of this process.
  ///   - isAlone: Whether this process is the subject itself.
  /// - Returns: A clause for people.
  private func restartAdvice(_ pid: Int32, _ program: String, isAlone: Bool) -> String {
    let name = subject.displayName
    if isAlone { return "a process of another user started it without the group" }
    let began =
      "its session began with \(program) (pid \(pid)), before \(name) joined or without the group"
    if program == "systemd" {
      let restart = "systemctl restart user@\(uid).service as root"
      return lingers
        ? "\(began); \(name) lingers, so logging out does not end this user manager; run \(restart)"
        : "\(began); end every session of \(name), or run \(restart)"
    }
    if program == "firejail" {
      return
        "firejail (pid \(pid)) drops groups (nogroups); start the program with firejail --ignore=nogroups, without --nogroups"
    }
    if program.hasPrefix("tmux") { return "\(began); end it with tmux kill-server" }
    if program.lowercased().hasPrefix("screen") { return "\(began); end it with screen -X quit" }
    return "\(began); log out and in again"
  }

  /// Whether the user manager survives logout, see loginctl(1), enable-linger.
  private var lingers: Bool {
    guard let name = subject.name else { return false }
    let file = root.appending(PathBytes("var/lib/systemd/linger/\(name)"))
    return (try? system.status(of: file)) != nil
  }

  // MARK: - The seat

  private var seats: Seats { Seats(system, root: root) }

  /// Returns whether udev gives the node to the active user of the seat (TAG+="uaccess").
  private func hasSeatTag(_ inode: InodeFacts) -> Bool {
    guard inode.kind == .characterDevice, let device = inode.device else { return false }
    return seats.isTagged(device)
  }

  /// Returns whether access comes from the ACL entry that logind sets for the active user.
  func isSeatGrant(_ decision: Decision) -> Bool {
    guard decision.isGranted, case .aclUser(let id) = decision.rule, let index = decision.inode,
      hasSeatTag(facts.inodes[index])
    else { return false }
    return seats.all.contains { $0.active == id }
  }

  /// Returns why the subject lacks access to a device of the seat; nil for other devices.
  func seatReason(_ decision: Decision) -> Reason? {
    guard decision.step == .target, let index = decision.inode else { return nil }
    let inode = facts.inodes[index]
    let isNamed = inode.acl?.entries.contains { $0.tag == .user && $0.id == uid } ?? false
    guard uid != 0, !isNamed, hasSeatTag(inode), let device = inode.device,
      case let seats = seats.all, !seats.isEmpty
    else { return nil }
    let own = self.seats.seat(of: device)
    let name = subject.displayName
    let evidence =
      seats.map { seat in
        "\(seat.name): active user \(seat.active.map { users.userName($0) } ?? "none")"
      } + ["udev tag uaccess"]
    if seats.contains(where: { $0.active == uid && $0.name == own }) {
      return Reason(
        .noSeatACL, .suspected,
        "\(name) is logged in at the screen, but the device has no ACL entry for \(name); something probably removed it (udevadm trigger restores it)",
        evidence: evidence)
    }
    if let other = seats.first(where: { $0.active == uid })?.name, other != own {
      return Reason(
        .noSeatACL, .proven,
        "\(name) is logged in at \(other), but the device belongs to \(own): whoever is logged in there has access",
        evidence: evidence + ["udev ID_SEAT=\(own)"])
    }
    let sitting = seats.compactMap { seat in seat.active.map { users.userName($0) } }
    return Reason(
      .noSeatACL, .proven,
      "the user who is logged in at the screen (now \(sitting.isEmpty ? "nobody" : sitting.joined(separator: ", "))) has access, and \(name) is not; ssh, services and inactive sessions do not count",
      evidence: evidence)
  }

  // MARK: - Where and how long access holds

  /// Returns where and how long access holds: over ssh, in services, after switching users.
  ///
  /// - Parameters:
  ///   - decision: The decision that granted access.
  ///   - confinement: The containers and sandboxes, outside of which nothing is known.
  /// - Returns: A clause for people; nil if nothing can be said.
  func meaning(_ decision: Decision, _ confinement: Confinement) -> String? {
    guard decision.isGranted, let index = decision.inode else { return nil }
    // Reading it may take a capability, too.
    if facts.inodes[index].device == .kernelLog, facts.sysctls.dmesgRestrict != 0 {
      return "for processes with CAP_SYSLOG; without it /dev/kmsg can only be written"
    }
    if let place = confinement.boundary, let rule = decision.rule.bits {
      return meaning(rule, index, within: place)
    }
    let name = subject.displayName
    let inode = facts.inodes[index]
    guard let rule = decision.rule.bits else {
      return decision.rule.layer == .capability
        ? "for this process only, by a capability; other processes of \(name) may not have it" : nil
    }
    switch rule {
    case .aclUser, .owner: break
    // Folders above that not everybody may search leave out some of those whom the last rule lets in.
    case .aclOwningGroup, .aclGroup, .aclOther, .group, .other:
      if !isOpen(above: index) { return nil }
    }
    switch rule {
    case .aclUser where isSeatGrant(decision):
      return
        "while \(name) is logged in at the screen; not after logout, not while another user is active there, and not for services of other users"
    case .aclUser where facts.mounts[inode.mount].fileSystem == "devtmpfs":
      return
        "until the device is re-plugged or changed, also over ssh (somebody added the ACL entry by hand)"
    case .aclUser, .owner: return "for every process of \(name), also over ssh and in services"
    case .group, .aclOwningGroup: return meaning(ofGroup: inode.gid)
    case .aclGroup(let gid, _): return meaning(ofGroup: gid)
    case .other, .aclOther: return admitsEverybody(inode) ? "for everybody on this machine" : nil
    }
  }

  /// Returns whether the owner, the group and every named user and group have at least the
  /// permissions of others.
  private func admitsEverybody(_ inode: InodeFacts) -> Bool {
    let mode = inode.mode
    return inode.acl == nil && mode & 7 & ~(mode >> 3) == 0 && mode & 7 & ~(mode >> 6) == 0
  }

  /// Returns whether everybody may search the folders above an inode.
  private func isOpen(above index: Int) -> Bool {
    var index = index
    for _ in facts.inodes {
      let above = facts.inodes[index].parent
      guard above != index else { return true }
      let folder = facts.inodes[above]
      guard admitsEverybody(folder), folder.mode & 1 != 0 else { return false }
      index = above
    }
    return false
  }

  /// Returns where access holds inside a container or sandbox.
  private func meaning(_ rule: BitRule, _ index: Int, within place: String) -> String {
    let name = subject.displayName
    let gid = facts.inodes[index].gid
    switch rule {
    case .aclUser, .owner: return "for every process of \(name) in \(place) while it runs"
    case .group, .aclOwningGroup: return "for members of \(users.groupName(gid)) in \(place)"
    case .aclGroup(let gid, _): return "for members of \(users.groupName(gid)) in \(place)"
    case .other, .aclOther: return "for everybody in \(place)"
    }
  }

  private func meaning(ofGroup gid: UInt32) -> String {
    let group = users.groupName(gid)
    let always =
      "for members of \(group), also over ssh, in services, and while another user is logged in at the screen"
    guard subject.source == .current || subject.source == .process,
      let record = try? users.user(uid), let known = try? users.groups(of: record),
      !known.contains(gid)
    else { return always }
    return
      "until the next login of \(subject.displayName): this process still runs with group \(group), but \(subject.displayName) is no longer a member"
  }
}
