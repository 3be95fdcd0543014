/// The attributes in a udev rule that match a device also under another name, and no other device.
///
/// The keys are those of udev(7). SUBSYSTEMS, KERNELS and ATTRS of one rule are about one and the same
/// device on the way up in sysfs.
struct UdevMatch: Sendable {
  /// How exactly the rule identifies the device.
  enum Identity: Equatable, Sendable {
    /// By vendor, product and serial number, or by the place on a bus that cannot be unplugged.
    case device
    /// By the USB port that it is plugged into, since it has no serial number of its own.
    case port(String)
    /// By the name of the node alone.
    case name
  }

  /// A key and the pattern that its value has.
  struct Key: Sendable {
    /// The key: `KERNEL`, `ATTRS{serial}`.
    var name: String
    /// The pattern, see glob(7).
    var pattern: String
  }

  private(set) var keys: [Key]
  private(set) var identity: Identity

  /// The keys as they stand in a rule.
  var text: String { keys.map { "\($0.name)==\"\($0.pattern)\"" }.joined(separator: ", ") }

  /// Finds the keys that match a node, and no other device that is there now.
  ///
  /// - Parameters:
  ///   - device: The number of a character device.
  ///   - name: The name of the node, which is all that is known without sysfs.
  ///   - subsystem: The subsystem of its family; empty if any will do.
  ///   - system: The system whose sysfs is read.
  init(_ device: DeviceNumber, named name: String, subsystem: String, _ system: any System) {
    let node = Device(device, system)
    let subsystem = node?.subsystem ?? subsystem
    let kernel = node?.name ?? name
    keys = [Key(name: "SUBSYSTEM", pattern: subsystem), Key(name: "KERNEL", pattern: kernel)]
    identity = .name
    guard let node else { return }
    for (candidate, identity) in Self.candidates(node, system) {
      let others = node.siblings(system).filter {
        candidate.matches($0, system) && $0.path != node.path
      }
      guard others.isEmpty, candidate.matches(node, system) else { continue }
      (keys, self.identity) = (candidate.keys, identity)
      return
    }
  }

  private init(_ keys: [Key]) { (self.keys, identity) = (keys, .device) }

  /// Parses the keys of a rule; nil if none of them identifies a device.
  init?(rule: some StringProtocol) {
    keys = []
    identity = .device
    for part in rule.parts(by: ",") {
      let text = String(part.drop { $0 == " " })
      guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), text.hasSuffix("\""),
        text[equals...].hasPrefix("==\"")
      else { continue }
      let pattern = text[equals...].dropFirst(3).dropLast()
      keys.append(Key(name: String(text[..<equals]), pattern: String(pattern)))
    }
    if keys.isEmpty { return nil }
  }

  // MARK: - Candidates

  /// Returns the attributes that may identify the device, the best first.
  private static func candidates(
    _ node: Device, _ system: any System
  ) -> [(UdevMatch, Identity)] {
    guard let parent = node.holder(system) else { return [] }
    let own = [Key(name: "SUBSYSTEM", pattern: node.subsystem)]
    let exact = own + [Key(name: "KERNEL", pattern: escaped(node.name))]
    // The number in the name is the next free one, but that of a PCM says what it is.
    let open = own + [Key(name: "KERNEL", pattern: node.namePattern)] + node.index(system)
    let place = [
      Key(name: "SUBSYSTEMS", pattern: parent.subsystem),
      Key(name: "KERNELS", pattern: escaped(parent.name)),
    ]
    guard parent.subsystem == "usb" else {
      let byNumber = node.namePattern == escaped(node.name) || !node.index(system).isEmpty
      return (byNumber || node.subsystem == "sound" ? [(UdevMatch(open + place), .device)] : [])
        + [(UdevMatch(exact + place), .device)]
    }
    // The interfaces of a USB device are of its subsystem, too, and have no such attributes of their own.
    let isWhole = parent.path == node.path
    let attribute = isWhole ? "ATTR" : "ATTRS"
    var product = isWhole ? [] : [Key(name: "SUBSYSTEMS", pattern: "usb")]
    for name in ["idVendor", "idProduct"] {
      guard let value = parent.attribute(name, system) else { return [] }
      product.append(Key(name: "\(attribute){\(name)}", pattern: escaped(value)))
    }
    // The interface of the device: `1-1.2:1.0`.
    let interface = node.interface.map { [Key(name: "DEVPATH", pattern: "*:\($0)/*")] } ?? []
    let port = isWhole ? exact + product : open + interface + product + [place[1]]
    guard let serial = parent.attribute("serial", system), !serial.isEmpty else {
      return [(UdevMatch(port), .port(parent.name))]
    }
    let numbered = product + [Key(name: "\(attribute){serial}", pattern: escaped(serial))]
    return [
      (UdevMatch((isWhole ? own : open) + interface + numbered), .device),
      (UdevMatch(port), .port(parent.name)),
    ]
  }

  /// Returns a pattern that matches a text, with `?` for what udev or a pattern would interpret.
  private static func escaped(_ text: String) -> String {
    String(
      decoding: text.utf8.map { byte -> UInt8 in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: byte
        default: "_-.:+/ ".utf8.contains(byte) ? byte : UInt8(ascii: "?")
        }
      }, as: UTF8.self)
  }

  // MARK: - Matching

  /// Returns the nodes of the present devices that the rule matches.
  func nodes(_ system: any System) -> [(path: PathBytes, device: DeviceNumber)] {
    guard let subsystem = keys.first(where: { $0.name == "SUBSYSTEM" })?.pattern else { return [] }
    return Device.all(of: subsystem, system).filter { matches($0, system) }
      .compactMap { $0.node(system) }
  }

  private func matches(_ device: Device, _ system: any System) -> Bool {
    func holds(_ key: Key, _ value: String?) -> Bool {
      value.map { Glob.matches(Array($0.utf8)[...], Array(key.pattern.utf8)[...]) } ?? false
    }
    var ofParents: [Key] = []
    for key in keys {
      switch key.name {
      case "SUBSYSTEM": if !holds(key, device.subsystem) { return false }
      case "KERNEL": if !holds(key, device.name) { return false }
      case "DEVPATH": if !holds(key, device.path.description) { return false }
      case "ACTION": break
      case let name where name.hasPrefix("ATTR{"):
        if !holds(key, device.attribute(String(name.dropFirst(5).dropLast()), system)) {
          return false
        }
      default: ofParents.append(key)
      }
    }
    guard !ofParents.isEmpty else { return true }
    return device.chain(system).contains { parent in
      ofParents.allSatisfy { key in
        switch key.name {
        case "SUBSYSTEMS": holds(key, parent.subsystem)
        case "KERNELS": holds(key, parent.name)
        case let name where name.hasPrefix("ATTRS{"):
          holds(key, parent.attribute(String(name.dropFirst(6).dropLast()), system))
        default: false
        }
      }
    }
  }

  // MARK: - Sysfs

  /// A device in sysfs, by its path below /sys.
  private struct Device {
    let path: PathBytes
    let subsystem: String
    var name: String { path.lastComponent.description }

    /// Finds the device with this number; nil if sysfs does not list it.
    init?(_ device: DeviceNumber, _ system: any System) {
      self.init(link: PathBytes("/sys/dev/char/\(device.major):\(device.minor)"), system)
    }

    /// Follows a link of /sys/dev, /sys/class or /sys/bus.
    init?(link: PathBytes, _ system: any System) {
      guard let target = system.destination(ofLink: link) else { return nil }
      let names = target.components.drop { $0 == ".." }
      guard names.first == "devices" else { return nil }
      self.init(names.reduce("/sys") { $0.appending($1) }, system)
    }

    init?(_ path: PathBytes, _ system: any System) {
      guard let link = system.destination(ofLink: path.appending("subsystem")) else { return nil }
      self.path = path
      subsystem = link.lastComponent.description
    }

    func attribute(_ name: String, _ system: any System) -> String? {
      (try? system.line(of: path.appending(PathBytes(name))))?.description
    }

    /// The device and those above it that have a subsystem.
    func chain(_ system: any System) -> [Device] {
      var chain: [Device] = []
      var path = path
      while path.components.count > 2 {
        if let device = Device(path, system) { chain.append(device) }
        path = path.parent
      }
      return chain
    }

    /// The parent of the device: a USB device, or a place on another bus; nil for a virtual device.
    func holder(_ system: any System) -> Device? {
      chain(system).first { device in
        switch device.subsystem {
        case "usb": device.attribute("idVendor", system) != nil
        case "pci", "platform", "pnp", "acpi", "amba", "virtio": device.path != path
        default: false
        }
      }
    }

    /// The configuration and interface of a USB device: `1.0`.
    var interface: String? {
      for name in path.components.reversed() {
        let parts = name.description.parts(by: ":")
        if parts.count == 2, parts[0].contains("-"), parts[1].contains(".") {
          return String(parts[1])
        }
      }
      return nil
    }

    /// The name with its number left open: `ttyUSB[0-9]*`, `pcmC[0-9]*D0c`.
    var namePattern: String {
      var name = Substring(name)
      var rest = ""
      if subsystem == "sound", name.hasPrefix("pcmC"), let end = name.lastIndex(of: "D") {
        rest = String(name[end...])
        name = name[..<end]
      }
      let digits = name.utf8.reversed().prefix { (0x30...0x39).contains($0) }.count
      guard digits > 0 else { return UdevMatch.escaped(self.name) }
      return UdevMatch.escaped(String(name.dropLast(digits))) + "[0-9]*" + rest
    }

    /// Returns the keys that select one of several nodes of a device; empty if sysfs does not show
    /// them.
    func index(_ system: any System) -> [Key] {
      guard subsystem == "video4linux", let index = attribute("index", system) else { return [] }
      return [Key(name: "ATTR{index}", pattern: index)]
    }

    /// All devices of the subsystem.
    func siblings(_ system: any System) -> [Device] { Self.all(of: subsystem, system) }

    static func all(of subsystem: String, _ system: any System) -> [Device] {
      for folder in ["/sys/class/\(subsystem)", "/sys/bus/\(subsystem)/devices"] {
        let folder = PathBytes(folder)
        guard let names = try? system.names(in: folder) else { continue }
        return names.compactMap { Device(link: folder.appending($0), system) }
      }
      return []
    }

    /// The node below /dev, and its number; nil if there is none.
    func node(_ system: any System) -> (path: PathBytes, device: DeviceNumber)? {
      guard let lines = try? system.contents(of: path.appending("uevent"), limit: 1 << 16),
        let name = DeviceCatalog.nodeName(lines), let number = attribute("dev", system)
      else { return nil }
      let parts = number.parts(by: ":").compactMap { UInt32($0) }
      guard parts.count == 2 else { return nil }
      return (PathBytes("/dev").appending(name), DeviceNumber(major: parts[0], minor: parts[1]))
    }
  }
}
