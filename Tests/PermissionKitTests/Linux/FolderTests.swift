import Foundation
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// Folders that are made on the way to a journal or a log.
@Suite struct FolderTests {
  @Test func `A name with a nul is refused`() throws {
    let tree = try Tree()
    let name = PathBytes(Array(tree.path("a").utf8) + [0] + Array("b".utf8))
    let error = #expect(throws: Errno.self) {
      try LinuxSystem().mkdirat(.currentDirectory, name, mode: 0o700)
    }
    #expect(error == .EINVAL)
    #expect(!FileManager.default.fileExists(atPath: tree.path("a")))
  }

  @Test func `A FIFO in the logs place does not hang`() throws {
    let tree = try Tree()
    try #require(mkfifo(tree.path("log"), 0o600) == 0)
    #expect(throws: PermissionError.self) { try FileLogging(PathBytes(tree.path("log"))).clear() }
  }

  @Test func `Folders are made by many at once`() async throws {
    let tree = try Tree()
    for round in 0..<20 {
      let file = PathBytes(tree.path("\(round)/b/c/d/log"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try FileLogging(file).log(
              AccessEvent(
                time: "t", event: .check, accessor: "camera", status: .denied, uid: 0, pid: 1,
                duration: 0))
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
