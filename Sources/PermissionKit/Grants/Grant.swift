/// A change that was made for a subject, as the journal has it.
public struct Grant: Hashable, Sendable {
  /// How far it has come.
  public enum Stage: String, Hashable, Sendable {
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
  public struct Lifetime: Hashable, Sendable, Codable {
    /// Microseconds since 1970; nil when it does not expire.
    public var expires: Int64?
    /// The process with whose end it ends, and when that was started, as /proc/PID/stat has it.
    public var process: ProcessMark?

    /// Makes one of its parts; by default it is wanted until it is revoked.
    public init(expires: Int64? = nil, process: ProcessMark? = nil) {
      self.expires = expires
      self.process = process
    }
  }

  /// A process, told from a later one of the same number.
  public struct ProcessMark: Hashable, Sendable, Codable {
    /// Its process id.
    public var pid: Int32
    /// Field 22 of /proc/PID/stat: clock ticks after the start of the system.
    public var start: UInt64
  }

  /// Names it in the journal.
  public var id: String
  /// What was asked for together has the same request.
  public var request: String
  /// When it was written down, RFC 3339.
  public var time: String
  /// The accessor that it is for.
  public var accessor: String
  /// The uid that it is for.
  public var uid: UInt32
  /// How long it is wanted.
  public var lifetime: Lifetime
  /// The change.
  public var change: GrantChange
  /// How far it has come.
  public var stage: Stage
}
