import Foundation
import Synchronization
import TestSupport
import Testing

@testable @_spi(SystemCalls) import PermissionKit

/// Files with several names in a folder that is granted with all that is in it.
@Suite(.enabled(if: getuid() == 0, "files of others want root"))
struct FolderContentsTests {
  /// Somebody who moves the name of a file on, whenever a folder is listed.
  private final class Mover: ForwardingSystem {
    let base: any System = LinuxSystem()
    private let top: String
    /// The folder that was listed last, until its file was looked at.
    private let pending = Mutex("")

    init(_ top: String) { self.top = top }

    func getdents(_ descriptor: Descriptor) throws(Errno) -> [PathBytes] {
      let names = try base.getdents(descriptor)
      guard names.contains("x"),
        let link = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(descriptor.rawValue)")
      else { return names }
      pending.withLock { $0 = link }
      return names
    }

    func statx(_ descriptor: Descriptor) throws(Errno) -> StatusFields {
      let status = try base.statx(descriptor)
      let from = pending.withLock { pending -> String in
        defer { if status.links > 1 { pending = "" } }
        return status.links > 1 ? pending : ""
      }
      if !from.isEmpty {
        let to = from == "\(top)/a" ? "\(top)/b" : "\(top)/a"
        try? base.rename(PathBytes("\(from)/x"), PathBytes("\(to)/x"))
      }
      return status
    }
  }

  private func contents(_ tree: Tree, _ system: any System) throws -> FolderContents.Listing {
    let resource = Resource(
      path: PathBytes("\(tree.root)/top"), label: "t", device: "t", need: [.read], kind: .directory)
    return try FolderContents(system: system).resources(below: resource)
  }

  private func tree() throws -> Tree {
    let tree = try Tree()
    for folder in ["top", "top/a", "top/b", "else"] { try tree.folder(folder, mode: 0o755) }
    try "secret".write(toFile: "\(tree.root)/else/secret", atomically: false, encoding: .utf8)
    return tree
  }

  /// One of the two folders is looked at first.
  @Test(arguments: ["a", "b"])
  func `A name that is moved meanwhile is not counted twice`(_ first: String) throws {
    let tree = try tree()
    #expect(link("\(tree.root)/else/secret", "\(tree.root)/top/\(first)/x") == 0)
    usleep(50_000)
    let found = try contents(tree, Mover("\(tree.root)/top"))
    #expect(found.found.map(\.resource.kind) == [.directory, .directory])
    #expect(found.linked.count == 1)
  }

  @Test func `All names inside are one file, also a moment after they were made`() throws {
    let tree = try tree()
    try "own".write(toFile: "\(tree.root)/top/a/y", atomically: false, encoding: .utf8)
    #expect(link("\(tree.root)/top/a/y", "\(tree.root)/top/b/y") == 0)
    let found = try contents(tree, LinuxSystem())
    #expect(found.linked.isEmpty)
    #expect(found.found.count == 3)
  }
}
