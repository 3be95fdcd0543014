/// A change that gives a subject access, as the journal records it.
///
/// A grant is a lease: it holds permissions on an inode for a user, until somebody revokes it, a
/// time comes or a process ends. Several grants can hold the same permissions, which go with the
/// last of these grants.
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
    /// Undone on its folder, but new files there may have inherited an entry.
    case released
    /// The undo has begun, but the file is not found, so it may still give access.
    case missing
    /// Ended because somebody else removed the access; never in a journal.
    case ended
    /// Ended because the file was deleted; never in a journal.
    case deleted
    /// Undone, or never applied.
    case undone
  }

  /// When a grant ends.
  package struct Lifetime: Hashable, Sendable {
    /// The expiry in microseconds since 1970 (UTC); nil if the grant does not expire.
    package var expires: Int64?
    /// The process whose end ends the grant, with its start time from /proc/PID/stat; nil if none.
    package var process: ProcessMark?
    /// The expiry by the clock of the boot, however the wall clock is set meanwhile.
    var end: BootTime?

    /// Creates a lifetime with these values; by default the grant lasts until it is revoked.
    package init(expires: Int64? = nil, process: ProcessMark? = nil) {
      self.expires = expires
      self.process = process
    }

    /// Returns the end of the grant for people: `until …`, with the time as `clock` writes it; nil
    /// if nothing ends it.
    package func words(_ clock: (Int64) -> String) -> String? {
      expires.map { "until \(clock($0))" }
        ?? process.map { "until process \($0.pid) ends" }
    }

    /// Returns whether this lifetime certainly ends no earlier than another one.
    package func outlasts(_ other: Lifetime) -> Bool {
      if process != nil { return process == other.process && expires == nil }
      guard let expires else { return true }
      return other.expires.map { $0 <= expires } ?? false
    }

    /// Returns whether the time is over, or the process has ended.
    ///
    /// - Parameters:
    ///   - time: The present, in microseconds since 1970 (UTC).
    ///   - system: The system that knows the process.
    /// - Returns: Whether it has ended; false for a process that /proc does not show.
    package func hasEnded(at time: Int64, _ system: any System) -> Bool {
      if let expires, expires <= time || end?.hasCome(system) == true { return true }
      return process.map { !system.mayRun($0) } ?? false
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
  /// The path that the request named; nil for everything that the accessor finds.
  package var path: PathBytes?
  /// The uid of the user who gets access.
  package var uid: UInt32
  /// When the grant ends.
  package var lifetime: Lifetime
  /// The change.
  package var change: GrantChange
  /// The progress of the grant.
  package var stage: Stage

  /// The accessor of the request, in addition to `place`: `photos` on /srv/photos, `photos=/srv/photos` on /srv,
  /// `path` for a path.
  package var asked: String {
    guard let path, changedPath != path else { return accessor }
    return accessor == "path" ? path.description : "\(accessor)=\(path)"
  }

  /// Returns whether `permcheck revoke NAME`, or `NAME=PATH`, names this grant.
  ///
  /// - Parameters:
  ///   - accessor: The name of the accessor.
  ///   - named: The path; nil for all that was given by the accessor.
  /// - Returns: Whether the grant was asked for like that.
  package func isNamed(_ accessor: String, _ named: PathBytes?) -> Bool {
    guard self.accessor == accessor else { return false }
    guard let named else { return true }
    return (path ?? changedPath).map(named.isSpelledLike) ?? false
  }

  /// The file that the grant changed; nil for a group.
  package var changedPath: PathBytes? {
    switch change {
    case .inode(let grant): grant.path
    case .owningGroup(let grant): grant.file.path
    case .group: nil
    case .udevRule(let grant): grant.path
    }
  }

  /// Whether the grant gives a file to a group.
  var isOfOwningGroup: Bool {
    if case .owningGroup = change { true } else { false }
  }

  /// The inode of that file; nil for a group or a rule of udev.
  package var changedInode: InodeIdentity? {
    switch change {
    case .inode(let grant): grant.identity
    case .owningGroup(let grant): grant.file.identity
    case .group, .udevRule: nil
    }
  }

  /// The file or group that the grant changed, for people.
  package var place: String {
    switch change {
    case .inode(let grant): grant.path.description
    case .owningGroup(let grant): grant.file.path.description
    case .group(let grant): "group \(grant.group)"
    case .udevRule(let grant): grant.path.description
    }
  }
}
