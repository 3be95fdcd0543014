import Foundation
import TestSupport
import Testing

/// What a fixed machine looks like in each format, whole.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct SnapshotTests {
  /// A laptop: one camera by ACL, one of group video, a metadata node, a microphone of group audio.
  static func laptop() throws -> Tree {
    let tree = try Tree()
    try tree.file(
      "etc/passwd", "root:x:0:0:root:/root:/bin/sh\ntester:x:54321:54321::/home/tester:/bin/sh\n")
    try tree.file("etc/group", "root:x:0:\naudio:x:29:\nvideo:x:44:\ntester:x:54321:\n")
    try tree.camera(0, name: "Integrated Camera", mode: 0o660)
    try tree.camera(1, name: "Integrated Camera", capabilities: ":", index: 1, mode: 0o660)
    try tree.camera(2, name: "USB Capture HDMI", mode: 0o660)
    try tree.microphone(pcm: 0o660, control: 0o660)
    try tree.folder("home/tester/Pictures", mode: 0o750, uid: 54_321, gid: 54_321)
    let groups = try Command.run(
      ["chgrp", "44"] + (0...2).map { tree.path("dev/video\($0)") })
    let audio = try Command.run(
      ["chgrp", "29", tree.path("dev/snd/pcmC0D0c"), tree.path("dev/snd/controlC0")])
    try #require(groups.status == 0 && audio.status == 0)
    try tree.setfacl(["-m", "u:54321:rw"], "dev/video0")
    return tree
  }

  static let account = Account(uid: 54_321, gid: 54_321)

  /// Runs permcheck as tester and takes what differs from run to run out of its output.
  func output(_ arguments: [String], _ tree: Tree, _ status: Int32) throws -> String {
    let outcome = try Command.permcheck(
      arguments + ["--root", tree.root], environment: ["HOME": "/home/tester", "COLUMNS": nil],
      as: Self.account)
    #expect(outcome.status == status)
    #expect(outcome.errors.isEmpty)
    // Padding that stands for the width of the path must not depend on where the tree lies.
    return outcome.output.replacing(tree.root, with: "/ROOT")
      .replacing(/"version":"[0-9.]+"/, with: #""version":"VERSION""#)
      .replacing(/"host":"[^"]*"/, with: #""host":"HOST""#)
      .replacing(/"time":"[^"]*"/, with: #""time":"TIME""#)
      // On tmpfs a change lasts only so long.
      .replacing("until the next boot", with: "until you undo it")
      .replacing("until-reboot", with: "permanent")
  }

  /// Spaces before a column count as one, for they depend on how long the tree's own path is.
  func squeezed(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        let start = line.prefix { $0 == " " }
        return start + line.dropFirst(start.count).replacing(/\x20{2,}/, with: "  ")
      }.joined(separator: "\n")
  }

  @Test func `The output for people is unchanged`() throws {
    let tree = try Self.laptop()
    let fix = "sudo setfacl -n -m u:54321:rw-,m::rw-"
    let seen = squeezed(try output(["camera", "mic", "photos"], tree, 1))
    #expect(
      seen == """
        ◐ camera  limited  1 of 2 usable
          ✔  authorized  Integrated Camera  /ROOT/dev/video0  ACL user:tester:rw-
          ✘  denied  USB Capture HDMI  /ROOT/dev/video2
                    tester is not in group video (crw-rw---- root:video) and no ACL entry names tester
                    fix (lasts until you undo it; nobody else gets access):
                      \(fix) /ROOT/dev/video2
        ✘ mic  denied  HDA Intel PCH  /ROOT/dev/snd/pcmC0D0c
                    tester is not in group audio (crw-rw---- root:audio) and no ACL entry names tester
                    fix (2 steps; lasts until you undo it; nobody else gets access):
                      \(fix) /ROOT/dev/snd/pcmC0D0c
                      \(fix) /ROOT/dev/snd/controlC0
        ✔ photos  authorized  /ROOT/home/tester/Pictures  owner rwx

        """,
      "\(seen)")
  }

  @Test func `The output for people without devices is unchanged`() throws {
    let tree = try Tree()
    #expect(
      try output(["camera", "mic", "photos"], tree, 3) == """
        – camera  unavailable  there is no camera
        – mic     unavailable  there is no microphone
        – photos  unavailable  there is no /ROOT/home
                    fix: create the folder, or name another one

        """)
  }

  @Test func `Columns are aligned`() throws {
    let tree = try Self.laptop()
    let text = try output(["camera", "mic", "photos"], tree, 1)
    let rows = text.split(separator: "\n").filter { $0.contains("/ROOT/") && !$0.contains("fix:") }
      .filter { !$0.hasPrefix("   ") }
    #expect(rows.count == 4)
    for word in [["limited", "denied", "authorized"], ["Integrated", "USB", "HDA"]] {
      let columns = rows.compactMap { row in
        word.compactMap { row.firstRange(of: $0)?.lowerBound }.first.map {
          row.distance(from: row.startIndex, to: $0)
        }
      }
      #expect(Set(columns).count == 1, Comment(rawValue: text))
    }
  }

  @Test func `The plain output is unchanged`() throws {
    let tree = try Self.laptop()
    let not = { (group: String) in
      "not-in-group\ttester is not in group \(group) (crw-rw---- root:\(group))"
        + " and no ACL entry names tester\ttester"
    }
    let sound = { (node: String) in
      "microphone\tdenied\t/ROOT/dev/snd/\(node)\tdenied\trw\tEACCES\tother-bits\t\(not("audio"))"
    }
    #expect(
      try output(["camera", "mic", "photos", "--format", "plain"], tree, 1) == """
        camera\tlimited\t/ROOT/dev/video0\tauthorized\trw\t\tacl-user:54321\t\t\ttester
        camera\tlimited\t/ROOT/dev/video2\tdenied\trw\tEACCES\tother-bits\t\(not("video"))
        \(sound("pcmC0D0c"))
        \(sound("controlC0"))
        photos\tauthorized\t/ROOT/home/tester/Pictures\tauthorized\trwx\t\towner-bits\t\t\ttester

        """)
  }

  @Test func `The JSON output is unchanged`() throws {
    let tree = try Self.laptop()
    let text = try output(["camera", "--json"], tree, 0)
    let expected = """
      {
        "schemaVersion": 1,
        "tool": {"name": "permcheck", "version": "VERSION"},
        "host": "HOST", "time": "TIME", "root": "/ROOT",
        "subject": {
          "source": "self", "uid": 54321, "gid": 54321, "groups": [], "capabilities": [],
          "user": "tester"
        },
        "reports": [{
          "accessor": "camera", "status": "limited", "granted": true, "requestable": false, "requestableBy": "root",
          "subject": {
            "source": "self", "uid": 54321, "gid": 54321, "groups": [], "capabilities": [],
            "user": "tester"
          },
          "resources": [{
            "path": "/ROOT/dev/video0", "device": "video0", "label": "Integrated Camera",
            "need": "rw", "status": "authorized",
            "decision": {
              "verdict": "granted", "rule": "acl-user:54321", "component": "/ROOT/dev/video0",
              "basis": "ACL user:tester:rw-"
            },
            "probe": {"method": "open"}, "reasons": [], "remedies": []
          }, {
            "path": "/ROOT/dev/video2", "device": "video2", "label": "USB Capture HDMI",
            "need": "rw", "status": "denied",
            "decision": {
              "verdict": "refused", "errno": "EACCES", "rule": "other-bits",
              "component": "/ROOT/dev/video2", "basis": "other ---"
            },
            "probe": {"method": "open", "errno": "EACCES"},
            "reasons": [{
              "code": "not-in-group", "certainty": "proven", "whose": "file",
              "evidence": ["crw-rw---- root:video"],
              "message":
              "tester is not in group video (crw-rw---- root:video) and no ACL entry names tester"
            }],
            "remedies": [{
              "kind": "acl", "needsRoot": true, "persistence": "permanent", "lasts": "until you undo it",
              "othersAffected": [],
              "outcome": "granted",
              "command": ["setfacl", "-n", "-m", "u:54321:rw-,m::rw-", "/ROOT/dev/video2"],
              "shell": "sudo setfacl -n -m u:54321:rw-,m::rw- /ROOT/dev/video2",
              "undoCommand": ["setfacl", "-n", "-x", "u:54321:,m::", "/ROOT/dev/video2"]
            }]
          }]
        }],
        "exitStatus": 0
      }
      """
    let seen = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
    let wanted = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
    #expect(wanted != nil)
    #expect(seen == wanted)
  }

  /// The fix that the output offers is true: it gives access to the subject it names.
  @Test func `The printed fix works`() throws {
    let tree = try Self.laptop()
    struct Fixes: Decodable {
      struct Report: Decodable { let resources: [Resource] }
      struct Resource: Decodable { let remedies: [Remedy] }
      struct Remedy: Decodable { let command: [String] }
      let reports: [Report]
    }
    let arguments = ["camera", "mic", "--all", "--json", "--root", tree.root]
    let before = try Command.permcheck(arguments, as: Self.account)
    #expect(before.status == 1)
    let fixes = try JSONDecoder().decode(Fixes.self, from: Data(before.output.utf8))
    let commands = fixes.reports.flatMap(\.resources).flatMap(\.remedies).map(\.command)
    #expect(commands.count == 3)
    for command in commands { #expect(try Command.run(command).status == 0) }
    for name in ["dev/video2", "dev/snd/pcmC0D0c", "dev/snd/controlC0"] {
      #expect(try Kernel.open(tree.path(name), 2, as: Self.account) == 0)
      #expect(try Kernel.open(tree.path(name), 0, as: Account(uid: 54_322, gid: 54_322)) == 13)
    }
    #expect(try Command.permcheck(arguments, as: Self.account).status == 0)
  }
}
