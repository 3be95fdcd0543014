extension AccessContext {
  /// Whose access is judged.
  public enum Who: Hashable, Sendable {
    /// The calling process.
    case current
    /// A user, by name or number, as after a new login.
    case user(String)
    /// A running process.
    case process(Int32)
  }

  /// Creates a context for somebody.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only node or directory to check; nil for all.
  ///   - system: The system that facts and answers come from.
  /// - Throws: If there is no such user or process.
  public init(
    for who: Who, path: String? = nil, system: any System = Systems.running
  ) throws(PermissionError) {
    self.init(system: system, path: path.map { PathBytes($0) })
    let users = UserDatabase(system)
    switch who {
    case .current: break
    case .user(let name): subject = try users.subject(userNamed: name)
    case .process(let pid): subject = try users.subject(process: pid)
    }
  }
}

extension CameraAccessor {
  /// Creates an accessor for somebody's cameras, or for one node.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only node to check: `/dev/video2`.
  /// - Throws: If there is no such user or process.
  public convenience init(
    for who: AccessContext.Who, path: String? = nil
  ) throws(PermissionError) {
    self.init(try AccessContext(for: who, path: path))
  }
}

extension MicrophoneAccessor {
  /// Creates an accessor for somebody's microphones, or for one node.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only node to check: `/dev/snd/pcmC0D0c`.
  /// - Throws: If there is no such user or process.
  public convenience init(
    for who: AccessContext.Who, path: String? = nil
  ) throws(PermissionError) {
    self.init(try AccessContext(for: who, path: path))
  }
}

extension PhotoLibraryAccessor {
  /// Creates an accessor for somebody's picture folder, or for one folder.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only folder to check: `/srv/photos`.
  /// - Throws: If there is no such user or process.
  public convenience init(
    for who: AccessContext.Who, path: String? = nil
  ) throws(PermissionError) {
    self.init(try AccessContext(for: who, path: path))
  }
}

extension ResourceAccessor {
  /// Takes back what requests of this accessor gave the subject.
  ///
  /// - Returns: Whether something was taken back.
  /// - Throws: If a grant cannot be undone, or one is not found.
  @discardableResult
  public final func revokeAccess() throws(PermissionError) -> Bool {
    let subject = try Inspection.subject(context)
    let journal = try GrantJournal.standard(context.system)
    let outcome = try journal.undo(of: subject.credentials.user.fileSystem) {
      $0.accessor == name
    }
    if let missing = outcome.missing.first {
      throw PermissionError(
        .changeFailed, "the grant on \(missing.place) is not found, so it may still be there",
        advice: "try again when its file is there")
    }
    return !outcome.grants.isEmpty
  }
}

extension Sequence where Element: PermissionAccessor {
  /// Requests access of several accessors, one after the other.
  ///
  /// - Parameter completion: Called with each final report, in order.
  /// - Returns: The final reports, in order.
  /// - Throws: If a change cannot be made or undone; later accessors are not asked then.
  @discardableResult
  public func requestAccessIfNeeded(
    _ completion: (AccessReport) -> Void = { _ in }
  ) throws(PermissionError) -> [AccessReport] {
    var reports: [AccessReport] = []
    for accessor in self { reports.append(try accessor.requestAccessIfNeeded(completion)) }
    return reports
  }
}
