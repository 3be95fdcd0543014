extension DeviceFamily {
  /// Returns whether a node is a device of this kind.
  ///
  /// A driver registers each device in /sys/class/SUBSYSTEM/NAME, whose file `dev` contains the
  /// number, see device_add() in drivers/base/core.c. A registered number decides, because a node can
  /// have any name. A node whose device is gone belongs to the family if it has the place and one of
  /// the numbers of the family, and no driver has registered another number under its name. Below a
  /// `root` without sysfs the place decides.
  ///
  /// - Parameters:
  ///   - path: The path of the node.
  ///   - number: The number of the device.
  ///   - root: The root directory whose /sys is read.
  ///   - system: The system that is read.
  /// - Returns: Whether the node belongs to the family.
  package func contains(
    _ path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> Bool {
    guard root != "/" || mayHave(number) else { return false }
    let list = root.appending(PathBytes("sys/class/\(subsystem)"))
    let wanted = PathBytes("\(number.major):\(number.minor)")
    let own = path.lastComponent
    if hasNode(named: own), let listed = listedNumber(of: own, in: list, system) {
      return listed == wanted
    }
    guard let names = try? system.names(in: list) else { return isPlace(path, below: root) }
    if let name = names.first(where: { listedNumber(of: $0, in: list, system) == wanted }) {
      return hasNode(named: name)
    }
    return isPlace(path, below: root) && mayHave(number) && !numbers.isEmpty
  }

  /// Returns whether a node of the family would have this path; there may be nothing.
  package func isPlace(_ path: PathBytes, below root: PathBytes) -> Bool {
    hasNode(named: path.lastComponent) && path.parent == root.appending(folder)
  }

  private func listedNumber(
    of name: PathBytes, in list: PathBytes, _ system: any System
  ) -> PathBytes? {
    try? system.line(of: list.appending(name).appending("dev"))
  }
}
