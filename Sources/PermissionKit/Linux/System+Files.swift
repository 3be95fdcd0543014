extension System {
  /// Returns the path from the root directory, without `.`; nil for a relative one in a working directory that has no path.
  package func absolute(_ path: PathBytes) -> PathBytes? {
    if path.isAbsolute, !path.components.contains(".") { return path }
    guard let folder = path.isAbsolute ? "/" : try? getcwd() else { return nil }
    return path.components.filter { $0 != "." }.reduce(folder) { $0.appending($1) }
  }
}

extension System {
  /// Whether this process acts as root; false if its credentials cannot be read.
  package var isRoot: Bool { (try? credentials())?.isRoot == true }

  /// The way to root in the shell that started this process.
  ///
  /// Root by sudo or doas came from a shell of somebody else's.
  package var rootWay: RootWay {
    if isRoot, getenv("SUDO_USER") == nil, getenv("DOAS_USER") == nil { return .none }
    let folders = (getenv("PATH")?.bytes ?? []).split(separator: UInt8(ascii: ":"))
      .map { PathBytes(Array($0)) }.filter(\.isAbsolute)
    func isThere(_ name: PathBytes) -> Bool {
      folders.contains { (try? faccessat2($0.appending(name), .execute)) != nil }
    }
    return isThere("sudo") ? .sudo : isThere("doas") ? .doas : .su
  }

  /// Returns the whole contents of a regular file of at most `limit` bytes, and opens nothing else;
  /// /dev/null is empty.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - limit: The most bytes that the file can have.
  /// - Returns: The bytes.
  /// - Throws: EFBIG if the file has more than `limit` bytes; EINVAL if it is not regular; else the errno of
  ///   the open or read.
  public func contents(
    of path: PathBytes, limit: Int = 1 << 20
  ) throws(Errno) -> [UInt8] {
    try contents(of: path, limit: limit, within: nil)
  }

  /// Returns the whole contents of a regular file, see `contents(of:limit:)`; throws ETIMEDOUT if the reads take more
  /// than so many microseconds together.
  func contents(of path: PathBytes, limit: Int, within time: Int64?) throws(Errno) -> [UInt8] {
    let end = time.map { monotonic() + $0 }
    let file: Descriptor
    do throws(Errno) {
      file = try regular(path)
    } catch .ENODATA {
      return []
    }
    defer { close(file) }
    var bytes: [UInt8] = []
    while true {
      let part = try read(file, 1 << 13)
      if part.isEmpty { return bytes }
      if bytes.isEmpty { bytes = part } else { bytes += part }
      if bytes.count > limit { throw .EFBIG }
      if let end, monotonic() > end { throw .ETIMEDOUT }
    }
  }

  /// Opens a regular file to read, see `regular`.
  ///
  /// Whoever chose the path could have put a device or a FIFO there, which an open would affect,
  /// and could exchange the file between a check of its type and the open. So the checked inode
  /// itself is opened.
  func regularFile(_ path: PathBytes) throws(Errno) -> Descriptor {
    let flags: OpenFlags = [.readOnly, .nonBlocking, .noControllingTerminal]
    if path.isOfTheSystem { return try openat(.currentDirectory, path, flags, mode: 0) }
    let descriptor = try openat(.currentDirectory, path, .path, mode: 0)
    defer { close(descriptor) }
    let status = try statx(descriptor)
    // /dev/null, which people name where a file shall be empty.
    if status.kind == .characterDevice, status.device == DeviceNumber(major: 1, minor: 3) {
      throw .ENODATA
    }
    guard status.kind == .regular else { throw .EINVAL }
    do throws(Errno) {
      return try openat(.currentDirectory, descriptor.link, flags, mode: 0)
    } catch .ENOENT {
      // Without /proc, only the path can be opened.
      return try openat(.currentDirectory, path, flags, mode: 0)
    }
  }

  /// Returns the first line of a file of /sys or /proc, without blanks at its ends.
  public func line(of path: PathBytes) throws(Errno) -> PathBytes {
    let bytes = try contents(of: path, limit: 1 << 16)
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = line.drop(while: isBlank)
    let length = start.reversed().drop(while: isBlank).count
    return PathBytes(Array(start.prefix(length)))
  }

  /// The name of the machine, see hostname(7); nil if /proc does not show it.
  package var hostname: String? { (try? line(of: "/proc/sys/kernel/hostname"))?.description }

  /// Returns the names in a directory that a condition selects, sorted.
  public func names(
    in directory: PathBytes, where isWanted: (PathBytes) -> Bool = { _ in true }
  ) throws(Errno) -> [PathBytes] {
    let descriptor = try openat(.currentDirectory, directory, [.readOnly, .directory], mode: 0)
    defer { close(descriptor) }
    return try getdents(descriptor).filter(isWanted).sorted()
  }

  /// Returns the file type at the end of `path`; follows links.
  public func kind(of path: PathBytes) throws(Errno) -> FileKind? {
    try status(of: path).kind
  }

  /// Returns where a symbolic link, or a link of /proc, leads to; nil if it cannot be read.
  func destination(ofLink link: PathBytes) -> PathBytes? {
    guard let descriptor = try? openat(.currentDirectory, link, [.path, .noFollow], mode: 0) else {
      return nil
    }
    defer { close(descriptor) }
    return try? readlinkat(descriptor)
  }

  /// Whether a program may have capabilities (`security.capability`); true if that cannot be read.
  func hasCapabilities(_ program: Descriptor) -> Bool {
    do throws(Errno) {
      _ = try cap_get_file(program)
      return true
    } catch {
      return error != .ENODATA && error != .EOPNOTSUPP
    }
  }

  /// Creates a directory and its parents for this user alone; changes no directory that exists.
  func makeFolder(_ folder: PathBytes) throws(Errno) {
    do throws(Errno) {
      try mkdirat(.currentDirectory, folder, mode: 0o700)
    } catch .EEXIST {
    } catch .ENOENT where folder.parent != folder {
      try makeFolder(folder.parent)
      // Another process may have created the folder meanwhile.
      try makeFolder(folder)
    }
  }

  /// Returns the next signal on a descriptor of `signalfd`; nil if there is none now.
  package func pendingSignal(_ signals: Descriptor) throws(Errno) -> SignalInfo? {
    while true {
      do throws(Errno) {
        // struct signalfd_siginfo: ssi_signo 4, ssi_errno 4, ssi_code 4, ssi_pid 4, …; 128 bytes in all.
        let bytes = try read(signals, 128)
        guard bytes.count == 128 else { throw .EIO }
        func number(_ offset: Int) -> Int32 {
          Int32(
            bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << (8 * UInt32($1)) })
        }
        // SI_USER and similar codes are not positive; SI_KERNEL and the codes of SIGCHLD are.
        // A write to a closed pipe sends SIGPIPE from this process itself.
        return SignalInfo(
          signal: number(0), isFromProcess: number(8) <= 0 && number(12) != getpid())
      } catch .EINTR {
      } catch .EAGAIN {
        return nil
      }
    }
  }

  /// Runs a program until it ends, with its standard output on standard error.
  ///
  /// Standard output belongs to the caller.
  func run(_ arguments: [PathBytes]) throws(Errno) -> ProcessEnd {
    let pid = try spawn(arguments, output: .standardError)
    while true {
      if let end = try waitpid(pid, waits: true) { return end }
    }
  }

  /// Writes all bytes.
  package func writeAll(_ file: Descriptor, _ bytes: [UInt8]) throws(Errno) {
    var rest = bytes[...]
    while !rest.isEmpty { rest = rest.dropFirst(try write(file, Array(rest))) }
  }

  /// Opens a file with `flags` and closes it again, to learn the kernel's answer.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - flags: The flags of open(2); O_NONBLOCK and O_NOCTTY are added.
  /// - Returns: The errno of a refusal; nil if the file was opened.
  @_spi(SystemCalls) public func probe(open path: PathBytes, _ flags: OpenFlags) -> Errno? {
    do throws(Errno) {
      close(
        try openat(
          .currentDirectory, path, flags.union([.nonBlocking, .noControllingTerminal]), mode: 0))
      return nil
    } catch {
      return error
    }
  }
}

extension PathBytes {
  /// Whether only the kernel or root created each name of this path.
  ///
  /// False for the links root, cwd and fd of /proc/PID, which lead to what the user of that process
  /// chose, and for names that begin as these do or with two dots.
  fileprivate var isOfTheSystem: Bool {
    guard
      hasPrefix("/proc/") || hasPrefix("/sys/") || hasPrefix("/etc/") || hasPrefix("/run/udev/")
        || hasPrefix("/run/systemd/")
    else { return false }
    for index in bytes.indices.dropLast(2) where bytes[index] == UInt8(ascii: "/") {
      switch (bytes[index + 1], bytes[index + 2]) {
      case (UInt8(ascii: "."), UInt8(ascii: ".")), (UInt8(ascii: "r"), UInt8(ascii: "o")),
        (UInt8(ascii: "c"), UInt8(ascii: "w")), (UInt8(ascii: "f"), UInt8(ascii: "d")):
        return false
      default: break
      }
    }
    return true
  }
}
