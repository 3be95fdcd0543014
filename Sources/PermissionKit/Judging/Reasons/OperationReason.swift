/// The sentence of a refused operation.
struct OperationReason {
  let finder: ReasonFinder
  let operation: NamedOperation
  let ask: ResourceQuery
  let decision: Decision
  let steps: [WalkStep]

  private var facts: AccessFacts { finder.facts }
  private var users: UserDatabase { finder.users }

  /// Returns the reason for an errno.
  func reason(_ errno: Errno) -> Reason {
    var reason = plainReason(errno)
    guard let (path, inode) = steps.next, decision.rule != .manyInterpreters else {
      return reason
    }
    let file = facts.path(of: inode, asked: ask.path)
    if case .registered = facts.inodes[inode].program {
      reason.message = "an entry of binfmt_misc loads \(file) by \(path), and \(reason.message)"
      return reason
    }
    guard case .script = facts.inodes[inode].program else {
      reason.message = "\(file) is loaded by \(path), and \(reason.message)"
      return reason
    }
    if path.bytes.last == UInt8(ascii: "\r"), decision.rule == .missing {
      let name = PathBytes(Array(path.bytes.dropLast()))
      reason.message =
        "line 1 of \(file) ends with a carriage return (CR, as in files of Windows), so it names no \(name) (\(errno))"
      reason.ownAdvice = "remove it: sed -i 's/\\r$//' \(ShellCommand.line([file]))"
      return reason
    }
    reason.message = "line 1 of \(file) names \(path), and \(reason.message)"
    return reason
  }

  private func plainReason(_ errno: Errno) -> Reason {
    let name = operation.name.rawValue
    guard let inode = decision.inode else {
      return finder.refusal(ask.asking(for: decision.asked), decision, errno, steps: steps)
    }
    let place = facts.path(of: inode)
    if decision.rule.bits != nil {
      var reason = finder.refusal(ask.asking(for: decision.asked), decision, errno, steps: steps)
      if decision.step == .create || decision.step == .remove {
        let verb =
          decision.step == .create ? "create" : operation.name == .rename ? "rename" : "delete"
        reason.code = .parentWrite
        reason.message = "\(finder.name) may not \(verb) anything in \(place): \(reason.message)"
      }
      return reason
    }
    if let (code, message) = text(inode, place) {
      return Reason(code, .proven, message, evidence: [finder.modeAndOwners(inode)])
    }
    if decision.rule == .notADirectory, decision.step == .target, name != "exec" {
      return Reason(
        .notPossible, .proven, "\(name) is for directories, and \(place) is none (\(errno))")
    }
    return finder.refusal(ask, decision, errno, steps: steps)
  }

  private func text(_ inode: Int, _ place: PathBytes) -> (Reason.Code, String)? {
    let errno = decision.errno?.description ?? ""
    let call = operation.name.rawValue
    let owner = users.userName(facts.inodes[inode].uid)
    let mount = facts.mounts[facts.inodes[inode].mount]
    let (holder, object) =
      owner == "root" ? ("root", "\(place)") : ("\(owner), the owner of \(place), or root", "it")
    switch decision.rule {
    case .sticky: return (.sticky, sticky(inode, place))
    case .notOwner: return (.notOwner, "only \(holder) may \(call) \(object) (\(errno))")
    case .needsChown: return (.notOwner, handover(inode, place, holder, object))
    case .needsMknod:
      return (.notOwner, "only root may make device nodes (\(errno), CAP_MKNOD)")
    case .protectedHardlink:
      return (
        .protectedHardlink,
        "\(finder.name) is not the owner of \(place), \(decision.asked.isEmpty ? "which is no plain file" : "and cannot both read and write it"), so the kernel allows no second name (\(errno), fs.protected_hardlinks)"
      )
    case .exists: return (.notPossible, "\(place) exists already (\(errno))")
    case .exclusiveButExists: return (.notPossible, "\(place) exists already (\(errno))")
    case .dots: return (.notPossible, "\(call) needs a name, not . or .. or / (\(errno))")
    case .isDirectory:
      let isReplaced = operation.target != nil
      return (
        .notPossible,
        isReplaced
          ? "\(place) is a directory, and a file cannot replace it; name the new path in it (\(errno))"
          : "\(place) is a directory (\(errno))"
      )
    case .notEmpty: return (.notPossible, "\(place) is not empty (\(errno))")
    case .mountPoint: return (.notPossible, "\(place) is a mount point (\(errno))")
    case .otherMount:
      return (
        .notPossible,
        "\(ask.path) and \(operation.target ?? "") are on different mounts; copy it instead (\(errno))"
      )
    case .otherSubvolume:
      return (
        .notPossible,
        "\(ask.path) and \(operation.target ?? "") are in different subvolumes of btrfs; copy it instead (\(errno))"
      )
    case .intoItself:
      return (.notPossible, "\(place) cannot be moved into itself (\(errno))")
    case .linkOfDirectory:
      return (.notPossible, "\(place) is a directory, which has only one name (\(errno))")
    case .notAFile:
      return (.notPossible, "\(place) is a \(facts.inodes[inode].kind.noun) (\(errno))")
    case .notASocket: return (.notPossible, "\(place) is not a socket (\(errno))")
    case .notSupported:
      return (.notPossible, "\(mount.fileSystem) at \(mount.point) has no \(call) (\(errno))")
    default: return program(place, errno)
    }
  }

  private func program(_ place: PathBytes, _ errno: String) -> (Reason.Code, String)? {
    switch decision.rule {
    case .noFormat where decision.errno == .ENOEXEC:
      return (
        .notPossible,
        "\(place) is neither a script with #! nor a program that this kernel loads (\(errno)); a shell runs it as a script of its own"
      )
    case .noFormat: return (.notPossible, "\(place) is no whole program of this machine (\(errno))")
    case .manyInterpreters:
      return (.notPossible, "more than five scripts in a row are interpreters (\(errno))")
    default: return nil
    }
  }

  /// Returns who may give a file to another owner or group, for people: chown_ok() and chgrp_ok() of fs/attr.c.
  private func handover(
    _ inode: Int, _ place: PathBytes, _ holder: String, _ object: String
  ) -> String {
    let errno = decision.errno?.description ?? ""
    guard operation.uid == nil, operation.gid != nil else {
      return "only root may give \(place) to another owner (\(errno), CAP_CHOWN)"
    }
    return isSubjects(inode)
      ? "only root may give \(place) to a group that \(finder.name) is not in (\(errno), CAP_CHOWN)"
      : "only \(holder) may give \(object) to another group (\(errno))"
  }

  /// Returns the owner of the names in a sticky directory, for people.
  private func sticky(_ folder: Int, _ place: PathBytes) -> String {
    let verb = operation.name == .rename ? "rename" : "delete"
    let holder = users.userName(facts.inodes[folder].uid)
    // The name that is removed, or the one that is replaced.
    let paths = [ask.path] + (operation.target.map { [$0] } ?? [])
    let victims = paths.compactMap { facts.inode(named: $0) }
      .filter { facts.inodes[$0].parent == folder }
    let other = victims.first { !isSubjects($0) } ?? victims.first
    guard let other else {
      return "\(place) is sticky: only the owner of a file in it, \(holder) or root may \(verb) it"
    }
    let owner = users.userName(facts.inodes[other].uid)
    let name = facts.name(of: other)?.description ?? "it"
    let isReplaced = paths.count > 1 && facts.inode(named: paths[1]) == other
    let action = isReplaced ? "replace" : verb
    let others = [
      owner == "root" ? nil : "\(owner), the owner of \(name)",
      holder == "root" || holder == owner ? nil : "\(holder), the owner of the folder",
    ].compactMap { $0 }
    let root =
      holder == "root" ? "root, the owner of the folder" : "root"
    return
      "\(place) is sticky: only \((others + [root]).formatted), may \(action) \(name)"
  }

  private func isSubjects(_ inode: Int) -> Bool {
    facts.inodes[inode].uid == finder.inspection.subject.credentials.user.fileSystem
  }
}

extension ReasonFinder {
  /// Returns what is not known of a program; nil if something else is unknown.
  private func unknownProgram(_ decision: Decision) -> String? {
    guard let inode = decision.inode else { return nil }
    let place = facts.path(of: inode)
    switch (decision.rule, facts.inodes[inode].program) {
    case (.otherFormats, _):
      return
        "\(place) has a format that only an entry of binfmt_misc, or the support of 32-bit programs, may load, which cannot be seen here"
    case (.unreadable, .unreadable(let errno)):
      return
        "this process cannot read \(place) (\(errno)), whose beginning names the interpreter or loader that execve(2) opens as well"
    default: return nil
    }
  }

  /// Returns why an operation is refused or unknown; empty if it is granted.
  func reasons(
    _ operation: NamedOperation, _ ask: ResourceQuery, _ decision: Decision, steps: [WalkStep]
  ) -> [Reason] {
    var reason: Reason
    switch decision.verdict {
    case .granted: return []
    case .undetermined:
      reason = OpenReason(finder: self, decision: decision, ask: ask, probe: nil).reason
      if let unknown = unknownProgram(decision) { reason.message = unknown }
      if decision.rule == .fileSystemRules {
        reason.ownAdvice = "only doing it as \(name) shows whether it is allowed"
      }
    case .refused(let errno):
      reason = OperationReason(
        finder: self, operation: operation, ask: ask, decision: decision, steps: steps
      ).reason(errno)
      if decision.rule == .notEmpty, operation.name != .rename {
        reason.ownAdvice = "delete what is in it first"
      }
      if decision.rule == .needsChown || decision.rule == .needsMknod {
        reason.ownAdvice = "let root do it"
      }
    }
    return [reason]
  }
}

extension [String] {
  /// The words as a list: `bob, the owner of a, or root`.
  fileprivate var formatted: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + ", or " + self[count - 1]
  }
}
