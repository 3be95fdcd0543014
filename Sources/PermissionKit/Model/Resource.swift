/// One node or directory that an accessor needs.
public struct Resource: Hashable, Sendable {
  /// The path to open, including the root of the context.
  public var path: PathBytes
  /// The device's name, for people.
  public var label: String
  /// The device of the resource; all resources of one device are needed together.
  public var device: String
  /// The permissions that `authorized` requires; on a directory `execute` means search.
  public var need: Permissions
  /// The permissions that are enough for `limited` if `need` is refused.
  public var lesserNeed: Permissions?
  /// The file type that the resource must have; nil if any type is fine.
  public var kind: FileKind?
  /// The kind of device that the node belongs to; nil if it is no device node.
  public var family: DeviceFamily?
  /// The name of the capability that using the open device takes, such as `net_admin`; nil if it takes none.
  package var uses: String?
  /// Whether the caller named the node, so that it may be another device.
  package var isNamed = false
  /// Whether a check may connect to the socket, which may start a program.
  package var mayConnect = true
  /// The advice if nobody listens on the socket; nil if there is no special advice.
  package var hint: String?

  /// Creates a resource.
  ///
  /// - Parameters:
  ///   - path: The path to open, including the root of the context.
  ///   - label: The device's name, for people.
  ///   - device: The device of the resource; all resources of one device are needed together.
  ///   - need: The permissions that `authorized` requires.
  ///   - lesserNeed: The permissions that are enough for `limited`.
  ///   - kind: The file type that the resource must have.
  ///   - family: The kind of device that the node belongs to.
  public init(
    path: PathBytes, label: String, device: String, need: Permissions,
    lesserNeed: Permissions? = nil, kind: FileKind?, family: DeviceFamily? = nil
  ) {
    self.path = path
    self.label = label
    self.device = device
    self.need = need
    self.lesserNeed = lesserNeed
    self.kind = kind
    self.family = family
  }

  /// Returns the resource with explicit permissions, all of which are required.
  package func needing(_ need: Permissions) -> Resource {
    var resource = self
    (resource.need, resource.lesserNeed) = (need, nil)
    return resource
  }
}

/// The resources that an accessor needs, and the ones that it did not find.
public struct ResourceSet: Hashable, Sendable {
  /// The nodes and directories to judge.
  public var resources: [Resource]
  /// Reports on resources that were not found.
  public var absences: [ResourceReport]

  /// Creates a set of resources.
  public init(resources: [Resource] = [], absences: [ResourceReport] = []) {
    self.resources = resources
    self.absences = absences
  }

  /// Returns a report on a resource that was not found.
  ///
  /// - Parameters:
  ///   - path: The path where the resource was expected.
  ///   - label: The name of the device, for people.
  ///   - device: The device of the resource; all resources of one device are needed together.
  ///   - status: `unavailable`, or `notDetermined` if the resource may exist.
  ///   - family: The kind of device that was not found.
  ///   - reason: Why the resource was not found.
  /// - Returns: The report, for `absences`.
  public static func absence(
    _ path: PathBytes, label: String, device: String, status: AuthorizationStatus,
    family: DeviceFamily? = nil, _ reason: Reason
  ) -> ResourceReport {
    var report = ResourceReport(
      path: path, label: label, device: device, need: [], status: status, reasons: [reason])
    report.family = family
    return report
  }
}
