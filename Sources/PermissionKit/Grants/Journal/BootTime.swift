/// A moment that no change of the wall clock moves: CLOCK_BOOTTIME of one boot, see clock_gettime(2).
package struct BootTime: Hashable, Sendable {
  /// The id of the boot, /proc/sys/kernel/random/boot_id.
  var boot: String
  /// The microseconds since the boot, in which the machine may have slept.
  var time: Int64

  init(boot: String, time: Int64) { (self.boot, self.time) = (boot, time) }

  /// Creates the present moment; nil without the id of the boot.
  init?(_ system: any System) {
    guard let boot = InodeAnchor.boot(system) else { return nil }
    self.init(boot: boot, time: system.boottime())
  }

  /// Returns whether the moment has come; false in another boot.
  func hasCome(_ system: any System) -> Bool {
    time <= system.boottime() && boot == InodeAnchor.boot(system)
  }
}

extension GivenEntry {
  /// Returns `since` by the wall clock as it is set now, in nanoseconds since 1970.
  ///
  /// Files that are made after the clock was set back are older by it than the lease.
  func start(_ system: any System) -> Int64 {
    let now = system.realtime()
    // Nothing is made in the future, so every file may be younger.
    if since > now * 1_000 { return .min }
    guard let at, let present = BootTime(system), present.boot == at.boot else { return since }
    // A clock of another time namespace, see time_namespaces(7).
    if at.time > present.time { return .min }
    let shift = (now - present.time) * 1_000 - (since - at.time * 1_000)
    // The clock is corrected by a little all the time.
    return shift < -100_000_000 ? since + shift : since
  }
}
