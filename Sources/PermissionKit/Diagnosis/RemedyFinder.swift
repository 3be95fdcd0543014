/// Names the least changes that would let the subject in, as an administrator would make them.
struct RemedyFinder {
  let users: UserDatabase
  let subject: Subject
  let facts: AccessFacts

  /// The changes to make, in order; empty where no change of bits would do.
  func remedies(path: PathBytes, need: Permissions, isDirectory: Bool) -> [Remedy] {
    var least = LeastChange(facts: facts, credentials: subject.credentials)
    guard least.grant(need, path: path, isDirectory: isDirectory).isGranted else { return [] }
    return least.changes.map(remedy)
  }

  private func remedy(_ change: InodeChange) -> Remedy {
    let known = facts.path(of: change.inode)
    // A relative path could be taken for an option.
    let path = known.isAbsolute ? known : PathBytes("./").appending(known)
    let uid = subject.credentials.user.fileSystem
    let classes = SubjectClasses(of: change.before, and: change.after, without: uid)
    return Remedy(
      kind: change.attribute == .mode ? .mode : .acl, command: change.command(path),
      needsRoot: change.before.uid != uid,
      persistence: Persistence(fileSystem: facts.mounts[change.before.mount].fileSystem),
      othersAffected: classes.gains.map(users.describe), outcome: .granted)
  }
}
