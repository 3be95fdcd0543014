/// Decides from facts alone what the kernel answers, without a system call.
///
/// Follows the open, access and exec paths of fs/namei.c and fs/open.c (Linux 6.12 to 7.2) in the
/// same order. If several rules refuse, the rule that the kernel checks first decides.
package struct AccessEvaluator: Sendable {
  /// The facts, which can cover several paths.
  package var facts: AccessFacts { basis.facts }
  /// The credentials of the subject; ids are in the same view as the facts.
  package let credentials: Credentials

  let basis: KernelCall.Input

  /// Creates an evaluator for one subject; every index in the facts must be valid.
  package init(facts: AccessFacts, credentials: Credentials) {
    self.credentials = credentials
    basis = KernelCall.Input(facts)
  }

  /// Creates an evaluator of the same facts for another subject.
  init(_ other: AccessEvaluator, credentials: Credentials) {
    self.credentials = credentials
    basis = other.basis
  }

  /// Decides `question` about `path`.
  ///
  /// - Parameters:
  ///   - question: The system call; O_NONBLOCK, O_NOCTTY and O_CLOEXEC count as set for `open`.
  ///   - path: Bytes without NUL; an absolute path starts at `facts.root`, any other at
  ///     `facts.start`.
  /// - Returns: The verdict, the rule and the component that decided. A refusal is a value, not an
  ///   error.
  /// - Complexity: O(components × names looked up in a directory + ACL entries).
  /// - SeeAlso: path_resolution(7), acl(5), capabilities(7)
  package func decide(_ question: AccessQuestion, path: PathBytes) -> Decision {
    var procedure = KernelCall(self, path)
    return procedure.run(question)
  }

  /// Decides as `decide(_:path:)` does, and also returns each step of the walk.
  package func explain(
    _ question: AccessQuestion, path: PathBytes
  ) -> (decision: Decision, steps: [WalkStep]) {
    var procedure = KernelCall(self, path)
    procedure.steps = []
    let decision = procedure.run(question)
    return (decision, procedure.steps ?? [])
  }

  /// Returns where a path leads for any subject, if only names and links decide.
  ///
  /// - Parameter path: The path, as in `decide(_:path:)`.
  /// - Returns: The inode; nil if the facts lack it. And whether root alone could have made each name on
  ///   the way: the directories are root's, nobody else may write to them, the kernel alone says so (the
  ///   daemon of a FUSE mount can claim any owner), and no link jumps to what a process has
  ///   (`/proc/PID/root`, `cwd`, `fd/N`).
  func place(of path: PathBytes) -> (inode: Int?, isRoots: Bool) {
    var call = KernelCall(self, path)
    call.grantsEverything = true
    call.tracksMakers = true
    let decision = call.run(.open(.path))
    return (decision.leadsThere ? decision.inode : nil, !call.hasOtherMakers)
  }
}

extension Decision {
  /// Whether the walk leads to the inode, of which the mount need not be known.
  var leadsThere: Bool { isGranted || rule == .unreadable && step == .target }
}

/// One step of a walk, as `AccessEvaluator.explain(_:path:)` returns it.
package struct WalkStep: Hashable, Sendable {
  /// The kinds of steps; numbers are indices into `AccessFacts.inodes`.
  package enum Event: Hashable, Sendable {
    /// The walk starts at this inode.
    case start(Int)
    /// The walk looks up `name` in directory `parent`; `inode` is nil if nothing known was found.
    case lookup(PathBytes, parent: Int, inode: Int?, isOfLink: Bool)
    /// The walk follows this symbolic link.
    case link(Int)
    /// The kernel checks whether the inode grants `need`.
    case permission(Int, need: Permissions, Decision.Verdict, Rule)
    /// The following steps are for the first path of an operation (0), or for the second (1).
    case turn(Int)
    /// The following steps are for another file that the call opens, which this inode names.
    case next(PathBytes, of: Int)
  }

  /// The event of this step.
  package var event: Event
}
