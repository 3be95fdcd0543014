@_spi(SystemCalls) package import PermissionKit

/// Another system, by default the running Linux; a test double has the calls that it means.
package protocol ForwardingSystem: System {
  /// The system that answers.
  var base: any System { get }
}

extension ForwardingSystem {
  package var base: any System { LinuxSystem() }

  package func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor { try base.openat(directory, path, flags, mode: mode) }
  package func close(_ descriptor: Descriptor) { base.close(descriptor) }
  package func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    try base.read(descriptor, count)
  }
  package func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    try base.write(descriptor, bytes)
  }
  package func mkdirat(_ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno) {
    try base.mkdirat(directory, path, mode: mode)
  }
  package func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    try base.statx(descriptor)
  }
  package func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try base.readlinkat(descriptor)
  }
  package func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] { try base.getxattr(attribute, of: descriptor) }
  package func cap_get_file(_ descriptor: Descriptor) throws(Errno) -> String {
    try base.cap_get_file(descriptor)
  }
  package func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try base.statmount(descriptor)
  }
  package func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields {
    try base.fstatfs(descriptor)
  }
  package func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try base.getdents(descriptor)
  }
  package func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try base.faccessat2(path, need)
  }
  package func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability {
    try base.querycap(descriptor)
  }
  package func setxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) { try base.setxattr(attribute, of: descriptor, value) }
  package func removexattr(_ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno)
  {
    try base.removexattr(attribute, of: descriptor)
  }
  package func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    try base.chmod(descriptor, mode)
  }
  package func chgrp(_ descriptor: Descriptor, _ gid: UInt32) throws(Errno) {
    try base.chgrp(descriptor, gid)
  }
  package func fsync(_ descriptor: Descriptor) throws(Errno) { try base.fsync(descriptor) }
  package func flock(_ descriptor: Descriptor) throws(Errno) { try base.flock(descriptor) }
  package func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    try base.fallocate(descriptor, size)
  }
  package func name_to_handle_at(_ descriptor: Descriptor) throws(Errno) -> [UInt8] {
    try base.name_to_handle_at(descriptor)
  }
  package func open_by_handle_at(_ mount: Descriptor, _ handle: [UInt8]) throws(Errno) -> Descriptor
  { try base.open_by_handle_at(mount, handle) }
  package func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    try base.rename(old, new)
  }
  package func rmdir(_ path: PathBytes) throws(Errno) { try base.rmdir(path) }
  package func unlink(_ path: PathBytes) throws(Errno) { try base.unlink(path) }
  package func spawn(_ arguments: [PathBytes], output: Descriptor) throws(Errno) -> Int32 {
    try base.spawn(arguments, output: output)
  }
  package func runProgram(
    _ arguments: [PathBytes], environment: [PathBytes], input: [UInt8], timeout: Int32, size: Int,
    mayGainPrivileges: Bool
  ) throws(Errno) -> ProgramOutput {
    try base.runProgram(
      arguments, environment: environment, input: input, timeout: timeout, size: size,
      mayGainPrivileges: mayGainPrivileges)
  }
  package func waitpid(_ pid: Int32, waits: Bool) throws(Errno) -> ProcessEnd? {
    try base.waitpid(pid, waits: waits)
  }
  package func pidfd_open(_ pid: Int32) throws(Errno) -> Descriptor { try base.pidfd_open(pid) }
  package func execvp(_ arguments: [PathBytes]) -> Errno { base.execvp(arguments) }
  package func kill(_ pid: Int32, _ signal: Int32) throws(Errno) { try base.kill(pid, signal) }
  package func raise(_ signal: Int32) { base.raise(signal) }
  package func credentials() throws(Errno) -> Credentials { try base.credentials() }
  package func getpid() -> Int32 { base.getpid() }
  package func getenv(_ name: String) -> PathBytes? { base.getenv(name) }
  package func getcwd() throws(Errno) -> PathBytes { try base.getcwd() }
  package func isatty(_ descriptor: Descriptor) -> Bool { base.isatty(descriptor) }
  package func columns(_ descriptor: Descriptor) -> Int? { base.columns(descriptor) }
  package func connect(_ path: PathBytes) throws(Errno) -> Descriptor { try base.connect(path) }
  package func connectDatagram(_ path: PathBytes) throws(Errno) -> Descriptor {
    try base.connectDatagram(path)
  }
  package func listener(on socket: Descriptor, connects: Bool) throws(Errno) -> Bool {
    try base.listener(on: socket, connects: connects)
  }
  package func send(_ socket: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    try base.send(socket, bytes)
  }
  package func realtime() -> Int64 { base.realtime() }
  package func boottime() -> Int64 { base.boottime() }
  package func monotonic() -> Int64 { base.monotonic() }
  package func inotify_init1() throws(Errno) -> Descriptor { try base.inotify_init1() }
  package func inotify_add_watch(
    _ inotify: Descriptor, _ path: PathBytes, _ mask: WatchMask
  ) throws(Errno) -> Int32 { try base.inotify_add_watch(inotify, path, mask) }
  package func inotify_rm_watch(_ inotify: Descriptor, _ watch: Int32) {
    base.inotify_rm_watch(inotify, watch)
  }
  package func poll(_ requests: [PollRequest], timeout: Int32?) throws(Errno) -> [PollEvents] {
    try base.poll(requests, timeout: timeout)
  }
  package func eventfd() throws(Errno) -> Descriptor { try base.eventfd() }
  package func signalfd(_ signals: [Int32]) throws(Errno) -> Descriptor {
    try base.signalfd(signals)
  }
  package func localtime(_ microseconds: Int64) -> WallTime { base.localtime(microseconds) }
  package func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { try base.openat2(directory, path, flags) }
  package func enter(
    _ process: Int32, as credentials: Credentials, path: PathBytes, flags: OpenFlags?,
    need: Permissions
  ) throws(Errno) -> ProcessProbe {
    try base.enter(process, as: credentials, path: path, flags: flags, need: need)
  }
  package func devicePrograms(_ cgroup: Descriptor) throws(Errno) -> Int {
    try base.devicePrograms(cgroup)
  }
  package func encryptionKeyIsPresent(_ directory: Descriptor) throws(Errno) -> Bool {
    try base.encryptionKeyIsPresent(directory)
  }
  package func isSnapshot(_ directory: Descriptor) throws(Errno) -> Bool {
    try base.isSnapshot(directory)
  }
  package func isRestrictedByLandlock(_ process: Int32) -> Bool? {
    base.isRestrictedByLandlock(process)
  }
  package func lsm_list_modules() throws(Errno) -> [UInt64] { try base.lsm_list_modules() }
  package func isExclusive(_ descriptor: Descriptor) throws(Errno) -> Bool {
    try base.isExclusive(descriptor)
  }
  package func reqbufs(none descriptor: Descriptor) throws(Errno) {
    try base.reqbufs(none: descriptor)
  }
}
