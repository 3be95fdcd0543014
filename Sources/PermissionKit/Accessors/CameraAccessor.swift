/// An accessor for cameras: the capture nodes of Video4Linux.
///
/// - SeeAlso: The V4L2 documentation, "Querying Capabilities"
open class CameraAccessor: ResourceAccessor {
  /// The name in the standard registry.
  public static let name = "camera"

  /// Creates an accessor for all cameras, or for the node at `context.path`.
  ///
  /// - Parameters:
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  public init(_ context: AccessContext = AccessContext(), analytics: AnalyticsLog = .shared) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  /// Creates an accessor for one camera: `/dev/video2`.
  ///
  /// - Parameters:
  ///   - path: The path, from `/`.
  ///   - analytics: The log that receives the events.
  public convenience init(path: PathBytes, analytics: AnalyticsLog = .shared) {
    self.init(AccessContext(path: path), analytics: analytics)
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(
      context.system, root: context.root, mayOpen: context.probesAsSelf.opens)
    return deviceResources(
      catalog.cameras, of: .camera,
      noneHint: "no camera node /dev/video*, and no camera in sysfs")
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev", "sys/class/video4linux", "run/udev/data"])
  }
}
