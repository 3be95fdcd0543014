extension ProcessLayers {
  /// Returns a reason for each layer that may refuse what mode and ACL grant.
  ///
  /// - Parameters:
  ///   - path: What was asked about.
  ///   - need: The permissions that were asked for.
  ///   - isDevice: Whether it is a device node, which a device cgroup may refuse.
  ///   - policyAllows: Whether the policy of the security module is known to allow it.
  /// - Returns: The reasons; empty if nothing confines the process.
  package func possibleRefusals(
    _ path: PathBytes, _ need: Permissions, isDevice: Bool, policyAllows: Bool = false
  ) -> [Reason] {
    let who = "process \(process)"
    guard let status = system.status(ofProcess: process) else {
      return [
        Reason(
          .unreadableFacts, .proven, "the state of \(who) cannot be read, so its sandbox is unknown"
        )
      ]
    }
    var reasons: [Reason] = []
    func doubt(_ code: Reason.Code, _ message: String, _ evidence: [String]) {
      reasons.append(Reason(code, .suspected, message, evidence: evidence))
    }
    if status.seccomp != 0 {
      doubt(
        .seccomp,
        "mode and ACL grant \(path), but \(who) has a system call filter (seccomp), whose rules cannot be read from outside",
        ["Seccomp: \(status.seccomp)"])
    }
    let modules = SecurityModules(system, process: process)
    if !policyAllows, let label = modules.confiningLabel {
      doubt(
        .landlockOrLSM,
        "mode and ACL grant \(path), but a security module confines \(who) (\(label)), and its policy cannot be asked for another process",
        modules.evidence)
    }
    if modules.mayBeLandlock {
      switch system.isRestrictedByLandlock(process) {
      case true?:
        doubt(
          .landlockUnseen,
          "mode and ACL grant \(path), but \(who) has restricted itself by Landlock, whose rules do not show from outside",
          ["Landlock domain of \(process): yes, in its credentials in the kernel"])
      case false?: break
      case nil:
        guard let (sign, evidence) = signOfLandlock(status) else { break }
        doubt(
          .landlockUnseen,
          "mode and ACL grant \(path), but \(who) may have restricted itself by Landlock, which does not show from outside: \(sign)",
          [evidence] + modules.evidence)
      }
    }
    if isDevice, let evidence = deviceRules(path, need) {
      doubt(
        .deviceCgroup,
        "mode and ACL grant \(path), but the cgroup of \(who) may refuse the device, and its rules cannot be read",
        evidence)
    }
    return reasons
  }
}

// Landlock, which nothing in /proc shows.
extension ProcessLayers {
  /// The note of `-v` where nothing suggests Landlock; nil if the kernel does not have it, or nothing was guessed.
  var noSignOfLandlock: String? {
    guard SecurityModules(system, process: process).mayBeLandlock,
      system.isRestrictedByLandlock(process) == nil
    else { return nil }
    return "Landlock does not show from outside; nothing suggests that process \(process) uses it"
  }

  /// Returns what makes it likely that the process restricted itself by Landlock, and the evidence; nil if
  /// nothing does.
  ///
  /// `landlock_restrict_self()` in security/landlock/syscalls.c wants no_new_privs, or CAP_SYS_ADMIN in the
  /// user namespace of the caller. Whoever makes a user namespace has that in it, and whoever takes the ids of
  /// another user had it before: a service that starts as root, su(1) and sudo(8).
  private func signOfLandlock(_ status: ProcStatus) -> (sign: String, evidence: String)? {
    if status.noNewPrivileges { return ("no_new_privs is set", "NoNewPrivs: 1") }
    if isInOtherUserNamespace {
      return ("it is in another user namespace", "/proc/\(process)/ns/user: another than here")
    }
    let user = status.credentials.user
    guard user.effective != 0 else { return nil }
    if let unit = systemUnit {
      return (
        "it belongs to \(unit), which may have been root before it took these ids",
        "cgroup of the system: \(unit), uid \(user.effective)"
      )
    }
    guard let login, login != user.real, login != user.effective else { return nil }
    return (
      "uid \(login) logged in, so it was root before it took these ids",
      "/proc/\(process)/loginuid: \(login), uid \(user.effective)"
    )
  }

  /// The user that logged in, see pam_loginuid(8); nil if the process belongs to no login.
  private var login: UInt32? {
    guard let line = try? system.line(of: PathBytes("/proc/\(process)/loginuid")) else {
      return nil
    }
    return UInt32(line.description).flatMap { $0 == .max ? nil : $0 }
  }

  /// Whether the process is in another user namespace than this one.
  ///
  /// Where ptrace(2) forbids an inspection, the id maps decide, which everybody can read.
  private var isInOtherUserNamespace: Bool {
    func place(_ name: String) throws -> StatusFields {
      try system.status(of: PathBytes("/proc/\(name)/ns/user"))
    }
    if let theirs = try? place(String(process)), let own = try? place("self") {
      return theirs.inode != own.inode || theirs.fileSystem != own.fileSystem
    }
    let theirs = try? system.contents(of: PathBytes("/proc/\(process)/uid_map"))
    return theirs == nil || theirs != (try? system.contents(of: "/proc/self/uid_map"))
  }

  /// The unit of the system manager that the process belongs to; nil in a login session, and where no service
  /// manager runs.
  ///
  /// Below `user.slice` are the sessions and the managers of users, which systemd starts with the user's ids.
  private var systemUnit: String? {
    for group in system.cgroups(of: process) {
      for name in group.path.description.parts(by: "/") {
        if name == "user.slice" { return nil }
        if name.hasSuffix(".service") || name.hasSuffix(".scope") { return String(name) }
      }
    }
    return nil
  }
}
