/// A change that gives a subject access, as the journal records it.
package struct Grant: Hashable, Sendable {
  /// The progress of a grant.
  package enum Stage: String, Hashable, Sendable {
    /// Recorded; the change may or may not have been made.
    case intended
    /// Applied; other steps of the request remain.
    case applied
    /// Applied, like every other step of the request.
    case active
    /// The undo has begun.
    case undoing
    /// Undone, or never applied.
    case undone
  }

  /// When a grant ends.
  package struct Lifetime: Hashable, Sendable {
    /// The expiry in microseconds since 1970 (UTC); nil if the grant does not expire.
    package var expires: Int64?
    /// The process whose end ends the grant, with its start time from /proc/PID/stat; nil if none.
    package var process: ProcessMark?

    /// Creates a lifetime with these values; by default the grant lasts until it is revoked.
    package init(expires: Int64? = nil, process: ProcessMark? = nil) {
      self.expires = expires
      self.process = process
    }
  }

  /// The identifier in the journal.
  package var id: String
  /// The identifier of the request, which all grants of one request share.
  package var request: String
  /// The time of the record, RFC 3339, UTC.
  package var time: String
  /// The name of the accessor.
  package var accessor: String
  /// The uid of the user who gets access.
  package var uid: UInt32
  /// When the grant ends.
  package var lifetime: Lifetime
  /// The change.
  package var change: GrantChange
  /// The progress of the grant.
  package var stage: Stage
}
