import Foundation
import TestSupport
import Testing

/// Scripts/check-arrows notices a line that points the wrong way, and a folder that is not on the map.
@Suite(
  .blocking,
  .full("compiles the library six times; Scripts/check runs check-arrows"))
struct ArrowTests {
  /// A copy of the sources, with text added to one file of it.
  private static func sources(adding text: String, to file: String) throws -> URL {
    let copy = FileManager.default.temporaryDirectory.appending(path: "arrows-\(UUID())")
    try FileManager.default.copyItem(at: Checkout.file("Sources"), to: copy)
    let changed = copy.appending(path: file)
    try (String(contentsOf: changed, encoding: .utf8) + text)
      .write(to: changed, atomically: true, encoding: .utf8)
    return copy
  }

  private static func check(_ rooms: [String], _ sources: URL) throws -> Outcome {
    try Command.run(
      ["/bin/bash", Checkout.path("Scripts/check-arrows")] + rooms,
      environment: ["CHECK_ARROWS_SOURCES": sources.path])
  }

  @Test func `An import of a lower room passes`() throws {
    let sources = try Self.sources(adding: "\n", to: "PermissionKit/Model/Errno.swift")
    defer { try? FileManager.default.removeItem(at: sources) }
    let outcome = try Self.check(["Model", "Kernel"], sources)
    #expect(outcome.status == 0, "\(outcome.errors)")
  }

  @Test(arguments: [
    ("Model", "Model/Errno.swift", "\nlet up = AccessFacts.self\n", "cannot find 'AccessFacts'"),
    (
      "Kernel", "Kernel/InodeFacts.swift", "\nlet up = LinuxSystem.self\n",
      "cannot find 'LinuxSystem'"
    ),
    ("Model", "Model/Errno.swift", "\nimport Glibc\n", "imports Glibc"),
    (
      "Log", "Log/AnalyticsLog.swift", "\nlet up = Inspection.self\n",
      "cannot find 'Inspection'"
    ),
  ])
  func `An import of a higher room is reported`(
    room: String, file: String, line: String, message: String
  ) throws {
    let sources = try Self.sources(adding: line, to: "PermissionKit/\(file)")
    defer { try? FileManager.default.removeItem(at: sources) }
    let outcome = try Self.check([room], sources)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.contains(file), "\(outcome.errors)")
  }

  @Test func `A room that is not on the map is reported`() throws {
    let sources = try Self.sources(adding: "\n", to: "PermissionKit/Model/Errno.swift")
    defer { try? FileManager.default.removeItem(at: sources) }
    try FileManager.default.createDirectory(
      at: sources.appending(path: "Cellar"), withIntermediateDirectories: false)
    try FileManager.default.removeItem(at: sources.appending(path: "HelperStart"))
    let outcome = try Self.check(["Model"], sources)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Sources/Cellar is not on the map"), "\(outcome.errors)")
    #expect(
      outcome.errors.contains(
        "the map in CONTRIBUTING.md has Sources/HelperStart, which is not there"),
      "\(outcome.errors)")
  }
}
