/// A list of accessors by name: those of this library, and those that a program adds.
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
    /// Where the accessor comes from.
    public let origin: Origin
    /// Creates the accessor; call it where the accessor is used, because accessors are not Sendable.
    public let make: Factory
  }

  /// Where an accessor comes from.
  public enum Origin: Hashable, Sendable {
    /// This library: camera, microphone and photos, which nothing replaces.
    case builtIn
    /// The declarations that are compiled into this library.
    case shipped
    /// The program that added it.
    case program
    /// A file with the declaration.
    case file(PathBytes)
    /// A program that answers the checks.
    case executable(PathBytes)
  }

  /// The accessors in the order in which they were added.
  public private(set) var entries: [Entry] = []

  /// Creates a registry without accessors.
  public init() {}

  /// A registry with the accessors of this library: camera, microphone (mic) and photos.
  public static var standard: AccessorRegistry {
    var registry = AccessorRegistry()
    registry.add(
      CameraAccessor.name, summary: "cameras: capture nodes of Video4Linux", family: .camera,
      origin: .builtIn
    ) {
      CameraAccessor($0, analytics: $1)
    }
    registry.add(
      MicrophoneAccessor.name, aliases: ["mic"], summary: "microphones: capture PCMs of ALSA",
      family: .microphone, origin: .builtIn
    ) {
      MicrophoneAccessor($0, analytics: $1)
    }
    registry.add(
      PhotoLibraryAccessor.name, summary: "the user's picture folder (XDG)", origin: .builtIn
    ) {
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
  ///   - origin: Where the accessor comes from.
  ///   - make: Creates the accessor.
  public mutating func add(
    _ name: String, aliases: [String] = [], summary: String, family: DeviceFamily? = nil,
    origin: Origin = .program, _ make: @escaping Factory
  ) {
    let entry = Entry(
      name: name, aliases: aliases, summary: summary, family: family, origin: origin, make: make)
    if let index = entries.firstIndex(where: { $0.name == entry.name }) {
      entries[index] = entry
    } else {
      entries.append(entry)
    }
  }

  /// Returns the accessors that satisfy a condition.
  package func filter(_ isIncluded: (Entry) -> Bool) -> AccessorRegistry {
    var registry = self
    registry.entries = entries.filter(isIncluded)
    return registry
  }

  /// Returns the accessor with this name, or else this alias; nil if there is none.
  public subscript(name: String) -> Entry? {
    entries.first { $0.name == name } ?? entries.first { $0.aliases.contains(name) }
  }
}

extension AccessorRegistry.Origin: CustomStringConvertible {
  /// The word for lists: `built-in`, `shipped`, `program`, or the path of the file.
  public var description: String {
    switch self {
    case .builtIn: "built-in"
    case .shipped: "shipped"
    case .program: "program"
    case .file(let path), .executable(let path): path.description
    }
  }
}
