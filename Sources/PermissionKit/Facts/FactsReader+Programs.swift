// What execve(2) looks at besides permissions: the beginning of programs, interpreters and loaders.
extension FactsReader {
  /// Reads the format of a program, and of each interpreter and loader that execve(2) opens for it.
  ///
  /// - Parameters:
  ///   - index: The program; nil if it was not reached.
  ///   - path: The path by which it is executed.
  package mutating func readPrograms(from index: Int?, named path: PathBytes) {
    guard let index, facts.inodes[index].kind == .regular else { return }
    let registered = registeredFormats()
    var (program, path) = (index, path)
    for _ in 0...6 {
      readProgram(program, path, registered)
      switch facts.inodes[program].program {
      case .script(let interpreter), .registered(let interpreter):
        guard let next = read(interpreter), facts.inodes[next].kind == .regular else { return }
        (program, path) = (next, interpreter)
      case .binary(let path?):
        if let loader = read(path), facts.inodes[loader].kind == .regular,
          facts.inodes[loader].program == nil
        {
          facts.inodes[loader].program = programFormat(loader).format
        }
        return
      default: return
      }
    }
  }

  private mutating func readProgram(
    _ index: Int, _ path: PathBytes, _ registered: [RegisteredFormat]?
  ) {
    if facts.inodes[index].program != nil { return }
    let (own, head) = programFormat(index)
    var format = own
    if let registered {
      if let entry = registered.first(where: { head != nil && $0.matches(head ?? [], path) }) {
        // What was opened when the entry was made need not be at the path any more.
        format = entry.isOpen ? .foreign(nil) : .registered(entry.interpreter)
      }
    } else {
      switch own {
      case .foreign: format = .foreign(nil)
      case .other where head?.contains(where: { $0 < 9 || $0 > 126 }) == true:
        format = .foreign(nil)
      default: break
      }
    }
    facts.inodes[index].program = format
  }

  /// Returns the entries of binfmt_misc in the order in which the kernel asks them; nil if they cannot be seen.
  ///
  /// Each user namespace has entries of its own since Linux 6.7.
  private func registeredFormats() -> [RegisteredFormat]? {
    if !prefix.bytes.isEmpty,
      system.destination(ofLink: prefix.parent.appending("ns/user"))
        != system.destination(ofLink: "/proc/self/ns/user")
    {
      return nil
    }
    let path: PathBytes = "/proc/sys/fs/binfmt_misc"
    // systemd mounts it when somebody looks.
    guard case .immediate = system.availability(of: path) else { return nil }
    do throws(Errno) {
      let folder = try system.openat(.currentDirectory, path, [.readOnly, .directory], mode: 0)
      defer { system.close(folder) }
      // BINFMTFS_MAGIC of linux/magic.h: the folder alone says nothing.
      guard try system.fstatfs(folder).type == 0x4249_4e4d else { return nil }
      func text(_ name: PathBytes) throws(Errno) -> [UInt8] {
        try system.contents(of: path.appending(name), limit: 1 << 14)
      }
      guard try text("status").starts(with: "enabled".utf8) else { return [] }
      var formats: [RegisteredFormat] = []
      for name in try system.getdents(folder) where name != "register" && name != "status" {
        if let format = RegisteredFormat(try text(name)) { formats.append(format) }
      }
      return formats
    } catch {
      // ENOENT: the kernel has no binfmt_misc.
      return error == .ENOENT ? [] : nil
    }
  }

  /// The beginnings of a program in which its headers and the path of its loader are looked for: mostly in the first.
  private static let programLengths = [1 << 16, 1 << 24]

  /// Opens a program with O_PATH: by its name in its folder, or as a link of /proc led to it.
  private func openProgram(_ index: Int, _ system: any System) throws(Errno) -> Descriptor {
    if system.usesCallProcess { throw .EREMOTE }
    if let known = seen.inodes[index].descriptor { return known }
    guard let name = facts.name(of: index),
      let start = seen.inodes[facts.inodes[index].parent].descriptor
    else { throw .EREMOTE }
    return try system.openat(start, name, [.path, .noFollow], mode: 0)
  }

  /// Returns the format that the kernel itself sees, and the first bytes; nil if they cannot be read.
  private mutating func programFormat(_ index: Int) -> (format: ProgramFormat, head: [UInt8]?) {
    let system = systems[facts.inodes[index].mount]
    do throws(Errno) {
      let found = try openProgram(index, system)
      defer { if found != seen.inodes[index].descriptor { system.close(found) } }
      let status = try system.statx(found)
      guard status.kind == .regular, InodeIdentity(status) == seen.inodes[index].identity else {
        return (.unreadable(.ESTALE), nil)
      }
      let file = try system.openat(
        .currentDirectory, found.link, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
      defer { system.close(file) }
      var bytes: [UInt8] = []
      var format = ProgramFormat.unreadable(.EFBIG)
      for length in Self.programLengths where format == .unreadable(.EFBIG) {
        while bytes.count < length {
          let part = try system.read(file, length - bytes.count)
          if part.isEmpty { break }
          bytes += part
        }
        format = ProgramFormat(bytes, isWhole: bytes.count < length, machine: Self.machine)
      }
      facts.inodes[index].isShorterThanHeader = bytes.count < ProgramFormat.headerLength
      return (format, Array(bytes.prefix(ProgramFormat.headLength)))
    } catch {
      return (.unreadable(error), nil)
    }
  }

  /// The e_machine of programs of this machine: include/uapi/linux/elf-em.h.
  private static let machine: UInt16? = {
    #if arch(x86_64)
      62
    #elseif arch(arm64)
      183
    #else
      nil
    #endif
  }()
}
