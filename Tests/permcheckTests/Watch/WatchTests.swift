import Foundation
import Glibc
import TestSupport
import Testing

/// A line of `permcheck watch --json`.
struct ChangeLine: Decodable {
  let schemaVersion: Int
  let time: String
  let accessor: String
  let old: String?
  let new: String
  let cause: String?
  let path: String?
  let reason: String?
}

/// A `permcheck watch --json` that runs.
struct LiveWatch {
  let command: LiveCommand

  init(
    _ arguments: [String], environment: [String: String?] = [:], as account: Account? = nil
  ) throws {
    command = try LiveCommand(
      [Command.permcheck, "watch", "--json"] + arguments, environment: environment, as: account)
  }

  /// The next line, which must come.
  func line(_ location: SourceLocation = #_sourceLocation) throws -> ChangeLine {
    let line = try #require(command.line(), "no line came", sourceLocation: location)
    return try JSONDecoder().decode(ChangeLine.self, from: Data(line.utf8))
  }

  /// The lines up to the one that says so; it must come.
  func lines(
    until new: String, of accessor: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> [ChangeLine] {
    var lines: [ChangeLine] = []
    repeat {
      lines.append(try line(location))
    } while lines.last?.accessor != accessor
      || lines.last?.new != new
    return lines
  }
}

@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct WatchTests {
  /// One camera that everybody may use, for a subject that is nobody's.
  static func machine() throws -> (tree: Tree, arguments: [String]) {
    let tree = try Tree()
    try tree.camera(0)
    return (tree, ["camera", "--root", tree.root, "--uid", "54321", "--gid", "54321"])
  }

  func shell(_ script: String, _ tree: Tree, _ location: SourceLocation = #_sourceLocation) throws {
    let outcome = try Command.run(["sh", "-ec", "umask 0; cd \"$0\"; \(script)", tree.root])
    #expect(outcome.status == 0, "\(script): \(outcome.errors)", sourceLocation: location)
  }

  static let steps: [(script: String, new: String, cause: String, path: String)] = [
    ("chmod 600 dev/video0", "denied", "mode", "dev/video0"),
    ("chown 54321 dev/video0", "authorized", "owner", "dev/video0"),
    ("chown 0:0 dev/video0", "denied", "owner", "dev/video0"),
    ("setfacl -m u:54321:rw dev/video0", "authorized", "acl", "dev/video0"),
    ("chmod g-w dev/video0", "denied", "mode", "dev/video0"),
    ("chmod g+w dev/video0", "authorized", "mode", "dev/video0"),
    ("setfacl -b dev/video0", "denied", "acl", "dev/video0"),
    ("chmod 666 dev/video0", "authorized", "mode", "dev/video0"),
    ("rm dev/video0", "unavailable", "node-removed", "dev/video0"),
    ("mknod -m 666 dev/video0 c 1 3", "authorized", "node-added", "dev/video0"),
    ("mv dev away", "unavailable", "parent", "dev"),
    ("mv away dev", "authorized", "parent", "dev"),
    ("chmod 700 dev", "denied", "parent", "dev"),
    ("chmod 755 dev", "authorized", "parent", "dev"),
    ("mv dev real", "unavailable", "parent", "dev"),
    ("ln -s real dev", "authorized", "parent", "dev"),
    ("chmod 600 real/video0", "denied", "mode", "real/video0"),
    ("rm dev", "unavailable", "parent", "dev"),
    ("mv real dev", "denied", "parent", "dev"),
    ("chmod 666 dev/video0", "authorized", "mode", "dev/video0"),
  ]

  @Test func `Every cause is named`() throws {
    let (tree, arguments) = try Self.machine()
    // Nothing of sysfs and udev: they would still know the node that is gone.
    try shell("rm -r sys run", tree)
    let watch = try LiveWatch(arguments)
    let first = try watch.line()
    #expect(first.new == "authorized" && first.old == nil && first.cause == nil)
    for step in Self.steps {
      try shell(step.script, tree)
      let line = try watch.lines(until: step.new, of: "camera").last
      #expect(line?.cause == step.cause, "\(step.script)")
      #expect(line?.path == tree.path(step.path), "\(step.script)")
    }
    // Step by step, so that which step is seen first is not certain.
    for _ in 0..<3 {
      try shell("rm -r dev", tree)
      _ = try watch.lines(until: "unavailable", of: "camera")
      try shell("mkdir dev; mknod -m 666 dev/video0 c 1 3", tree)
      _ = try watch.lines(until: "authorized", of: "camera")
    }
    watch.command.send(SIGINT)
    let end = try watch.command.finish()
    #expect(end.status == 0 && end.errors.isEmpty && end.output.isEmpty)
  }

  /// The root itself goes and comes back, and with it every folder that could be watched.
  @Test func `A root that vanishes and comes back is followed`() throws {
    let (tree, arguments) = try Self.machine()
    let watch = try LiveWatch(arguments)
    #expect(try watch.line().new == "authorized")
    for _ in 0..<3 {
      try shell("mv \"$0\" \"$0.away\"", tree)
      #expect(try watch.line().new == "unavailable")
      let back = try Command.run(["mv", tree.root + ".away", tree.root])
      #expect(back.status == 0)
      #expect(try watch.line().new == "authorized")
    }
  }

  @Test func `Mounts lead to a check`() throws {
    let (tree, arguments) = try Self.machine()
    try shell("rm -r sys run", tree)
    let command = try LiveCommand(
      ["unshare", "--mount", Command.permcheck, "watch", "--json"] + arguments)
    let watch = LiveWatch(command)
    #expect(try watch.line().new == "authorized")
    // While permcheck looks, the mount is busy.
    let unmount = "for i in $(seq 100); do umount dev 2>/dev/null && exit; sleep 0.05; done; exit 1"
    for (script, new) in [
      ("mount -t tmpfs none dev", "unavailable"), (unmount, "authorized"),
      ("mount --bind dev dev; mount -o remount,bind,nodev dev", "restricted"),
      (unmount, "authorized"),
    ] {
      let outcome = try Command.run(
        [
          "nsenter", "--target", "\(command.pid)", "--mount", "--wd=\(tree.root)", "sh", "-ec",
          script,
        ])
      #expect(outcome.status == 0, "\(script): \(outcome.errors)")
      let line = try watch.lines(until: new, of: "camera").last
      #expect(
        line?.cause == "mount" && line?.path == tree.path("dev"),
        "\(script): \(String(describing: line))")
    }
  }

  @Test func `The group file leads to a check`() throws {
    let tree = try Tree()
    try tree.camera(0, mode: 0o660)
    try shell("chgrp 44 dev/video0", tree)
    try tree.file("etc/passwd", "tester:x:54321:54321::/home/tester:/bin/sh\n")
    try tree.file("etc/group", "video:x:44:\n")
    let watch = try LiveWatch(["camera", "--root", tree.root, "--user", "tester"])
    #expect(try watch.line().new == "denied")
    for (script, new) in [
      ("echo video:x:44:tester >etc/new; mv etc/new etc/group", "authorized"),
      ("echo video:x:44: >etc/new; mv etc/new etc/group", "denied"),
      ("echo video:x:44:tester >etc/new; mv etc/new etc/group", "authorized"),
      ("echo root:x:0:0::/root:/bin/sh >etc/new; mv etc/new etc/passwd", "notDetermined"),
      ("echo tester:x:54321:54321::/:/bin/sh >etc/new; mv etc/new etc/passwd", "authorized"),
    ] {
      try shell(script, tree)
      let line = try watch.lines(until: new, of: "camera").last
      #expect(line?.cause == "group-database", "\(script): \(String(describing: line))")
    }
  }

  @Test func `user-dirs.dirs leads to a check`() throws {
    let tree = try Tree()
    try tree.home()
    try tree.folder("home/Bilder", mode: 0o755)
    let watch = try LiveWatch(["photos"], environment: tree.homeEnvironment, as: stranger)
    #expect(try watch.line().new == "authorized")
    try tree.file("new", "XDG_PICTURES_DIR=\"$HOME/Bilder\"\n")
    try shell("mv new home/.config/user-dirs.dirs", tree)
    let line = try watch.lines(until: "limited", of: "photos").last
    #expect(line?.cause == "settings")
    try shell("chown 54321 home/Bilder", tree)
    #expect(try watch.line().cause == "owner")
  }

  @Test func `A running process is followed`() throws {
    let (tree, _) = try Self.machine()
    let sleeper = try LiveCommand(["sleep", "1000"], as: stranger)
    // env and setpriv come before sleep.
    for _ in 0..<2000 {
      let name = try? String(contentsOfFile: "/proc/\(sleeper.pid)/comm", encoding: .utf8)
      if name == "sleep\n" { break }
      usleep(5000)
    }
    let watch = try LiveWatch([tree.path("dev/video0"), "--pid", "\(sleeper.pid)"])
    #expect(try watch.line().new == "authorized")
    try tree.mode("dev/video0", 0o600)
    let line = try watch.line()
    #expect(line.new == "denied" && line.cause == "mode")
    sleeper.send(SIGKILL)
    _ = try sleeper.finish()
    #expect(try watch.line().new == "notDetermined")
    watch.command.send(SIGTERM)
    #expect(try watch.command.finish().status == 2)
  }

  /// Nothing of a folder that this process may not list can be watched.
  @Test func `A file in an unlistable folder is followed`() throws {
    let tree = try Tree()
    try tree.folder("dark", mode: 0o711)
    let watch = try LiveWatch([tree.path("dark/node")], as: stranger)
    #expect(try watch.line().new == "unavailable")
    try tree.device("dark/node", mode: 0o666)
    _ = try watch.lines(until: "authorized", of: tree.path("dark/node"))
    let warned = try Command.permcheck(
      ["watch", tree.path("dark/node"), "-v", "--for", "0"], as: stranger)
    #expect(warned.errors.contains("\(tree.path("dark")) cannot be watched (EACCES)"))
  }

  // MARK: - Storms

  /// Marks the end of a storm: all that came before its line has been taken into account.
  func expectEnd(
    _ watch: LiveWatch, _ tree: Tree, camera: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    try FileManager.default.removeItem(atPath: tree.path("mark"))
    let lines = try watch.lines(until: "unavailable", of: "photos", location)
    let last = lines.last { $0.accessor == "camera" }
    #expect(last?.new == camera, sourceLocation: location)
    // What the accessors say now is also what a new check says.
    try tree.folder("mark", mode: 0o777)
    #expect(try watch.line(location).accessor == "photos", sourceLocation: location)
  }

  @Test func `Ten thousand changes end in the right status`()
    throws
  {
    let (tree, arguments) = try Self.machine()
    try tree.folder("mark", mode: 0o777)
    let watch = try LiveWatch(arguments + ["photos=/mark"])
    _ = try (watch.line(), watch.line())
    for (final, status) in [(0o600, "denied"), (0o666, "authorized")] as [(mode_t, String)] {
      // Not two of the same in a row, or the kernel makes one event of them.
      for index in 0..<10_000 {
        try tree.mode(index % 2 == 0 ? "dev/video0" : "dev", index % 2 == 0 ? final ^ 0o066 : 0o755)
      }
      try tree.mode("dev/video0", final)
      try expectEnd(watch, tree, camera: status)
    }
  }

  @Test func `An overflow of events loses nothing`() throws {
    let limit = try String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
    let (tree, arguments) = try Self.machine()
    try tree.folder("mark", mode: 0o777)
    let watch = try LiveWatch(arguments + ["photos=/mark"])
    _ = try (watch.line(), watch.line())
    for (final, status) in [(0o600, "denied"), (0o666, "authorized")] as [(mode_t, String)] {
      watch.command.send(SIGSTOP)
      for index in 0...count {
        try tree.mode(index % 2 == 0 ? "dev" : "sys", 0o755)
      }
      // The queue is full: of this no event is left.
      try tree.mode("dev/video0", final)
      watch.command.send(SIGCONT)
      #expect(try watch.line().new == status)
      try FileManager.default.removeItem(atPath: tree.path("mark"))
      #expect(try watch.line().new == "unavailable")
      try tree.folder("mark", mode: 0o777)
      #expect(try watch.line().accessor == "photos")
    }
  }

  @Test func `Many nodes are watched`() throws {
    let nodes = Effort.of(1_000, atLeast: 60)
    let tree = try Tree()
    for number in 0..<nodes { try tree.device("dev/video\(number)", mode: 0o666) }
    let watch = try LiveWatch(
      ["camera", "--root", tree.root, "--uid", "54321", "--gid", "54321"])
    #expect(try watch.line().new == "authorized")
    for number in [0, nodes - 1] {
      try tree.mode("dev/video\(number)", 0o600)
      let refused = try watch.line()
      #expect(refused.new == "limited" && refused.cause == "mode")
      #expect(refused.path == tree.path("dev/video\(number)"))
      try tree.mode("dev/video\(number)", 0o666)
      #expect(try watch.line().new == "authorized")
    }
    try shell("rm -r dev", tree)
    _ = try watch.lines(until: "unavailable", of: "camera")
  }

  // MARK: - The end

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGPIPE]) func `A signal ends a watch`(
    _ signal: Int32
  ) throws {
    let (tree, arguments) = try Self.machine()
    let watch = try LiveWatch(arguments)
    _ = try watch.line()
    try tree.mode("dev/video0", 0o600)
    _ = try watch.line()
    watch.command.send(signal)
    let end = try watch.command.finish()
    #expect(end.status == 1 && end.errors.isEmpty)
  }

  /// Nothing is written, and still it is noticed that nobody reads.
  @Test func `A closed reader ends a watch`() throws {
    let (tree, arguments) = try Self.machine()
    defer { withExtendedLifetime(tree) {} }
    let watch = try LiveWatch(arguments)
    _ = try watch.line()
    try watch.command.closeOutput()
    let end = try watch.command.finish()
    #expect(end.status == 0 && end.errors.isEmpty)
    let head = try Command.run(
      ["sh", "-c", "\"$0\" watch \"$@\" | head -n 1", Command.permcheck] + arguments)
    #expect(head.status == 0 && head.output.split(separator: "\n").count == 1)
  }

  @Test func `The time limit ends a watch`() throws {
    let (tree, arguments) = try Self.machine()
    for format in ["human", "plain", "json"] {
      let outcome = try Command.permcheck(
        ["watch"] + arguments + ["--for", "0.01", "--format", format])
      #expect(outcome.status == 0 && outcome.errors.isEmpty)
      // People are told the date first.
      #expect(outcome.output.count { $0 == "\n" } == (format == "human" ? 2 : 1))
      #expect(outcome.output.contains("camera") && outcome.output.contains("authorized"))
    }
    try tree.mode("dev/video0", 0o600)
    let quiet = try Command.permcheck(["watch"] + arguments + ["--for", "0", "-q"])
    #expect(quiet.status == 1 && quiet.output.isEmpty && quiet.errors.isEmpty)
  }

  @Test(
    arguments: Effort.some(
      ["-1", "x", "nan", "inf", "1e3", "", "99999999999", "0x10"], of: "WatchTests A error",
      atLeast: 2))
  func `A wrong time is a usage error`(_ time: String) throws {
    for question in [["watch", "camera", "--for=\(time)"], ["camera", "--wait=\(time)"]] {
      let outcome = try Command.permcheck(question)
      #expect(outcome.status == 64 && isOneLine(outcome.errors))
    }
  }

  // MARK: - Formats

  @Test func `Lines are valid`() throws {
    let (tree, arguments) = try Self.machine()
    let command = try LiveCommand([Command.permcheck, "watch", "--json", "-v"] + arguments)
    var lines = [try #require(command.line())]
    try tree.mode("dev/video0", 0o600)
    lines.append(try #require(command.line()))
    #expect(lines[1].contains("\"resources\":[{"))
    let schema = try Command.permcheck(["schema"]).output
    let whole = try #require(
      try JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any])
    let own: [String: Any] = [
      "$schema": whole["$schema"] ?? "", "$defs": whole["$defs"] ?? "", "$ref": "#/$defs/change",
    ]
    try tree.file("schema.json", JSONSerialization.data(withJSONObject: own))
    for (line, status) in lines.map({ ($0, 0) }) + [
      ("{}", 1), (lines[1].replacing("\"mode\"", with: "\"moods\""), 1),
      (lines[1].replacing("\"denied\"", with: "\"refused\""), 1),
      (lines[0].replacing("\"time\"", with: "\"when\""), 1),
    ] {
      let verdict = try Command.run(
        ["/usr/bin/python3", "-c", Validator.script, tree.path("schema.json")], input: line)
      #expect(verdict.status == status, "\(line)\n\(verdict.output)\(verdict.errors)")
    }
  }

  @Test func `People get a line for each change`() throws {
    let (tree, arguments) = try Self.machine()
    let command = try LiveCommand([Command.permcheck, "watch", "-v"] + arguments)
    let date = try #require(command.line())
    #expect(date.contains(/^20\d\d-\d\d-\d\d, UTC([+-]\d\d:\d\d)?$/))
    let first = try #require(command.line())
    #expect(first.contains(/^\d\d:\d\d:\d\d\.\d{3}  ✔ camera  authorized$/))
    try tree.mode("dev/video0", 0o600)
    let second = try #require(command.line())
    let path = tree.path("dev/video0")
    #expect(
      second.dropFirst(12) == "  ✘ camera  authorized → denied  mode: \(path)"
        + "  uid 54321 is neither the owner nor in group root (crw------- root:root)")
    let third = try #require(command.line())
    #expect(third == String(repeating: " ", count: 16) + "\(path)  authorized → denied")
  }
}

extension LiveWatch {
  init(_ command: LiveCommand) { self.command = command }
}
