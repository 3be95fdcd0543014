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
      // Without sysfs no device has an entry, so a missing entry proves nothing.
      return (try? system.status(of: "/sys/dev/char/1:3")) == nil ? nil : false
    } catch {
      return nil
    }
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
