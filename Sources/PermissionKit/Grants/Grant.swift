/// A change that was made for a subject, as the journal has it.
package struct Grant: Hashable, Sendable {
  /// How far it has come.
  package enum Stage: String, Hashable, Sendable {
    /// Written down; perhaps made, perhaps not.
    case intended
    /// Made, and its request not finished.
    case applied
    /// Made, with all else that was asked for.
    case active
    /// About to be taken back.
    case undoing
    /// Taken back, or never made.
    case undone
  }

  /// How long it is wanted.
  package struct Lifetime: Hashable, Sendable {
    /// Microseconds since 1970; nil when it does not expire.
    package var expires: Int64?
    /// The process with whose end it ends, and when that was started, as /proc/PID/stat has it.
    package var process: ProcessMark?

    /// Makes one of its parts; by default it is wanted until it is revoked.
    package init(expires: Int64? = nil, process: ProcessMark? = nil) {
      self.expires = expires
      self.process = process
    }
  }

  /// Names it in the journal.
  package var id: String
  /// What was asked for together has the same request.
  package var request: String
  /// When it was written down, RFC 3339.
  package var time: String
  /// The accessor that it is for.
  package var accessor: String
  /// The uid that it is for.
  package var uid: UInt32
  /// How long it is wanted.
  package var lifetime: Lifetime
  /// The change.
  package var change: GrantChange
  /// How far it has come.
  package var stage: Stage
}
