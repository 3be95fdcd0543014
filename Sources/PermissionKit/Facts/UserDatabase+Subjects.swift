extension UserDatabase {
  /// Returns the subject that `who` names; only this function creates subjects of users and
  /// processes.
  ///
  /// - Parameter who: Whose access is judged.
  /// - Returns: The subject as it is now.
  /// - Throws: If there is no such user or process, or several users are meant.
  @_spi(SystemCalls) public func subject(_ who: Who) throws(PermissionError) -> Subject {
    switch who {
    case .current: return try currentSubject()
    case .user(let name): return try subject(userNamed: name)
    case .ids(let uid, let gid, let groups): return try subject(uid: uid, gid: gid, groups: groups)
    case .process(let pid): return try subject(process: pid)
    case .group, .everybody:
      throw PermissionError(
        .invalidArgument, "\(who.words) is more than one user", advice: "check each user separately"
      )
    }
  }

  /// Returns the users that `who` names, each as one subject.
  ///
  /// - Parameter who: Whose access is judged.
  /// - Returns: The members of a group, or every user of the data base; else `who` alone. Empty if
  ///   nobody is in the group; nil if there is no such group.
  /// - Throws: If the list of users cannot be read.
  package func each(_ who: Who) throws(PermissionError) -> [Who]? {
    do throws(Errno) {
      switch who {
      case .current, .user, .ids, .process: return [who]
      case .everybody: return try everyUser().map { .user($0.name) }
      case .group(let name): return try members(of: name)?.map { .user($0.name) }
      }
    } catch {
      throw unsearchable("the list of users", error)
    }
  }

  /// Returns the calling process as a subject.
  private func currentSubject() throws(PermissionError) -> Subject {
    let credentials: Credentials
    do throws(Errno) {
      credentials = try system.credentials()
    } catch {
      throw PermissionError(
        .system, "the credentials of this process cannot be read", call: "getgroups", errno: error)
    }
    let record = try? user(credentials.user.fileSystem)
    let home = system.getenv("HOME").flatMap { $0.isAbsolute ? $0 : nil } ?? record?.home
    return Subject(source: .current, credentials: credentials, name: record?.name, home: home)
  }

  /// Returns the user with this name or number as a subject, with the credentials of a new login.
  private func subject(userNamed text: String) throws(PermissionError) -> Subject {
    var record: UserRecord?
    var groups: [UInt32] = []
    do throws(Errno) {
      record = try user(named: text)
      if record == nil, let uid = UInt32(text) { record = try user(uid) }
      if let record { groups = try self.groups(of: record) }
    } catch {
      throw unsearchable(text, error)
    }
    guard let record else {
      throw PermissionError(
        .unknownUser, "there is no user \(text)\(perhaps)",
        advice: "see getent passwd, or give uid, gid and groups as numbers")
    }
    return Subject(
      source: .user, credentials: try credentials(record.uid, record.gid, groups),
      name: record.name, home: record.home)
  }

  /// Returns the user with this uid as a subject, with the credentials of a new login.
  ///
  /// Unlike `subject(_:)`, this never takes the number for a name.
  package func subject(userID uid: UInt32) throws(PermissionError) -> Subject {
    var groups: [UInt32] = []
    let record: UserRecord?
    do throws(Errno) {
      record = try user(uid)
      if let record { groups = try self.groups(of: record) }
    } catch {
      throw unsearchable("uid \(uid)", error)
    }
    guard let record else {
      throw PermissionError(.unknownUser, "there is no user with uid \(uid)\(perhaps)")
    }
    return Subject(
      source: .user, credentials: try credentials(record.uid, record.gid, groups),
      name: record.name, home: record.home)
  }

  /// Returns the error for a lookup that failed: in a file, or in what getent(1) was asked for.
  private func unsearchable(_ who: String, _ errno: Errno) -> PermissionError {
    let others = unasked(errno)
    return PermissionError(
      others == nil ? .system : .notAnswering,
      others.map { "\($0.sources) cannot be asked for \(who): \($0.reason)" }
        ?? "the user database cannot be searched for \(who)",
      call: others == nil ? "open" : "getent", errno: errno,
      advice: "give uid, gid and groups as numbers")
  }

  /// Returns the sources that are no files and why they were not asked, for people; nil if a file is the reason.
  private func unasked(_ errno: Errno) -> (sources: String, reason: String)? {
    guard !isOfFiles, let sources = try? system.userSources() else { return nil }
    if sources.users.hasOnlyFiles, sources.lists.hasOnlyFiles { return nil }
    let reason: String
    switch errno {
    case .ENOENT: reason = "there is no getent"
    case .ETIMEDOUT: reason = "getent did not answer in time"
    case .EFBIG: reason = "getent wrote too much"
    case .EINVAL: reason = "the answer of getent cannot be read"
    case .EIO: reason = "getent failed"
    default: return nil
    }
    return (sources.others, reason)
  }

  /// The end of "there is no such user": a source that does not answer looks as one that does not know.
  private var perhaps: String {
    guard !isOfFiles, let sources = try? system.userSources(), !sources.users.hasOnlySystemd else {
      return ""
    }
    return ", or \(sources.others) did not answer"
  }

  /// Returns the credentials of a new login: no capabilities unless the uid is 0.
  ///
  /// Uid 0 gets only the capabilities in the bounding set of this process, which a container can
  /// limit.
  private func credentials(
    _ uid: UInt32, _ gid: UInt32, _ groups: [UInt32]
  ) throws(PermissionError) -> Credentials {
    var credentials = Credentials(uid: uid, gid: gid, groups: groups)
    guard uid == 0 else { return credentials }
    let status = system.lookAtStatus(ofProcess: nil)
    guard let bounding = status.value?.bounding else {
      throw PermissionError(
        .system, "the capabilities that root can have here cannot be read",
        path: "/proc/self/status", call: "openat", errno: status.unseen?.errno)
    }
    credentials.effective.formIntersection(bounding)
    credentials.permitted.formIntersection(bounding)
    return credentials
  }

  /// Returns plain ids as a subject, without capabilities unless the uid is 0.
  private func subject(
    uid: UInt32, gid: UInt32, groups: [UInt32]
  ) throws(PermissionError) -> Subject {
    let record = try? user(uid)
    return Subject(
      source: .ids, credentials: try credentials(uid, gid, groups),
      name: record?.name, home: record?.home)
  }
}

extension UserDatabase {
  /// Whether there is a process that /proc does not show, see hidepid of proc(5).
  private func exists(_ pid: Int32) -> Bool {
    guard pid > 0 else { return false }
    do throws(Errno) {
      try system.kill(pid, 0)
      return true
    } catch {
      return error == .EPERM
    }
  }

  /// Returns a running process as a subject: fsuid, groups, effective capabilities, user namespace.
  ///
  /// - Parameter pid: The process id.
  /// - Returns: The subject; its paths are walked from the root of the process, through its mounts.
  /// - Throws: An error if there is no such process or /proc hides it.
  private func subject(process pid: Int32) throws(PermissionError) -> Subject {
    func contents(_ name: String) throws(PermissionError) -> [UInt8] {
      let path = PathBytes("/proc/\(pid)/\(name)")
      do throws(Errno) {
        return try system.contents(of: path)
      } catch {
        let hasProc = system.isThere("/proc/self")
        let isHidden = error == .ENOENT && exists(pid)
        let message =
          !hasProc
          ? "process \(pid) cannot be seen, because /proc is not mounted"
          : isHidden
            ? "process \(pid) may not be seen (hidepid of /proc)"
            : error == .ENOENT ? "there is no process \(pid)" : "process \(pid) cannot be read"
        throw PermissionError(
          .unknownProcess, message, path: path, call: "open", errno: error,
          advice: !hasProc
            ? "mount /proc (mount -t proc proc /proc)"
            : error == .ENOENT && !isHidden ? nil : "try again as root")
      }
    }
    guard let status = ProcStatus(try contents("status")),
      let users = IDMap(lines: try contents("uid_map")),
      let groups = IDMap(lines: try contents("gid_map"))
    else {
      throw PermissionError(
        .unknownProcess, "/proc/\(pid)/status or one of its id maps has an unknown format")
    }
    var credentials = status.credentials
    if !users.isIdentity || !groups.isIdentity {
      credentials.userNamespace = IDMapping(users: users, groups: groups)
    }
    let record = try? user(credentials.user.fileSystem)
    return Subject(
      source: .process, credentials: credentials, name: record?.name, home: record?.home,
      process: pid)
  }
}
