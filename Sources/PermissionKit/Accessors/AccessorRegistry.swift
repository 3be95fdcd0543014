/// A list of accessors by name: the three of this library, and those that a program adds.
///
/// A registry is a value, so additions affect one copy only.
public struct AccessorRegistry: Sendable {
  /// A closure that creates an accessor for a context and an analytics log.
  public typealias Factory = @Sendable (AccessContext, AnalyticsLog) -> PermissionAccessor

  /// A registered accessor.
  public struct Entry: Sendable {
    /// The unique name of the accessor: `microphone`.
    public let name: String
    /// Other names for the accessor: `mic`.
    public let aliases: [String]
    /// A description of the accessor in one line.
    public let summary: String
    /// The device family of the accessor; nil for other accessors.
    public let family: DeviceFamily?
    /// Creates the accessor; call it where the accessor is used, because accessors are not Sendable.
    public let make: Factory
  }

  /// The accessors in the order in which they were added.
  public private(set) var entries: [Entry] = []

  /// Creates a registry without accessors.
  public init() {}

  /// A registry with the accessors of this library: camera, microphone (mic) and photos.
  public static var standard: AccessorRegistry {
    var registry = AccessorRegistry()
    registry.add(
      CameraAccessor.name, summary: "cameras: capture nodes of Video4Linux", family: .camera
    ) {
      CameraAccessor($0, analytics: $1)
    }
    registry.add(
      MicrophoneAccessor.name, aliases: ["mic"], summary: "microphones: capture PCMs of ALSA",
      family: .microphone
    ) {
      MicrophoneAccessor($0, analytics: $1)
    }
    registry.add(PhotoLibraryAccessor.name, summary: "the user's picture folder (XDG)") {
      PhotoLibraryAccessor($0, analytics: $1)
    }
    return registry
  }

  /// The device families of the accessors.
  public var families: [DeviceFamily] { entries.compactMap(\.family) }

  /// Adds an accessor, and replaces one with the same name.
  ///
  /// - Parameters:
  ///   - name: The unique name of the accessor.
  ///   - aliases: Other names for the accessor.
  ///   - summary: A description in one line.
  ///   - family: The device family of the accessor; nil for other accessors.
  ///   - make: Creates the accessor.
  public mutating func add(
    _ name: String, aliases: [String] = [], summary: String, family: DeviceFamily? = nil,
    _ make: @escaping Factory
  ) {
    entries.removeAll { $0.name == name }
    entries.append(
      Entry(name: name, aliases: aliases, summary: summary, family: family, make: make))
  }

  /// Returns the accessor with this name or alias; nil if there is none.
  public subscript(name: String) -> Entry? {
    entries.first { $0.name == name || $0.aliases.contains(name) }
  }
}
