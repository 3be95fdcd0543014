/// What /proc/PID/stat says of one process, see proc_pid_stat(5).
package struct ProcStat: Hashable, Sendable {
  /// Field 3, one letter: running, sleeping, or Z for a process that ended and was not waited for.
  package let state: String
  /// Field 22: when the process started, in clock ticks after the start of the system.
  package let start: UInt64

  /// Reads the file; nil if it is not of that form.
  package init?(_ bytes: [UInt8]) {
    // Field 2 is the name in parentheses, which may hold anything.
    guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, let start = UInt64(String(decoding: fields[19], as: UTF8.self)) else {
      return nil
    }
    state = String(decoding: fields[0], as: UTF8.self)
    self.start = start
  }
}

/// A process, told from a later one of the same number.
package struct ProcessMark: Hashable, Sendable {
  /// The process id.
  package var pid: Int32
  /// When the process started, in clock ticks after the start of the system.
  package var start: UInt64
}

extension System {
  /// Returns what /proc/PID/stat says; nil if there is no such process or /proc does not show it.
  package func stat(ofProcess pid: Int32) -> ProcStat? {
    (try? contents(of: PathBytes("/proc/\(pid)/stat"))).flatMap { ProcStat($0) }
  }

  /// Returns a mark of a running process; nil if /proc shows none, or one that has ended and whose
  /// parent has not asked for its status yet.
  package func mark(of pid: Int32) -> ProcessMark? {
    guard let stat = stat(ofProcess: pid), !["Z", "X"].contains(stat.state) else { return nil }
    return ProcessMark(pid: pid, start: stat.start)
  }
}
