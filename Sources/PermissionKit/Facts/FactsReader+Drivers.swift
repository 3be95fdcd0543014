// Device nodes without a driver.
extension FactsReader {
  /// Returns whether a driver has registered the number of a node; nil if this cannot be read.
  ///
  /// A registered number has an entry in /sys/dev, see device_add() of drivers/base/core.c. A driver can
  /// serve a number without one, as that of a pseudo-terminal.
  func isListed(_ device: DeviceNumber, isBlock: Bool) -> Bool? {
    let folder = isBlock ? "block" : "char"
    do throws(Errno) {
      _ = try system.status(of: PathBytes("/sys/dev/\(folder)/\(device.major):\(device.minor)"))
      return true
    } catch .ENOENT {
      if !isBlock, isOfNVIDIA(device) { return true }
      // Without sysfs no device has an entry, so a missing entry proves nothing.
      return (try? system.status(of: "/sys/dev/char/1:3")) == nil ? nil : false
    } catch {
      return nil
    }
  }

  /// Returns whether the driver of NVIDIA serves a number, none of which it registers in sysfs.
  ///
  /// /proc/devices names its majors. Of `nvidia` the minors below 254 are processors, each of which
  /// /proc/driver/nvidia/gpus/ADDRESS/information tells; 254 is modesetting, 255 is control. `nvidia-uvm`
  /// has 0 and, for its tools, 1.
  private func isOfNVIDIA(_ device: DeviceNumber) -> Bool {
    func lines(_ path: PathBytes) -> [String] {
      let bytes = (try? system.contents(of: path)) ?? []
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    var names: [Substring] = []
    for line in lines("/proc/devices").prefix(while: { !$0.hasPrefix("Block") }) {
      let fields = line.split(separator: " ")
      if fields.count == 2, UInt32(fields[0]) == device.major { names.append(fields[1]) }
    }
    if names.contains("nvidia-uvm") { return device.minor <= 1 }
    guard names.contains(where: { ["nvidia", "nvidia-frontend", "nvidiactl"].contains($0) })
    else { return false }
    if device.minor >= 254 { return device.minor <= 255 }
    let folder: PathBytes = "/proc/driver/nvidia/gpus"
    for processor in (try? system.names(in: folder)) ?? [] {
      for line in lines(folder.appending(processor).appending("information")) {
        let fields = line.split { $0 == ":" || $0 == " " || $0 == "\t" }
        if fields.count == 3, fields[0] == "Device", fields[1] == "Minor",
          UInt32(fields[2]) == device.minor
        {
          return true
        }
      }
    }
    return false
  }

  /// Returns the errno of an open of a character device whose number no driver has registered.
  ///
  /// Without a driver, chrdev_open() in fs/char_dev.c answers ENXIO, unless one driver owns the whole
  /// major and answers itself. Nil if no family has such numbers.
  func errnoOfMissing(_ device: DeviceNumber) -> Errno? {
    // misc_open() in drivers/char/misc.c loads the module of a number that nobody has registered.
    if device.major == 10 { return nil }
    var family: DeviceFamily?
    for known in families where !known.numbers.isEmpty && known.mayHave(device) { family = known }
    guard let family else { return nil }
    guard let dispatcher = family.dispatcher,
      (try? system.kind(of: dispatcher.marker)) == .directory
    else { return .ENXIO }
    return dispatcher.errno
  }
}
