import PermissionKit

/// One path of any type: a file, folder, socket, device node or link.
///
/// Its name is always `path`; its reports have the path as it was given instead.
final class PathAccessor: ResourceAccessor {
  static let name = "path"

  private let shown: String

  /// Creates an accessor for `context.path`.
  init(_ context: AccessContext, shown: PathBytes, analytics: AnalyticsLog) {
    self.shown = shown.description
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    Inspection.Target(path: context.path ?? context.root, in: context).set
  }

  override func checkAccess() -> AccessReport {
    var report = super.checkAccess()
    report.accessor = shown
    return report
  }
}
