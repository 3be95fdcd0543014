/// The serial ports, for the root side: it serves what the declaration `serial` describes, and reads no
/// declaration.
final class SerialAccessor: ResourceAccessor {
  static let name = "serial"

  /// Creates an accessor for all serial ports.
  ///
  /// - Parameters:
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  init(_ context: AccessContext, analytics: AnalyticsLog) {
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    let (system, root) = (context.system, context.root)
    let folder = root.appending(DeviceFamily.serial.folder)
    let names = (try? system.names(in: folder) { DeviceFamily.serial.hasNode(named: $0) }) ?? []
    let nodes = names.map(folder.appending).filter { path in
      guard let status = try? system.status(of: path), status.kind == .characterDevice else {
        return false
      }
      return DeviceFamily.serial.mayHave(status.device)
        && DeviceFamily.serial.contains(path, status.device, below: root, system)
    }
    return ResourceSet(
      resources: nodes.map {
        Resource(
          path: $0, label: $0.lastComponent.description, device: $0.description,
          need: [.read, .write], kind: .characterDevice, family: .serial)
      })
  }
}
