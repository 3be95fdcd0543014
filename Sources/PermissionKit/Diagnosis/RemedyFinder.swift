/// Finds the least change that would let the subject in, by trying it out on the facts.
///
/// For each component that refuses by its mode or ACL: what the subject lacks there, for the
/// subject alone. Every change is simulated by the evaluator before it is named.
struct RemedyFinder {
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts

  /// The changes to make, in order; empty where no change of bits would do.
  func remedies(path: PathBytes, need: Permissions, isDirectory: Bool) -> [Remedy] {
    var changed = facts
    var remedies: [Remedy] = []
    // Each round repairs one component, so there are no more rounds than components and rules.
    for _ in 0..<64 {
      let evaluator = AccessEvaluator(facts: changed, credentials: subject.credentials)
      let decision = evaluator.decide(need, path, isDirectory: isDirectory)
      guard decision.errno == .EACCES, let inode = decision.inode,
        let change = change(of: inode, decision, need: need, in: changed)
      else {
        let outcome: Remedy.Outcome =
          switch decision.verdict {
          case .granted: .granted
          case .refused: .refused
          case .undetermined: .undetermined
          }
        return outcome == .granted ? remedies.map { with($0, outcome) } : []
      }
      remedies.append(change.remedy)
      changed.inodes[inode] = change.inode
    }
    return []
  }

  private func with(_ remedy: Remedy, _ outcome: Remedy.Outcome) -> Remedy {
    var copy = remedy
    copy.outcome = outcome
    return copy
  }

  /// The change that gives the subject what it lacks at one inode.
  private func change(
    of index: Int, _ decision: Decision, need: Permissions, in facts: AccessFacts
  ) -> (inode: InodeFacts, remedy: Remedy)? {
    let asked: Permissions = decision.step == .walk ? .execute : need
    let inode = facts.inodes[index]
    let known = facts.path(of: index)
    // A relative path could be taken for an option.
    let path = known.isAbsolute ? known : PathBytes("./").appending(known)
    let uid = subject.credentials.user.fileSystem
    guard facts.mounts[inode.mount].idMapping == nil else { return nil }
    switch decision.rule {
    case .ownerBits:
      // An ACL entry for the owner would be inert: the owner's bits are what counts.
      var changed = inode
      changed.mode |= UInt16(asked.rawValue) << 6
      changed.acl?.set(.owner, adding: asked)
      return (
        changed,
        remedy(.mode, ["chmod", PathBytes("u+\(asked.letters)"), path], inode, facts, gains: [])
      )
    case .groupBits, .otherBits, .groupBitsMaskEmpty, .otherBitsMaskEmpty, .aclUser,
      .aclOwningGroup, .aclGroup, .aclOther, .maskLimitsUser, .maskLimitsOwningGroup,
      .maskLimitsGroup:
      // The new entry takes the subject out of group and other: it keeps what it had.
      let had = [Permissions.read, .write, .execute].filter {
        AccessEvaluator(facts: facts, credentials: subject.credentials).permits($0, of: index)
      }
      let entry = asked.union(Permissions(had))
      let changed = inode.granting(entry, to: uid)
      let command: [PathBytes] = ["setfacl", "-n", "-m", changed.aclText(since: inode), path]
      return (
        changed,
        remedy(
          .acl, command, inode, facts,
          gains: SubjectClasses(of: inode, and: changed, without: uid).gains.map(described))
      )
    default: return nil
    }
  }

  private func remedy(
    _ kind: Remedy.Kind, _ command: [PathBytes], _ inode: InodeFacts, _ facts: AccessFacts,
    gains: [String]
  ) -> Remedy {
    let persistence: Remedy.Persistence =
      switch facts.mounts[inode.mount].fileSystem {
      case "devtmpfs": .untilUdevEvent
      case "tmpfs", "ramfs": .untilReboot
      default: .permanent
      }
    return Remedy(
      kind: kind, command: command,
      needsRoot: inode.uid != subject.credentials.user.fileSystem, persistence: persistence,
      othersAffected: gains, outcome: .refused)
  }

  private func described(_ gain: SubjectClasses.Gain) -> String {
    let who =
      switch gain.who {
      case .user(let uid): "user \(users.userName(uid))"
      case .groups(let gids):
        "members of " + gids.map { users.groupName($0) }.joined(separator: " and ")
      case .others: "everybody else"
      }
    return "\(who): \(gain.permissions.letters)"
  }
}
