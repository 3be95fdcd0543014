/// The format of a program, as far as execve(2) looks at it before the program runs.
package enum ProgramFormat: Hashable, Sendable {
  /// A format that an entry of binfmt_misc loads by the program of this path.
  case registered(PathBytes)
  /// `#!` and the path of an interpreter, with an argument or none: load_script() of fs/binfmt_script.c.
  case script(PathBytes)
  /// An ELF program of this machine, with the path of its loader (PT_INTERP): load_elf_binary() of fs/binfmt_elf.c.
  case binary(loader: PathBytes?)
  /// An ELF program of this machine whose loader cannot be read: EIO because the file ends before, EINVAL because no file
  /// goes so far.
  case cut(Errno)
  /// A format that the kernel itself does not load (ENOEXEC).
  case other
  /// An ELF program of another machine, by its e_machine; nil if this machine's own is not known, or if binfmt_misc
  /// may load the file.
  case foreign(UInt16?)
  /// The contents that could not be read.
  case unreadable(Errno)

  /// The length of the header of an ELF file of 64 bits.
  static let headerLength = 64
  /// The number of bytes that the kernel reads, BINPRM_BUF_SIZE.
  static let headLength = 256

  /// Reads the format from the beginning of a file.
  ///
  /// - Parameters:
  ///   - bytes: The beginning, in which the program headers and the path of the loader are expected.
  ///   - isWhole: Whether these are all bytes of the file.
  ///   - machine: The e_machine of this machine's programs; nil if it is not known.
  package init(_ bytes: [UInt8], isWhole: Bool, machine: UInt16?) {
    if bytes.starts(with: [0x23, 0x21]), let interpreter = Self.interpreter(bytes) {
      self = .script(interpreter)
    } else {
      self = Self.elf(bytes, isWhole, machine)
    }
  }

  /// Mirrors load_script(): nil for ENOEXEC.
  private static func interpreter(_ bytes: [UInt8]) -> PathBytes? {
    // The kernel's buffer has zeros behind a shorter file.
    var head = Array(bytes.prefix(headLength))
    head += [UInt8](repeating: 0, count: headLength - head.count)
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    func isEnd(_ byte: UInt8) -> Bool { isBlank(byte) || byte == 0 }
    let last = headLength - 1
    let end: Int
    // strnchr() ends at a zero.
    let text = head.firstIndex(of: 0) ?? headLength
    if let newline = head[..<text].firstIndex(of: 0x0a) {
      end = newline
    } else {
      guard let start = head[2...last].firstIndex(where: { !isBlank($0) }),
        head[start...last].contains(where: isEnd)
      else { return nil }
      end = last
    }
    guard let start = head[2..<max(end, 2)].firstIndex(where: { !isBlank($0) }) else { return nil }
    let stop = head[start..<end].firstIndex(where: isEnd) ?? end
    // An empty path is the working directory here.
    return stop > start ? PathBytes(Array(head[start..<stop])) : "."
  }

  /// Mirrors load_elf_binary() and load_elf_phdrs().
  private static func elf(_ bytes: [UInt8], _ isWhole: Bool, _ machine: UInt16?) -> Self {
    guard bytes.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else { return .other }
    func number(_ at: Int, _ size: Int) -> Int? {
      guard at >= 0, at <= bytes.count, size <= bytes.count - at else { return nil }
      return bytes[at..<(at + size)].reversed().reduce(0) { $0 &<< 8 | Int($1) }
    }
    // The kernel's buffer has zeros behind a shorter file.
    func field(_ at: Int, _ size: Int) -> Int { number(at, size) ?? 0 }
    guard let machine else { return .foreign(nil) }
    guard field(18, 2) == Int(machine) else {
      return .foreign(UInt16(field(18, 2)))
    }
    let (table, size, count) = (field(32, 8), field(54, 2), field(56, 2))
    guard field(16, 2) == 2 || field(16, 2) == 3, size == 56, (1...1170).contains(count),
      table >= 0
    else { return .other }
    guard table <= bytes.count, count * size <= bytes.count - table else {
      return isWhole ? .other : .unreadable(.EFBIG)
    }
    for entry in 0..<count {
      let at = table + entry * size
      guard field(at, 4) == 3 else { continue }
      let (offset, length) = (field(at + 8, 8), field(at + 32, 8))
      guard (2...4096).contains(length) else { return .other }
      // loff_t is signed: rw_verify_area().
      if offset < 0 { return .cut(.EINVAL) }
      guard offset <= bytes.count, length <= bytes.count - offset else {
        return isWhole ? .cut(.EIO) : .unreadable(.EFBIG)
      }
      let path = bytes[offset..<(offset + length)]
      guard path.last == 0 else { return .other }
      return .binary(loader: PathBytes(Array(path.prefix { $0 != 0 })))
    }
    return .binary(loader: nil)
  }
}

// The files that execve(2) opens besides the program: the interpreter of a script, the loader of a binary.
extension KernelCall {
  /// The most interpreters of each other: exec_binprm() of fs/exec.c.
  private static let mostInterpreters = 5

  /// Mirrors bprm_execve() and exec_binprm() of fs/exec.c.
  mutating func execute() throws(Stop) -> Rule {
    let rule = try open(.readOnly, executes: true)
    let program = current
    var depth = 0
    while true {
      switch inodes[current].program {
      case nil, .binary(loader: nil):
        current = program
        return rule
      case .binary(let loader?):
        _ = try open(next: loader)
        try load(current)
        current = program
        return rule
      case .script(let interpreter):
        _ = try open(next: interpreter)
        depth += 1
        if depth > Self.mostInterpreters {
          throw refuse(.ELOOP, .manyInterpreters, current)
        }
      // A 32-bit program of Intel or ARM runs where the kernel was built for it.
      case .foreign(nil), .foreign(3), .foreign(40): throw undetermined(.otherFormats, current)
      case .registered(let interpreter):
        _ = try open(next: interpreter)
        depth += 1
        if depth > Self.mostInterpreters { throw refuse(.ELOOP, .manyInterpreters, current) }
      case .other, .foreign:
        throw refuse(.ENOEXEC, .noFormat, current)
      case .cut(let errno): throw refuse(errno, .noFormat, current)
      case .unreadable: throw undetermined(.unreadable, current)
      }
    }
  }

  /// Mirrors the tests of a loader in load_elf_binary() of fs/binfmt_elf.c.
  private func load(_ loader: Int) throws(Stop) {
    switch inodes[loader].program {
    case .binary, .cut, nil: break
    // It was asked about as a program, too.
    case .registered: throw undetermined(.otherFormats, loader)
    case .other where inodes[loader].isShorterThanHeader,
      .foreign where inodes[loader].isShorterThanHeader,
      .script where inodes[loader].isShorterThanHeader:
      throw refuse(.EIO, .noFormat, loader)
    case .other, .foreign, .script: throw refuse(.ELIBBAD, .noFormat, loader)
    case .unreadable: throw undetermined(.unreadable, loader)
    }
  }

  /// Mirrors open_exec() of fs/exec.c, to which an empty path is the working directory.
  private mutating func open(next named: PathBytes) throws(Stop) -> Rule {
    let path = named.isEmpty ? "." : named
    steps?.append(WalkStep(event: .next(path, of: current)))
    (self.path, source, links, suspended) = (path, Self.questionPath, 0, [])
    return try open(.readOnly, executes: true)
  }
}
