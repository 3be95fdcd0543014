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
    /// The words of each line of a file.
    func words(_ path: PathBytes) -> [[ArraySlice<UInt8>]] {
      let bytes = (try? system.contents(of: path)) ?? []
      return bytes.split(separator: UInt8(ascii: "\n")).map { line in
        line.split {
          $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ":")
        }
      }
    }
    func holds(_ word: ArraySlice<UInt8>, _ text: String) -> Bool { word.elementsEqual(text.utf8) }
    let major = String(device.major)
    for line in words("/proc/devices") {
      if line.first.map({ holds($0, "Block") }) == true { break }
      guard line.count == 2, holds(line[0], major) else { continue }
      if holds(line[1], "nvidia-uvm") { return device.minor <= 1 }
      guard ["nvidia", "nvidia-frontend", "nvidiactl"].contains(where: { holds(line[1], $0) })
      else { continue }
      if device.minor >= 254 { return device.minor <= 255 }
      let (folder, minor): (PathBytes, String) = ("/proc/driver/nvidia/gpus", String(device.minor))
      let processors = (try? system.names(in: folder)) ?? []
      return processors.contains { processor in
        words(folder.appending(processor).appending("information")).contains {
          $0.count == 3 && holds($0[0], "Device") && holds($0[1], "Minor") && holds($0[2], minor)
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
