import Synchronization
import TestSupport

@_spi(SystemCalls) @testable import PermissionKit

/// A system of which a part cannot be looked at, though the kernel decides as before.
///
/// A look is a call that only reads: of a file's bytes, an inode, an ACL, a link. What asks the kernel for the
/// access itself is none: an open of the resource that is not by O_PATH, and faccessat2(2).
final class BlindSystem: ForwardingSystem, Sendable {
  /// A call and the path that it reads.
  struct Look: Hashable, Sendable, CustomStringConvertible {
    var call: String
    var path: PathBytes
    var description: String { "\(call) \(path)" }
  }

  private struct State {
    var paths: [Int32: PathBytes] = [:]
    var looks: [Look] = []
  }

  let base: any System
  /// The resources, whose opens are the kernel's answer.
  private let asked: [PathBytes]
  /// Whether the kernel can be asked for the access: then it walks to the resource as it did before.
  private let asksKernel: Bool
  /// What cannot be seen, with the errno.
  private let hidden: [Look: Errno]
  /// The folders on which an empty file system is mounted.
  private let empty: [PathBytes]
  private let state = Mutex(State())

  init(
    _ base: any System, asked: [PathBytes], asksKernel: Bool, hidden: [Look: Errno] = [:],
    empty: [PathBytes] = []
  ) {
    (self.base, self.asked, self.hidden, self.empty) = (base, asked, hidden, empty)
    self.asksKernel = asksKernel
  }

  /// The looks so far, each once, in their order.
  var looks: [Look] {
    var seen: Set<Look> = []
    return state.withLock { $0.looks }.filter { seen.insert($0).inserted }
  }

  private func look(_ call: String, _ path: PathBytes) throws(Errno) {
    let look = Look(call: call, path: path)
    state.withLock { $0.looks.append(look) }
    if let errno = hidden[look] { throw errno }
    for folder in empty where path.isBelow(folder) { throw .ENOENT }
  }

  private func path(of descriptor: Descriptor) -> PathBytes? {
    state.withLock { $0.paths[descriptor.rawValue] }
  }

  func openat(
    _ directory: Descriptor, _ path: PathBytes, _ flags: OpenFlags, mode: UInt16
  ) throws(Errno) -> Descriptor {
    var full = path
    if !path.isAbsolute, let folder = self.path(of: directory) {
      full = path == "." ? folder : path == ".." ? folder.parent : folder.appending(path)
    }
    if full.hasPrefix("/proc/self/fd/") {
      let number = full.bytes.dropFirst("/proc/self/fd/".utf8.count).prefix { $0 != 47 }
      if let number = Int32(String(decoding: number, as: UTF8.self)),
        let known = self.path(of: Descriptor(rawValue: number))
      {
        full = known
      }
    }
    let isOnTheWay = asked.contains { full == $0 || $0.isBelow(full) }
    let isLook = isOnTheWay ? flags.contains(.path) && !asksKernel : full != "/"
    if isLook, full != "/dev/null", full != "/proc/self/comm" {
      try look(flags.contains(.path) ? "path" : "open", full)
    }
    let descriptor = try base.openat(directory, path, flags, mode: mode)
    state.withLock { $0.paths[descriptor.rawValue] = full }
    return descriptor
  }

  func status(of path: PathBytes) throws(Errno) -> StatusFields {
    if !asksKernel || !asked.contains(path) { try look("stat", path) }
    return try base.status(of: path)
  }

  func getxattr(
    _ attribute: ExtendedAttribute, of descriptor: Descriptor
  ) throws(Errno) -> [UInt8] {
    if let path = path(of: descriptor) { try look("getxattr", path) }
    return try base.getxattr(attribute, of: descriptor)
  }

  func readlinkat(_ descriptor: Descriptor) throws(Errno) -> PathBytes {
    if let path = path(of: descriptor) { try look("readlink", path) }
    return try base.readlinkat(descriptor)
  }

  func fstatfs(_ descriptor: Descriptor) throws(Errno) -> FileSystemFields {
    if let path = path(of: descriptor) { try look("statfs", path) }
    return try base.fstatfs(descriptor)
  }

  func encryptionKeyIsPresent(_ directory: Descriptor) throws(Errno) -> Bool {
    if let path = path(of: directory) { try look("key", path) }
    return try base.encryptionKeyIsPresent(directory)
  }

  func lsm_list_modules() throws(Errno) -> [UInt64] {
    try look("lsm_list_modules", "")
    return try base.lsm_list_modules()
  }
}
