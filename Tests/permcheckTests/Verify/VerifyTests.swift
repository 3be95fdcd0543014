import Foundation
import TestSupport
import Testing

/// Expectations in TOML, held against the kernel.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "asking the kernel as other users wants root"))
struct VerifyTests {
  /// Writes a file of expectations and verifies it.
  func verify(
    _ toml: String, _ options: [String] = [], as account: Account? = nil
  ) throws -> Outcome {
    try Command.run(
      [Command.permcheck, "verify", "-"] + options,
      environment: ["HOME": "/nonexistent"], as: account, input: toml)
  }

  func expectation(_ lines: String...) -> String {
    (["[[expect]]"] + lines).joined(separator: "\n") + "\n"
  }

  /// Random folders, files, users, needs and expectations, by accessor and by path.
  @Test func `Every verdict is that of check, and the kernel's`() throws {
    let tree = try Tree()
    let count = Effort.of(2_000, atLeast: 30)
    let outcome = try Command.run([
      "/usr/bin/python3",
      Checkout.path("Tests/permcheckTests/Runner/expectations.py"),
      Command.permcheck, tree.root, "\(count)", "\(Effort.seed)",
    ])
    print(outcome.output.split(separator: "\n").first.map(String.init) ?? "")
    #expect(outcome.status == 0, "\(outcome)")
    let counts = outcome.output.split { !$0.isNumber }.compactMap { Int($0) }
    #expect(counts.first == count && outcome.output.contains(" 0 differ"))
  }

  @Test func `All mistakes are reported at once`() throws {
    let outcome = try verify(
      """
      [[expect]]
      nam = "x"
      path = "srv"
      is = "grnted"

      [[expect]]
      name = "a"
      accessor = "camra"
      user = ["no-such-user", "root"]
      need = "q"
      is = []
      wait = "5 s"
      reason = "other-bit"

      [[expect]]
      name = "a"
      path = "/x"
      uid = -1
      gid = 1
      is = "notDetermined"

      [[expect]]
      path = "/x"
      accessor = "camera"
      pid = 0
      user = 1
      [other]
      """)
    let places = outcome.errors.split(separator: "\n").map {
      $0.split(separator: ":").dropFirst(2).prefix(2).joined(separator: ":")
    }
    #expect(outcome.status == 64)
    #expect(outcome.output == "")
    #expect(
      places == [
        "2:1", "3:8", "4:6", "8:12", "9:9", "10:8", "11:6", "12:8", "13:10", "15:1", "18:7", "20:6",
        "22:1", "24:12", "25:7", "27:2",
      ], "\(outcome.errors)")
  }

  @Test(
    arguments: Effort.some(
      [
        ("x = [", 1), ("[[expect]]\nis = \"granted\"\nis = 1\n", 3), ("", 1), ("expect = 1", 1),
        ("[expect]\npath = \"/\"\nis = \"granted\"", 1), ("[[expect]]\npath = \"/\u{0}\"", 2),
        ("expect = [1]", 1),
      ], of: "VerifyTests What mistake", atLeast: 2))
  func `What is no list of expectations is a mistake`(_ toml: String, line: Int) throws {
    let outcome = try verify(toml)
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("permcheck: standard input:\(line):"), "\(outcome.errors)")
  }

  @Test func `The exit status says whether all hold`() throws {
    let good = expectation(
      "path = \"/etc/passwd\"", "user = \"daemon\"", "need = \"r\"", "is = \"granted\"")
    let bad = expectation(
      "path = \"/etc/shadow\"", "user = \"daemon\"", "need = \"r\"", "is = \"granted\"")
    let none = expectation("path = \"/no/such/file\"", "is = \"granted\"")
    let hidden = expectation(
      "path = \"/proc/1/root/x\"", "pid = 1", "is = [\"granted\", \"refused\"]")
    #expect(try verify(good).status == 0)
    #expect(try verify(good + bad).status == 1)
    #expect(try verify(none).status == 1)
    // A device that is not there is skipped; a path that is not there may be misspelled.
    for absent in [
      "accessor = \"camera=/dev/video250\"", "accessor = \"mic=/dev/snd/by-id/none\"",
      "path = \"/dev/video250\"",
    ] {
      let absent = expectation(absent, "is = \"granted\"")
      #expect(try verify(absent).status == 1)
      #expect(try verify(absent, ["--skip-unavailable"]).status == 77)
      #expect(try verify(absent + good, ["--skip-unavailable"]).status == 0)
      #expect(try verify(absent + bad, ["--skip-unavailable"]).status == 1)
      #expect(try verify(absent + none, ["--skip-unavailable"]).status == 1)
    }
    for misspelled in [
      "path = \"/no/such/file\"", "accessor = \"photos=/no/such/folder\"",
      "accessor = \"camera=/dev/vidoe0\"", "accessor = \"camera=/etc/passwd\"",
      "path = \"/dev/vidoe0\"", "accessor = \"camera=/no/such/video0\"",
    ] {
      let outcome = try verify(
        expectation(misspelled, "is = \"granted\"") + good, ["--skip-unavailable"])
      #expect(outcome.status == 1, "\(misspelled): \(outcome)")
    }
    // Nobody may look at what belongs to process 1, so it is not known.
    let stranger = Account(uid: 4321, gid: 4321)
    #expect(
      try verify(hidden, as: stranger).status == 64 || verify(hidden, as: stranger).status == 1)
    #expect(try verify(bad, ["--format", "nagios"]).status == 2)
    #expect(try verify(good, ["--format", "nagios"]).status == 0)
  }

  @Test func `A process number is not zero`() throws {
    let outcome = try verify(
      expectation("path = \"/etc/passwd\"", "is = \"granted\"")
        + expectation("path = \"/etc/shadow\"", "pid = 0", "is = \"refused\""))
    #expect(outcome.status == 64 && outcome.errors.contains(":6:7: pid is"), "\(outcome)")
  }

  /// Two processes in one file, of which one is in a container.
  @Test func `Each process has its own surroundings`() throws {
    let tree = try Tree()
    try tree.folder("root/proc")
    try tree.file("root/.dockerenv")
    let own = try Command.permcheck(["camera", "--json"]).output
    try #require(own.contains("\"unavailable\""), "there is a camera")
    let box = try LiveCommand([
      "unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child", "python3", "-c",
      "import os, sys, time; os.chroot('\(tree.path("root"))'); os.chdir('/'); print(os.getpid(), flush=True); time.sleep(600)",
    ])
    _ = box.line()
    let pids = try Command.run(["pgrep", "-f", "-n", "os.chroot.'\(tree.path("root"))"])
    let pid = try #require(Int(pids.output.split(separator: "\n").last ?? ""))
    let inside = expectation("accessor = \"camera\"", "pid = \(pid)", "is = \"unavailable\"")
    let here = expectation("accessor = \"camera\"", "is = \"unavailable\"")
    func reasons(_ toml: String, _ who: String) throws -> [String] {
      let json = try JSONSerialization.jsonObject(
        with: Data(try verify(toml, ["--json"]).output.utf8))
      let results = (json as? [String: Any])?["results"] as? [[String: Any]] ?? []
      let report = results.first { $0["who"] as? String == who }?["report"] as? [String: Any]
      let resources = report?["resources"] as? [[String: Any]] ?? []
      return resources.flatMap { $0["reasons"] as? [[String: Any]] ?? [] }
        .compactMap { $0["code"] as? String }
    }
    for toml in [inside + here, here + inside] {
      #expect(try reasons(toml, "this process") == reasons(here, "this process"))
      #expect(try reasons(toml, "pid \(pid)") == reasons(inside, "pid \(pid)"))
    }
    box.send(SIGKILL)
  }

  @Test func `An expected reason must be the actual one`() throws {
    let tree = try Tree()
    try tree.folder("closed", mode: 0o700)
    try tree.file("closed/file", mode: 0o644)
    func check(_ reason: String) throws -> Int32 {
      try verify(
        expectation(
          "path = \"\(tree.path("closed/file"))\"", "user = [\"daemon\", \"bin\"]",
          "is = \"refused\"", "reason = \"\(reason)\"")
      ).status
    }
    #expect(try check("parent-search") == 0)
    #expect(try check("other-bits") == 1)
  }

  @Test(
    arguments: Effort.some(
      [
        ("path = \"/srv\"", "granted", "parent-search", false),
        ("path = \"/srv\"", "granted", "other-bits", false),
        ("path = \"/srv\"", "unavailable", "other-bits", false),
        ("path = \"/srv\"", "refused", "no-device", false),
        ("accessor = \"camera\"", "granted", "not-in-group", false),
        ("accessor = \"photos\"", "authorized", "other-bits", false),
        ("accessor = \"photos\"\nneed = \"w\"", "granted", "other-bits", false),
        ("accessor = \"photos\"", "refused", "automount", false),
        ("accessor = \"photos\"", "granted", "other-bits", true),
        ("accessor = \"photos\"", "refused", "other-bits", true),
        ("path = \"/srv\"", "refused", "parent-search", true),
        ("path = \"/srv\"", "unavailable", "no-device", true),
        ("accessor = \"mic\"", "granted", "media-server", true),
      ], of: "VerifyTests A mistake", atLeast: 2))
  func `A reason that cannot occur is a mistake`(
    _ target: String, _ wanted: String, _ reason: String, _ isPossible: Bool
  ) throws {
    let outcome = try verify(
      expectation(target, "is = \"\(wanted)\"", "reason = \"\(reason)\""))
    #expect((outcome.status == 64) != isPossible, "\(outcome)")
    let line = target.contains("\n") ? 5 : 4
    let mistake = ":\(line):10: no \(wanted) access has the reason \(reason): "
    #expect(outcome.errors.contains(mistake) != isPossible, "\(outcome)")
  }

  /// A folder of root with mode 0755: others list and search it, and that is not what was asked.
  @Test(arguments: Effort.some(["w", "rw", "rwx"], of: "VerifyTests Named whole", atLeast: 2))
  func `Named permissions are required whole`(_ need: String) throws {
    let tree = try Tree()
    try tree.folder("pictures")
    let account = Account(uid: 61234, gid: 61234)
    let lines = ["accessor = \"photos=\(tree.path("pictures"))\"", "need = \"\(need)\""]
    for who in ["uid = 61234\ngid = 61234", ""] {
      func status(_ wanted: String) throws -> Int32 {
        let toml = expectation((lines + [who, "is = \"\(wanted)\""]).joined(separator: "\n"))
        return try verify(toml, as: who.isEmpty ? account : nil).status
      }
      #expect(try status("granted") == 1)
      #expect(try status("refused") == 0)
      #expect(try status("limited") == 1)
    }
    let check = try Command.permcheck(
      ["photos=\(tree.path("pictures"))", "--need", need], as: account)
    #expect(check.status == 1 && check.output.contains("denied"), "\(check)")
  }

  @Test func `A failure says what was expected and what helps`() throws {
    let tree = try Tree()
    try tree.folder("closed", mode: 0o700)
    let toml = expectation(
      "name = \"daemon reads\"", "path = \"\(tree.path("closed"))\"", "user = \"daemon\"",
      "is = \"granted\"")
    let outcome = try verify(toml)
    for part in ["✘ daemon reads", "expected  granted", "denied", "fix (", "setfacl"] {
      #expect(outcome.output.contains(part), "\(part): \(outcome.output)")
    }
    // Whoever wants a refusal is not told how to give access.
    let refused = try verify(
      expectation("path = \"/etc/passwd\"", "user = \"daemon\"", "is = \"refused\""))
    #expect(refused.status == 1 && !refused.output.contains("fix ("), "\(refused.output)")
  }

  @Test func `A wait ends when the expectation holds`() throws {
    let tree = try Tree()
    let path = tree.path("later")
    let toml = expectation("path = \"\(path)\"", "is = \"granted\"", "wait = \"30s\"")
    try tree.file("expect.toml", toml)
    let outcome = try Command.run([
      "sh", "-c",
      "(sleep 0.3; echo >\"$1\") & \"$0\" verify \"$2\"", Command.permcheck, path,
      tree.path("expect.toml"),
    ])
    #expect(outcome.status == 0, "\(outcome.output)")
    let never = expectation("path = \"\(path).not\"", "is = \"granted\"", "wait = \"0.2s\"")
    #expect(try verify(never).status == 1)
  }

  @Test func `A starter file holds on its machine`() throws {
    let starter = try Command.permcheck(["verify", "--init", "camera", "mic", "photos"])
    #expect(starter.status == 0)
    #expect(starter.output.components(separatedBy: "[[expect]]").count == 4)
    let outcome = try Command.run([Command.permcheck, "verify", "-"], input: starter.output)
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test func `A starter file has paths and users`() throws {
    let tree = try Tree()
    try tree.folder("open")
    try tree.folder("closed", mode: 0o700)
    let starter = try Command.run([
      "env", "-C", tree.root, Command.permcheck, "verify", "--init", "./closed", "photos=open",
      "--user",
      "daemon", "--user", "root", "--need", "rx",
    ])
    #expect(
      starter.output == """
        # The current access. Check it with: permcheck verify FILE

        [[expect]]
        path = "\(tree.path("closed"))"
        user = "daemon"
        need = "rx"
        is = "denied"

        [[expect]]
        accessor = "photos=\(tree.path("open"))"
        user = "daemon"
        need = "rx"
        is = "authorized"

        [[expect]]
        path = "\(tree.path("closed"))"
        user = "root"
        need = "rx"
        is = "authorized"

        [[expect]]
        accessor = "photos=\(tree.path("open"))"
        user = "root"
        need = "rx"
        is = "authorized"

        """)
    let outcome = try Command.run([Command.permcheck, "verify", "-"], input: starter.output)
    #expect(outcome.status == 0, "\(outcome.output)")
    let ids = try Command.permcheck([
      "verify", "--init", tree.path("closed"), "--uid", "7", "--gid", "8", "--groups", "9,10",
    ])
    #expect(ids.output.contains("uid = 7\ngid = 8\ngroups = [9,10]\nis = \"denied\"\n"))
    let other = try Command.permcheck(["verify", "file", "--user", "daemon"])
    #expect(other.status == 64)
    #expect(other.errors.contains("the file names users and permissions"), "\(other.errors)")
    let relative = expectation("accessor = \"photos=open\"", "is = \"granted\"")
    let refused = try Command.run([Command.permcheck, "verify", "-"], input: relative)
    #expect(refused.errors.contains(":2:12: the path must start with /"), "\(refused.errors)")
  }

  @Test func `A change is verified again`() throws {
    let tree = try Tree()
    try tree.file("file", mode: 0o600)
    try tree.file(
      "expect.toml",
      expectation("path = \"\(tree.path("file"))\"", "user = \"daemon\"", "is = \"refused\""))
    let watch = try LiveCommand([
      Command.permcheck, "verify", tree.path("expect.toml"), "--watch", "--format", "plain",
    ])
    #expect(watch.line()?.hasPrefix("holds\t") == true)
    try tree.mode("file", 0o644)
    #expect(watch.line()?.hasPrefix("fails\t") == true)
    watch.send(SIGINT)
    #expect(try watch.finish().status == 1)
  }

  /// A folder and a file become links and FIFOs again and again, while root verifies.
  @Test func `Root opens nothing outside a tree that is swapped`() throws {
    let tree = try Tree()
    // On a mount of its own, since what another process opens in a shared /tmp would be told too.
    let outcome = try Command.run([
      "unshare", "--mount", "sh", "-c",
      "mount -t tmpfs -o mode=755 none \"$2\" && exec python3 \"$@\"", "sh",
      Checkout.path("Tests/permcheckTests/Runner/swap.py"),
      tree.root, Command.permcheck, "\(Effort.of(1_000, atLeast: 8))",
    ])
    #expect(outcome.output == "seen True, opened outside 0, slow 0\n", "\(outcome)")
  }

  @Test func `Output is written at once`() throws {
    let tree = try Tree()
    try tree.file("old", "old")
    let toml = expectation("path = \"/etc/passwd\"", "is = \"granted\"")
    let outcome = try verify(toml, ["--format", "openmetrics", "--output", tree.path("old")])
    #expect(outcome.status == 0 && outcome.output == "")
    let text = try String(contentsOfFile: tree.path("old"), encoding: .utf8)
    #expect(text.hasSuffix("# EOF\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: tree.root) == ["old"])
    // Quiet is about the terminal; who could not read the old file cannot read the new one.
    try tree.mode("old", 0o600)
    #expect(try verify(toml, ["-q", "--format", "tap", "--output", tree.path("old")]).status == 0)
    #expect(try String(contentsOfFile: tree.path("old"), encoding: .utf8).hasPrefix("TAP"))
    let mode = try FileManager.default.attributesOfItem(atPath: tree.path("old"))[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try tree.link("link", to: "old")
    // Nothing but a file is replaced.
    for place in ["/dev/null", tree.root, tree.path("link")] {
      let refused = try verify(toml, ["--output", place])
      #expect(refused.status == 70 && refused.errors.contains("regular"), "\(refused)")
    }
    #expect(try verify(toml, ["--output", tree.path("no/such")]).status == 70)
  }

  @Test func `The summary of a job is added`() throws {
    let tree = try Tree()
    try tree.file("summary", "before\n")
    let toml = expectation("name = \"a|<b>\"", "path = \"/etc/passwd\"", "is = \"refused\"")
    let outcome = try Command.run(
      [Command.permcheck, "verify", "-", "--format", "github"],
      environment: ["GITHUB_STEP_SUMMARY": tree.path("summary")], input: toml)
    #expect(outcome.status == 1 && outcome.output.hasPrefix("::error title=a|<b>"))
    let text = try String(contentsOfFile: tree.path("summary"), encoding: .utf8)
    #expect(text.hasPrefix("before\n### permcheck verify"))
    #expect(text.contains("a&#124;&#60;b&#62;"))
  }
}
