import PermissionKit

/// One path, so that it can be waited for and watched as an accessor is.
final class PathAccessor: ResourceAccessor {
  private let place: PathBytes

  init(_ place: PathBytes, _ context: AccessContext) {
    self.place = place
    super.init(name: "path", context: context, analytics: .discard)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    Inspection.Target(path: place, in: context).set
  }
}
