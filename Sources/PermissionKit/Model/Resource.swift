/// One node or directory that an accessor needs.
public struct Resource: Hashable, Sendable {
  /// The path as it is opened, the context's root included.
  public var path: PathBytes
  /// The device's name, for people.
  public var label: String
  /// Resources of the same device are needed together.
  public var device: String
  /// What must be granted for `authorized`; on a directory `execute` is search.
  public var need: Permissions
  /// What is enough for `limited` when `need` is refused.
  public var lesserNeed: Permissions?
  /// The file type that it must have; nil when any will do.
  public var kind: FileKind?
  /// The kind of device that the node belongs to; nil for anything else.
  public var family: DeviceFamily?

  /// Creates a resource.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened, the context's root included.
  ///   - label: The device's name, for people.
  ///   - device: Resources of the same device are needed together.
  ///   - need: What must be granted for `authorized`.
  ///   - lesserNeed: What is enough for `limited`.
  ///   - kind: The file type that it must have.
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
}

/// What an accessor needs, and what it looked for in vain.
public struct ResourceSet: Hashable, Sendable {
  /// The nodes and directories to judge.
  public var resources: [Resource]
  /// Reports on what is not there, ready made.
  public var absences: [ResourceReport]

  /// Makes one of its parts.
  public init(resources: [Resource] = [], absences: [ResourceReport] = []) {
    self.resources = resources
    self.absences = absences
  }

  /// Returns a report on something that is not there, or not known to be.
  ///
  /// - Parameters:
  ///   - path: Where it was looked for.
  ///   - label: Its name for people.
  ///   - device: Resources of the same device are needed together.
  ///   - status: `unavailable`, or `notDetermined` if it may be there.
  ///   - family: The kind of device that was looked for.
  ///   - reason: Why it is not there.
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
