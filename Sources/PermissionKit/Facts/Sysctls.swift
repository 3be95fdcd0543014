// The settings of the kernel that decide about paths, see proc(5).
extension AccessFacts.Sysctls {
  /// Reads the sysctls of links and sticky folders; what cannot be read is nil.
  init(_ system: any System) {
    self.init()
    readLinks(system)
  }

  /// Reads those of links and sticky folders again.
  mutating func readLinks(_ system: any System) {
    func value(_ name: String) -> Int? {
      Self.text("fs/\(name)", system).flatMap { Int($0.description) }
    }
    (protectedSymlinks, protectedRegular) = (
      value("protected_symlinks"), value("protected_regular")
    )
    (protectedFIFOs, protectedHardlinks) = (value("protected_fifos"), value("protected_hardlinks"))
  }

  /// Reads the sysctls of the log of the kernel; what cannot be read is nil.
  mutating func readLog(_ system: any System) {
    dmesgRestrict = Self.text("kernel/dmesg_restrict", system).flatMap { Int($0.description) }
    kernelLogIsOff = Self.text("kernel/printk_devkmsg", system).map { $0 == "off" }
  }

  private static func text(_ name: String, _ system: any System) -> PathBytes? {
    try? system.line(of: PathBytes("/proc/sys/\(name)"))
  }
}
