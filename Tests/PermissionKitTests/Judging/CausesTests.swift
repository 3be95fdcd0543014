import Foundation
import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

/// Documentation/causes.md, which is made of `Causes.all` and of what each cause finds in the scenes of this folder.
///
/// After a change that is meant, `PERMCHECK_GOLDEN=write swift test --filter CausesTests` writes it anew.
@Suite struct CausesTests {
  private static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  private static let file = package.appending(path: "Documentation/causes.md")

  private static let introduction = """
    # Causes

    What can refuse access, make it unknown, or explain a refusal: `Causes.all` in the order in which `Verdict`
    reads it. `replaces` is what a cause leaves out of the reasons and remedies before it; of the statuses the last
    one counts. Reasons that the kernel's answer has already are not listed again. Each is a file of
    `Sources/PermissionKit/Judging/Causes`. This page is made by `CausesTests` from what the causes find in the
    scenes of `Tests/PermissionKitTests/Judging`, and is held by it.
    [CONTRIBUTING.md](../CONTRIBUTING.md#to-add-something) says how a cause is added.

    | cause | reasons | status | replaces | seen in | lab |
    |---|---|---|---|---|---|

    """

  /// Causes that no fake machine has, and the test that asks a real one.
  private static let elsewhere = [
    "ModulePolicy": "lab", "UnknownUmask": "FutureTests", "LateServer": "SilentServerTests",

  ]

  /// What a cause found in all scenes.
  private struct Seen {
    var codes: [String] = []
    var statuses: [String] = []
    var replaces: [String] = []
    var scene: String?

    mutating func add(_ finding: Finding, in scene: String) {
      self.scene = self.scene ?? scene
      func add(_ text: String, to list: inout [String]) {
        if !list.contains(text) { list.append(text) }
      }
      for reason in finding.reasons { add(reason.code.rawValue, to: &codes) }
      if let status = finding.status { add(status.rawValue, to: &statuses) }
      add("\(finding.replaces)", to: &replaces)
    }
  }

  private static func seen() throws -> [Seen] {
    var all = Causes.all.map { _ in Seen() }
    func look(_ name: String, _ inspection: Inspection) {
      for resource in inspection.targets.flatMap(\.set.resources) {
        let evidence = Evidence(inspection, inspection.ask(resource), explains: false)
        let known = Causes.all[0].find(in: evidence)?.reasons.map(\.code) ?? []
        for (index, cause) in Causes.all.enumerated() {
          guard var finding = cause.find(in: evidence) else { continue }
          if index > 0 { finding.reasons.removeAll { known.contains($0.code) } }
          all[index].add(finding, in: name)
        }
      }
    }
    func combine(_ count: Int) throws {
      for isCamera in [true, false] {
        let causes = isCamera ? PrecedenceTests.cameras : PrecedenceTests.folders
        for causes in PrecedenceTests.combinations(causes) where causes.count == count {
          let (fake, question, contents) = PrecedenceTests.scene(causes, isCamera: isCamera)
          let names = causes.map(\.name).joined(separator: " + ")
          look(
            "\(isCamera ? "camera" : "folder"): \(names)",
            try question.inspection(fake, contents: contents))
        }
      }
    }
    try combine(1)
    for errno in [Errno.ENOSPC, .EDQUOT] {
      let fake = Scene.system()
      fake.force("checkRoom", errno)
      var context = AccessContext(system: fake)
      context.question = .operation(try NamedOperation(.create, target: nil, context))
      let given = context
      look(
        "create: \(errno)",
        try Inspection(given) { _ in [Inspection.Target(path: "/home/anna/new", in: given)] })
    }
    let rows =
      BitRows.rows + LayerRows.rows + DeviceRows.rows + ContradictionRows.rows
      + ConfinementRows.rows + ServiceRows.rows + SessionRows.rows + HolderRows.rows
    for row in rows {
      let fake = Scene.system()
      row.scene(fake)
      look(row.name, try row.question.inspection(fake))
    }
    try combine(2)
    return all
  }

  /// The scenarios of the lab that expect a code.
  private static func scenarios(_ codes: [String]) throws -> String {
    let folder = package.appending(path: "Tests/Lab/scenarios")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let words = try codes.map {
      try Regex("(^|[^a-z-])\($0)([^a-z-]|$)").anchorsMatchLineEndings()
    }
    let found = try names.filter { name in
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return words.contains { text.contains($0) }
    }
    return found.prefix(3).map { $0.replacing(".sh", with: "") }.joined(separator: ", ")
  }

  @Test func `The page of causes is what the causes find`() throws {
    var text = Self.introduction
    var silent: [String] = []
    for (cause, seen) in zip(Causes.all, try Self.seen()) {
      let name = "\(type(of: cause))"
      let source = "Sources/PermissionKit/Judging/Causes/\(name).swift"
      #expect(FileManager.default.fileExists(atPath: Self.package.appending(path: source).path))
      let scene = seen.scene ?? Self.elsewhere[name]
      if scene == nil { silent.append(name) }
      // The kernel's answer has every code.
      let isAny = name == "KernelAnswer"
      let codes = isAny ? "any" : seen.codes.map { "`\($0)`" }.joined(separator: ", ")
      let cells = [
        "`\(name)`", codes, seen.statuses.sorted().joined(separator: ", "),
        seen.replaces.sorted().joined(separator: ", "), scene ?? "",
        isAny ? "verdicts" : try Self.scenarios(seen.codes),
      ]
      text += "| " + cells.map { $0.isEmpty ? "–" : $0 }.joined(separator: " | ") + " |\n"
    }
    #expect(silent == [], "no scene has these causes")
    if Variables.value("PERMCHECK_GOLDEN") == "write" { try Data(text.utf8).write(to: Self.file) }
    #expect(try String(contentsOf: Self.file, encoding: .utf8) == text)
  }
}
