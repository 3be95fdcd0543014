/// Decides, on facts alone, what the kernel answers.
///
/// Follows the open, access and exec paths of fs/namei.c and fs/open.c (Linux 6.12 to 7.2) step
/// by step, in their order: of several reasons to refuse, the one the kernel finds first decides.
/// No system call is made.
package struct AccessEvaluator: Sendable {
  /// What was read, of any number of paths.
  package var facts: AccessFacts { basis.facts }
  /// Who asks, in the view of ids that the facts are in.
  package let credentials: Credentials

  let basis: KernelCall.Basis

  /// Makes an evaluator for one subject; every index in the facts must be valid.
  package init(facts: AccessFacts, credentials: Credentials) {
    self.credentials = credentials
    basis = KernelCall.Basis(facts)
  }

  /// The same facts, judged for another subject.
  init(_ other: AccessEvaluator, credentials: Credentials) {
    self.credentials = credentials
    basis = other.basis
  }

  /// Decides `question` about `path`.
  ///
  /// - Parameters:
  ///   - question: The system call; for `open` O_NONBLOCK, O_NOCTTY and O_CLOEXEC are taken as set.
  ///   - path: Bytes without NUL; absolute ones start at `facts.root`, others at `facts.start`.
  /// - Returns: The verdict, the rule that decided and where. A refusal is a value, not an error.
  /// - Complexity: O(components × names looked up in a directory + ACL entries).
  /// - SeeAlso: path_resolution(7), acl(5), capabilities(7)
  package func decide(_ question: AccessQuestion, path: PathBytes) -> Decision {
    var procedure = KernelCall(self, path)
    return procedure.run(question)
  }

  /// Decides as `decide(_:path:)` does, and tells each step on the way.
  package func explain(
    _ question: AccessQuestion, path: PathBytes
  ) -> (decision: Decision, steps: [WalkStep]) {
    var procedure = KernelCall(self, path)
    procedure.steps = []
    let decision = procedure.run(question)
    return (decision, procedure.steps ?? [])
  }
}

/// One step of a walk, as `AccessEvaluator.explain(_:path:)` tells it.
package struct WalkStep: Hashable, Sendable {
  /// The kinds of steps, with indices into `AccessFacts.inodes`.
  package enum Event: Hashable, Sendable {
    /// The walk starts at this inode.
    case start(Int)
    /// `name` was looked up in directory `parent`; nil where nothing, or nothing known, was found.
    case lookup(PathBytes, parent: Int, inode: Int?, isOfLink: Bool)
    /// The symbolic link was followed.
    case link(Int)
    /// The inode was asked for `need`.
    case permission(Int, need: Permissions, Decision.Verdict, Rule)
  }

  /// What happened at this step.
  package var event: Event
}
