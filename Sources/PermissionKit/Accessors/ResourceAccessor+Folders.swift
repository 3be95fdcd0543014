extension ResourceAccessor {
  /// Returns a folder of user-dirs.dirs(5), or the folder at `context.path`.
  ///
  /// - Parameters:
  ///   - key: The key of the folder: `PICTURES`.
  ///   - label: The name of the folder, for people and in reports.
  ///   - subject: The user whose folder is meant.
  ///   - need: The permissions that `authorized` requires.
  /// - Returns: The folder, or a report on why there is none.
  package func userFolder(
    _ key: String, label: String, for subject: Subject, need: Permissions = .all
  ) -> ResourceSet {
    if let path = context.path {
      return ResourceSet(resources: [folder(path, label: label, need: need)])
    }
    let places = UserFolder(key, context.system, root: context.root)
    let home = subject.home ?? "/"
    func absence(
      _ status: AuthorizationStatus, _ reason: Reason, _ remedies: [Remedy] = []
    ) -> ResourceSet {
      var report = ResourceSet.absence(home, label: label, device: label, status: status, reason)
      report.remedies = remedies
      return ResourceSet(absences: [report])
    }
    switch places.locate(for: subject) {
    case .folder(let path, _):
      return ResourceSet(resources: [folder(path, label: label, need: need)])
    case .notConfigured(let evidence):
      return absence(
        .unavailable,
        Reason(
          .notConfigured, .proven,
          "no \(places.noun) is configured, because the setting names the home directory itself",
          evidence: [evidence]),
        [
          Remedy(
            .file,
            ["xdg-user-dirs-update", "--set", PathBytes(key), home.appending(places.name)])
        ])
    case .unknown(let reason): return absence(.notDetermined, reason)
    }
  }

  /// Returns the files that `userFolder` reads.
  package func userFolderSources(_ key: String, for subject: Subject) -> [PathBytes] {
    guard context.path == nil else { return [] }
    let file = UserFolder(key, context.system, root: context.root).file(for: subject)
    return file.map { [$0] } ?? []
  }

  /// Returns a folder; if everything is needed, listing and reading is `limited`.
  package func folder(_ path: PathBytes, label: String, need: Permissions = .all) -> Resource {
    Resource(
      path: path, label: path.lastComponent.description, device: label, need: need,
      lesserNeed: need == .all ? [.read, .execute] : nil, kind: .directory)
  }
}
