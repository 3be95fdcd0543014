import Foundation
@_spi(SystemCalls) import PermissionKit
import Synchronization
import TestSupport

/// The running Linux, whose calls about one folder fail when they are told to.
final class FaultySystem: ForwardingSystem {
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

  /// Whether a descriptor is of a file in the folder, and not a number that somebody else has by now.
  private func isOurs(_ file: Descriptor) -> Bool {
    guard state.withLock({ $0.files.contains(file.rawValue) }) else { return false }
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: file.link.description)
    return link?.hasPrefix(folder.description) == true
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
  func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    if isOurs(descriptor) { _ = try count("statx") }
    return try real.statx(descriptor)
  }

  func getxattr(_ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno) -> [UInt8]
  {
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
}
