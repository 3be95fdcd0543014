extension DeviceFamily {
  /// Returns whether the kernel lists a node of this name and number as a device of this kind.
  ///
  /// A driver registers each device in /sys/class/SUBSYSTEM/NAME, whose file `dev` contains the
  /// number, see device_add() in drivers/base/core.c. The name of a node alone proves nothing.
  package func isRegistered(
    _ path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> Bool {
    guard mayHave(number) else { return false }
    let entry = root.appending(PathBytes("sys/class/\(subsystem)")).appending(path.lastComponent)
    let listed = try? system.line(of: entry.appending("dev"))
    return listed == PathBytes("\(number.major):\(number.minor)")
  }

  /// Returns whether a node is a device of this kind.
  ///
  /// If the kernel lists no devices of this kind, as below a `--root` without sysfs, the name of
  /// the node decides.
  package func contains(
    _ path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> Bool {
    let list = root.appending(PathBytes("sys/class/\(subsystem)"))
    if (try? system.kind(of: list)) == .directory {
      return isRegistered(path, number, below: root, system)
    }
    return isPlace(path, below: root) && (root != "/" || mayHave(number))
  }

  /// Returns whether a node of the family would have this path; there may be nothing.
  package func isPlace(_ path: PathBytes, below root: PathBytes) -> Bool {
    hasNode(named: path.lastComponent) && path.parent == root.appending(folder)
  }
}
