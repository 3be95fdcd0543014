import Foundation
import Glibc
import TestSupport
import Testing

/// What find(1) lists, run as the same user; records in the order of their bytes.
func findRecords(_ top: String, _ test: [String], as account: Account) throws -> [String] {
  records(try Command.run(["find", top] + test + ["-print0"], as: account).output)
}

/// The records of an output that ends each with NUL, in the order of their bytes.
func records(_ output: String) -> [String] {
  output.split(separator: "\0").map(String.init).sorted()
}

/// permcheck audit, held to what find(1) is told by the kernel as the same user.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "needs root, to run as other users"))
struct AuditTests {
  static let visitor = Account(uid: 61234, gid: 61234, groups: [61234, 44])
  static let accounts = [visitor, Account(uid: 61000, gid: 61000), Account(uid: 61001, gid: 44)]

  /// A tree with every kind of file, foreign owners, ACLs and folders that refuse.
  static func tree() throws -> Tree {
    let tree = try Tree()
    for folder in 0..<Effort.of(40, atLeast: 10) {
      let mode: mode_t = [0o755, 0o755, 0o700, 0o711, 0o744, 0o000, 0o750, 0o733][folder % 8]
      for file in 0..<25 {
        try tree.file(
          "d\(folder)/sub/f\(file)",
          mode: [0o644, 0o600, 0o640, 0o000, 0o604, 0o060, 0o444][file % 7],
          uid: [0, 61000, 61001][(file + folder) % 3], gid: [0, 44, 61000][file % 3])
      }
      try tree.link("d\(folder)/sub/up", to: "..")
      try tree.link("d\(folder)/sub/out", to: "/etc/shadow")
      try tree.link("d\(folder)/sub/dangling", to: "nothing")
      try tree.link("d\(folder)/sub/loop", to: "loop")
      try tree.device("d\(folder)/null", mode: folder % 2 == 0 ? 0o666 : 0o600)
      mkfifo(tree.path("d\(folder)/fifo"), 0o600)
      try tree.file("d\(folder)/new\nline", mode: 0o600)
      try tree.setfacl(["-m", "u:61234:r,g:44:-"], "d\(folder)/sub/f1")
      try tree.setfacl(["-m", "u:61234:r,m::-"], "d\(folder)/sub/f2")
      try tree.folder("d\(folder)", mode: mode, uid: [0, 61000, 61234][folder % 3], gid: 44)
    }
    return tree
  }

  /// Deeper than the folders that are kept open, with folders that can be listed and not searched.
  @Test(arguments: [1, 2])
  func `Nothing is missed behind a folder without search`(threads: Int) throws {
    let tree = try Tree()
    var path = ""
    for _ in 0..<40 {
      for name in ["a", "z"] {
        try tree.file(path + "\(name)/file", mode: 0o600)
        try tree.folder(path + "\(name)/shut", mode: 0o744)
      }
      path += "m/"
    }
    let expected = try findRecords(tree.root, ["!", "-readable"], as: Self.visitor)
    #expect(expected.count == 80)
    let arguments = ["audit", tree.root, "--null", "--threads", "\(threads)"]
    #expect(try records(Command.permcheck(arguments, as: Self.visitor).output) == expected)
    let asRoot = try Command.permcheck(arguments + ["--uid", "61234", "--gid", "61234"])
    #expect(records(asRoot.output) == expected)
  }

  @Test func `A file that was not checked is not granted`() throws {
    let tree = try Tree()
    try tree.file("closed/file", mode: 0o600)
    try tree.folder("closed", mode: 0o711)
    let outcome = try Command.permcheck(
      ["audit", tree.root, "--need", "x", "--summary"], as: Self.visitor)
    #expect(outcome.status == 2, "\(outcome)")
  }

  /// A deep audit goes on below the folder that it begins with, though the user cannot list it.
  @Test func `A closed top is audited deeply`() throws {
    let tree = try Tree()
    try tree.file("u/in", mode: 0o644)
    try tree.folder("u", mode: 0o700)
    let outcome = try Command.permcheck([
      "audit", "\(tree.root)/u", "--uid", "61234", "--gid", "61234", "--deep", "--summary",
    ])
    #expect(outcome.output.contains("2 of 2 files and folders"), "\(outcome)")
    #expect(!outcome.output.contains("was not checked"), "\(outcome)")
  }

  /// A chain of folders, each with a cause of its own, ends soon.
  @Test func `Many causes in a deep tree end soon`() throws {
    let folders = Effort.of(4_500, atLeast: 450)
    let tree = try Tree()
    let program = """
      import os, sys
      os.chdir(sys.argv[1])
      for _ in range(\(folders)):
          os.close(os.open("s", os.O_CREAT, 0o600)); os.mkdir("d"); os.chdir("d")
      """
    _ = try Command.run(["/usr/bin/python3", "-c", program, tree.root])
    defer { _ = try? Command.run(["rm", "-rf", tree.path("d")]) }
    let outcome = try Command.permcheck(["audit", tree.root, "--summary"], as: Self.visitor)
    #expect(outcome.status == 1)
    #expect(
      outcome.output.filter { $0 != "," }.contains("\(folders) of"), "\(outcome.output.suffix(300))"
    )
  }

  @Test func `Magic links of /proc are followed to their targets`() throws {
    let outcome = try Command.permcheck(["audit", "/proc/self/ns", "--null"])
    #expect(outcome.output == "", "\(outcome)")
  }

  @Test(arguments: Effort.isFull ? ["r", "w", "x"] : ["r"], [0, 1, 2])
  func `The list is that of find`(need: String, account: Int) throws {
    let tree = try Self.tree()
    let account = Self.accounts[account]
    let test = ["r": "-readable", "w": "-writable", "x": "-executable"][need] ?? ""
    let expected = try findRecords(tree.root, ["!", test], as: account)
    #expect(expected.count > Effort.of(100, atLeast: 40))
    for threads in ["1", "2", "7"] {
      let outcome = try Command.permcheck(
        ["audit", tree.root, "--null", "--need", need, "--threads", threads], as: account)
      #expect(records(outcome.output) == expected)
      #expect(outcome.status == 1)
    }
  }

  @Test func `The exit status is 0 if everything is granted`() throws {
    let tree = try Tree()
    try tree.file("a/b/c")
    let outcome = try Command.permcheck(["audit", tree.root, "--null"], as: Self.visitor)
    #expect(outcome.output == "" && outcome.status == 0)
  }

  /// The path of a record begins as it was given, and the top is one.
  @Test func `Paths begin with the argument`() throws {
    let tree = try Tree()
    try tree.file("t/a", mode: 0o600)
    try tree.folder("closed", mode: 0o700)
    try tree.link("link", to: "t")
    func audit(_ name: String) throws -> [String] {
      let command = "cd \(tree.root) && exec \(Command.permcheck) audit \(name) --null"
      return records(try Command.run(["sh", "-c", command], as: Self.visitor).output)
    }
    #expect(try audit("./t/") == ["./t/a"])
    #expect(try audit("./t") == ["./t/a"])
    #expect(try audit("./closed") == ["./closed"])
    // A link is judged by its target and never entered.
    #expect(try audit("./link") == [])
    #expect(try audit("./link/") == ["./link/a"])
  }

  /// Deep trees, folders with many names, and names that are not UTF-8.
  @Test func `A large tree gives the same answers`() throws {
    let tree = try Tree()
    let (wide, deep) = (Effort.of(20_000, atLeast: 1_000), Effort.of(5_000, atLeast: 500))
    let script = """
      import os, sys
      os.chdir(sys.argv[1])
      os.mkdir("wide"); os.mkdir("deep"); os.mkdir("odd")
      for i in range(\(wide)): os.close(os.open("wide/%d" % i, os.O_CREAT, 0o600 if i % 1000 == 0 else 0o644))
      for i in range(\(wide / 10)): os.mkdir("wide/d%d" % i)
      os.close(os.open(b"odd/\\xff\\xfe", os.O_CREAT, 0o600))
      os.chdir("deep")
      for i in range(\(deep)):
          # A folder that waits at every level, or only the way down.
          if i % 3: os.mkdir("a%d" % i)
          os.mkdir("n"); os.mkdir("z"); os.chdir("n")
          if i % 500 == 0: os.close(os.open("f", os.O_CREAT, 0o600))
      """
    #expect(try Command.run(["python3", "-c", script, tree.root]).status == 0)
    defer { _ = try? Command.run(["rm", "-rf", tree.root]) }
    let account = Self.visitor
    let commands = [
      "find \(tree.root) ! -readable -print0",
      "ulimit -n 64; exec \(Command.permcheck) audit \(tree.root) --null",
    ]
    let lists = try commands.map { command in
      let sorted = "(\(command)) 2>/dev/null | sort -z | sha256sum; "
      return try Command.run(["bash", "-c", sorted], as: account).output
    }
    #expect(lists[0] == lists[1])
    let counted = try Command.run(
      ["bash", "-c", "(\(commands[1])) | tr -cd '\\0' | wc -c"], as: account)
    #expect(
      counted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        == "\(wide / 1_000 + deep / 500 + 1)")
  }

  /// Root asks with the ids of another user, and is told what that user is told.
  @Test func `Root asks as another user`() throws {
    let tree = try Self.tree()
    for account in Self.accounts {
      let expected = try findRecords(tree.root, ["!", "-readable"], as: account)
      let groups = account.groups.map(String.init).joined(separator: ",")
      let ids = ["--uid", "\(account.uid)", "--gid", "\(account.gid)", "--groups", groups]
      let outcome = try Command.permcheck(["audit", tree.root, "--null"] + ids)
      #expect(records(outcome.output) == expected)
      #expect(outcome.status == 1)
    }
  }

  /// Without the right to take on ids, the evaluator judges, and says what the kernel says.
  @Test(arguments: Effort.isFull ? ["r", "w", "x", "rw"] : ["r", "rw"])
  func `The evaluator gives the kernel's answers`(need: String) throws {
    let tree = try Self.tree()
    let tests = ["r": "-readable", "w": "-writable", "x": "-executable"]
    let test = need.compactMap { tests[String($0)] }
    for account in Self.accounts {
      let expected = try findRecords(tree.root, ["!", "("] + test + [")"], as: account)
      let groups = account.groups.map(String.init).joined(separator: ",")
      let audit = [
        "audit", tree.root, "--null", "--need", need, "--uid", "\(account.uid)", "--gid",
        "\(account.gid)", "--groups", groups,
      ]
      let all = ["setpriv", "--bounding-set", "-setuid", "--inh-caps=-all", Command.permcheck]
      #expect(records(try Command.run(all + audit).output) == expected)
      // Who sees less says less, and nothing wrong.
      let stranger = Account(uid: 61999, gid: 61999)
      let outcome = try Command.permcheck(audit, as: stranger)
      #expect(outcome.status == 1)
      #expect(Set(records(outcome.output)).isSubset(of: expected))
      #expect(Double(records(outcome.output).count) > 0.3 * Double(expected.count))
    }
  }

  @Test func `Totals name the folder`() throws {
    let tree = try Tree()
    for file in 0..<1204 { try tree.file("photos/2019/\(file).jpg") }
    try tree.file("photos/2020/a.jpg", mode: 0o600)
    try tree.file("photos/2020/b.jpg", mode: 0o600)
    try tree.setfacl(["-m", "u:61234:r,m::-"], "photos/2020/b.jpg")
    try tree.link("photos/2020/c.jpg", to: "none")
    try tree.folder("photos/2019", mode: 0o754)
    try tree.folder("photos/2021", mode: 0o700)
    let photos = tree.path("photos")
    func audit(_ more: [String]) throws -> Outcome {
      try Command.permcheck(["audit", photos] + more, as: Self.visitor)
    }
    let summary = try audit(["--summary"])
    #expect(summary.status == 1)
    #expect(
      summary.output == """
        ✘ read refused for uid 61234: 1,208 of 1,211 files and folders
          1,204 below \(photos)/2019: this folder is closed to others
              1 in \(photos): no permission for others
              1 in \(photos)/2020: not found
              1 in \(photos)/2020: no permission for others
              1 in \(photos)/2020: no permission for others (the ACL mask is empty)
        1 folder cannot be listed, so what is below was not checked

        """)
    let lines = try audit([]).output.split(separator: "\n").map(String.init)
    #expect(lines.count == 1208 + 7)
    #expect(lines.contains("✘ \(photos)/2019/7.jpg  folder 2019 is closed to others"))
    #expect(lines.contains("✘ \(photos)/2020/a.jpg  no permission for others  -rw-------"))
    #expect(lines.contains("✘ \(photos)/2020/c.jpg  target of the link: not found"))
    #expect(lines.contains("✘ \(photos)/2021  no permission for others  drwx------"))
    let plain = try audit(["--format", "plain"]).output
    #expect(
      plain.contains(
        "\(photos)/2019/7.jpg\trefused\tEACCES\tother-bits\t\(photos)/2019\n"))
    let json = try audit(["--json"]).output.split(separator: "\n")
    #expect(json.count == 1209)
    for line in [json[0], json[1208]] {
      try tree.file("schema.json", try Command.permcheck(["schema", "audit"]).output)
      let valid = try Command.run(
        ["/usr/bin/python3", "-c", Validator.script, tree.path("schema.json")],
        input: String(line))
      #expect(valid.status == 0 && valid.output == "", "\(valid.output)\(valid.errors)")
    }
    #expect(try audit(["-q"]).output == "")
  }

  /// Below a folder that refuses, everything counts for that folder.
  @Test func `--deep continues below closed folders`() throws {
    let tree = try Tree()
    for file in 0..<30 { try tree.file("photos/2019/\(file % 3)/\(file).jpg") }
    for file in 0..<4 {
      try tree.file("photos/open/x/\(file).jpg", mode: file == 0 ? 0o600 : 0o644)
    }
    try tree.folder("photos/2019", mode: 0o700)
    try tree.folder("photos/open/x", mode: 0o711)
    let photos = tree.path("photos")
    let ids = ["--uid", "61234", "--gid", "61234"]
    let outcome = try Command.permcheck(["audit", photos, "--deep", "--summary"] + ids)
    #expect(
      outcome.output == """
        ✘ read refused for uid 61234: 36 of 41 files and folders
          33 below \(photos)/2019: this folder is closed to others
           1 in \(photos): no permission for others
           1 in \(photos)/open: no permission for others
           1 in \(photos)/open/x: no permission for others

        """)
    // What is listed is what the kernel refuses, path by path.
    let all = try Command.run(["find", photos, "-print0"]).output.split(separator: "\0")
    let account = Self.visitor
    let refused = try all.map(String.init).filter {
      try Kernel.faccessat2($0, 4, as: account) != 0
    }
    let listed = try Command.permcheck(["audit", photos, "--deep", "--null"] + ids).output
    #expect(records(listed) == refused.sorted())
    #expect(try Command.permcheck(["audit", photos, "--deep"]).status == 64)
  }

  @Test func `Wrong arguments are usage errors`() throws {
    let tree = try Tree()
    for arguments in [
      [tree.path("none")], [tree.root, "--null", "--json"], [tree.root, "--threads", "0"], [],
      ["nonsense"], [tree.root, "--need", "q"],
    ] {
      #expect(try Command.permcheck(["audit"] + arguments).status == 64, "\(arguments)")
    }
    // Nobody reads the output any more.
    let command = "\(Command.permcheck) audit /usr /etc --need w | head -1"
    #expect(try Command.run(["bash", "-c", command], as: Self.visitor).errors == "")
  }
}
