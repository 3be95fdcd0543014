/// The credentials of a process in /proc/PID/status, see proc_pid_status(5).
package struct ProcStatus: Hashable, Sendable {
  /// The ids, groups and capabilities, in the view of the reader.
  package var credentials: Credentials
  /// CapBnd: the limit of the capabilities that execve(2) can give; nil if not shown.
  package var bounding: CapabilitySet?
  /// NoNewPrivs: the process can gain no privileges by execve(2).
  package var noNewPrivileges: Bool
  /// Seccomp: 0 none, 1 strict, 2 filter.
  package var seccomp: Int
  /// Name: the first 15 bytes of the program's name, unless the program changed it.
  package var name: String
  /// PPid: the parent process; nil if not shown.
  package var parent: Int32?
  /// Umask: the bits that new files do not get, 0 to 0777; nil if not shown.
  package var umask: UInt16?

  /// Creates the fields from the whole file; nil if a required line is missing or malformed.
  package init?(_ bytes: [UInt8]) {
    // A name may end in CR, and holds no LF: proc_task_name() of fs/proc/array.c.
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    func words(_ name: String) -> [Substring]? {
      guard let line = lines.first(where: { $0.starts(with: name.utf8) }) else { return nil }
      return String(decoding: line.dropFirst(name.utf8.count), as: UTF8.self).parts(byAny: "\t ")
    }
    func ids(_ name: String) -> Credentials.IDs? {
      // Real, effective, saved, file system.
      let numbers = (words(name) ?? []).compactMap { UInt32($0) }
      guard numbers.count == 4 else { return nil }
      return Credentials.IDs(real: numbers[0], effective: numbers[1], fileSystem: numbers[3])
    }
    func capabilities(_ name: String) -> CapabilitySet? {
      guard let text = words(name)?.first, let bits = UInt64(text, radix: 16) else { return nil }
      return CapabilitySet(rawValue: bits)
    }
    guard let user = ids("Uid:"), let group = ids("Gid:"), let names = words("Groups:"),
      let effective = capabilities("CapEff:"), let permitted = capabilities("CapPrm:")
    else { return nil }
    let groups = names.compactMap { UInt32($0) }
    guard groups.count == names.count else { return nil }
    credentials = Credentials(
      user: user, group: group, groups: groups, effective: effective, permitted: permitted)
    bounding = capabilities("CapBnd:")
    noNewPrivileges = words("NoNewPrivs:")?.first == "1"
    seccomp = words("Seccomp:")?.first.flatMap { Int($0) } ?? 0
    name = (words("Name:") ?? []).joined(separator: " ")
    parent = words("PPid:")?.first.flatMap { Int32($0) }
    umask = words("Umask:")?.first.flatMap { UInt16($0, radix: 8) }
  }
}

extension System {
  /// Returns the fields of /proc/PID/status; nil if there is no such process or /proc hides it.
  ///
  /// - Parameter pid: The process; nil for the calling process, by /proc/self.
  /// - Returns: The fields of the file.
  func status(ofProcess pid: Int32?) -> ProcStatus? {
    let name = pid.map(String.init) ?? "self"
    return (try? contents(of: PathBytes("/proc/\(name)/status"))).flatMap { ProcStatus($0) }
  }
}
