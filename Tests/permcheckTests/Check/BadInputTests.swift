import Foundation
import Glibc
import TestSupport
import Testing

/// Arguments that mean nothing: one line on standard error, status 64, nothing else.
struct BadArgumentTests {
  /// `NODE` stands for a device node that everybody may open.
  static let wrong: [[String]] = [
    [""],
    ["camra"],
    ["Camera"],
    ["camera "],
    ["camera", "microphne"],
    ["cam\u{1b}[31mera\nmic"],
    ["=NODE"],
    ["camera="],
    ["camera=", "photos="],

    ["camera=~/video0"],
    ["camera=NODE", "--user", "nobody-of-that-name"],
    ["camera=NODE", "--user", "no\nbody"],
    ["camera=NODE", "--user", "3999999999"],
    ["camera=NODE", "--user", "4294967295"],
    ["camera=NODE", "--user", "4294967296"],
    ["camera=NODE", "--user", "18446744073709551616"],
    ["camera=NODE", "--user", "-1"],
    ["camera=NODE", "--user", ""],
    ["camera=NODE", "--uid", "0x1", "--gid", "1"],
    ["camera=NODE", "--uid", "4294967295", "--gid", "1"],
    ["camera=NODE", "--uid", "4294967296", "--gid", "1"],
    ["camera=NODE", "--uid", "1", "--gid", "4294967295"],
    ["camera=NODE", "--uid", "1", "--gid", "1", "--groups", "1,,2"],
    ["camera=NODE", "--uid", "1", "--gid", "1", "--groups", "video"],
    ["camera=NODE", "--gid", "1"],
    ["camera=NODE", "--groups", "1"],
    ["camera=NODE", "--user", "root", "--uid", "0", "--gid", "0"],
    ["camera=NODE", "--json", "--format", "plain"],
    ["camera=NODE", "--format", "xml"],
    ["camera=NODE", "--probe", "maybe"],
    ["camera=NODE", "--color", "blue"],
    ["camera=NODE", "--need", ""],
    ["camera=NODE", "--need", "rq"],
    ["camera=NODE", "--bogus"],
    ["camera=NODE", "-Z"],
    ["camera=NODE", "-q", "-v"],
    ["camera=NODE", "--user"],
    ["camera=NODE", "--root"],
    ["camera=NODE", "--need"],
    ["camera=NODE", "--format"],
    ["camera=NODE", "--probe"],
    ["camera=NODE", "--color"],
    ["camera=NODE", "--log"],
    ["camera=NODE", "--user", "--json"],
    ["camera", "--root", "/nonexistent/root"],
    ["camera", "--root", "/etc/passwd"],
    ["camera", "--root", "/etc/passwd/below"],
    ["camera", "--root", ""],
    ["camera", "--root", "/" + String(repeating: "a", count: 5000)],
    ["list", "camera"],
    ["schema", "--bogus"],
    ["log", "--format", "xml"],
  ]

  @Test(arguments: Effort.some(wrong, of: "BadInputTests wrong"))
  func `Wrong arguments are a usage error`(_ arguments: [String]) throws {
    let given = arguments.map { $0.replacing("NODE", with: "/dev/null") }
    try Command.permcheck(given).expectRefusal([64])
  }

  /// Proves that what the cases above spoil would otherwise be answered.
  @Test func `A correct question is answered`() throws {
    let outcome = try Command.permcheck(["/dev/null", "--user", "root"])
    #expect(outcome.status == 0)
    #expect(outcome.saysAuthorized)
    #expect(outcome.errors.isEmpty)
  }

  @Test func `Error names what is wrong and what is right`()
    throws
  {
    let name = try Command.permcheck(["camra"]).errors
    #expect(name.contains("camra"))
    #expect(name.contains("camera") && name.contains("microphone") && name.contains("photos"))
    #expect(try Command.permcheck(["camera=~/path"]).errors.contains("~/path"))
    #expect(try Command.permcheck(["camera", "--user", "nobodyy"]).errors.contains("nobodyy"))
    #expect(try Command.permcheck(["camera", "--root", "/none"]).errors.contains("/none"))
  }

  @Test func `A relative path begins at the working directory`() throws {
    for path in ["null", "./null", "../dev/null"] {
      let shown = path.hasPrefix(".") ? "/dev/../dev/null" : "/dev/null"
      let outcome = try Command.run(
        ["env", "-C", "/dev", Command.permcheck, "camera=\(path)"])
      #expect(
        outcome.output.contains("  \(path == "./null" ? "/dev/null" : shown) is the null"),
        "\(outcome)")
    }
  }

  @Test func `Long and odd names stay one line`() throws {
    let long = String(repeating: "x", count: 100_000)
    try Command.permcheck([long]).expectRefusal([64])
    try Command.permcheck(["\u{202e}camera\u{7}"]).expectRefusal([64])
    let script = #"exec "$0" "cam$(printf '\377\376')era""#
    try Command.run(["sh", "-c", script, Command.permcheck]).expectRefusal([64])
  }
}

/// Odd paths, judged by the kernel wherever it answers.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct OddPathTests {
  static let names = [
    "two words", "new\nline", "tab\tand\u{1b}[2Jescape", "-rf", "a=b", "quote'\"$(id)`id`",
    "\u{e9}t\u{e9}", "wide\u{6f22}\u{5b57}", "back\\slash\\xff", "right\u{202e}left", "*?[", " ",
  ]

  @Test(arguments: Effort.some(names, of: "BadInputTests names"))
  func `Odd name is judged by the kernel`(
    _ name: String
  ) throws {
    let tree = try Tree()
    for (folder, mode) in [("yes", 0o666), ("no", 0o600)] as [(String, UInt32)] {
      let node = "\(folder)/\(name)"
      try tree.device(node, mode: mode)
      let errno = try Command.run(
        [
          "/usr/bin/python3", "-c", "import os,sys; os.open(sys.argv[1], os.O_RDWR)",
          tree.path(node),
        ],
        as: stranger)
      let human = try Command.permcheck([tree.path(node)], as: stranger)
      #expect((human.status == 0) == (errno.status == 0))
      #expect((human.status == 0) == (mode == 0o666))
      #expect(human.status <= 1)
      #expect(human.errors.isEmpty)
      #expect(!human.output.contains("\u{1b}") && !human.output.contains("\t"))
      #expect(!human.output.contains("\u{202e}"))
      let report = try Command.permcheck(
        [tree.path(node), "--json"], as: stranger
      ).report()
      #expect(report.status == (mode == 0o666 ? "authorized" : "denied"))
    }
    try Command.permcheck(["camera=\(tree.path("none/\(name)"))"], as: stranger).expectRefusal([3])
  }

  /// Bytes that no Swift string holds, made by printf(1) in a shell.
  @Test(
    arguments: Effort.some(
      [#"\377\376"#, #"a\300\200b"#, #"\355\240\200"#, #"\360\237"#],
      of: "BadInputTests Invalid kept", atLeast: 2))
  func `Invalid UTF-8 in a path is kept`(_ bytes: String) throws {
    let tree = try Tree()
    // Foundation cannot remove such a name.
    defer { _ = try? Command.run(["rm", "-rf", tree.path("d")]) }
    try tree.folder("d")
    let made = try Command.run([
      "sh", "-c", #"p="$0/$(printf "$1")" && mknod "$p" c 1 3 && chmod 600 "$p""#, tree.path("d"),
      bytes,
    ])
    #expect(made.status == 0)
    let ask = #"exec "$0" "$1/$(printf "$2")" "$3" "$4""#
    for format in ["human", "plain", "json"] {
      for (folder, allowed) in [("d", [1]), ("missing", [3])] as [(String, Set<Int32>)] {
        let arguments = [
          "sh", "-c", ask, Command.permcheck, tree.path(folder), bytes, "--format", format,
        ]
        try Command.run(arguments, as: stranger).expectRefusal(allowed)
        // iconv(1) fails on bytes that are not UTF-8.
        let script = "{ \(ask.dropFirst(5)); } | iconv -f UTF-8 -t UTF-8 >/dev/null"
        let valid = try Command.run(
          ["sh", "-c", script] + Array(arguments.dropFirst(3)), as: stranger)
        #expect(valid.status == 0 && valid.errors.isEmpty)
      }
    }
    #expect(try Command.run(["chmod", "-R", "a+rwX", tree.path("d")]).status == 0)
    let arguments = ["sh", "-c", ask, Command.permcheck, tree.path("d"), bytes, "--format", "json"]
    #expect(try Command.run(arguments, as: stranger).report().status == "authorized")
  }

  /// A path that is really UTF-8 never reads like one whose bytes had to be escaped.
  @Test func `Different bytes have different escapes`() throws {
    let script = #"exec "$0" "camera=/none/a$(printf '\377')b" --json"#
    let bytes = try Command.run(["sh", "-c", script, Command.permcheck]).report()
    let text = try Command.permcheck(["camera=/none/a\\xffb", "--json"]).report()
    #expect(bytes.paths != text.paths)
  }

  /// What is said of an absolute path is the same wherever it is asked.
  @Test func `A missing working directory does not matter`() throws {
    let tree = try Tree()
    try tree.device("dev/no", mode: 0o600)
    try tree.folder("closed", mode: 0o700)
    let paths = ["dev/no", "dev/none", "closed/node"].map { tree.path($0) }
    for format in ["human", "plain", "json"] {
      let words = [Command.permcheck] + paths + ["-v", "--format", format]
      let outputs = try ["/", "/tmp", tree.root, tree.path("dev")].map { folder in
        try Command.run(
          ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder] + words, as: stranger
        ).output.replacing(/"time":"[^"]*"/, with: "")
      }
      #expect(outputs[0].contains(tree.path("dev/none")))
      #expect(Set(outputs).count == 1, Comment(rawValue: outputs.joined(separator: "\n")))
    }
  }

  /// The longest path that the kernel takes has 4,095 bytes.
  @Test(
    arguments: Effort.some(
      [4_094, 4_095, 4_096, 4_097, 5_000, 100_000], of: "BadInputTests A refused", atLeast: 2))
  func `A path that is too long is refused`(_ length: Int) throws {
    let tree = try Tree()
    try tree.device("dev/yes", mode: 0o666)
    try tree.device("dev/noo", mode: 0o600)
    for name in ["yes", "noo"] {
      let start = tree.path("dev/")
      let missing = length - start.utf8.count - name.utf8.count
      let padding = String(repeating: "./", count: missing / 2) + (missing % 2 == 1 ? "/" : "")
      let path = start + padding + name
      #expect(path.utf8.count == length)
      let granted = try Kernel.open(path, O_RDWR, as: stranger) == 0
      #expect(granted == (length <= 4_095 && name == "yes"))
      for subject in [[], ["--user", "daemon"]] {
        let outcome = try Command.permcheck([path] + subject, as: stranger)
        if granted {
          #expect(outcome.status == 0)
        } else {
          outcome.expectRefusal(length <= 4_095 ? [1] : [2, 3, 64])
        }
      }
    }
    let name = "camera=/" + String(repeating: "n", count: length - 1)
    try Command.permcheck([name]).expectRefusal([2, 3, 64])
    let deep = "/" + String(repeating: "deep/", count: length / 5)
    try Command.permcheck(["camera=\(deep)"]).expectRefusal([2, 3, 64])
  }
}

/// Folders that cannot be read or do not hold what they should.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct BadSurroundingsTests {
  @Test func `A root that cannot be searched is an error`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.microphone()
    try tree.home()
    try tree.mode("", 0o700)
    for name in ["camera", "mic", "photos"] {
      try Command.permcheck(
        [name, "--root", tree.root], environment: ["HOME": "/home"], as: stranger
      ).expectRefusal([2, 64, 70])
    }
  }

  @Test(
    arguments: Effort.some(
      [0o000, 0o600, 0o700, 0o711, 0o744] as [UInt32], of: "BadInputTests An determined", atLeast: 2
    ))
  func `An unreadable /dev is not determined`(_ mode: UInt32) throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.microphone()
    try tree.mode("dev", mode)
    let node = tree.path("dev/video0")
    let granted = try Kernel.open(node, O_RDWR, as: stranger) == 0
    #expect(granted == (mode == 0o711))
    // Nobody can say that there is no camera in a folder that cannot be read.
    for name in ["camera", "mic"] {
      let outcome = try Command.permcheck([name, "--root", tree.root], as: stranger)
      if !granted { outcome.expectRefusal([1, 2]) }
      #expect([0, 1, 2].contains(outcome.status))
    }
    let one = try Command.permcheck([node], as: stranger)
    if granted { #expect(one.status == 0) } else { one.expectRefusal([1]) }
  }

  @Test(arguments: ["home", "home/.config", "home/Pictures"])
  func `An unreadable home is not determined`(_ folder: String) throws {
    let tree = try Tree()
    try tree.home("XDG_PICTURES_DIR=\"$HOME/Pictures\"\n")
    try tree.folder(folder, mode: 0o700, uid: 0, gid: 0)
    let outcome = try Command.permcheck(
      ["photos"], environment: tree.homeEnvironment, as: stranger)
    outcome.expectRefusal([1, 2])
  }

  @Test func `An unreadable user-dirs.dirs is not determined`() throws {
    let tree = try Tree()
    try tree.home("XDG_PICTURES_DIR=\"$HOME/Elsewhere\"\n")
    try tree.mode("home/.config/user-dirs.dirs", 0)
    try Command.permcheck(["photos"], environment: tree.homeEnvironment, as: stranger)
      .expectRefusal([1, 2])
  }

  /// What a corrupt user-dirs.dirs may look like; ~/Pictures is there, but it may not be meant.
  static let corrupt: [String: Data] = [
    "binary": Data((0...255).map { UInt8($0) }),
    "executable": Data([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    "garbage": Data("lorem ipsum\n".utf8),
    "unclosed quote": Data("XDG_PICTURES_DIR=\"$HOME/Pictures\n".utf8),
    "no quote": Data("XDG_PICTURES_DIR=$HOME/Pictures\n".utf8),
    "relative": Data("XDG_PICTURES_DIR=\"Pictures\"\n".utf8),
    "dot": Data("XDG_PICTURES_DIR=\"./Pictures\"\n".utf8),
    "other variable": Data("XDG_PICTURES_DIR=\"$OTHER/Pictures\"\n".utf8),
    "other home": Data("XDG_PICTURES_DIR=\"$HOMER/Pictures\"\n".utf8),
    "empty": Data("XDG_PICTURES_DIR=\"\"\n".utf8),
    "nothing": Data("XDG_PICTURES_DIR=\n".utf8),
    "NUL": Data("XDG_PICTURES_DIR=\"$HOME/Pic\0tures\"\n".utf8),
    "huge line": Data(("XDG_PICTURES_DIR=\"/" + String(repeating: "x", count: 2_000_000)).utf8),
    "huge path": Data(
      ("XDG_PICTURES_DIR=\"/" + String(repeating: "x/", count: 500_000) + "\"\n").utf8),
    "invalid UTF-8": Data("XDG_PICTURES_DIR=\"$HOME/".utf8) + Data([0xff, 0xfe, 0x22, 0x0a]),
  ]

  @Test(arguments: Effort.some(corrupt.keys.sorted(), of: "BadInputTests A reported", atLeast: 2))
  func `A corrupt user-dirs.dirs is reported`(
    _ name: String
  ) throws {
    let tree = try Tree()
    try tree.home()
    try tree.file("home/.config/user-dirs.dirs", try #require(Self.corrupt[name]))
    for format in ["human", "plain", "json"] {
      let outcome = try Command.permcheck(
        ["photos", "--format", format], environment: tree.homeEnvironment, as: stranger)
      outcome.expectRefusal([2, 3])
    }
  }

  /// A folder or a fifo in the place of the file blocks nobody and grants nothing.
  @Test(arguments: ["mkdir", "mkfifo"]) func `A user-dirs.dirs that is no file is reported`(
    _ command: String
  ) throws {
    let tree = try Tree()
    try tree.home()
    let made = try Command.run([command, "-m", "666", tree.path("home/.config/user-dirs.dirs")])
    #expect(made.status == 0)
    let words = ["timeout", "20", Command.permcheck, "photos"]
    try Command.run(words, environment: tree.homeEnvironment, as: stranger).expectRefusal([2, 3])
  }

  @Test(arguments: ["$HOME", "$HOME/", "$HOME/.", "$HOME//", "ROOT/home", "$HOME/Pictures/.."])
  func `Pictures at home are not configured`(_ value: String) throws {
    let tree = try Tree()
    let folder = value.replacing("ROOT", with: tree.root)
    try tree.home("XDG_PICTURES_DIR=\"\(folder)\"\n")
    let arguments = ["photos", "--json"]
    let outcome = try Command.permcheck(
      arguments, environment: tree.homeEnvironment, as: stranger)
    outcome.expectRefusal([2, 3])
    #expect(try outcome.report().codes == ["not-configured"])
  }

  @Test(arguments: [nil, "", "relative/home", "/nonexistent"] as [String?])
  func `A broken home is reported`(_ home: String?) throws {
    let tree = try Tree()
    try tree.home()
    var environment = tree.homeEnvironment
    environment["HOME"] = .some(home)
    try Command.permcheck(["photos"], environment: environment, as: stranger)
      .expectRefusal([2, 3])
  }

  @Test func `A file of the wrong kind is reported`() throws {
    let tree = try Tree()
    try tree.home()
    try tree.file("file", mode: 0o666)
    try tree.device("node", mode: 0o666)
    #expect(try Command.run(["mkfifo", "-m", "666", tree.path("fifo")]).status == 0)
    try tree.link("loop", to: "loop")
    try tree.link("dangling", to: "nowhere")
    for name in ["home", "home/", "file", "fifo", "loop", "dangling", "node/", "node/x"] {
      for camera in ["camera", "mic"] {
        let words = ["timeout", "20", Command.permcheck, "\(camera)=\(tree.path(name))"]
        try Command.run(words, as: stranger).expectRefusal([1, 2, 3, 64])
      }
    }
    for name in ["node", "file", "file/", "fifo", "loop", "dangling", "home/Pictures/none"] {
      let words = ["timeout", "20", Command.permcheck, "photos=\(tree.path(name))"]
      try Command.run(words, as: stranger).expectRefusal([1, 2, 3, 64])
    }
  }
}
