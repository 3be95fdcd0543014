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

  /// Creates an accessor for one folder of pictures.
  ///
  /// - Parameters:
  ///   - path: The path, from `/`.
  ///   - analytics: The log that receives the events.
  public convenience init(path: PathBytes, analytics: AnalyticsLog = .shared) {
    self.init(AccessContext(path: path), analytics: analytics)
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    userFolder("PICTURES", label: "pictures", for: subject)
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    userFolderSources("PICTURES", for: subject)
  }
}
