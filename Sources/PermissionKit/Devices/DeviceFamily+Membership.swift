extension DeviceFamily {
  /// Returns whether the kernel lists a node under its name and number as a device of the family.
  ///
  /// A driver registers each device in /sys/class/SUBSYSTEM/NAME, whose file `dev` holds the number,
  /// see device_add() in drivers/base/core.c. The name of a node alone proves nothing.
  package func isRegistered(
    _ path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> Bool {
    guard mayHave(number) else { return false }
    let entry = root.appending(PathBytes("sys/class/\(subsystem)")).appending(path.lastComponent)
    let listed = try? system.line(of: entry.appending("dev"))
    return listed == PathBytes("\(number.major):\(number.minor)")
  }

  /// Returns whether a node belongs to the family.
  ///
  /// Where the kernel lists no device of this kind at all, as below a `--root` without sysfs, a node
  /// belongs by the name that such nodes have.
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
