/// What the subject's login has to do with a verdict: its groups, and the seat it may sit at.
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

  /// The groups that the data base gives the subject's user and the process does not have.
  private var missingGroups: [UInt32] {
    // In a user namespace the numbers of the data base are others.
    guard subject.source == .current || subject.source == .process, facts.overflow == nil,
      subject.credentials.userNamespace == nil, let record = try? users.user(uid),
      let known = try? users.groups(of: record)
    else { return [] }
    return known.filter { !subject.credentials.isMember(of: $0) }
  }

  /// The group that would move the verdict on if the process had what the data base says.
  func staleGroup(_ ask: Ask, _ decision: Decision) -> (gid: UInt32, moved: Decision)? {
    guard couldGroupHelp(decision, ask.need) else { return nil }
    for gid in missingGroups {
      var credentials = subject.credentials
      credentials.groups.append(gid)
      let moved = AccessEvaluator(facts: facts, credentials: credentials)
        .decide(ask)
      // Behind a directory that this process may not search nothing is known.
      if moved.errno == nil || moved.inode != decision.inode { return (gid, moved) }
    }
    return nil
  }

  /// Whether some group has here what is asked for: only then is the data base worth a question.
  private func couldGroupHelp(_ decision: Decision, _ need: Permissions) -> Bool {
    guard let index = decision.inode else { return false }
    let inode = facts.inodes[index]
    let asked: Permissions = decision.step == .walk ? .execute : need
    let bits = inode.bits(3)
    guard case .bits(let rule) = decision.rule.layer else { return false }
    switch rule {
    case .other(isMaskEmpty: false): return bits.isSuperset(of: asked)
    case .aclOther, .aclGroup(_, isMasked: false), .aclOwningGroup(isMasked: false):
      // With an ACL the group bits are its mask.
      return inode.acl?.entries.contains {
        ($0.tag == .group || $0.tag == .owningGroup)
          && $0.permissions.intersection(bits).isSuperset(of: asked)
      } ?? false
    case .owner, .group, .other(isMaskEmpty: true), .aclUser, .aclGroup(_, isMasked: true),
      .aclOwningGroup(isMasked: true):
      return false
    }
  }

  /// Says that the process began without the group, and what has to begin anew.
  func staleReason(_ gid: UInt32) -> Reason {
    let group = users.groupName(gid)
    let name = subject.displayName
    var evidence = [
      "user data base: \(name) in \(group) (\(gid))",
      "process: groups \(subject.credentials.groups.sorted().map(String.init).joined(separator: " "))",
    ]
    var top: (pid: Int32, name: String)?
    let own = subject.process ?? system.getpid()
    var next: Int32? = own
    var depth = 0
    while let pid = next, pid > 0, depth < 64 {
      depth += 1
      guard let status = system.status(ofProcess: pid) else {
        evidence.append("process \(pid): not visible, so what is above it is not known")
        break
      }
      guard status.credentials.user.fileSystem == uid else { break }
      if status.credentials.isMember(of: gid) {
        evidence.append("\(status.name) (pid \(pid)) has the group, what it started does not")
        break
      }
      top = (pid, status.name)
      evidence.append("\(status.name) (pid \(pid)) does not have the group")
      next = status.parent
    }
    let remedy = top.map { restart($0.pid, $0.name, isAlone: $0.pid == own) }
    return Reason(
      .staleGroups, .proven,
      "\(name) is in group \(group) in the user data base, but this process is not: \(remedy ?? "log out and in again")",
      evidence: evidence)
  }

  /// What has to end and begin again: the topmost process of the user without the group.
  private func restart(_ pid: Int32, _ program: String, isAlone: Bool) -> String {
    if isAlone { return "it was started without it, by a process of another user" }
    let began = "\(program) (pid \(pid)) and all that it started began before, or without it"
    if program == "systemd" {
      let restart = "systemctl restart user@\(uid).service, as root"
      return lingers
        ? "\(began); it is the user manager, and \(subject.displayName) lingers, so that logging out does not end it: \(restart)"
        : "\(began); it is the user manager: end every session of \(subject.displayName), or \(restart)"
    }
    if program.hasPrefix("tmux") { return "\(began); end it by tmux kill-server" }
    if program.lowercased().hasPrefix("screen") { return "\(began); end it by screen -X quit" }
    return "\(began); end that session and log in again"
  }

  /// Whether the user's manager outlives the logins, see loginctl(1), enable-linger.
  private var lingers: Bool {
    guard let name = subject.name else { return false }
    let file = root.appending(PathBytes("var/lib/systemd/linger/\(name)"))
    return (try? system.status(of: file)) != nil
  }

  /// A login that has the group, for this shell alone.
  func newGroupRemedy(_ gid: UInt32, _ moved: Decision) -> Remedy {
    var remedy = Remedy(
      kind: .login, command: ["newgrp", PathBytes(users.groupName(gid))], needsRoot: false,
      persistence: .untilLogout, othersAffected: [],
      outcome: moved.isGranted ? .granted : moved.errno == nil ? .undetermined : .refused)
    remedy.note = "for one shell; a new login has the group everywhere"
    return remedy
  }

  // MARK: - The seat

  private struct Seat {
    var name: String
    /// Whose session is the active one; nil when none is.
    var active: UInt32?
  }

  /// Seats and who sits there, from the files of /run/systemd/seats; none without logind.
  private var seats: [Seat] {
    let folder = root.appending("run/systemd/seats")
    return ((try? system.names(in: folder)) ?? []).compactMap { name in
      guard let bytes = try? system.contents(of: folder.appending(name), limit: 1 << 16) else {
        return nil
      }
      var seat = Seat(name: name.description)
      for line in bytes.split(separator: UInt8(ascii: "\n"))
      where line.starts(with: "ACTIVE_UID=".utf8) {
        seat.active = UInt32(String(decoding: line.dropFirst(11), as: UTF8.self))
      }
      return seat
    }
  }

  /// Whether udev marks the node for whoever sits at the machine (TAG+="uaccess").
  private func isForSeat(_ inode: InodeFacts) -> Bool {
    guard inode.kind == .characterDevice, let device = inode.device else { return false }
    let tag = root.appending(
      PathBytes("run/udev/tags/uaccess/c\(device.major):\(device.minor)"))
    return (try? system.status(of: tag)) != nil
  }

  /// Whether the ACL entry that lets the subject in is the one logind gives to who sits there.
  func isSeatGrant(_ decision: Decision) -> Bool {
    guard decision.isGranted, case .aclUser(let id) = decision.rule, let index = decision.inode,
      isForSeat(facts.inodes[index])
    else { return false }
    return seats.contains { $0.active == id }
  }

  /// Why a device of the seat is not given to the subject; nil for any other device.
  func seatReason(_ decision: Decision) -> Reason? {
    guard decision.step == .target, let index = decision.inode else { return nil }
    let inode = facts.inodes[index]
    let isNamed = inode.acl?.entries.contains { $0.tag == .user && $0.id == uid } ?? false
    guard uid != 0, !isNamed, isForSeat(inode), case let seats = seats, !seats.isEmpty else {
      return nil
    }
    let name = subject.displayName
    let evidence =
      seats.map { seat in
        "\(seat.name): active user \(seat.active.map { users.userName($0) } ?? "none")"
      } + ["udev tag uaccess"]
    if seats.contains(where: { $0.active == uid }) {
      return Reason(
        .noSeatACL, .suspected,
        "\(name) sits at the machine, and yet the node has no entry for \(name): something took the seat's ACL away (udevadm trigger brings it back)",
        evidence: evidence)
    }
    let sitting = seats.compactMap { seat in seat.active.map { users.userName($0) } }
    return Reason(
      .noSeatACL, .proven,
      "it is given to whoever sits at the machine (now \(sitting.isEmpty ? "nobody" : sitting.joined(separator: ", "))), which \(name) does not: not over ssh, in a service, or in a session that was switched away from",
      evidence: evidence)
  }

  // MARK: - How long a grant holds

  /// What the ground of a grant means elsewhere: over ssh, as a service, after switching users.
  func meaning(_ decision: Decision) -> String? {
    guard decision.isGranted, let index = decision.inode else { return nil }
    let name = subject.displayName
    let inode = facts.inodes[index]
    guard case .bits(let rule) = decision.rule.layer else {
      return decision.rule.layer == .capability
        ? "by a capability of this process: not for \(name)'s other processes" : nil
    }
    switch rule {
    case .aclUser where isSeatGrant(decision):
      return
        "while a session of \(name) is the active one at the seat; not after logout or switching users, and not for services of other users"
    case .aclUser where facts.mounts[inode.mount].fileSystem == "devtmpfs":
      return "an entry made by hand: over ssh too, until the device is re-plugged or changed"
    case .aclUser, .owner: return "for every process of \(name), over ssh and in services too"
    case .group, .aclOwningGroup: return meaning(ofGroup: inode.gid)
    case .aclGroup(let gid, _): return meaning(ofGroup: gid)
    case .other, .aclOther: return "for everybody on this machine"
    }
  }

  private func meaning(ofGroup gid: UInt32) -> String {
    let group = users.groupName(gid)
    let always =
      "for members of \(group), over ssh, in services and while another user sits at the seat"
    guard subject.source == .current || subject.source == .process,
      let record = try? users.user(uid), let known = try? users.groups(of: record),
      !known.contains(gid)
    else { return always }
    return
      "by group \(group), which this process still has; the user data base no longer gives it to \(subject.displayName), so the next login will not have it"
  }
}
