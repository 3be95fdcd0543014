import Foundation
import Glibc
import PermissionKit
import PermissionKitLogging
import TestSupport
import Testing

/// A daemon that receives datagrams.
private final class Daemon {
  let socket: Int32

  init(_ path: String) throws {
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
    }
    try #require(result == 0)
  }

  deinit { close(socket) }

  /// Returns the next datagram; nil if there is none.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : Array(buffer.prefix(count))
  }
}

@Suite(.blocking) struct SocketLoggingTests {
  private final class Door: PermissionAccessor {
    override func checkAccess() -> AccessReport {
      AccessReport(accessor: name, status: .denied)
    }
  }

  private static func check(_ name: String, _ strategy: any LoggingStrategy) -> PermissionError? {
    let log = AnalyticsLog(strategy)
    // Whatever becomes of the event, the answer is the same.
    #expect(Door(name: name, analytics: log).currentAccess().status == .denied)
    return log.failure
  }

  @Test func `The journal receives fields`() throws {
    let tree = try Tree()
    let daemon = try Daemon(tree.path("journal"))
    let journal = JournaldLogging(identifier: "tool", socket: PathBytes(tree.path("journal")))
    #expect(Self.check("door", journal) == nil)
    let text = String(decoding: try #require(daemon.receive()), as: UTF8.self)
    #expect(
      text.split(separator: "\n").filter { !$0.hasPrefix("PERMISSION_DURATION") } == [
        "MESSAGE=check door: denied", "PRIORITY=5", "SYSLOG_IDENTIFIER=tool",
        "PERMISSION_EVENT=check", "PERMISSION_ACCESSOR=door", "PERMISSION_STATUS=denied",
      ])
    #expect(daemon.receive() == nil)
  }

  /// A name with a line feed adds no field of its own.
  @Test func `The journal receives whole lines`() throws {
    let tree = try Tree()
    let daemon = try Daemon(tree.path("journal"))
    let journal = JournaldLogging(identifier: "tool", socket: PathBytes(tree.path("journal")))
    #expect(Self.check("a\nPRIORITY=0", journal) == nil)
    let bytes = try #require(daemon.receive())
    let value = Array("a\nPRIORITY=0".utf8)
    let field =
      Array("PERMISSION_ACCESSOR\n".utf8) + [UInt8(value.count)]
      + [UInt8](repeating: 0, count: 7) + value + [0x0a]
    #expect(Data(bytes).range(of: Data(field)) != nil)
  }

  @Test func `Syslog receives one line`() throws {
    let tree = try Tree()
    let daemon = try Daemon(tree.path("log"))
    let syslog = SyslogLogging(identifier: "tool", socket: PathBytes(tree.path("log")))
    #expect(Self.check("do\nor", syslog) == nil)
    let text = String(decoding: try #require(daemon.receive()), as: UTF8.self)
    let form = /<13>[A-Z][a-z]{2} [ 1-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9] tool\[(\d+)\]: (.*)/
    let match = try #require(text.wholeMatch(of: form), "\(text)")
    #expect(match.1 == "\(getpid())")
    #expect(match.2.hasPrefix("check do") && match.2.hasSuffix(": denied"))
  }

  @Test(arguments: [0, 1, 2])
  func `A dead or full daemon is not waited for`(_ kind: Int) throws {
    let tree = try Tree()
    let path = PathBytes(tree.path("socket"))
    // No socket; a file; a daemon that never reads.
    if kind == 1 { try tree.file("socket") }
    let daemon = kind == 2 ? try Daemon(tree.path("socket")) : nil
    for strategy in [
      JournaldLogging(identifier: "tool", socket: path),
      SyslogLogging(identifier: "tool", socket: path),
    ] as [any LoggingStrategy] {
      var failure: PermissionError?
      for _ in 0..<2000 where failure == nil { failure = Self.check("door", strategy) }
      #expect(failure?.errno == [.ENOENT, Errno(rawValue: ECONNREFUSED), .EAGAIN][kind])
    }
    withExtendedLifetime(daemon) {}
  }
}
