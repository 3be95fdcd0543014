/// Finds the rule behind a refusal, from the facts of a name and of its open folder.
///
/// It opens names as O_PATH below that folder alone, and never the target of a link.
final class RefusalFinder {
  private let subject: Credentials
  private let question: TreeQuestion
  private let system: any System
  private var judge: TreeJudge
  /// The folder of the last finding, and whether it can be searched.
  private var folder: (path: PathBytes, key: TreeJudge.Key, search: Decision)?

  init(_ subject: Credentials, _ question: TreeQuestion, _ system: any System) {
    self.subject = subject
    self.question = question
    self.system = system
    judge = TreeJudge(subject, question, system)
  }

  /// Returns a finding with the rule that decided, if the facts explain it.
  func entry(_ finding: TreeFinding) -> AuditEntry {
    let isTop = finding.folder == .currentDirectory
    let folder =
      isTop || finding.folderLength == finding.path.bytes.count
      ? finding.path.parent : Self.folder(finding)
    var entry = AuditEntry(path: finding.path, folder: folder, answer: finding.answer)
    if let blocker = finding.blocker {
      let path = PathBytes(Array(finding.path.bytes[..<blocker.length]))
      entry.place = path == folder ? .folder : .ancestor(path)
      entry.rule = blocker.rule
      return entry
    }
    guard case .refused(let errno) = finding.answer else { return entry }
    if isTop {
      explainTop(&entry, errno)
    } else {
      explain(finding, &entry, errno)
    }
    return entry
  }

  private static func folder(_ finding: TreeFinding) -> PathBytes {
    var bytes = finding.path.bytes[..<finding.folderLength]
    if bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return PathBytes(Array(bytes))
  }

  /// Explains by the folder and the name alone, because the walk has passed every folder above.
  private func explain(
    _ finding: TreeFinding, _ entry: inout AuditEntry, _ errno: Errno
  ) {
    if folder?.path != entry.folder {
      guard let key = key(finding.folder) else { return }
      folder = (entry.folder, key, judge.verdict(key).search)
    }
    if let folder, folder.search.errno == errno {
      (entry.place, entry.rule) = (.folder, folder.search.rule)
      entry.inode = folder.key.summary
      return
    }
    if finding.isLink { return (entry.place, entry.rule) = (.target, Self.linkRule(errno)) }
    guard
      let descriptor = try? system.openat(
        finding.folder, finding.name, [.path, .noFollow], mode: 0)
    else { return }
    defer { system.close(descriptor) }
    guard let key = key(descriptor) else { return }
    let verdict = judge.verdict(key)
    entry.inode = key.summary
    if verdict.need.errno == errno { entry.rule = verdict.need.rule }
    // A folder in which nothing is reached counts with what is in it.
    if question.isOfContents, key.summary?.kind == .directory, verdict.search.errno == errno {
      (entry.place, entry.rule) = (.ancestor(finding.path), verdict.search.rule)
    }
  }

  /// Explains with the facts of the whole path, as the caller gave it.
  private func explainTop(_ entry: inout AuditEntry, _ errno: Errno) {
    guard let facts = try? FactsReader.facts(of: [entry.path], system, isSubject: false) else {
      return
    }
    let decision = AccessEvaluator(facts: facts, credentials: subject)
      .decide(question.access(of: entry.path, facts), path: entry.path)
    guard decision.errno == errno else { return }
    entry.rule = decision.rule
    guard let index = decision.inode else { return }
    entry.inode = facts.inodes[index].summary
    if decision.step == .walk, errno == .EACCES { entry.place = .ancestor(facts.path(of: index)) }
  }

  /// The rule that follows from the errno alone, for a link whose target is not examined.
  private static func linkRule(_ errno: Errno) -> Rule? {
    switch errno {
    case .ENOENT: .missing
    case .ELOOP: .tooManyLinks
    case .ENOTDIR: .notADirectory
    default: nil
    }
  }

  private func key(_ descriptor: Descriptor) -> TreeJudge.Key? {
    (try? system.statx(descriptor)).map { judge.key(descriptor, $0, isExact: true) }
  }
}
