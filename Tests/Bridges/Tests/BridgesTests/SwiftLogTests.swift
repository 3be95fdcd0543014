import Foundation
import InMemoryLogging
import Logging
import PermissionKit
import PermissionKitLogging
import Testing

/// Sends each event to a logger and to a file of JSON.
private struct Both: LoggingStrategy {
  let logger: SwiftLogLogging
  let file: FileLogging

  func log(_ event: AccessEvent) throws(PermissionError) {
    logger.log(event)
    try file.log(event)
  }
}

@Suite struct SwiftLogTests {
  private let handler = InMemoryLogHandler()

  private func logger(_ level: Logger.Level = .trace) -> Logger {
    var logger = Logger(label: "tests", factory: { _ in handler })
    logger.logLevel = level
    return logger
  }

  @Test(arguments: AuthorizationStatus.allCases)
  func `A refusal is logged at notice, access at info`(
    _ status: AuthorizationStatus
  ) throws {
    _ = Door(status, SwiftLogLogging(logger())).currentAccess()
    let entry = try #require(handler.entries.first)
    #expect(handler.entries.count == 1)
    let isRefused = status == .denied || status == .restricted
    #expect(entry.level == (isRefused ? .notice : .info))
    #expect("\(entry.message)" == "check door: \(status.rawValue)")
  }

  @Test func `Each point is logged`() throws {
    let door = Door(.denied, reason: .ownerBits, SwiftLogLogging(logger()))
    try door.requestAccessIfNeeded()
    #expect(
      handler.entries.map { "\($0.message)" } == [
        "check door: denied (owner-bits)", "willReceiveAccess door: denied (owner-bits)",
        "didRejectAccess door: denied (owner-bits)",
      ])
    #expect(door.analytics.failure == nil)
  }

  @Test func `The level of the logger counts`() {
    _ = Door(.authorized, SwiftLogLogging(logger(.notice))).currentAccess()
    #expect(handler.entries.isEmpty)
    _ = Door(.denied, SwiftLogLogging(logger(.notice))).currentAccess()
    #expect(handler.entries.count == 1)
  }

  /// The names and values are those of the log in JSON; what the event lacks is in neither.
  @Test(arguments: [false, true]) func `Metadata is that of the JSON`(
    _ isFull: Bool
  ) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let door = Door(
      .denied, reason: isFull ? .ownerBits : nil,
      Both(logger: SwiftLogLogging(logger()), file: FileLogging(PathBytes(file.path))))
    if isFull {
      door.report.root = "/mnt"
      door.report.subject = try CameraAccessor(AccessContext(for: .user("daemon"))).checkAccess()
        .subject
    }
    _ = door.currentAccess()
    try #require(door.analytics.failure == nil)
    let members = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    #expect(members.count == (isFull ? 11 : 8))
    let entry = try #require(handler.entries.first)
    #expect(entry.metadata.mapValues { "\($0)" } == members.mapValues { "\($0)" })
  }

  @Test func `Hostile text is tamed`() throws {
    let door = Door(.denied, name: hostile, SwiftLogLogging(logger()))
    door.report.root = PathBytes("/\(hostile)")
    _ = door.currentAccess()
    let entry = try #require(handler.entries.first)
    #expect("\(entry.message)" == "check \(tamed): denied")
    #expect(entry.metadata["accessor"] == .string(tamed))
    #expect(entry.metadata["root"] == .string("/\(tamed)"))
  }
}
