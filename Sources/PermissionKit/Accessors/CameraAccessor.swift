/// Access to the cameras that Video4Linux shows as capture nodes.
///
/// - SeeAlso: The V4L2 documentation, "Querying Capabilities"
public final class CameraAccessor: ResourceAccessor {
  /// The name that the standard registry knows it by.
  public static let name = "camera"

  /// Makes an accessor for all cameras, or for the node that `context.path` names.
  public init(_ context: AccessContext = AccessContext(), analytics: AnalyticsLog = .shared) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  public override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(
      context.system, root: context.root, mayOpen: context.probesAsSelf == .open)
    return deviceResources(
      catalog.cameras, of: .camera,
      noneHint: "no camera node /dev/video*, and no camera in sysfs")
  }

  public override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev", "sys/class/video4linux", "run/udev/data"])
  }
}
