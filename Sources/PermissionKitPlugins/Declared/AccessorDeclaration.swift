public import PermissionKit

/// An accessor that is described by data: its name, and what it needs.
///
/// A file of a folder `accessors.d` has the same keys. To make an accessor, see `DeclaredAccessor`
/// and `AccessorRegistry.add(_:origin:)`.
public struct AccessorDeclaration: Hashable, Sendable {
  /// The devices, folders or sockets that the accessor needs.
  public enum Place: Hashable, Sendable {
    /// Device nodes below /dev, by patterns of glob(7): `/dev/ttyUSB*`.
    case nodes([String])
    /// The devices that a folder of /sys/class, or a bus of /sys/bus, lists: `bluetooth`.
    case deviceClass(String)
    /// A directory: `/srv/scans`, `~` or `~/Scans`, where `~` is the home directory of the user.
    case directory(String)
    /// A folder of user-dirs.dirs(5): `DOWNLOAD`.
    case userFolder(String)
    /// A socket that programs connect to: `/run/docker.sock`.
    case socket(String)
  }

  /// Whether a check may open a device, or connect to a socket.
  public enum Probe: String, Hashable, Sendable, CaseIterable {
    /// An open changes nothing, and a check may open the device or connect to the socket.
    case open
    /// A check opens nothing and connects to nothing; the kernel is asked by faccessat2(2).
    case none
  }

  /// Who may give access.
  public enum Grant: String, Hashable, Sendable, CaseIterable {
    /// An administrator in person, as root.
    case none
    /// permcheck-helper too, which changes ACLs for the user who asks.
    case acl
  }

  /// The name: `serial`.
  public var name: String
  /// Other names: `tty`.
  public var aliases: [String] = []
  /// A description in one line: `serial ports`.
  public var summary: String
  /// The devices, folders or sockets that the accessor needs.
  public var place: Place
  /// The permissions that `authorized` requires; nil for the usual ones.
  ///
  /// The usual ones are read and write for a device, all for a directory, and write for a socket, since
  /// connect(2) asks for that.
  public var need: Permissions?
  /// The subsystem of the device in sysfs: `tty`; nil for any.
  public var subsystem: String?
  /// The numbers of the devices: `188:*`, `4:64-255` or `10:200`; empty for any.
  public var numbers: [String] = []
  /// The property that udev must have given the device: `ID_INPUT_JOYSTICK=1`; nil for none.
  public var property: String?
  /// Whether a check may open a device, or connect to a socket.
  public var probe = Probe.open
  /// Nodes that are needed together with each device.
  public var companions: [String] = []
  /// The capability of capabilities(7) that using an open device takes: `net_admin`; nil if it takes none.
  public var uses: String?
  /// The advice if there is no such device or folder; nil if there is no special advice.
  public var hint: String?
  /// A warning that the access gives more: `it is as much as root`; nil if there is none.
  public var risk: String?
  /// Who may give access.
  public var grant = Grant.none

  /// Creates a declaration.
  ///
  /// - Parameters:
  ///   - name: The name: lower-case letters, digits and hyphens, and a letter first.
  ///   - summary: A description in one line.
  ///   - place: What the accessor needs.
  public init(_ name: String, summary: String, _ place: Place) {
    self.name = name
    self.summary = summary
    self.place = place
  }
}

extension AccessorDeclaration {
  /// Whether the accessor needs devices; otherwise it needs a folder or a socket.
  var isOfDevices: Bool {
    switch place {
    case .nodes, .deviceClass: true
    case .directory, .userFolder, .socket: false
    }
  }

  /// Whether a check may open or connect, which the declaration may forbid.
  package var isProbed: Bool {
    switch place {
    case .nodes, .deviceClass, .socket: true
    case .directory, .userFolder: false
    }
  }

  /// Whether the place depends on the subject: on the user data base, or on a file of the user.
  var followsSubject: Bool {
    switch place {
    case .nodes, .deviceClass, .socket: false
    case .userFolder: true
    case .directory(let path): path.hasPrefix("~")
    }
  }

  /// The permissions that `authorized` requires, and the most that permcheck-helper gives.
  package var wanted: Permissions {
    if let need { return need }
    switch place {
    case .nodes, .deviceClass: return [.read, .write]
    case .directory, .userFolder: return .all
    case .socket: return .write
    }
  }

  /// The kind of the devices; nil for a folder or a socket.
  public var family: DeviceFamily? {
    guard isOfDevices else { return nil }
    var patterns: [PathBytes] = []
    if case .nodes(let nodes) = place { patterns = nodes.map { PathBytes($0) } }
    return DeviceFamily(
      noun: "\(name) device", subsystem: subsystem ?? "",
      folder: PathBytes(Array((patterns.first?.parent ?? "/dev").bytes.dropFirst())),
      nodePatterns: patterns.map(\.lastComponent.description), paths: patterns,
      numbers: numbers.compactMap(DeviceFamily.Numbers.init),
      opening: probe == .open ? .harmless : .disturbs, busyTest: .none)
  }
}

extension DeviceFamily.Numbers {
  /// Parses a range of numbers: `188`, `188:*`, `4:64` or `4:64-255`; nil if the text is not one.
  init?(_ text: String) {
    let parts = text.parts(by: ":", omittingEmptySubsequences: false)
    // Numbers of the kernel have 12 and 20 bits, see include/linux/kdev_t.h.
    guard parts.count <= 2, let major = parts.first.flatMap(Self.number), major < 1 << 12 else {
      return nil
    }
    guard parts.count == 2, parts[1] != "*" else {
      self.init(major: major)
      return
    }
    let ends = parts[1].parts(by: "-", omittingEmptySubsequences: false).map(Self.number)
    guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil,
      first <= last, last < 1 << 20
    else { return nil }
    self.init(major: major, minors: first...last)
  }

  private static func number(_ text: Substring) -> UInt32? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ? UInt32(text) : nil
  }
}
