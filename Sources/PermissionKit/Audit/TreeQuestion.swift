/// The question that a walk of a tree asks about each name, and for whom.
package struct TreeQuestion: Sendable {
  /// The permissions to ask faccessat2(2) for.
  package var need: Permissions
  /// Whether the walk stays on the file systems of its roots; for bind mounts of the same one it goes on.
  package var staysOnFileSystem = false
  /// How many threads ask, at least one.
  package var threads = 2
  /// The longest time without progress that the walk waits for a server, in tenths of a second.
  package var patience = Int.max
  /// The user whose ids each thread takes on for file access, which needs root; nil to ask as this process.
  package var identity: Credentials?
  /// The user for whom the evaluator answers instead of the kernel; nil to ask the kernel.
  package var judged: Credentials?
  /// The users whose access the evaluator counts; empty to list the refused files instead.
  package var everyone: [Credentials] = []
  /// Whether a device cgroup that cannot be read may refuse the devices that mode and ACL grant.
  package var mayRefuseDevices = false
  /// Whether the evaluator goes on below folders that the user cannot list or search.
  package var isDeep = false

  /// Whether only what a recursive request changes is checked, for the permissions that it would
  /// give: folders, and files without execute; no links, special files and other file systems.
  package var isOfContents = false
  /// Whether the kernel answers, and the evaluator only explains; for a user who is this process.
  package var asksKernel = false

  /// Creates the visitor of each thread; nil if access is checked.
  package var visitor: (@Sendable () -> TreeVisitor)?

  /// Whether the evaluator answers, for which each thread reads names in its working directory.
  var isJudged: Bool { judged != nil || !everyone.isEmpty || visitor != nil }

  /// Returns the permissions that are asked for on a kind of file.
  ///
  /// As a check asks: w on a folder means that names in it can be made and removed, which needs x.
  package func need(on kind: FileKind?) -> Permissions {
    kind == .directory && need.contains(.write) ? need.union(.execute) : need
  }

  /// Returns the permissions that are asked for on a kind of file, those of each call.
  ///
  /// As a check asks: a folder is opened for reading, and the rest is asked for alone.
  func needs(on kind: FileKind?) -> [Permissions] {
    let need = need(on: kind)
    guard isOfContents else { return [need] }
    guard kind == .directory else { return [need.subtracting(.execute)] }
    return [need.intersection(.read), need.subtracting(.read)].filter { !$0.isEmpty }
  }

  /// Returns the question about what a path leads to.
  func access(of path: PathBytes, _ facts: AccessFacts) -> AccessQuestion {
    .faccessat2(need(on: facts.kind(of: path)), followsLink: true)
  }

  /// Creates a question of this process.
  package init(need: Permissions) { self.need = need }
}

/// One name that is refused, or whose access is unknown.
package struct TreeFinding: Sendable {
  /// A folder that a user who is judged cannot search, so that nothing below is reached.
  package struct Blocker: Hashable, Sendable {
    /// The length of its path, with which every path below begins.
    package var length: Int
    /// The rule that decided.
    package var rule: Rule
    /// The errno of a refusal; nil if it cannot be determined.
    package var errno: Errno?
  }

  /// The answer about a name.
  package enum Answer: Hashable, Sendable {
    /// faccessat2(2) fails with this errno.
    case refused(Errno)
    /// A file system that may block is mounted here, or a link leads to one.
    case remote
    /// The tree changed so that the rest of this folder could not be found again.
    case changed
    /// A system call of the walk itself failed.
    case failed(Errno)
    /// Access is unknown, by this rule.
    case unknown(Rule)
  }

  /// The path, which begins with a top as it was given.
  package var path: PathBytes
  /// The bytes of the path before its last component.
  package var folderLength: Int
  /// The open folder of the name, valid while the finding is handed over; the working directory for a top.
  package var folder: Descriptor
  /// The answer.
  package var answer: Answer
  /// Whether the name is a symbolic link.
  package var isLink = false
  /// The folder that decided, if that is known.
  package var blocker: Blocker?

  /// The last component as it was asked about; the whole path for a top.
  package var name: PathBytes {
    folder == .currentDirectory ? path : PathBytes(Array(path.bytes[folderLength...]))
  }
}

/// Receives the findings of one thread of a walk.
package struct TreeSink {
  /// Receives a finding.
  let found: (TreeFinding) -> Void
  /// Called when the thread has no more findings.
  let finish: () -> Void

  /// Creates a sink.
  package init(found: @escaping (TreeFinding) -> Void, finish: @escaping () -> Void) {
    self.found = found
    self.finish = finish
  }
}

/// The counts of a walk so far.
package struct TreeCounts: Hashable, Sendable {
  /// The files and folders that were asked about.
  package var asked = 0
  /// The names that are refused.
  package var refused = 0
  /// The names whose access is unknown.
  package var undetermined = 0
  /// The folders that the subject cannot list, so that nothing below them is known.
  package var unlisted = 0
  /// The files of others in sticky folders that are granted for writing, and that the kernel does not open with O_CREAT.
  package var protected = 0
}
