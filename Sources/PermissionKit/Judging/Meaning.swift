/// The worth of a granted access: where and how long it holds, and which privileges come with it.
struct Meaning {
  private let evidence: Evidence

  init(_ evidence: Evidence) { self.evidence = evidence }

  /// The mode bits or the entry that grant access, for people; an entry that the seat set is called so.
  var basis: String {
    let basis = ReasonFinder(evidence.inspection).basis(evidence.decision)
    guard evidence.isHere, case .aclUser = evidence.decision.rule,
      evidence.session.isSeatGrant(evidence.decision)
    else { return basis }
    return "seat \(basis)"
  }

  /// Where and how long the access holds, and which privileges executing the file gives; nil if nothing
  /// can be said.
  var text: String? {
    guard evidence.isHere else { return nil }
    let place = evidence.session.meaning(evidence.decision, evidence.confinement)
    let texts = [place, connection, privileges].compactMap { $0 }
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  private var connection: String? {
    let ask = evidence.ask
    if let index = evidence.decision.inode, evidence.facts.inodes[index].kind == .fifo {
      switch ask.need {
      case .read: return "open(2) waits until a program opens it for writing"
      case .write: return "open(2) waits until a program opens it for reading"
      default: return nil
      }
    }
    guard ask.isSocket else { return nil }
    return evidence.ask.connects
      ? "connect(2) is allowed, and a program listens"
      : "connect(2) is allowed; whether a program listens there was not tried"
  }

  /// The bits and capabilities of a program that can give a process more privileges; nil if there are
  /// none, or if execve(2) ignores them because of MS_NOSUID.
  private var privileges: String? {
    let (system, users) = (evidence.system, evidence.users)
    guard evidence.ask.need.contains(.execute), let index = evidence.decision.inode,
      case let inode = evidence.facts.inodes[index], inode.kind == .regular
    else { return nil }
    var file: Descriptor?
    // The same path may be another file for another process.
    if evidence.subject.process == nil {
      file = try? system.openat(.currentDirectory, evidence.ask.path, .path, mode: 0)
    }
    defer { if let file { system.close(file) } }
    if let file, let mount = try? system.fstatfs(file), mount.ignoresSetUID { return nil }
    if inode.mode & 0o4000 != 0 {
      return "the program is set-user-ID \(users.userName(inode.uid))"
    }
    if inode.mode & 0o2000 != 0 {
      return "the program is set-group-ID \(users.groupName(inode.gid))"
    }
    guard let file, let capabilities = try? system.cap_get_file(file) else { return nil }
    return "the program has the file capabilities \(capabilities)"
  }
}
