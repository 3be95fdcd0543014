@_spi(SystemCalls) package import PermissionKit

/// Finds executable accessors: programs of the name `permcheck-accessor-NAME` in the folders of PATH.
package enum ExecutableSearch {
  /// The prefix of the names of the programs.
  package static let prefix = "permcheck-accessor-"

  /// The variables that a program gets, if they are set.
  private static let variables = [
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ",
    "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY", "DISPLAY",
  ]

  /// The environment of a program.
  ///
  /// If this process has more rights than another user, it contains nothing that the other could
  /// have set.
  static func environment(_ system: any System) -> [PathBytes] {
    guard isPrivileged(system) == false else {
      return ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    }
    let found = variables.compactMap { name in
      system.getenv(name).map { PathBytes(Array("\(name)=".utf8) + $0.bytes) }
    }
    return found.isEmpty ? ["PATH=/usr/bin:/bin"] : found
  }

  /// Whether a word can be the name of an executable accessor.
  ///
  /// A lower-case letter, then at most 31 lower-case letters, digits and hyphens.
  package static func isName(_ word: String) -> Bool {
    let bytes = Array(word.utf8)
    guard let first = bytes.first, bytes.count <= 32, isLetter(first) else { return false }
    return bytes.allSatisfy {
      isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        || $0 == UInt8(ascii: "-")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }

  /// The folders of PATH that do not depend on the working directory.
  private static func folders(_ system: any System) -> [PathBytes] {
    let path = system.getenv("PATH")?.bytes ?? Array("/usr/local/bin:/usr/bin:/bin".utf8)
    return path.split(separator: UInt8(ascii: ":")).map { PathBytes(Array($0)) }.filter(
      \.isAbsolute)
  }

  /// Returns the program of an accessor; nil if there is none.
  package static func program(_ name: String, _ system: any System) -> PathBytes? {
    guard isName(name) else { return nil }
    return folders(system).lazy.map { $0.appending(PathBytes(prefix + name)) }
      .first { isProgram($0, system) }
  }

  /// Returns the names of all executable accessors, in the order of PATH.
  package static func names(_ system: any System) -> [String] {
    var names: [String] = []
    for folder in folders(system) where system.availability(of: folder) == .immediate {
      let reader =
        system.isWritableOnlyByRoot(folder, .directory)
        ? system : system.door(toOwn: folder.appending("program"))
      for entry in (try? reader.names(in: folder)) ?? [] {
        guard entry.bytes.starts(with: prefix.utf8) else { continue }
        let name = PathBytes(Array(entry.bytes.dropFirst(prefix.utf8.count))).description
        if isName(name), !names.contains(name), isProgram(folder.appending(entry), system) {
          names.append(name)
        }
      }
    }
    return names
  }

  private static func isProgram(_ path: PathBytes, _ system: any System) -> Bool {
    guard let examiner = system.examiner(of: path), (try? examiner.kind(of: path)) == .regular
    else {
      return false
    }
    return (try? examiner.faccessat2(path, .execute)) != nil
  }

  /// Whether this process has more rights than the user who started it, or is root; nil if unknown.
  private static func isPrivileged(_ system: any System) -> Bool? {
    if LinuxSystem.hasForeignCaller { return true }
    guard let own = try? system.credentials() else { return nil }
    return own.isRoot || own.user.real != own.user.effective
      || own.group.real != own.group.effective || !own.effective.isEmpty
  }

  /// Returns why a program must not be run; nil if it may be.
  ///
  /// A process with more rights than another user runs nothing that the other could have written:
  /// as root, or with capabilities, the program and every folder on the path must belong to root,
  /// and nobody else may write to them.
  package static func refusal(of program: PathBytes, _ system: any System) -> String? {
    guard let isPrivileged = isPrivileged(system) else {
      return "the credentials of this process cannot be read"
    }
    guard isPrivileged else { return nil }
    guard let facts = try? FactsReader.facts(of: [program], system, isSubject: true) else {
      return "its folders cannot be read"
    }
    // Every inode on the way, and those of links.
    for index in facts.inodes.indices {
      let inode = facts.inodes[index]
      if inode.kind == .symbolicLink, inode.uid == 0 { continue }
      let path = facts.path(of: index)
      if inode.uid != 0 { return "\(path) does not belong to root" }
      // With an ACL, the group bits are its mask.
      if inode.mode & 0o022 != 0 {
        return "users other than root may write to \(path)"
      }
    }
    return nil
  }
}
