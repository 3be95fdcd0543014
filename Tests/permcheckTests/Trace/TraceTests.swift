import Foundation
import Glibc
import TestSupport
import Testing

/// A line of `permcheck trace --json`.
private struct RefusalLine: Decodable {
  let schemaVersion: Int
  let time: String
  let last: String
  let count: Int
  let operation: String?
  let path: String?
  let secondPath: String?
  let errno: String
  let pid: Int32
  let program: String
}

@Suite(.blocking, .enabled(if: Kernel.canAsk, "BPF wants root")) struct TraceTests {
  /// Traces a script of an ordinary user in an empty folder.
  private static func trace(
    _ options: [String], _ script: String, environment: [String: String?] = [:]
  ) throws -> Outcome {
    try Command.run(
      ["sh", "-c", "cd /; exec \"$@\"", "sh", Command.permcheck, "trace", "-u", "games"] + options
        + ["--", "sh", "-c", script],
      environment: environment.merging(["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]) { $1 })
  }

  @Test(
    .full("it plays at terminals for a minute"),
    arguments: [
      ["trace", "--by", "bpf", "-o", "/dev/null"], ["trace", "--by", "ptrace", "-o", "/dev/null"],
      ["run", "/tmp", "--request", "--yes"],
    ])
  func `Nothing changes for the program`(_ words: [String]) throws {
    let tree = try Tree()
    let outcome = try Command.run(
      [
        "unshare", "-pfm", "--kill-child", "--mount-proc", "timeout", "-k", "5", "900", "python3",
        Checkout.path("Tests/permcheckTests/Runner/transparent.py"), tree.root, Command.permcheck,
      ] + words + ["--"], within: 1_000)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("; 0 wrong\n"), "\(outcome)")
  }

  /// An ordinary user has ptrace alone.
  @Test(.full("it plays at terminals for a minute"))
  func `Nothing changes for the program of an ordinary user`() throws {
    let tree = try Tree()
    try tree.folder("place", mode: 0o777)
    for name in ["transparent.py", "screen.py"] {
      let path = Checkout.path("Tests/permcheckTests/Runner/\(name)")
      try tree.file(name, String(contentsOfFile: path, encoding: .utf8))
    }
    let outcome = try Command.run(
      [
        "unshare", "-pfm", "--kill-child", "--mount-proc", "setpriv", "--reuid=games",
        "--regid=games", "--clear-groups", "--inh-caps=-all", "timeout", "-k", "5", "900",
        "/usr/bin/python3", tree.path("transparent.py"), tree.path("place"), Command.permcheck,
        "trace", "-o", "/dev/null", "--",
      ], environment: ["HOME": "/nowhere", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"],
      within: 1_000)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("; 0 wrong\n"), "\(outcome)")
  }

  @Test(.full("it kills and waits for minutes"))
  func `Nobody notices that the process that traces is killed`() throws {
    let tree = try Tree()
    let outcome = try Command.run(
      [
        "unshare", "-pfm", "--kill-child", "--mount-proc", "timeout", "-k", "5", "900", "python3",
        Checkout.path("Tests/permcheckTests/Runner/killed.py"), tree.path("place"),
        Command.permcheck, "\(Effort.of(10, atLeast: 2))",
      ], within: 1_000)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("; 0 wrong\n"), "\(outcome)")
  }

  /// A library that is preloaded may move the environment before permcheck starts.
  @Test func `The command has the environment that a preloaded library moved`() throws {
    let tree = try Tree()
    try tree.file(
      "moved.c",
      """
      extern int setenv(const char *, const char *, int);
      __attribute__((constructor)) static void move(void) { setenv("MOVED", "1", 1); }
      """)
    let library = tree.path("moved.so")
    let built = try Command.run(["cc", "-shared", "-fPIC", "-o", library, tree.path("moved.c")])
    #expect(built.status == 0, "\(built.errors)")
    let command = ["sh", "-c", "env | sort | grep -v '^_'"]
    func environment(_ words: [String]) throws -> String {
      try Command.run(
        ["env", "-i", "FIRST=1", "PATH=/usr/bin:/bin", "LD_PRELOAD=" + library] + words
      ).output
    }
    let alone = try environment(command)
    #expect(alone.contains("FIRST=1\n") && alone.contains("MOVED=1\n"))
    let traced = try environment([Command.permcheck, "trace", "-o", "/dev/null", "--"] + command)
    #expect(traced == alone)
  }

  @Test(.full("it runs a dozen programs four times each"), arguments: ["bpf", "ptrace"])
  func `Every refusal that strace sees is seen`(_ way: String) throws {
    let tree = try Tree()
    let outcome = try Command.run(
      [
        "unshare", "-pfm", "--kill-child", "--mount-proc", "timeout", "-k", "5", "900", "python3",
        Checkout.path("Tests/permcheckTests/Runner/complete.py"), tree.root, Command.permcheck, way,
      ], within: 1_000)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("; 0 wrong\n"), "\(outcome)")
  }

  @Test func `Each refusal is a line, and equal ones are counted`() throws {
    let outcome = try Self.trace(
      [],
      "exec 2>/dev/null; cat /etc/shadow /etc/shadow /etc/gshadow; mv /etc/passwd /tmp/no; kill -9 1; exit 4"
    )
    #expect(outcome.status == 4 && outcome.output.isEmpty, "\(outcome)")
    let lines = outcome.errors.replacing(/\[\d+\]/, with: "[N]").split(separator: "\n")
    #expect(
      lines == [
        "cat[N] openat /etc/shadow: EACCES (2 times)", "cat[N] openat /etc/gshadow: EACCES",
        "mv[N] renameat2 /etc/passwd → /tmp/no: EACCES", "sh[N] kill: EPERM",
      ], "\(outcome)")
    let nothing = try Self.trace([], "exit 5")
    #expect(nothing.status == 5 && nothing.errors == "permcheck: nothing was refused\n")
  }

  @Test func `JSON has a line for each, and the file gets them`() throws {
    let tree = try Tree()
    let file = tree.path("out")
    let script = "cat /etc/shadow /etc/shadow; ln /etc/passwd /etc/no"
    for (options, counts) in [([], [2, 1]), (["--follow"], [1, 1, 1])] {
      let outcome = try Self.trace(["--json", "-o", file] + options, script)
      #expect(outcome.status == 1 && !outcome.errors.contains("{"), "\(outcome)")
      let text = try String(contentsOfFile: file, encoding: .utf8)
      let lines = try text.split(separator: "\n").map {
        try JSONDecoder().decode(RefusalLine.self, from: Data($0.utf8))
      }
      #expect(lines.map(\.count) == counts, "\(text)")
      #expect(lines.first?.path == "/etc/shadow" && lines.first?.errno == "EACCES")
      #expect(lines.last?.operation == "linkat" && lines.last?.path == "/etc/passwd")
      #expect(lines.last?.secondPath == "/etc/no")
      #expect(lines.allSatisfy { $0.schemaVersion == 1 && $0.time <= $0.last && $0.pid > 0 })
      let checked = try Command.run(
        [
          "sh", "-c",
          """
          "$0" schema trace >"$1.schema" && exec /usr/bin/python3 -c '
          import json, jsonschema, sys
          schema = json.load(open(sys.argv[1] + ".schema"))
          for line in open(sys.argv[1]): jsonschema.validate(json.loads(line), schema)
          ' "$1"
          """, Command.permcheck, file,
        ])
      #expect(checked.status == 0, "\(checked)")
    }
    let plain = try Self.trace(["--format", "plain", "-o", file], script)
    let fields = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")[0]
      .split(separator: "\t", omittingEmptySubsequences: false)
    #expect(
      plain.status == 1 && fields.count == 9
        && fields[1...6] == ["2", "EACCES", "openat", "/etc/shadow", "", "cat"],
      "\(fields)")
  }

  @Test func `Names cannot write to the terminal`() throws {
    let outcome = try Self.trace(
      ["--color", "always"],
      "exec 2>/dev/null; d=$(mktemp -d); mkdir -m 0 $d/a; cat \"$d/a/\u{1b}[31m\u{9}x\ny\"; rmdir $d/a $d"
    )
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 1 && !outcome.errors.contains("\u{1b}[31m\u{9}"), "\(outcome)")
  }

  @Test func `A set-user-ID program keeps its rights, and is judged by them`() throws {
    let tree = try Tree()
    try tree.file("secret", "secret\n", mode: 0o400, uid: 54_399)
    _ = try Command.run(
      ["install", "-o", "54399", "-m", "4755", "/bin/cat", tree.path("cat")])
    let outcome = try Self.trace(
      ["--json"],
      "\(tree.path("cat")) \(tree.path("secret")); \(tree.path("cat")) /etc/shadow 2>/dev/null")
    #expect(outcome.output == "secret\n", "\(outcome)")
    #expect(
      outcome.errors.contains(#""user":{"effective":54399,"fileSystem":54399,"real":5}"#),
      "\(outcome)")
  }

  @Test func `A process that runs is watched until it ends`() throws {
    let command = try LiveCommand(
      [
        "setpriv", "--reuid", "54321", "--clear-groups", "sh", "-c",
        "echo on; read go; cat /etc/shadow",
      ],
      input: "go\n")
    #expect(command.line() == "on")
    let trace = try LiveCommand([
      "sh", "-c", "exec \"$0\" trace -p \"$1\" --follow 2>&1", Command.permcheck, "\(command.pid)",
    ])
    #expect(trace.line() == "permcheck: process \(command.pid) is watched")
    #expect(try command.finish().status == 1)
    let outcome = try trace.finish()
    #expect(
      outcome.status == 0 && outcome.output.hasSuffix("openat /etc/shadow: EACCES\n"), "\(outcome)")
  }

  @Test func `Time and signals end a watch`() throws {
    let time = try Command.run([Command.permcheck, "trace", "-p", "\(getpid())", "--for", "1s"])
    #expect(time.status == 0, "\(time)")
    for signal in [SIGINT, SIGTERM, SIGHUP] {
      let trace = try LiveCommand([
        "sh", "-c", "exec \"$0\" trace -p \"$1\" 2>&1", Command.permcheck, "\(getpid())",
      ])
      #expect(trace.line() == "permcheck: process \(getpid()) is watched")
      trace.send(signal)
      #expect(try trace.finish().status == 0)
    }
  }

  @Test(
    arguments: [
      ([], 64, "give the command after --"), (["-p", "0"], 64, "expected the number of a process"),
      (["-p", "1", "--", "true"], 64, "cannot be combined"),
      (["--for", "1s", "--", "true"], 64, "requires -p"),
      (["-u", "games", "-p", "1"], 64, "-u requires a command"), (["-p", "4194305"], 64, "ESRCH"),
      (["-u", "nobody-of-this-name", "--", "true"], 64, "nobody-of-this-name"),
      (["--format", "junit", "--", "true"], 64, "no format junit"),
      (["-o", "/nowhere/at/all", "--", "true"], 70, "/nowhere/at/all cannot be written"),
      (["--", "nowhere-at-all"], 127, "cannot be run (ENOENT)"),
      (["nowhere-at-all"], 127, "cannot be run"),
      (["/etc"], 126, "execve /etc: EACCES"),
      (["-f", "sh", "-c", "exit 9"], 9, "nothing was refused"),
    ] as [([String], Int32, String)])
  func `Mistakes are named`(_ words: [String], _ status: Int32, _ text: String) throws {
    let outcome = try Command.run([Command.permcheck, "trace"] + words)
    #expect(outcome.status == status && outcome.errors.contains(text), "\(outcome)")
  }

  @Test func `Whoever may not is told what is missing`() throws {
    let outcome = try Command.run(
      [Command.permcheck, "trace", "--by", "bpf", "--", "true"],
      as: Account(uid: 54_321, gid: 54_321))
    #expect(outcome.status == 70, "\(outcome)")
    #expect(outcome.errors.contains("lacks CAP_BPF and CAP_PERFMON"), "\(outcome)")
    for (words, text) in [
      (["unshare", "-Ur"], "only in its user namespace"),
      (["unshare", "-m", "sh", "-c", "umount -l /sys; exec \"$@\"", "-"], "no BTF"),
    ] {
      let trace = words + [Command.permcheck, "trace"]
      let outcome = try Command.run(trace + ["--by", "bpf", "--", "true"])
      #expect(outcome.status == 70 && outcome.errors.contains(text), "\(outcome)")
      let other = try Command.run(trace + ["--", "true"])
      #expect(other.status == 0 && other.errors.contains(text), "\(other)")
      #expect(other.errors.contains("seen by ptrace instead of BPF"), "\(other)")
    }
  }
}
