/// One file or folder that an audit lists.
package struct AuditEntry: Sendable {
  /// The inode that decided.
  package enum Place: Hashable, Sendable {
    /// The file or folder itself.
    case itself
    /// The folder that it is in, which refuses search.
    case folder
    /// A folder further up, which refuses search.
    case ancestor(PathBytes)
    /// The target of a symbolic link, or the way there.
    case target
  }

  /// The path, which begins with an argument of the audit as it was given.
  package let path: PathBytes
  /// The folder of the path.
  package let folder: PathBytes
  /// Whether access is refused, or cannot be determined.
  package let answer: TreeFinding.Answer
  /// The inode that decided.
  package var place = Place.itself
  /// The rule that decided; nil if the facts do not explain the answer of the kernel.
  package var rule: Rule?
  /// Type, mode and owners of the inode that decided, as ls(1) prints them; nil if it could not be
  /// read.
  package var inode: InodeSummary?

  /// The errno of a refusal; nil if access cannot be determined.
  package var errno: Errno? { if case .refused(let errno) = answer { errno } else { nil } }

  /// The rule, or the errno where no rule is known, in one word.
  package var ruleName: String {
    if let rule { return rule.description }
    return switch answer {
    case .refused(let errno): errno.description
    case .remote: "not-entered"
    case .changed: "changed"
    case .failed(let errno): "failed:\(errno)"
    case .unknown(let rule): rule.description
    }
  }
}

/// A cause by which many files or folders are refused.
package struct AuditCause: Hashable, Sendable {
  /// The folder that refuses search, or that the refused names are in.
  package var folder: PathBytes
  /// Whether the folder refuses search, so that one change helps everything below.
  package var isSearch: Bool
  /// Whether the names are in several folders below.
  package var isBelow = false
  /// The rule, as in `AuditEntry.ruleName`.
  package var rule: String

  /// Creates the cause of an entry.
  init(_ entry: AuditEntry) {
    rule = entry.ruleName
    switch entry.place {
    case .itself, .target: (folder, isSearch) = (entry.folder, false)
    case .folder: (folder, isSearch) = (entry.folder, true)
    case .ancestor(let path): (folder, isSearch) = (path, true)
    }
  }
}
