/// The fields of /proc/PID/stat that this library uses, see proc_pid_stat(5).
package struct ProcStat: Hashable, Sendable {
  /// Field 3, one letter: R if running, S if sleeping, Z if ended and not yet waited for.
  package let state: String
  /// Field 7: the controlling terminal; 0:0 for none.
  package let terminal: DeviceNumber
  /// Field 22: the start of the process, in clock ticks after the start of the system.
  package let start: UInt64

  /// Creates the fields from the whole file; nil if the file is malformed.
  package init?(_ bytes: [UInt8]) {
    // Field 2 is the name in parentheses, which can contain any character.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = UInt64(String(decoding: fields[19], as: UTF8.self)),
      let terminal = Int32(String(decoding: fields[4], as: UTF8.self))
    else { return nil }
    // new_encode_dev() of include/linux/kdev_t.h.
    let number = UInt32(bitPattern: terminal)
    self.terminal = DeviceNumber(
      major: number >> 8 & 0xfff, minor: number & 0xff | number >> 12 & 0xfff00)
    state = String(decoding: fields[0], as: UTF8.self)
    self.start = start
  }
}

/// A process id with its start time, which distinguishes it from a later process with the same id.
package struct ProcessMark: Hashable, Sendable {
  /// The process id.
  package var pid: Int32
  /// The start of the process, in clock ticks after the start of the system.
  package var start: UInt64
}

extension System {
  /// Returns the fields of /proc/PID/stat; nil if there is no such process or /proc hides it.
  package func stat(ofProcess pid: Int32) -> ProcStat? {
    (try? contents(of: PathBytes("/proc/\(pid)/stat"))).flatMap { ProcStat($0) }
  }

  /// Returns the mark of a running process; nil if the process has ended or /proc hides it.
  ///
  /// A process has ended even if its parent has not waited for it yet.
  package func mark(of pid: Int32) -> ProcessMark? {
    guard let stat = stat(ofProcess: pid), !["Z", "X"].contains(stat.state) else { return nil }
    return ProcessMark(pid: pid, start: stat.start)
  }

  /// Returns whether a process still runs; true also if /proc hides it, or is not there.
  package func mayRun(_ process: ProcessMark) -> Bool {
    if let found = mark(of: process.pid) { return found == process }
    if mark(of: getpid()) == nil { return true }
    // With hidepid=, /proc shows an ordinary user no processes of others; see proc(5), kill(2).
    do throws(Errno) {
      try kill(process.pid, 0)
      return false
    } catch {
      return error == .EPERM
    }
  }
}
