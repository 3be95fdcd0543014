extension CameraAccessor {
  /// Creates an accessor for somebody's cameras, or for one node.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only node to check: `/dev/video2`.
  /// - Throws: If there is no such user or process, or several users are meant.
  public convenience init(
    for who: Who, path: String? = nil
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
  /// - Throws: If there is no such user or process, or several users are meant.
  public convenience init(
    for who: Who, path: String? = nil
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
  /// - Throws: If there is no such user or process, or several users are meant.
  public convenience init(
    for who: Who, path: String? = nil
  ) throws(PermissionError) {
    self.init(try AccessContext(for: who, path: path))
  }
}

extension ResourceAccessor {
  /// Takes back what requests of this accessor gave the subject: for `context.path` alone, if it is set.
  ///
  /// - Returns: Whether something was taken back.
  /// - Throws: If a grant cannot be undone, or one is not found.
  @discardableResult
  public final func revokeAccess() throws(PermissionError) -> Bool {
    let subject = try Inspection.subject(context)
    let journal = try GrantJournal.standard(context.system).sweeping
    let outcome = try journal.undo(of: subject.credentials.user.fileSystem) {
      $0.isNamed(name, context.path)
    }
    if let missing = outcome.missing.first {
      throw PermissionError(
        .changeFailed,
        outcome.open[missing.id]?.note
          ?? "the grant on \(missing.place) is not found, so it may still be there",
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
