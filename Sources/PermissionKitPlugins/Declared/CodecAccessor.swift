internal import PermissionKit

/// Video codecs: the nodes of Video4Linux that work from memory to memory.
///
/// - SeeAlso: The V4L2 documentation, "Video Memory-To-Memory Interface"
final class CodecAccessor: ResourceAccessor {
  static let family = DeviceFamily(
    noun: "video codec", subsystem: "video4linux", nodePatterns: ["video#"], majors: [81],
    opening: .harmless)

  init(_ context: AccessContext, analytics: AnalyticsLog) {
    super.init(name: "codec", context: context, analytics: analytics)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    let catalog = DeviceCatalog(
      context.system, root: context.root, mayOpen: context.probesAsSelf.opens)
    return deviceResources(
      catalog.codecs, of: Self.family,
      noneHint: "no node /dev/video* is a codec; codecs of graphics processors are render nodes")
  }

  override func sources(for subject: Subject) -> [PathBytes] {
    deviceSources(["dev", "sys/class/video4linux", "run/udev/data"])
  }
}
