extension DeviceFamily {
  /// Returns whether a node is a device of this kind.
  ///
  /// A driver registers each device in /sys/class/SUBSYSTEM/NAME, whose file `dev` contains the
  /// number, see device_add() in drivers/base/core.c. A registered number decides, because a node can
  /// have any name. A node whose device is gone belongs to the family if it has the place and one of
  /// the numbers of the family, and no driver has registered another number under its name. Below a
  /// `root` without sysfs the place decides.
  ///
  /// - Returns: Whether the node belongs to the family.
  package func contains(
    _ path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> Bool {
    if !paths.isEmpty {
      return lists(path, number, isBlock: false, below: root, system) ?? isPlace(path, below: root)
    }
    guard root != "/" || mayHave(number) else { return false }
    let system = system.machine(below: root)
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
    paths.isEmpty
      ? hasNode(named: path.lastComponent) && path.parent == root.appending(folder)
      : paths.contains { Glob.matches(path: path, $0.below(root)) }
  }

  /// Returns whether a node is a device of a family that has `paths`.
  ///
  /// /sys/dev/char and /sys/dev/block have an entry for each number that a driver has registered, with
  /// its subsystem and the name of its node, see device_create_sys_dev_entry() in drivers/base/core.c.
  /// A number that none has registered belongs to the family if the node has the place and one of
  /// the numbers of the family. Below a root without sysfs the place and the numbers decide.
  ///
  /// - Returns: Nil if sysfs could not be read.
  package func lists(
    _ path: PathBytes, _ number: DeviceNumber, isBlock: Bool, below root: PathBytes,
    _ system: any System
  ) -> Bool? {
    guard mayHave(number) else { return false }
    let system = system.machine(below: root)
    let list = root.appending(isBlock ? "sys/dev/block" : "sys/dev/char")
    let entry = list.appending("\(number.major):\(number.minor)")
    let look = system.look(at: entry.appending("uevent"), limit: 1 << 16)
    guard let lines = look.value else {
      if !isPlace(path, below: root) { return false }
      if !numbers.isEmpty { return true }
      return look.unseen == nil ? !system.isThere(list) : nil
    }
    if !subsystem.isEmpty,
      system.destination(ofLink: entry.appending("subsystem"))?.lastComponent
        != PathBytes(subsystem)
    {
      return false
    }
    if isPlace(path, below: root) { return true }
    guard let name = DeviceCatalog.nodeName(lines) else { return false }
    return isPlace(root.appending("dev").appending(name), below: root)
  }

  /// Returns what a node certainly is instead of a device of this kind; nil if it may be one.
  ///
  /// A number that no device of the kind can have is enough, and so is the name or the subsystem by
  /// which a driver has registered the number. Where none has, the name of the node counts, and
  /// below another `root` its place.
  ///
  /// - Parameters:
  ///   - path: The node itself, at the end of every link.
  ///   - number: The number of the node.
  ///   - root: The folder that contains /dev and /sys.
  ///   - system: The system to read.
  /// - Returns: `the null device (1:3)`; nil if the node may be a device of this kind.
  func otherDevice(
    at path: PathBytes, _ number: DeviceNumber, below root: PathBytes, _ system: any System
  ) -> String? {
    if root != "/", isPlace(path, below: root) { return nil }
    let system = system.machine(below: root)
    let entry = root.appending(PathBytes("sys/dev/char/\(number.major):\(number.minor)"))
    let lines = try? system.contents(of: entry.appending("uevent"), limit: 1 << 16)
    let name = lines.flatMap(DeviceCatalog.nodeName)
    var isOther = !mayHave(number)
    if !subsystem.isEmpty, let link = system.destination(ofLink: entry.appending("subsystem")),
      link.lastComponent != PathBytes(subsystem)
    {
      isOther = true
    }
    if lines == nil, paths.isEmpty, !hasNode(named: path.lastComponent) { isOther = true }
    if let name {
      let usual = root.appending("dev").appending(name)
      if paths.isEmpty ? !hasNode(named: name.lastComponent) : !isPlace(usual, below: root) {
        isOther = true
      }
    }
    guard isOther else { return nil }
    // See Documentation/admin-guide/devices.txt of Linux.
    let memory: [UInt32: PathBytes] = [3: "null", 5: "zero", 7: "full", 8: "random", 9: "urandom"]
    let known = name ?? (number.major == 1 ? memory[number.minor] : nil)
    let numbers = "(\(number.major):\(number.minor))"
    return known.map { "the \($0) device \(numbers)" } ?? "the device \(numbers)"
  }

  private func listedNumber(
    of name: PathBytes, in list: PathBytes, _ system: any System
  ) -> PathBytes? {
    try? system.line(of: list.appending(name).appending("dev"))
  }
}

extension DeviceCatalog {
  /// Returns the name of a device's node below /dev, from the lines of its uevent file.
  package static func nodeName(_ lines: [UInt8]) -> PathBytes? {
    let key = Array("DEVNAME=".utf8)
    let line = lines.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: key) }
    guard let name = line.map({ PathBytes(Array($0.dropFirst(key.count))) }),
      !name.isEmpty, !name.components.contains("..")
    else { return nil }
    return name
  }
}
