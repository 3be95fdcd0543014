// Whether a driver serves the number of a device node.
extension FactsReader {
  /// Reads whether a driver has registered the number of a node.
  ///
  /// A registered number has an entry in /sys/dev, see device_add() of drivers/base/core.c. A driver can
  /// serve a number without one, as that of a pseudo-terminal.
  mutating func readDriver(of device: DeviceNumber, isBlock: Bool, _ index: Int) {
    if !isBlock, device == .kernelLog { facts.sysctls.readLog(system) }
    if !isBlock, device == .terminal { readTerminal() }
    let folder = isBlock ? "block" : "char"
    let entry = PathBytes("/sys/dev/\(folder)/\(device.major):\(device.minor)")
    switch system.look(at: entry, { () throws(Errno) in try system.status(of: entry) }) {
    case .found: return
    case .unseen(let unseen):
      if isBlock || !device.isServedByKernel { facts.inodes[index].driverError = unseen.errno }
    case .absent where isBlock: facts.inodes[index].hasNoListedDriver = true
    case .absent:
      switch isOfNVIDIA(device) {
      case .found(true): return
      case .unseen(let unseen): facts.inodes[index].driverError = unseen.errno
      case .found(false), .absent: readMissing(device, index)
      }
    }
  }

  /// Returns whether the driver of NVIDIA serves a number, none of which it registers in sysfs.
  ///
  /// /proc/devices names its majors. Of `nvidia` the minors below 254 are processors, each of which
  /// /proc/driver/nvidia/gpus/ADDRESS/information has them; 254 is modesetting, 255 is control. `nvidia-uvm`
  /// has 0 and, for its tools, 1.
  private func isOfNVIDIA(_ device: DeviceNumber) -> Look<Bool> {
    func words(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
      bytes.split(separator: UInt8(ascii: "\n")).map { line in
        line.split {
          $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ":")
        }
      }
    }
    func holds(_ word: ArraySlice<UInt8>, _ text: String) -> Bool { word.elementsEqual(text.utf8) }
    let major = String(device.major)
    let registered = system.look(at: "/proc/devices")
    guard case .found(let lines) = registered else { return registered.part(of: "") { _ in nil } }
    for line in words(lines) {
      if line.first.map({ holds($0, "Block") }) == true { break }
      guard line.count == 2, holds(line[0], major) else { continue }
      if holds(line[1], "nvidia-uvm") { return .found(device.minor <= 1) }
      guard ["nvidia", "nvidia-frontend", "nvidiactl"].contains(where: { holds(line[1], $0) })
      else { continue }
      if device.minor >= 254 { return .found(device.minor <= 255) }
      let (folder, minor): (PathBytes, String) = ("/proc/driver/nvidia/gpus", String(device.minor))
      let processors = system.look(at: folder) { () throws(Errno) in try system.names(in: folder) }
      for processor in processors.value ?? [] {
        let file = folder.appending(processor).appending("information")
        let information = system.look(at: file)
        if let unseen = information.unseen { return .unseen(unseen) }
        let isIts = words(information.value ?? []).contains {
          $0.count == 3 && holds($0[0], "Device") && holds($0[1], "Minor") && holds($0[2], minor)
        }
        if isIts { return .found(true) }
      }
      return processors.unseen.map { .unseen($0) } ?? .found(false)
    }
    return .found(false)
  }

  /// Reads what an open answers whose number no driver has registered.
  ///
  /// Without a driver, chrdev_open() in fs/char_dev.c answers ENXIO, unless one driver owns the whole
  /// major and answers itself.
  private mutating func readMissing(_ device: DeviceNumber, _ index: Int) {
    var family: DeviceFamily?
    for known in families where !known.numbers.isEmpty && known.mayHave(device) { family = known }
    // misc_open() in drivers/char/misc.c loads the module of a number that nobody has registered.
    guard let family, device.major != 10 else {
      facts.inodes[index].hasNoListedDriver = true
      return
    }
    facts.inodes[index].driverErrno = .ENXIO
    guard let dispatcher = family.dispatcher else { return }
    let marker = dispatcher.marker
    switch system.look(at: marker, { () throws(Errno) in try system.kind(of: marker) }) {
    case .found(.directory): facts.inodes[index].driverErrno = dispatcher.errno
    case .unseen(let unseen):
      facts.inodes[index].driverErrno = nil
      facts.inodes[index].driverError = unseen.errno
    case .found, .absent: break
    }
  }
}

extension DeviceNumber {
  /// Whether the kernel itself serves the character device, in every configuration.
  ///
  /// See Documentation/admin-guide/devices.txt of Linux: null, zero, full, random, urandom and kmsg of
  /// drivers/char/mem.c; tty; pseudo-terminals.
  fileprivate var isServedByKernel: Bool {
    switch (major, minor) {
    case (1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (1, 11), (5, 0), (136...143, _): true
    default: false
    }
  }
}
