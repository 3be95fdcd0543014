@_spi(SystemCalls) package import PermissionKit

/// The running Linux; a test double has the calls that it means.
package protocol ForwardingSystem: System {}

extension ForwardingSystem {
  private var real: LinuxSystem { LinuxSystem() }

  package func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor { try real.openat(directory, path, flags, mode: mode) }
  package func close(_ descriptor: Descriptor) { real.close(descriptor) }
  package func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    try real.read(descriptor, count)
  }
  package func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    try real.write(descriptor, bytes)
  }
  package func mkdirat(_ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno) {
    try real.mkdirat(directory, path, mode: mode)
  }
  package func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    try real.statx(descriptor)
  }
  package func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try real.readlinkat(descriptor)
  }
  package func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] { try real.getxattr(attribute, of: descriptor) }
  package func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String {
    try real.cap_get_file(descriptor)
  }
  package func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try real.statmount(descriptor)
  }
  package func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields {
    try real.fstatfs(descriptor)
  }
  package func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try real.getdents(descriptor)
  }
  package func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try real.faccessat2(path, need)
  }
  package func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability {
    try real.querycap(descriptor)
  }
  package func setxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) { try real.setxattr(attribute, of: descriptor, value) }
  package func removexattr(_ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno)
  {
    try real.removexattr(attribute, of: descriptor)
  }
  package func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    try real.chmod(descriptor, mode)
  }
  package func fsync(_ descriptor: Descriptor) throws(Errno) { try real.fsync(descriptor) }
  package func flock(_ descriptor: Descriptor) throws(Errno) { try real.flock(descriptor) }
  package func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    try real.fallocate(descriptor, size)
  }
  package func name_to_handle_at(_ descriptor: Descriptor) throws(Errno) -> [UInt8] {
    try real.name_to_handle_at(descriptor)
  }
  package func open_by_handle_at(_ mount: Descriptor, _ handle: [UInt8]) throws(Errno) -> Descriptor
  { try real.open_by_handle_at(mount, handle) }
  package func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    try real.rename(old, new)
  }
  package func unlink(_ path: PathBytes) throws(Errno) { try real.unlink(path) }
  package func spawn(_ arguments: [PathBytes], output: Descriptor) throws(Errno) -> Int32 {
    try real.spawn(arguments, output: output)
  }
  package func runProgram(
    _ program: PathBytes, environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput {
    try real.runProgram(
      program, environment: environment, input: input, timeout: timeout, size: size,
      mayGainPrivileges: mayGainPrivileges)
  }
  package func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? {
    try real.waitpid(pid, waits: waits)
  }
  package func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor { try real.pidfd_open(pid) }
  package func execvp(_ arguments: [PathBytes]) -> Errno { real.execvp(arguments) }
  package func kill(_ pid: Int32, _ signal: Int32) throws(Errno) { try real.kill(pid, signal) }
  package func raise(_ signal: Int32) { real.raise(signal) }
  package func credentials() throws(Errno) -> Credentials { try real.credentials() }
  package func getpid() -> Int32 { real.getpid() }
  package func getenv(_ name: String) -> PathBytes? { real.getenv(name) }
  package func getcwd() throws(Errno) -> PathBytes { try real.getcwd() }
  package func isatty(_ descriptor: Descriptor) -> Bool { real.isatty(descriptor) }
  package func columns(_ descriptor: Descriptor) -> Int? { real.columns(descriptor) }
  package func connect(_ path: PathBytes) throws(Errno) -> Descriptor { try real.connect(path) }
  package func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    try real.connectDatagram(path)
  }
  package func listener(on socket: Descriptor, connects: Bool) throws(Errno) -> Bool {
    try real.listener(on: socket, connects: connects)
  }
  package func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    try real.send(socket, bytes)
  }
  package func getpwnam(_ name: String) throws(Errno) -> UserRecord? { try real.getpwnam(name) }
  package func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? { try real.getpwuid(uid) }
  package func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] {
    try real.getgrouplist(user)
  }
  package func getgrgid(_ gid: UInt32) throws(Errno) -> String? { try real.getgrgid(gid) }
  package func getpwent() throws(Errno) -> [UserRecord] { try real.getpwent() }
  package func getgrnam(_ name: String) throws(Errno) -> (gid: UInt32, members: [String])? {
    try real.getgrnam(name)
  }
  package func realtime() -> Int64 { real.realtime() }
  package func monotonic() -> Int64 { real.monotonic() }
  package func inotify_init1() throws(Errno) -> Descriptor { try real.inotify_init1() }
  package func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 { try real.inotify_add_watch(inotify, path, mask) }
  package func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {
    real.inotify_rm_watch(inotify, watch)
  }
  package func poll(_ requests: [PollRequest], timeout: Int32?) throws(Errno) -> [PollEvents] {
    try real.poll(requests, timeout: timeout)
  }
  package func eventfd() throws(Errno) -> Descriptor { try real.eventfd() }
  package func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    try real.signalfd(signals)
  }
  package func localtime(_ microseconds: Int64) -> WallTime { real.localtime(microseconds) }
  package func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { try real.openat2(directory, path, flags) }
  package func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe {
    try real.enter(process, as: credentials, path: path, flags: flags, need: need)
  }
  package func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int {
    try real.devicePrograms(cgroup)
  }
  package func encryptionKeyIsPresent(_ directory: Descriptor) throws(Errno) -> Bool {
    try real.encryptionKeyIsPresent(directory)
  }
  package func lsm_list_modules() throws(Errno) -> [UInt64] { try real.lsm_list_modules() }
  package func reqbufs(none descriptor: Descriptor) throws(Errno) {
    try real.reqbufs(none: descriptor)
  }
}
