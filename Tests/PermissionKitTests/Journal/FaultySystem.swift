@_spi(SystemCalls) import PermissionKit
import Synchronization

/// The running Linux, whose calls about one folder fail when they are told to.
final class FaultySystem: System {
  /// What becomes of the call that is to fail.
  enum Fault: Hashable, Sendable, CaseIterable {
    /// That one call fails.
    case once
    /// That call and all that follow fail.
    case fromThenOn
    /// A write takes half of the bytes, and the rest fails; any other call fails.
    case short
    /// A write takes half of the bytes, and all that follows fails.
    case shortFromThenOn
  }

  private struct State {
    var files: Set<Int32> = []
    var calls: [String] = []
    var failing = false
    var reads = 0
    var readBeforeChange = 0
    var change: (@Sendable () -> Void)?
  }

  private let real = LinuxSystem()
  private let folder: PathBytes
  private let number: Int
  private let fault: Fault
  private let errno: Errno
  private let state = Mutex(State())

  /// Takes the folder, the number of the call that fails (0: none), how, and with what.
  init(_ folder: PathBytes, failing number: Int = 0, _ fault: Fault = .once, _ errno: Errno = .EIO)
  {
    self.folder = folder
    self.number = number
    self.fault = fault
    self.errno = errno
  }

  /// The calls about the folder so far.
  var calls: [String] { state.withLock { $0.calls } }

  private func isOurs(_ path: PathBytes) -> Bool { path.bytes.starts(with: folder.bytes) }

  /// Counts a call about the folder.
  ///
  /// - Returns: Whether half of it is to be done.
  private func count(_ name: String) throws(Errno) -> Bool {
    let (fails, isFirst) = state.withLock { state in
      state.calls.append(name)
      let isFirst = state.calls.count == number
      let stays = fault == .fromThenOn || fault == .shortFromThenOn
      let fails = isFirst || state.failing
      state.failing = (isFirst && (stays || fault == .short && name == "write")) || state.failing
      if fault == .short, fails, !isFirst { state.failing = false }
      return (fails, isFirst)
    }
    if !fails { return false }
    if isFirst, name == "write", fault == .short || fault == .shortFromThenOn { return true }
    throw errno
  }

  private func isOurs(_ file: Descriptor) -> Bool {
    state.withLock { $0.files.contains(file.rawValue) }
  }

  func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    guard isOurs(path) else { return try real.openat(directory, path, flags, mode: mode) }
    _ = try count("openat")
    let file = try real.openat(directory, path, flags, mode: mode)
    state.withLock { _ = $0.files.insert(file.rawValue) }
    return file
  }
  func close(_ descriptor: Descriptor) {
    state.withLock { _ = $0.files.remove(descriptor.rawValue) }
    real.close(descriptor)
  }
  func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    if isOurs(descriptor) { _ = try self.count("read") }
    return try real.read(descriptor, count)
  }
  func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int {
    guard isOurs(descriptor), try count("write") else { return try real.write(descriptor, bytes) }
    return try real.write(descriptor, Array(bytes.prefix(max(1, bytes.count / 2))))
  }
  func mkdirat(_ directory: Descriptor, _ path: PathBytes, mode: UInt16) throws(Errno) {
    if isOurs(path) { _ = try count("mkdirat") }
    try real.mkdirat(directory, path, mode: mode)
  }
  func fsync(_ descriptor: Descriptor) throws(Errno) {
    if isOurs(descriptor) { _ = try count("fsync") }
    try real.fsync(descriptor)
  }
  func flock(_ descriptor: Descriptor) throws(Errno) {
    if isOurs(descriptor) { _ = try count("flock") }
    try real.flock(descriptor)
  }
  func fallocate(_ descriptor: Descriptor, _ size: Int) throws(Errno) {
    if isOurs(descriptor) { _ = try count("fallocate") }
    try real.fallocate(descriptor, size)
  }
  func rename(_ old: PathBytes, _ new: PathBytes) throws(Errno) {
    if isOurs(old) { _ = try count("rename") }
    try real.rename(old, new)
  }
  func name_to_handle_at(_ descriptor: Descriptor) throws(Errno) -> [UInt8] {
    try real.name_to_handle_at(descriptor)
  }
  func open_by_handle_at(_ mount: Descriptor, _ handle: [UInt8]) throws(Errno) -> Descriptor {
    try real.open_by_handle_at(mount, handle)
  }
  func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    if isOurs(descriptor) { _ = try count("statx") }
    return try real.statx(descriptor)
  }

  // MARK: Left as they are

  func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    try real.readlinkat(descriptor)
  }
  func getxattr(_ attribute: ACLAttribute, of descriptor: Descriptor) throws(Errno) -> [UInt8] {
    let meanwhile = state.withLock { state in
      state.reads += 1
      return state.reads == state.readBeforeChange ? state.change : nil
    }
    defer { meanwhile?() }
    return try real.getxattr(attribute, of: descriptor)
  }
  /// How often an ACL was read.
  var reads: Int { state.withLock { $0.reads } }
  /// Has somebody else make a change after an ACL was read for the n-th time.
  func after(read number: Int, _ change: @escaping @Sendable () -> Void) {
    state.withLock { ($0.readBeforeChange, $0.change) = (number, change) }
  }
  func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? {
    try real.statmount(descriptor)
  }
  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields {
    try real.fstatfs(descriptor)
  }
  func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    try real.getdents(descriptor)
  }
  func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    try real.faccessat2(path, need)
  }
  func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability {
    try real.querycap(descriptor)
  }
  func setxattr(
    _ attribute: ACLAttribute, of descriptor: Descriptor, _ value: [UInt8]
  ) throws(Errno) {
    try real.setxattr(attribute, of: descriptor, value)
  }
  func removexattr(_ attribute: ACLAttribute, of descriptor: Descriptor) throws(Errno) {
    try real.removexattr(attribute, of: descriptor)
  }
  func chmod(_ descriptor: Descriptor, _ mode: UInt16) throws(Errno) {
    try real.chmod(descriptor, mode)
  }
  func unlink(_ path: PathBytes) throws(Errno) { try real.unlink(path) }
  func credentials() throws(Errno) -> Credentials { try real.credentials() }
  func getpid() -> Int32 { real.getpid() }
  func getenv(_ name: String) -> PathBytes? { real.getenv(name) }
  func getcwd() throws(Errno) -> PathBytes { try real.getcwd() }
  func isatty(_ descriptor: Descriptor) -> Bool { real.isatty(descriptor) }
  func columns(_ descriptor: Descriptor) -> Int? { real.columns(descriptor) }
  func getpwnam(_ name: String) throws(Errno) -> UserRecord? { try real.getpwnam(name) }
  func getpwuid(_ uid: UInt32) throws(Errno) -> UserRecord? { try real.getpwuid(uid) }
  func getgrouplist(_ user: UserRecord) throws(Errno) -> [UInt32] { try real.getgrouplist(user) }
  func getgrgid(_ gid: UInt32) throws(Errno) -> String? { try real.getgrgid(gid) }
  func realtime() -> Int64 { real.realtime() }
  func monotonic() -> Int64 { real.monotonic() }
}
