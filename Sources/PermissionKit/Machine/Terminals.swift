/// Serial ports that somebody uses as a terminal: whoever can write there types into a session of another
/// user, and whoever can read sees the password.
///
/// - SeeAlso: proc(5) for /proc/consoles, drivers/tty/tty_io.c for `active`, proc_pid_stat(5) for tty_nr
package struct Terminals {
  private let system: any System
  /// The ports of the mainboard, ttyS0 and so on, which a console mostly is.
  package static let builtInPorts = DeviceFamily.Numbers(major: 4, minors: 64...255)

  package init(_ system: any System) { self.system = system }

  /// Returns why an ordinary user must not be given a node; nil if nobody uses it as a terminal.
  ///
  /// - Returns: The reason, for people.
  package func reasonNotToGive(_ number: DeviceNumber, uid: UInt32, gid: UInt32) -> String? {
    guard isTerminal(number) else { return nil }
    switch isConsole(number) {
    case .found(true): return "it is a console of the system"
    case .unseen(let unseen): return "it may be a console of the system: \(unseen) cannot be read"
    case .found(false), .absent: break
    }
    // login(1) and getty(8) give a terminal to its user, or to the group tty.
    if uid != 0 { return "it belongs to a user, as a terminal after a login does" }
    do throws(Errno) {
      if gid != 0, try system.group(named: "tty")?.gid == gid {
        return "it belongs to the group tty, as a terminal does"
      }
    } catch {
      return
        "it may belong to the group tty, as a terminal does: groups cannot be looked up (\(error))"
    }
    switch session(on: number) {
    case .found(let process?): return "it is the terminal of a session (process \(process))"
    case .unseen(let unseen): return "it may be the terminal of a session: \(unseen) cannot be read"
    case .found(nil), .absent: return nil
    }
  }

  /// Whether the device belongs to the subsystem tty; where sysfs does not show it, by the majors of
  /// Documentation/admin-guide/devices.txt of Linux.
  private func isTerminal(_ number: DeviceNumber) -> Bool {
    let entry = PathBytes("/sys/dev/char/\(number.major):\(number.minor)/subsystem")
    if let subsystem = system.destination(ofLink: entry) { return subsystem.lastComponent == "tty" }
    return [4, 5, 166, 188, 204].contains(number.major) || (136...143).contains(number.major)
  }

  /// Whether the node is a console: the kernel prints its messages there, and init and the
  /// emergency shell use it.
  private func isConsole(_ number: DeviceNumber) -> Look<Bool> {
    // console, tty, ptmx, and the foreground virtual terminal.
    if number.major == 5 || number.major == 4 && number.minor < 64 { return .found(true) }
    let wanted = "\(number.major):\(number.minor)"
    let list = system.look(at: "/proc/consoles")
    if let unseen = list.unseen { return .unseen(unseen) }
    let words = String(decoding: list.value ?? [], as: UTF8.self).parts(byAny: " \n")
    if words.contains(where: { $0 == wanted }) { return .found(true) }
    let active = system.look(atLineOf: "/sys/class/tty/console/active")
    if let unseen = active.unseen { return .unseen(unseen) }
    for name in (active.value?.description ?? "").parts(by: " ") {
      let dev = system.look(atLineOf: PathBytes("/sys/class/tty/\(name)/dev"))
      if let unseen = dev.unseen { return .unseen(unseen) }
      if dev.value == PathBytes(wanted) { return .found(true) }
    }
    return .found(false)
  }

  /// Returns a process that has the device as its controlling terminal; nil if none has.
  private func session(on number: DeviceNumber) -> Look<Int32?> {
    // A process that ends meanwhile has no terminal.
    system.look(at: "/proc") { () throws(Errno) in try system.names(in: "/proc") }.part(of: "/proc")
    {
      $0.lazy.compactMap { Int32($0.description) }.first { process in
        system.stat(ofProcess: process)?.terminal == number
      }
    }
  }
}
