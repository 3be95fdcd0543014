/// The accessors that can be asked for by name: the three of this library, and those added to it.
///
/// A value: what a program adds to its registry is in no other.
public struct AccessorRegistry: Sendable {
  /// Makes an accessor that works in a context and writes to a log.
  public typealias Factory = @Sendable (AccessContext, AnalyticsLog) -> PermissionAccessor

  /// A registered accessor.
  public struct Entry: Sendable {
    /// The name that asks for it, which no other entry has: `microphone`.
    public let name: String
    /// Other names that ask for it: `mic`.
    public let aliases: [String]
    /// What it is about, one line.
    public let summary: String
    /// The kind of device that it is about; nil for anything else.
    public let family: DeviceFamily?
    /// Makes the accessor where it is used, for the accessor itself is not Sendable.
    public let make: Factory
  }

  /// The accessors, in the order in which they were added.
  public private(set) var entries: [Entry] = []

  /// A registry without any accessor.
  public init() {}

  /// The accessors of this library: camera, microphone (mic) and photos.
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

  /// The kinds of devices that its accessors are about.
  public var families: [DeviceFamily] { entries.compactMap(\.family) }

  /// Adds an accessor; one of the same name is replaced.
  public mutating func add(
    _ name: String, aliases: [String] = [], summary: String, family: DeviceFamily? = nil,
    _ make: @escaping Factory
  ) {
    entries.removeAll { $0.name == name }
    entries.append(
      Entry(name: name, aliases: aliases, summary: summary, family: family, make: make))
  }

  /// The accessor of that name or alias; nil when there is none.
  public subscript(name: String) -> Entry? {
    entries.first { $0.name == name || $0.aliases.contains(name) }
  }
}
