// What belongs to the process that is asked about: its folder in /proc, and its terminal.
extension FactsReader {
  /// Returns the number of the process whose paths are read in a folder of proc, which may be of another pid namespace.
  func numberOfProcess(in folder: Descriptor) -> PathBytes? {
    guard let process, let own = system.stat(ofProcess: process),
      let status = try? system.contents(of: PathBytes("/proc/\(process)/status"))
    else { return nil }
    let line = status.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "NSpid:".utf8) }
    let numbers = line?.split(whereSeparator: { $0 == 9 || $0 == 0x20 }).dropFirst() ?? []
    return numbers.map { PathBytes(Array($0)) }.first { number in
      guard
        let file = try? system.openat(folder, number.appending("stat"), [.readOnly], mode: 0)
      else { return false }
      defer { system.close(file) }
      return (try? system.read(file, 1 << 12)).flatMap { ProcStat($0) }?.start == own.start
    }
  }

  /// Whether a link is in the folder of that process.
  mutating func isOfOwnFolder(_ link: Int) -> Bool {
    if process == nil { return false }
    var (child, folder) = (link, facts.inodes[link].parent)
    while folder != child, facts.mounts[facts.inodes[folder].mount].fileSystem == "proc" {
      (child, folder) = (folder, facts.inodes[folder].parent)
      guard let name = facts.name(of: child), let descriptor = seen.inodes[folder].descriptor,
        name.bytes.allSatisfy({ (0x30...0x39).contains($0) })
      else { continue }
      let mount = facts.inodes[child].mount
      if ownFolders.contains(where: { $0.mount == mount && $0.name == name }) { return true }
      if numberOfProcess(in: descriptor) == name {
        ownFolders.append((mount, name))
        return true
      }
    }
    return false
  }

  /// Reads whether the subject, if it is a process, has a controlling terminal, which /dev/tty stands for.
  mutating func readTerminal() {
    let process = process ?? (facts.readerIsSubject ? system.getpid() : nil)
    facts.hasTerminal = process.flatMap { system.stat(ofProcess: $0) }.map {
      $0.terminal.major != 0
    }
  }
}
