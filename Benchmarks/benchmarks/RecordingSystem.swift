import CReplay
@_spi(SystemCalls) import PermissionKit
import Synchronization
import TestSupport

/// The running system; records every call, so that C can repeat it.
final class RecordingSystem: ForwardingSystem {
  struct Step {
    var call: replay_call
    var slot: Int32 = -1
    var result: Int32 = -1
    var flags: Int32 = 0
    var path: PathBytes?
  }

  private struct State {
    var steps: [Step] = []
    var slots: [Descriptor: Int32] = [:]
    var next: Int32 = 0
  }

  private let system = LinuxSystem()
  private let state = Mutex(State())

  var steps: [Step] { state.withLock { $0.steps } }

  private func note(_ call: replay_call, _ descriptor: Descriptor? = nil, flags: Int32 = 0) {
    state.withLock { state in
      let slot = descriptor.flatMap { state.slots[$0] } ?? -1
      state.steps.append(Step(call: call, slot: slot, flags: flags))
    }
  }

  func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    var step = Step(
      call: REPLAY_OPENAT, flags: flags.union(.closeOnExec).rawValue, path: path)
    state.withLock {
      step.slot = $0.slots[directory] ?? -1
      step.result = $0.next
      $0.next += 1
    }
    defer { state.withLock { $0.steps.append(step) } }
    let descriptor = try system.openat(directory, path, flags, mode: mode)
    state.withLock { $0.slots[descriptor] = step.result }
    return descriptor
  }

  func close(_ descriptor: Descriptor) {
    note(REPLAY_CLOSE, descriptor)
    system.close(descriptor)
  }

  func read(_ descriptor: Descriptor, _ count: Int) throws(Errno) -> [UInt8] {
    note(REPLAY_READ, descriptor, flags: Int32(count))
    return try system.read(descriptor, count)
  }

  func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws(Errno) -> Int { throw .ENOSYS }

  func mkdirat(
    _ directory: Descriptor, _ path: PathBytes, mode: UInt16
  ) throws(Errno) { throw .ENOSYS }

  func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
    note(REPLAY_STATX, descriptor)
    return try system.statx(descriptor)
  }

  func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    note(REPLAY_READLINKAT, descriptor)
    return try system.readlinkat(descriptor)
  }

  func getxattr(_ attribute: ExtendedAttribute, of descriptor: Descriptor) throws(Errno) -> [UInt8]
  {
    note(REPLAY_GETXATTR, descriptor)
    return try system.getxattr(attribute, of: descriptor)
  }

  func statmount(_ descriptor: Descriptor) throws(Errno) -> IDMapping? { throw .ENOSYS }

  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields { throw .ENOSYS }

  func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
    note(REPLAY_GETDENTS, descriptor)
    return try system.getdents(descriptor)
  }

  func faccessat2(_ path: PathBytes, _ need: Permissions) throws(Errno) {
    state.withLock {
      $0.steps.append(Step(call: REPLAY_FACCESSAT2, flags: Int32(need.rawValue), path: path))
    }
    try system.faccessat2(path, need)
  }

  func querycap(_ descriptor: Descriptor) throws(Errno) -> VideoCapability { throw .ENOTTY }

  func credentials() throws(Errno) -> Credentials {
    note(REPLAY_CREDENTIALS)
    return try system.credentials()
  }

  func isatty(_ descriptor: Descriptor) -> Bool { false }
  func columns(_ descriptor: Descriptor) -> Int? { nil }

  // MARK: Diagnosis

  func openat2(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags
  ) throws(Errno) -> Descriptor { throw .ENOSYS }

  func lsm_list_modules() throws(Errno) -> [UInt64] { throw .ENOSYS }

  func reqbufs(none descriptor: Descriptor) throws(Errno) { throw .ENOTTY }
}
