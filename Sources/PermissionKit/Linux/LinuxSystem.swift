internal import CCap
internal import Glibc
internal import Synchronization

/// The errno(3) of this thread.
///
/// The getter of Swift's Glibc module would link the whole module, which refers to most of libm.
var errno: Int32 { unsafe __errno_location().pointee }

/// The running Linux system.
package struct LinuxSystem: System {
  /// A cache of what one command has read.
  final class Cache: Sendable {
    /// The ids of this process.
    fileprivate let credentials = Mutex<Credentials?>(nil)
    /// The cache, a `CheckCache`.
    let facts: any AnyObject & Sendable

    init(facts: any AnyObject & Sendable) { self.facts = facts }
  }

  /// The cache of this command; nil if everything is read anew.
  let cache: Cache?
  /// The process that makes the calls on files; nil if this process does.
  let callProcess: CallProcess?

  /// Creates the system, which has no state.
  package init() { self.init(cache: nil) }

  init(cache: Cache?, callProcess: CallProcess? = nil) {
    (self.cache, self.callProcess) = (cache, callProcess)
  }

  /// Returns the result of a C wrapper; throws the errno if the wrapper returned -errno.
  func check<Result: SignedInteger>(_ result: Result) throws(Errno) -> Result {
    if result < 0 { throw Errno(rawValue: Int32(-result)) }
    return result
  }

  func withCString<Result>(
    _ path: PathBytes, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: path.bytes.count + 1) { buffer in
      unsafe path.bytes.withUnsafeBytes {
        unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0)
      }
      unsafe buffer[path.bytes.count] = 0
      guard let start = unsafe UnsafePointer(buffer.baseAddress) else {
        return unsafe "".withCString(body)
      }
      return unsafe body(start)
    }
  }

  /// Calls `body` with a buffer and returns the bytes that `body` filled.
  ///
  /// `body` returns the number of bytes, or -errno.
  func filling(
    _ capacity: Int, _ body: (UnsafeMutableRawPointer) -> Int
  ) throws(Errno) -> [UInt8] {
    var length = 0
    // Allocates memory only for the bytes that were filled.
    let bytes = unsafe withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { buffer in
      if let start = buffer.baseAddress { length = unsafe body(start) }
      guard length > 0 else { return [UInt8]() }
      return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<length]))
    }
    _ = try check(length)
    return bytes
  }

  // MARK: Files

  /// openat(2) with O_CLOEXEC, repeated after EINTR; a NUL in the path gives EINVAL.
  package func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    // The kernel would end the path at the NUL and open another file.
    if path.bytes.contains(0) { throw .EINVAL }
    if let callProcess {
      let flags = flags.union(.closeOnExec).rawValue
      return Descriptor(
        rawValue: Int32(
          try callProcess.ask(.openat, directory, path, flags: flags, mode: UInt32(mode)).result))
    }
    let result = unsafe withCString(path) {
      unsafe ccap_openat(
        directory.rawValue, $0, flags.union(.closeOnExec).rawValue, UInt32(mode))
    }
    return Descriptor(rawValue: try check(result))
  }

  /// close(2); ignores an error, because the descriptor is closed in any case.
  package func close(_ descriptor: Descriptor) {
    guard let callProcess, descriptor.rawValue >= CCAP_APART_OWN else {
      _ = Glibc.close(descriptor.rawValue)
      return
    }
    _ = try? callProcess.ask(.close, descriptor)
  }

  /// read(2) of at most `count` bytes, repeated after EINTR.
  package func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    if let callProcess { return try callProcess.ask(.read, descriptor, size: count).bytes }
    return try unsafe filling(count) { unsafe ccap_read(descriptor.rawValue, $0, count) }
  }

  /// write(2), repeated after EINTR; may write fewer bytes than given.
  package func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    let written = unsafe bytes.withUnsafeBytes {
      unsafe ccap_write(descriptor.rawValue, $0.baseAddress, $0.count)
    }
    return try check(written)
  }

  /// mkdirat(2); the umask clears its bits in `mode`.
  package func mkdirat(
    _ directory: Descriptor, _ path: PathBytes, mode: UInt16
  ) throws(Errno) {
    if path.bytes.contains(0) { throw .EINVAL }
    let result = unsafe withCString(path) {
      unsafe ccap_mkdirat(directory.rawValue, $0, UInt32(mode))
    }
    _ = try check(result)
  }

  /// statx(2) with AT_EMPTY_PATH and AT_STATX_DONT_SYNC.
  package func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    if let callProcess { return status(try callProcess.statx(descriptor, "")) }
    var fields = ccap_stat()
    _ = try check(unsafe ccap_statx(descriptor.rawValue, "", &fields))
    return status(fields)
  }

  /// statx(2) of a path with AT_STATX_DONT_SYNC and AT_NO_AUTOMOUNT; follows links.
  package func status(of path: PathBytes) throws(Errno) -> StatusFields {
    if path.bytes.contains(0) { throw .EINVAL }
    if path.isEmpty { throw .ENOENT }
    if let callProcess { return status(try callProcess.statx(.currentDirectory, path)) }
    var fields = ccap_stat()
    let result = unsafe withCString(path) {
      unsafe ccap_statx(Descriptor.currentDirectory.rawValue, $0, &fields)
    }
    _ = try check(result)
    return status(fields)
  }

  private func status(_ fields: ccap_stat) -> StatusFields {
    var status = StatusFields(
      mode: fields.mode, uid: fields.uid, gid: fields.gid,
      device: DeviceNumber(major: fields.rdev_major, minor: fields.rdev_minor),
      fileSystem: DeviceNumber(major: fields.dev_major, minor: fields.dev_minor),
      inode: fields.inode, links: fields.links, mount: fields.has_mount != 0 ? fields.mount : nil,
      isImmutable: fields.attributes & 0x10 != 0, isAppendOnly: fields.attributes & 0x20 != 0,
      birth: fields.birth == .min ? nil : fields.birth, changed: fields.changed)
    status.size = fields.size
    status.modified = fields.modified
    status.isEncrypted = fields.attributes & 0x800 != 0
    return status
  }

  /// readlinkat(2) with an empty path, at most 4,096 bytes.
  package func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    if let callProcess {
      return PathBytes(try callProcess.ask(.readlinkat, descriptor, size: 4096).bytes)
    }
    return PathBytes(
      try unsafe filling(4096) {
        unsafe ccap_readlinkat(
          descriptor.rawValue, "", $0.assumingMemoryBound(to: CChar.self), 4096)
      })
  }

  /// getxattr(2) through /proc/self/fd, because fgetxattr(2) refuses an O_PATH descriptor.
  package func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    if let callProcess {
      return try callProcess.ask(.getxattr, descriptor, unsafe bytes(Self.name(attribute))).bytes
    }
    func get(_ size: Int) throws(Errno) -> [UInt8] {
      try unsafe filling(size) {
        unsafe ccap_getxattr(descriptor.rawValue, Self.name(attribute), $0, size)
      }
    }
    do throws(Errno) {
      return try get(1024)
    } catch .ERANGE {
      return try get(1 << 16)  // XATTR_SIZE_MAX
    }
  }

  /// statmount(2), which needs Linux 6.15.
  package func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    var users: [UInt8] = []
    var groups: [UInt8] = []
    do throws(Errno) {
      users = try unsafe filling(8192) { users in
        var result = 0
        do throws(Errno) {
          groups = try unsafe filling(8192) { groups in
            let (users, groups) = unsafe (
              users.assumingMemoryBound(to: CChar.self), groups.assumingMemoryBound(to: CChar.self)
            )
            result = Int(
              unsafe ccap_statmount_idmap(descriptor.rawValue, users, groups, 8192))
            return result < 0 ? result : unsafe strlen(groups)
          }
        } catch {
          return result
        }
        return unsafe strlen(users.assumingMemoryBound(to: CChar.self))
      }
    } catch .ENODATA {
      return nil
    }
    guard let users = IDMap(lines: users), let groups = IDMap(lines: groups) else { throw .EIO }
    return IDMapping(users: users, groups: groups)
  }

  /// fstatfs(2), which also works on an O_PATH descriptor.
  package func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields {
    if let callProcess {
      let bytes = try callProcess.ask(.fstatfs, descriptor).bytes
      return unsafe bytes.withUnsafeBytes { fields in
        func field(_ index: Int) -> UInt64 {
          unsafe fields.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
        }
        return FileSystemFields(flags: field(0), type: field(1), id: field(2))
      }
    }
    var flags: UInt64 = 0
    var type: UInt64 = 0
    var id: UInt64 = 0
    _ = try check(unsafe ccap_fstatfs(descriptor.rawValue, &flags, &type, &id))
    return FileSystemFields(flags: flags, type: type, id: id)
  }

  package func checkRoom(
    in directory: Descriptor, uid: UInt32, gid: UInt32
  ) throws(Errno) {
    _ = try check(ccap_room(directory.rawValue, uid, gid))
  }

  /// getdents64(2) until the end, in the order of the file system, without `.` and `..`.
  ///
  /// ENOENT is the end, as in readdir(3): a server (CIFS) says it of an open directory where it shows
  /// no name, and the kernel says it of one that was removed.
  package func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    var names: [PathBytes] = []
    while true {
      let bytes: [UInt8]
      do throws(Errno) {
        if let callProcess {
          bytes = try callProcess.ask(.getdents, descriptor, size: 1 << 15).bytes
        } else {
          bytes = try unsafe filling(1 << 15) {
            unsafe ccap_getdents64(descriptor.rawValue, $0, 1 << 15)
          }
        }
      } catch .ENOENT {
        return names
      }
      if bytes.isEmpty { return names }
      // struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name.
      var offset = 0
      while offset + 19 <= bytes.count {
        let length = Int(bytes[offset + 16]) | Int(bytes[offset + 17]) << 8
        guard length >= 19, offset + length <= bytes.count else { throw .EIO }
        let name = Array(bytes[(offset + 19)..<(offset + length)].prefix { $0 != 0 })
        if name != [0x2e], name != [0x2e, 0x2e] { names.append(PathBytes(name)) }
        offset += length
      }
    }
  }

  /// faccessat2(2) with AT_EACCESS, which follows links; a NUL in the path gives EINVAL.
  package func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    if path.bytes.contains(0) { throw .EINVAL }
    if let callProcess {
      try callProcess.ask(.faccessat2, .currentDirectory, path, mode: UInt32(need.rawValue))
      return
    }
    let result = unsafe withCString(path) {
      unsafe ccap_faccessat2($0, Int32(need.rawValue))
    }
    _ = try check(result)
  }

  /// ioctl VIDIOC_QUERYCAP on an open video node.
  package func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability {
    var caps: UInt32 = 0
    let card = try unsafe filling(32) {
      let result = unsafe ccap_querycap(
        descriptor.rawValue, &caps, $0.assumingMemoryBound(to: CChar.self))
      return result < 0 ? Int(result) : 32
    }
    return VideoCapability(deviceCaps: caps, card: PathBytes(Array(card.prefix { $0 != 0 })))
  }

  // MARK: Processes

  /// Returns the ids and capabilities of the calling thread, without securebits and id maps.
  package func credentials() throws(Errno) -> Credentials {
    guard let cache else { return try readCredentials() }
    if let known = cache.credentials.withLock({ $0 }) { return known }
    let read = try readCredentials()
    cache.credentials.withLock { $0 = read }
    return read
  }

  private func readCredentials() throws(Errno) -> Credentials {
    var user: [UInt32] = [0, 0, 0]
    var group: [UInt32] = [0, 0, 0]
    _ = try check(unsafe ccap_getresuid(&user))
    _ = try check(unsafe ccap_getresgid(&group))
    // NGROUPS_MAX is 65,536; few have as many as 64.
    var groups = [gid_t](repeating: 0, count: 64)
    var filled = unsafe getgroups(Int32(groups.count), &groups)
    if filled < 0, errno == EINVAL {
      groups = [gid_t](repeating: 0, count: 1 << 16)
      filled = unsafe getgroups(Int32(groups.count), &groups)
    }
    guard filled >= 0 else { throw Errno(rawValue: errno) }
    groups.removeLast(groups.count - Int(filled))
    var effective: UInt64 = 0
    var permitted: UInt64 = 0
    _ = try check(unsafe ccap_capget(&effective, &permitted))
    return Credentials(
      user: .init(real: user[0], effective: user[1], fileSystem: ccap_fsuid()),
      group: .init(real: group[0], effective: group[1], fileSystem: ccap_fsgid()),
      groups: groups, effective: CapabilitySet(rawValue: effective),
      permitted: CapabilitySet(rawValue: permitted))
  }

  /// Returns the id of this process, see getpid(2).
  package func getpid() -> Int32 { Glibc.getpid() }

  /// Returns the bytes of a variable, see secure_getenv(3); nil if it is not set, or if a user with
  /// fewer rights started this program.
  package func getenv(_ name: String) -> PathBytes? {
    guard let value = unsafe ccap_getenv(name) else { return nil }
    return unsafe bytes(value)
  }

  /// Returns the working directory, see getcwd(3).
  package func getcwd() throws(Errno) -> PathBytes {
    let path = try unsafe filling(4096) {
      guard unsafe Glibc.getcwd($0.assumingMemoryBound(to: CChar.self), 4096) != nil else {
        return -Int(errno)
      }
      return unsafe strlen($0.assumingMemoryBound(to: CChar.self))
    }
    return PathBytes(path)
  }

  /// Returns whether the descriptor is a terminal, see isatty(3).
  package func isatty(_ descriptor: Descriptor) -> Bool { Glibc.isatty(descriptor.rawValue) == 1 }

  /// Returns the width of a terminal in columns, by ioctl TIOCGWINSZ; nil if there is no terminal.
  package func columns(_ descriptor: Descriptor) -> Int? {
    let columns = ccap_columns(descriptor.rawValue)
    return columns > 0 ? Int(columns) : nil
  }

  /// The arguments of this process as bytes, beginning with the name of the program.
  ///
  /// Does not need /proc: `CommandLine` reads /proc/self/cmdline and is empty without /proc.
  package static var arguments: [PathBytes] {
    var count = Int(CommandLine.argc)
    var list = unsafe UnsafePointer(CommandLine.unsafeArgv)
    if count == 0 {
      guard let found = unsafe ccap_arguments(&count) else { return [] }
      unsafe list = UnsafePointer(found)
    }
    return (0..<count).compactMap { index in
      unsafe list[index].map { unsafe LinuxSystem().bytes($0) }
    }
  }

  func bytes(_ text: UnsafePointer<CChar>) -> PathBytes {
    PathBytes(unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text))))
  }

  // MARK: Time

  /// CLOCK_REALTIME in microseconds since 1970-01-01 UTC, see clock_gettime(2).
  package func realtime() -> Int64 { microseconds(CLOCK_REALTIME) }

  /// CLOCK_BOOTTIME in microseconds, see clock_gettime(2).
  package func boottime() -> Int64 { microseconds(CLOCK_BOOTTIME) }

  /// CLOCK_MONOTONIC in microseconds, see clock_gettime(2).
  package func monotonic() -> Int64 { microseconds(CLOCK_MONOTONIC) }

  private func microseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

extension LinuxSystem {
  /// Whether a user with fewer rights than the program started it, as with set-user-ID.
  ///
  /// Such a program uses no environment variable, even after it has changed its ids. See AT_SECURE
  /// in getauxval(3), and secure_getenv(3).
  package static let hasForeignCaller = getauxval(UInt(AT_SECURE)) != 0
}

// Calls that only the search for a reason makes.
extension LinuxSystem {
  /// openat2(2) with O_CLOEXEC and without RESOLVE_… flags; a NUL in the path gives EINVAL.
  package func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    if let callProcess {
      let flags = flags.union(.closeOnExec).rawValue
      return Descriptor(
        rawValue: Int32(try callProcess.ask(.openat2, directory, path, flags: flags).result))
    }
    let result = unsafe withCString(path) {
      unsafe ccap_openat2(directory.rawValue, $0, flags.union(.closeOnExec).rawValue, 0)
    }
    return Descriptor(rawValue: try check(result))
  }

  /// Counts the domains by those that a child can still add.
  package func landlockLayers() -> Int? {
    let layers = ccap_landlock_layers()
    return layers < 0 ? nil : Int(layers)
  }

  private static let landlockReader = Mutex<(@Sendable (Int32) -> Bool?)?>(nil)

  /// Lets this program see whether a process has restricted itself by Landlock.
  ///
  /// It wants BPF, which a program may bring, and this library does not.
  ///
  /// - Parameter reader: Returns whether it has; nil if it cannot be seen.
  package static func readLandlock(by reader: @escaping @Sendable (Int32) -> Bool?) {
    landlockReader.withLock { $0 = reader }
  }

  /// Asks the reader of this program.
  package func isRestrictedByLandlock(_ process: Int32) -> Bool? {
    Self.landlockReader.withLock { $0 }?(process)
  }

  /// lsm_list_modules(2), which needs Linux 6.8.
  package func lsm_list_modules() throws(Errno) -> [UInt64] {
    var ids = [UInt64](repeating: 0, count: 32)
    let count = try check(unsafe ccap_lsm_list_modules(&ids))
    return Array(ids.prefix(Int(count)))
  }

  /// VIDIOC_REQBUFS with a count of 0, for a single-planar and then a multi-planar capture queue.
  package func reqbufs(none descriptor: Descriptor) throws(Errno) {
    _ = try check(ccap_reqbufs_none(descriptor.rawValue))
  }

  /// execveat(2) with AT_EXECVE_CHECK.
  package func checkExecution(_ descriptor: Descriptor) throws(Errno) {
    _ = try check(ccap_execve_check(descriptor.rawValue))
  }

  /// ioctl TIOCGEXCL.
  package func isExclusive(_ descriptor: Descriptor) throws(Errno) -> Bool {
    try check(ccap_is_exclusive(descriptor.rawValue)) != 0
  }
}

// Servers that listen on a socket.
extension LinuxSystem {
  /// connect(2); a NUL in the path gives EINVAL.
  package func connect(_ path: PathBytes) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    return Descriptor(
      rawValue: try check(unsafe withCString(path) { unsafe ccap_connect($0, Int32(CCAP_STREAM)) }))
  }

  /// connect(2) of a datagram socket; a NUL in the path gives EINVAL.
  package func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    if path.bytes.contains(0) { throw .EINVAL }
    return Descriptor(
      rawValue: try check(
        unsafe withCString(path) { unsafe ccap_connect($0, Int32(CCAP_DATAGRAM)) }))
  }

  /// sock_diag(7), then connect(2).
  package func listener(on socket: Descriptor, connects: Bool) throws(Errno) -> Bool {
    try check(ccap_listener(socket.rawValue, connects ? 1 : 0)) != 0
  }

  /// send(2) with MSG_NOSIGNAL.
  package func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    Int(
      try check(
        unsafe bytes.withUnsafeBytes {
          unsafe ccap_send(socket.rawValue, $0.baseAddress, UInt($0.count))
        }))
  }
}

// For a program that root runs for an ordinary user.

extension LinuxSystem {
  /// Resets everything that execve(2) kept of the process that started this one, except standard
  /// output: environment, descriptors, signals, timers, limits, umask, working directory, terminal,
  /// priority and cgroup.
  ///
  /// - Parameter seconds: The time after which SIGALRM ends this process.
  /// - Throws: If a standard descriptor or the working directory cannot be set.
  package func isolate(seconds: UInt32) throws(Errno) {
    _ = try check(ccap_isolate(seconds))
    // A user may freeze or starve a cgroup that systemd delegated to that user.
    for folder: PathBytes in ["/sys/fs/cgroup", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/memory"] {
      set("0", in: folder.appending("cgroup.procs"))
    }
    set("0", in: "/proc/self/oom_score_adj")
  }

  /// Raises the soft limit of open files to the hard limit, see getrlimit(2).
  package func raiseFileLimit() { ccap_raise_file_limit() }

  /// Writes a value to a file of the kernel, if there is such a file.
  private func set(_ value: String, in path: PathBytes) {
    guard let file = try? openat(.currentDirectory, path, .writeOnly, mode: 0) else { return }
    defer { close(file) }
    _ = try? write(file, Array(value.utf8))
  }

  /// _exit(2): ends this process without calling anything else.
  package func exit(_ status: Int32) -> Never { _exit(status) }

  /// Forks a process that keeps no descriptor and has no time limit, for a program without threads.
  ///
  /// - Returns: Whether this is the new process.
  /// - Throws: The errno of fork(2).
  package func forkDetached() throws(Errno) -> Bool { try check(ccap_fork_detached()) == 0 }
}

extension LinuxSystem {
  /// inotify_init1(2) with IN_NONBLOCK and IN_CLOEXEC.
  package func inotify_init1() throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_inotify_init1()))
  }

  /// inotify_add_watch(2), which needs read permission on the inode; a NUL in the path gives
  /// EINVAL.
  package func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 {
    if path.bytes.contains(0) { throw .EINVAL }
    return try check(
      unsafe withCString(path) {
        unsafe ccap_inotify_add_watch(inotify.rawValue, $0, mask.rawValue)
      })
  }

  /// inotify_rm_watch(2); ignores an error, because the watch is gone in any case.
  package func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {
    _ = Glibc.inotify_rm_watch(inotify.rawValue, watch)
  }

  /// poll(2), not repeated after EINTR.
  package func poll(
    _ requests: [PollRequest], timeout: Int32?
  ) throws(Errno) -> [PollEvents] {
    var polled = requests.map {
      pollfd(fd: $0.descriptor.rawValue, events: $0.events.rawValue, revents: 0)
    }
    _ = try check(unsafe ccap_poll(&polled, UInt(polled.count), timeout ?? -1))
    return polled.map { PollEvents(rawValue: $0.revents) }
  }

  /// eventfd(2) with EFD_NONBLOCK and EFD_CLOEXEC.
  package func eventfd() throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(ccap_eventfd()))
  }

  /// pthread_sigmask(3) for the calling thread, then signalfd(2).
  package func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    Descriptor(rawValue: try check(unsafe ccap_signalfd(signals, Int32(signals.count))))
  }

  /// localtime_r(3), which uses TZ or /etc/localtime.
  package func localtime(_ microseconds: Int64) -> WallTime {
    var seconds = time_t(microseconds / 1_000_000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    return unsafe WallTime(
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec),
      offset: parts.tm_gmtoff, zone: parts.tm_zone.map { unsafe String(cString: $0) } ?? "UTC")
  }
}
