// What execve(2) looks at besides permissions: the beginning of programs, interpreters and loaders.
extension FactsReader {
  /// Reads the format of a program, and of each interpreter and loader that execve(2) opens for it.
  package mutating func readPrograms(from index: Int?) {
    var next = index
    defer { readOtherFormats() }
    for _ in 0...6 {
      guard let program = next, facts.inodes[program].kind == .regular else { return }
      readProgram(program)
      switch facts.inodes[program].program {
      case .script(let path): next = read(path)
      case .binary(let path?):
        if let loader = read(path), facts.inodes[loader].kind == .regular { readProgram(loader) }
        return
      default: return
      }
    }
  }

  private mutating func readProgram(_ index: Int) {
    if facts.inodes[index].program == nil { facts.inodes[index].program = programFormat(index) }
  }

  /// Reads whether binfmt_misc has an entry that may load what the kernel itself does not, or cannot be
  /// read.
  private mutating func readOtherFormats() {
    let isWanted = facts.inodes.contains {
      switch $0.program {
      case .other, .foreign: true
      default: false
      }
    }
    let folder: PathBytes = "/proc/sys/fs/binfmt_misc"
    guard isWanted, case .immediate = system.availability(of: folder) else { return }
    do throws(Errno) {
      let names = try system.names(in: folder, where: { $0 != "register" && $0 != "status" })
      facts.hasOtherFormats = !names.isEmpty
    } catch .ENOENT {
      // The kernel has no binfmt_misc.
    } catch {
      facts.hasOtherFormats = true
    }
  }

  /// The beginnings of a program in which its headers and the path of its loader are looked for: mostly in the first.
  private static let programLengths = [1 << 16, 1 << 24]

  private mutating func programFormat(_ index: Int) -> ProgramFormat {
    let folder = facts.inodes[index].parent
    let system = systems[facts.inodes[index].mount]
    guard let name = facts.name(of: index), let start = seen.inodes[folder].descriptor,
      !system.usesCallProcess
    else { return .unreadable(.EREMOTE) }
    do throws(Errno) {
      let found = try system.openat(start, name, [.path, .noFollow], mode: 0)
      defer { system.close(found) }
      let status = try system.statx(found)
      guard status.kind == .regular, InodeIdentity(status) == seen.inodes[index].identity else {
        return .unreadable(.ESTALE)
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
      return format
    } catch {
      return .unreadable(error)
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
