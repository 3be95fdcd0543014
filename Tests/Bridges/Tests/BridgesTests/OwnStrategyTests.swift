import Foundation
import PermissionKit
import Testing

/// Gives folders for reading alone, whatever is asked, and never what is hidden.
private struct ReadOnlyFolders: GrantStrategy {
  let name = "read-only-folders"

  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    let folders = request.resources.filter { !$0.path.lastComponent.description.hasPrefix(".") }
    var plan = try request.smallestPlan(
      for: folders.map { folder in
        var folder = folder
        folder.need.remove(.write)
        return folder
      })
    plan?.strategy = name
    plan?.warnings.append("\(request.subject.displayName) may look, not touch")
    return plan
  }
}

/// Asks for a path that the request does not have.
private struct Elsewhere: GrantStrategy {
  let name = "elsewhere"

  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    try request.smallestPlan(
      for: request.resources.map { resource in
        var resource = resource
        resource.path = "/etc/shadow"
        return resource
      })
  }
}

/// A strategy of a program that is not this package; root gives a user access to a folder of its own.
@Suite(.enabled(if: geteuid() == 0, "only root gives others access"))
struct OwnStrategyTests {
  private func accessor(
    _ folder: URL, _ strategy: any GrantStrategy
  ) throws -> PhotoLibraryAccessor {
    let games = Who.user("games")
    let accessor = try PhotoLibraryAccessor(AccessContext(for: games, path: folder.path))
    accessor.grants = GrantOptions(strategy: strategy) {
      (_: GrantPlan) throws(PermissionError) -> Bool in true
    }
    return accessor
  }

  private func withFolder(_ name: String, _ body: (URL) throws -> Void) throws {
    let top = URL(filePath: "/var/tmp/own-strategy.\(UUID())")
    let folder = top.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: top.path)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    defer { try? FileManager.default.removeItem(at: top) }
    try body(folder)
  }

  /// Returns whether the kernel lets the user do it.
  private func may(_ test: String, _ folder: URL) throws -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments = [
      "--reuid", "games", "--regid", "games", "--clear-groups", "test", test, folder.path,
    ]
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  @Test func `A strategy of a program gives what it chooses, and the change can be undone`() throws
  {
    try withFolder("album") { folder in
      let accessor = try accessor(folder, ReadOnlyFolders())
      let prepared = accessor.prepare()
      let plan = try #require(prepared.plan)
      #expect(plan.strategy == "read-only-folders")
      #expect(plan.warnings.contains("games may look, not touch"))
      #expect(plan.othersAffected.isEmpty && !plan.needsRoot)
      #expect(try accessor.carryOut(prepared).requestOutcome == .granted)
      #expect(try may("-r", folder) && may("-x", folder))
      #expect(try !may("-w", folder))
      #expect(try accessor.revokeAccess())
      #expect(try !may("-r", folder))
    }
  }

  @Test func `What a strategy leaves out is not given`() throws {
    try withFolder(".album") { folder in
      let accessor = try accessor(folder, ReadOnlyFolders())
      #expect(accessor.prepare().plan == nil)
      #expect(try accessor.requestAccessIfNeeded().requestOutcome == .nothingToChange)
      #expect(try !may("-r", folder))
    }
  }

  @Test func `A strategy cannot give what was not requested`() throws {
    try withFolder("album") { folder in
      let accessor = try accessor(folder, Elsewhere())
      let before = try Data(contentsOf: URL(filePath: "/etc/shadow"))
      #expect(accessor.prepare().plan == nil)
      #expect(try !may("-r", URL(filePath: "/etc/shadow")))
      #expect(try Data(contentsOf: URL(filePath: "/etc/shadow")) == before)
    }
  }
}
