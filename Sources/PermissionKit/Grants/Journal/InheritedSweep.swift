/// Removes the entries that files inherited from leases on the default ACL of their folder, after
/// these leases have ended.
///
/// The folders themselves are released before, so that new files inherit nothing. The sweep holds
/// the lock of the journal for only a few inodes at a time, because a tree may be large and others
/// wait for the lock. If it is killed, the next operation on the journal begins again, and finds
/// the rest.
struct InheritedSweep {
  /// A grant whose folder is released.
  final class Item {
    let grant: Grant
    /// Whether the grant ended by itself, and nobody asked for its end now.
    var isRecovered = false

    init(_ grant: Grant) { self.grant = grant }
  }

  private let journal: GrantJournal
  private let items: [Item]

  /// The most walks through a tree while others move folders in it.
  private static let passes = 5
  /// The longest wait for another sweep, in microseconds, if somebody asked for this one.
  private static let patience: Int64 = 30_000_000

  /// Creates a sweep for the grants in `GrantJournalWriter.left`.
  init(_ journal: GrantJournal, _ items: [Item]) {
    self.journal = journal
    self.items = items
  }

  /// Sweeps, and records the grants as undone, or why that is not certain.
  ///
  /// - Parameter outcome: Receives the grants that are undone, those that are not, and notes.
  /// - Throws: If the journal cannot be locked or written.
  func run(_ outcome: inout GrantJournal.Outcome) throws(PermissionError) {
    let lock: Descriptor
    do throws(Errno) {
      lock = try lockSweeps()
    } catch {
      outcome.missing += items.map(\.grant)
      outcome.notes.append(
        error == .EAGAIN
          ? "another process removes the inherited entries"
          : "inherited entries cannot be removed: \(journal.path).sweep cannot be locked (\(error))"
      )
      return
    }
    defer { journal.system.close(lock) }
    var left: [String: String] = [:]
    var ended: Set<String> = []
    let users = Set(items.map(\.grant.uid))
    var waiting = items.map(\.grant).sorted { $0.place.utf8.count < $1.place.utf8.count }
    var passes = 0
    while let grant = waiting.first, case .inode(let change) = grant.change {
      passes += 1
      let state = try SweepState(journal, users, isLast: passes >= Self.passes)
      var finder = InodeFinder(journal.system)
      defer { finder.close() }
      var reached = Set([grant.id])
      var note: String?
      switch finder.find(change) {
      case .deleted: break
      case .missing(let reason): note = reason
      case .found(let folder):
        defer { journal.system.close(folder) }
        note = walk(folder, change.path, state)
        if state.mustGoAgain, passes < Self.passes { continue }
        reached.formUnion(state.reached)
      }
      passes = 0
      for grant in waiting where reached.contains(grant.id) {
        if let note { left[grant.id] = note } else { ended.insert(grant.id) }
      }
      waiting.removeAll { reached.contains($0.id) }
      if let note {
        outcome.notes.append("\(note), so the access of \(change.holder) may still be there")
      }
    }
    try record(ended, left, &outcome)
  }

  /// Walks below a folder; returns what was not reached, for people, or nil if everything was.
  private func walk(_ found: Descriptor, _ path: PathBytes, _ state: SweepState) -> String? {
    let system = journal.system
    var question = TreeQuestion(need: [])
    question.visitor = { SweepVisitor(state).visitor }
    do throws(Errno) {
      let folder = try system.openat(found, ".", [.readOnly, .directory], mode: 0)
      let walk: TreeWalk
      do throws(Errno) {
        walk = try TreeWalk(question, below: folder, path) {
          TreeSink(found: state.fail, finish: {})
        }
      } catch {
        system.close(folder)
        throw error
      }
      try walk.run {
        journal.progress?(walk.counts.asked)
        if state.isStopped { walk.stop() }
      }
    } catch {
      return "\(path) cannot be searched (\(error))"
    }
    return state.failure(below: path)
  }

  private func lockSweeps() throws(Errno) -> Descriptor {
    let system = journal.system
    let file = try system.openat(
      .currentDirectory, PathBytes(journal.path.bytes + Array(".sweep".utf8)),
      [.readWrite, .create, .noFollow, .nonBlocking], mode: 0o600)
    do throws(Errno) {
      let isAsked = items.contains { !$0.isRecovered }
      try system.flock(file, until: system.monotonic() + (isAsked ? Self.patience : 0))
    } catch {
      system.close(file)
      throw error
    }
    return file
  }

  private func record(
    _ ended: Set<String>, _ left: [String: String], _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    guard let file = try journal.open(.changing) else { return }
    var writer = try GrantJournalWriter(file, journal, journal.system)
    defer { writer.close() }
    for item in items.reversed() {
      if let note = left[item.grant.id] {
        outcome.missing.append(item.grant)
        writer.leave(item.grant, note, &outcome)
      } else if ended.contains(item.grant.id) {
        if item.isRecovered {
          outcome.recovered.append(item.grant)
        } else {
          outcome.grants.append(item.grant)
        }
      }
    }
    writer.forget(items.map(\.grant).filter { ended.contains($0.id) }, &outcome)
    outcome.open = writer.ledger
  }
}
