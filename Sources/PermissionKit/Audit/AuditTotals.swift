internal import Synchronization

/// The number of files and folders that each cause refuses; several threads add to it.
///
/// If the causes are many or their paths long, the causes of the deepest folders are merged, so
/// that the memory does not grow with the tree.
package final class AuditTotals: Sendable {
  private static let limit = 4096
  private let causes = Mutex<[AuditCause: Int]>([:])

  /// Creates empty totals.
  package init() {}

  /// Adds the counts of one thread.
  func add(_ counts: [AuditCause: Int]) {
    causes.withLock { causes in
      causes.merge(counts, uniquingKeysWith: +)
      Self.shrink(&causes)
    }
  }

  /// The causes, the one that refuses most first.
  package var sorted: [(cause: AuditCause, count: Int)] {
    causes.withLock { $0.map { (cause: $0.key, count: $0.value) } }
      .sorted { left, right in
        (right.count, left.cause.folder, left.cause.rule)
          < (left.count, right.cause.folder, right.cause.rule)
      }
  }

  private static func shrink(_ causes: inout [AuditCause: Int]) {
    while exceedsLimit(causes), let deepest = causes.keys.map({ depth($0.folder) }).max(),
      deepest > 0
    {
      let most = deepest * 3 / 4
      var fewer: [AuditCause: Int] = [:]
      for (cause, count) in causes {
        var cause = cause
        if depth(cause.folder) > most {
          cause.folder = ancestor(of: cause.folder, most)
          cause.isBelow = true
          cause.isSearch = false
        }
        fewer[cause, default: 0] += count
      }
      causes = fewer
    }
  }

  /// Whether the causes are so many, or their paths so long, that they must be merged.
  static func exceedsLimit(_ causes: [AuditCause: Int], limit: Int = limit) -> Bool {
    causes.count > limit || causes.keys.reduce(0) { $0 + $1.folder.bytes.count } > limit * 512
  }

  /// Returns the ancestor of a path that has this many slashes.
  private static func ancestor(of path: PathBytes, _ depth: Int) -> PathBytes {
    var slashes = 0
    let end = path.bytes.firstIndex { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes > depth
    }
    let bytes = Array(path.bytes[..<(end ?? path.bytes.endIndex)])
    return PathBytes(bytes.isEmpty ? [UInt8(ascii: "/")] : bytes)
  }

  private static func depth(_ path: PathBytes) -> Int {
    path.bytes.count { $0 == UInt8(ascii: "/") }
  }
}

/// Explains the findings of one thread, counts them, and passes them on.
package final class AuditSink {
  private let finder: RefusalFinder
  private let totals: AuditTotals
  private var counts: [AuditCause: Int] = [:]
  /// The length of the paths in `counts`.
  private var bytes = 0
  private let list: (AuditEntry) -> Void

  /// Creates a sink that explains and counts.
  ///
  /// - Returns: The sink.
  package static func sink(
    _ subject: Credentials, _ question: TreeQuestion, _ system: any System, _ totals: AuditTotals,
    list: @escaping (AuditEntry) -> Void, end: @escaping () -> Void
  ) -> TreeSink {
    let sink = AuditSink(subject, question, system, totals, list)
    return TreeSink(
      found: { sink.found($0) },
      finish: {
        sink.finish()
        end()
      })
  }

  private init(
    _ subject: Credentials, _ question: TreeQuestion, _ system: any System, _ totals: AuditTotals,
    _ list: @escaping (AuditEntry) -> Void
  ) {
    finder = RefusalFinder(subject, question, system)
    self.totals = totals
    self.list = list
  }

  /// Explains a finding.
  private func found(_ finding: TreeFinding) {
    let entry = finder.entry(finding)
    let cause = AuditCause(entry)
    if counts[cause] == nil { bytes += cause.folder.bytes.count }
    counts[cause, default: 0] += 1
    if counts.count > 512 || bytes > 1 << 20 {
      bytes = 0
      totals.add(counts)
      counts = [:]
    }
    list(entry)
  }

  /// Adds the remaining counts to the totals.
  private func finish() {
    totals.add(counts)
    counts = [:]
  }
}
