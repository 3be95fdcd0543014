import Foundation
import PermissionKitTesting
import Synchronization
import TestSupport
import Testing

@testable import PermissionKit

@Suite(.blocking) struct AnalyticsTests {
  static func event(_ accessor: String = "camera") -> AccessEvent {
    AccessEvent(
      time: "2026-01-02T03:04:05.000006Z", event: .check, accessor: accessor, status: .denied,
      reason: .notInGroup, uid: 1000, pid: 42, duration: 7)
  }

  @Test func `A line is one JSON object`() throws {
    let hostile = Self.event("a\"b\\c\n\u{1}é")
    let line = hostile.line
    #expect(line.last == 0x0a && line.count { $0 == 0x0a } == 1)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    #expect(object["accessor"] as? String == "a\"b\\c\n\u{1}é")
    #expect(
      Set(object.keys)
        == ["v", "time", "event", "accessor", "status", "reason", "uid", "pid", "duration"])
    #expect(AccessEvent.events(inLines: line).events == [hostile])
    var whole = hostile
    (whole.subject, whole.root) = (7, PathBytes([0x2f, 0xff]))
    #expect(AccessEvent.events(inLines: whole.line).events == [whole])
  }

  @Test(arguments: [
    0, 951_782_399_999_999, 951_868_800_000_000, 1_709_164_800_000_001, 4_107_542_399_123_456,
    -1, 1_798_761_599_000_000,
  ])
  func `Timestamps are RFC 3339`(_ microseconds: Int64) throws {
    let whole = Int64((Double(microseconds) / 1e6).rounded(.down))
    let fraction = microseconds - whole * 1_000_000
    let expected =
      Date(timeIntervalSince1970: TimeInterval(whole)).formatted(.iso8601).dropLast()
      + "." + String(repeating: "0", count: 6 - String(fraction).count) + "\(fraction)Z"
    #expect(Timestamp.rfc3339(microseconds) == expected)
    #expect(Timestamp.microseconds(expected) == microseconds)
  }

  @Test(arguments: [
    "", "soon", "2026-11-25", "2026-11-25T14:30:05Z", "2026-02-30T00:00:00.000000Z",
    "2026-11-25T14:30:05.123456", "99999999999999999999-01-01T00:00:00.000000Z",
    "9223372036854775807-01-01T00:00:00.000000Z", "2026-11-25T14:30:05.9999999Z",
  ]) func `A malformed time is nil`(_ text: String) {
    #expect(Timestamp.microseconds(text) == nil)
  }

  @Test func `The strategy can be changed while threads log`() throws {
    let log = AnalyticsLog.inMemory
    log.log(Self.event("one"))
    #expect(try log.loggedEvents().map(\.accessor) == ["one"])
    let tree = try Tree()
    log.strategy = FileLogging(PathBytes(tree.path("deep/folder/log.jsonl")))
    log.log(Self.event("two"))
    log.log(Self.event("three"))
    #expect(try log.loggedEvents().map(\.accessor) == ["two", "three"])
    try log.clear()
    #expect(try log.loggedEvents().isEmpty)
    #expect(log.failure == nil)
    let attributes = try FileManager.default.attributesOfItem(atPath: tree.path("deep/folder"))
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test func `An event is Codable with the JSON of the log`() throws {
    var event = Self.event("camera")
    for reason in [nil, Reason.Code.notInGroup] {
      for root in [nil, PathBytes([0x2f, 0xff, 0x5c])] {
        (event.reason, event.root, event.subject) = (reason, root, root == nil ? nil : 1000)
        let line = Data(event.line)
        #expect(try JSONDecoder().decode(AccessEvent.self, from: line) == event)
        let own = try JSONEncoder().encode(event)
        let (ours, theirs) = try (
          JSONSerialization.jsonObject(with: line) as? NSDictionary,
          JSONSerialization.jsonObject(with: own) as? NSDictionary
        )
        #expect(ours != nil && ours == theirs)
        #expect(AccessEvent.events(inLines: Array(own)).events == [event])
      }
    }
  }

  @Test func `A strategy needs only one method`() throws {
    final class Counting: LoggingStrategy {
      let count = Mutex(0)
      func log(_ event: AccessEvent) { count.withLock { $0 += 1 } }
    }
    let counting = Counting()
    let log = AnalyticsLog(counting)
    #expect(ScriptedAccessor([.authorized], log: log).hasAccess())
    try log.clear()
    #expect(try log.loggedEvents().isEmpty && counting.count.withLock { $0 } == 1)
  }

  @Test func `The log in memory is bounded`() {
    let strategy = InMemoryLogging(capacity: 3)
    for index in 0..<10 { strategy.log(Self.event("\(index)")) }
    #expect(strategy.loggedEvents().map(\.accessor) == ["7", "8", "9"])
  }

  @Test(arguments: [("write", Errno.ENOSPC), ("openat", .EROFS), ("write", .EIO)])
  func `A failure changes no answer`(_ call: String, _ errno: Errno) throws {
    let system = FakeSystem(credentials: Credentials(uid: 0, gid: 0, groups: []))
    let log = AnalyticsLog(FileLogging("/log", system: system), system: system)
    let accessor = ScriptedAccessor([.authorized], log: log)
    system.force(call, errno)
    #expect(accessor.hasAccess())
    #expect(log.failure?.errno == errno)
    system.force(call, nil)
    #expect(accessor.hasAccess())
    #expect(try log.loggedEvents().count == 1)
  }

  @Test func `A failure is reported once on standard error`() {
    struct Full: LoggingStrategy {
      func log(_ event: AccessEvent) throws(PermissionError) {
        throw PermissionError(.system, "the disk\u{1b}[2J is full")
      }
    }
    let system = FakeSystem(credentials: Credentials(uid: 0, gid: 0, groups: []))
    for log in [
      AnalyticsLog(Full(), system: system),
      AnalyticsLog(Full(), system: system, reportsFailure: false),
    ] {
      for _ in 0..<3 { #expect(ScriptedAccessor([.authorized], log: log).hasAccess()) }
      #expect(log.failure?.message == "the disk\u{1b}[2J is full")
    }
    let lines = String(decoding: system.standardError, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 1, "\(lines)")
    #expect(
      lines.first?.hasSuffix(": warning: an event was not logged: the disk\\u{1b}[2J is full")
        == true, "\(lines)")
  }

  @Test func `Lines of other programs are ignored`() {
    let lines =
      Self.event().line + Array("nonsense\n{\"v\":2}\n".utf8) + Self.event().line.dropLast(9)
    let (events, unreadable) = AccessEvent.events(inLines: lines)
    #expect(events.count == 1)
    #expect(unreadable == 3)
  }
}
