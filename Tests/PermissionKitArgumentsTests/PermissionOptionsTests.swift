import ArgumentParser
import Foundation
import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKitArguments

/// An accessor whose request gives access, and whose check says what the test wants.
private final class Door: PermissionAccessor {
  var status: AuthorizationStatus
  var requests = 0
  var rejections = 0

  init(_ status: AuthorizationStatus, log: AnalyticsLog = .inMemory) {
    self.status = status
    super.init(name: "door", analytics: log)
  }

  override func checkAccess() -> AccessReport {
    AccessReport(accessor: name, status: status, isRequestable: status == .denied)
  }

  override func requestAccess(_ report: AccessReport) throws(PermissionError) -> AccessReport {
    requests += 1
    status = .authorized
    return report
  }

  override func didRejectAccess() { rejections += 1 }
}

@Suite(.blocking) struct PermissionOptionsTests {
  private static func options(_ arguments: String...) throws -> PermissionOptions {
    try PermissionOptions.parse(arguments)
  }

  @Test func `Access opens the gate`() throws {
    let reports = try Self.options().gate(Door(.authorized), Door(.limited))
    #expect(reports.map(\.status) == [.authorized, .limited])
  }

  @Test(arguments: [AuthorizationStatus.restricted, .unavailable, .notDetermined])
  func `No access ends the command`(_ status: AuthorizationStatus) throws {
    let options = try Self.options()
    #expect(throws: PermissionOptions.noPermission) { try options.gate(Door(status)) }
    #expect(PermissionOptions.noPermission.rawValue == 77)
  }

  @Test func `The gate asks nothing after a refusal`() throws {
    let (first, second) = (Door(.restricted), Door(.denied))
    #expect(throws: ExitCode(77)) { try Self.options().gate(first, second) }
    #expect(first.rejections == 1 && second.requests == 0)
    // It is told all the same.
    #expect(second.rejections == 1 && second.requestsAccess)
  }

  @Test func `The gate prints all refusals`() throws {
    let doors = [Door(.restricted), Door(.authorized), Door(.unavailable)]
    #expect(throws: ExitCode(77)) { try Self.options().gate(doors[0], doors[1], doors[2]) }
    #expect(doors.map(\.rejections) == [1, 0, 1])
    #expect(doors.allSatisfy { $0.latestReport != nil })
  }

  @Test func `Foundation shows the text of an error`() {
    let error = PermissionError(
      .system, "the list cannot be read", call: "open", errno: .EACCES, advice: "ask as root")
    #expect((error as any Error).localizedDescription == error.description)
    #expect((error as? any LocalizedError)?.recoverySuggestion == "ask as root")
  }

  @Test func `Requests can be forbidden`() throws {
    let door = Door(.denied)
    let options = try Self.options("--request-access", "--no-request-access")
    #expect(throws: ExitCode(77)) { try options.gate(door) }
    #expect(door.requests == 0 && door.rejections == 1)
    let other = Door(.denied)
    try Self.options("--no-request-access", "--request-access").gate(other)
    #expect(other.requests == 1)
  }

  @Test func `Limited access is not enough with the strict option`() throws {
    let door = Door(.limited)
    door.acceptsLimited = false
    #expect(throws: ExitCode(77)) { try Self.options().gate(door) }
  }

  @Test func `Only the option gives consent`() throws {
    for (arguments, isGranted) in [([], false), (["--request-access"], true)] {
      let fake = FakeSystem(credentials: Credentials(uid: 1000, gid: 1000, groups: []))
      fake.addUser(UserRecord(name: "ada", uid: 1000, gid: 1000, home: "/home/ada"))
      fake.setEnvironment("HOME", "/home/ada")
      fake.add("/home/ada", FakeNode(kind: .directory, mode: 0o755, uid: 1000, gid: 1000))
      fake.add(
        "/home/ada/Pictures", FakeNode(kind: .directory, mode: 0o000, uid: 1000, gid: 1000))
      let photos = PhotoLibraryAccessor(
        AccessContext(system: fake, path: "/home/ada/Pictures"), analytics: .inMemory)
      let options = try PermissionOptions.parse(arguments)
      let report = try options.request(photos, purpose: "to see")
      #expect(report.isGranted == isGranted, "\(report)")
      #expect(photos.grants.purpose == "to see")
    }
  }

  @Test func `The log is written`() throws {
    let tree = try Tree()
    let options = try Self.options("--access-log", tree.path("log"))
    _ = try options.request(Door(.authorized, log: .shared))
    let text = try String(contentsOfFile: tree.path("log"), encoding: .utf8)
    #expect(text.contains("\"accessor\":\"door\""), "\(text)")
    AnalyticsLog.shared.strategy = InMemoryLogging()
  }

  @Test(arguments: ["", "x", "5x", "-5", "400d"])
  func `Wrong times are refused`(_ text: String) {
    #expect(throws: (any Error).self) {
      try PermissionOptions.parse(["--wait-for-access", text])
    }
  }

  @Test func `A wait ends without access`() throws {
    let options = try Self.options("--wait-for-access", "0.01")
    let folder = PhotoLibraryAccessor(
      AccessContext(path: "/nowhere/at/all"), analytics: .inMemory)
    #expect(throws: ExitCode(77)) { try options.gate(folder) }
  }
}
