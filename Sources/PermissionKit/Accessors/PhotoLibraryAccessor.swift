/// An accessor for the user's picture folder, as xdg-user-dirs configures it.
///
/// - SeeAlso: xdg-user-dir(1), user-dirs.dirs(5)
open class PhotoLibraryAccessor: ResourceAccessor {
  /// The name in the standard registry.
  public static let name = "photos"

  /// Creates an accessor for the picture folder, or for the folder at `context.path`.
  ///
  /// - Parameters:
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  public init(_ context: AccessContext = AccessContext(), analytics: AnalyticsLog = .shared) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    if let path = context.path { return ResourceSet(resources: [folder(path)]) }
    let pictures = PhotoFolder(context.system, root: context.root)
    let home = subject.home ?? "/"
    func absence(
      _ status: AuthorizationStatus, _ reason: Reason, _ remedies: [Remedy] = []
    ) -> ResourceSet {
      var report = ResourceSet.absence(
        home, label: "pictures", device: "pictures", status: status, reason)
      report.remedies = remedies
      return ResourceSet(absences: [report])
    }
    switch pictures.locate(for: subject) {
    case .folder(let path, _): return ResourceSet(resources: [folder(path)])
    case .notConfigured(let evidence):
      return absence(
        .unavailable,
        Reason(
          .notConfigured, .proven,
          "no picture folder is configured, because the setting names the home directory itself",
          evidence: [evidence]),
        [
          Remedy(
            .file, ["xdg-user-dirs-update", "--set", "PICTURES", home.appending("Pictures")])
        ])
    case .unknown(let reason): return absence(.notDetermined, reason)
    }
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    guard context.path == nil else { return [] }
    let file = PhotoFolder(context.system, root: context.root).file(for: subject)
    return file.map { [$0] } ?? []
  }

  /// Returns the folder with the permissions of a photo program; listing and reading is `limited`.
  private func folder(_ path: PathBytes) -> Resource {
    Resource(
      path: path, label: path.lastComponent.description, device: "pictures", need: .all,
      lesserNeed: [.read, .execute], kind: .directory)
  }
}
