/// Finds the smallest changes of mode and ACL that give the subject access.
struct RemedyFinder {
  private let inspection: Inspection
  /// The user who may change what is theirs: whoever asks, or the subject for whom root asks.
  private let owner: UInt32

  init(_ inspection: Inspection) {
    self.inspection = inspection
    let own = inspection.isSaved ? nil : try? inspection.system.credentials()
    let asks = own.flatMap { $0.isRoot ? nil : $0.user.fileSystem }
    owner = asks ?? inspection.subject.credentials.user.fileSystem
  }

  /// Returns the changes in their order; empty if no change of mode or ACL gives access.
  func remedies(_ ask: Ask) -> [Remedy] {
    var least = LeastChange(
      facts: inspection.facts, credentials: inspection.subject.credentials)
    let decision =
      ask.operation.map { least.allow($0, path: ask.path) }
      ?? least.grant(
        ask.need, path: ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
    guard decision.isGranted else { return [] }
    return remedies(least.changes)
  }

  /// Returns changes as commands, with who else gains.
  func remedies(_ changes: [InodeChange]) -> [Remedy] { changes.map(remedy(for:)) }

  private func remedy(for change: InodeChange) -> Remedy {
    let facts = inspection.facts
    let known = facts.path(of: change.inode)
    // A command could take a relative path for an option.
    let isSafe = known.isAbsolute || known.bytes.starts(with: Array("../".utf8))
    let path = isSafe ? known : PathBytes("./").appending(known)
    let uid = inspection.subject.credentials.user.fileSystem
    let classes = SubjectClasses(of: change.before, and: change.after, without: [uid])
    var remedy = Remedy(
      kind: change.attribute == .mode ? .mode : .acl, command: change.command(path),
      needsRoot: change.before.uid != owner,
      persistence: Persistence(fileSystem: facts.mounts[change.before.mount].fileSystem),
      othersAffected: classes.gains.map(inspection.users.describe), outcome: .granted)
    remedy.undo = change.undo(path)
    return remedy
  }
}
