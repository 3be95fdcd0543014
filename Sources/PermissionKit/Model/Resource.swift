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

  /// Makes one of its parts.
  public init(
    path: PathBytes, label: String, device: String, need: Permissions,
    lesserNeed: Permissions? = nil, kind: FileKind?
  ) {
    self.path = path
    self.label = label
    self.device = device
    self.need = need
    self.lesserNeed = lesserNeed
    self.kind = kind
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

  /// A report on something that is not there, or not known to be.
  public static func absence(
    _ path: PathBytes, label: String, device: String, status: AuthorizationStatus, _ reason: Reason
  ) -> ResourceReport {
    ResourceReport(
      path: path, label: label, device: device, need: [], status: status, reasons: [reason])
  }
}
