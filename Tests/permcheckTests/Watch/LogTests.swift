import Foundation
import TestSupport
import Testing

/// A line of the analytics log.
struct LoggedEvent: Decodable {
  let v: Int
  let time: String
  let event: String
  let accessor: String
  let status: String
  let reason: String?
  let uid: UInt32
  let pid: Int32
  let duration: Int64

  /// The events of a log of whole lines; a line that is no event throws.
  static func all(_ text: String) throws -> [LoggedEvent] {
    try #require(text.isEmpty || text.hasSuffix("\n"))
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      try JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8))
    }
  }

  static func all(in path: String) throws -> [LoggedEvent] {
    try all(String(contentsOfFile: path, encoding: .utf8))
  }
}

/// Many processes, one log.
struct SharedLogTests {
  @Test func `Twenty processes write whole lines`() throws {
    let tree = try Tree()
    let writer = Command.products.appending(path: "log-writer").path
    // All wait for the gate, which opens when each has said that it is there.
    let script = """
      : > "$2/gate"; mkfifo "$2/ready"; exec 8<>"$2/ready" 9<"$2/gate"; flock -x 9
      pids=; for i in $(seq 20); do "$0" "$1" 500 "$2/gate" >&8 9<&- & pids="$pids $!"; done
      head -c 20 <&8 >/dev/null; flock -u 9
      for p in $pids; do wait $p || exit 1; done
      """
    let log = tree.path("log")
    let outcome = try Command.run(["bash", "-c", script, writer, log, tree.root])
    #expect(outcome.status == 0, Comment(rawValue: outcome.errors))
    let events = try LoggedEvent.all(in: log)
    #expect(events.count == 10_000)
    let processes = Dictionary(grouping: events, by: \.pid)
    #expect(processes.count == 20)
    for (_, own) in processes { #expect(own.map(\.duration) == Array(0..<500)) }
    #expect(events.count { $0.accessor.count == 7_000 } == 1_000)
    #expect(events.allSatisfy { $0.v == 1 && $0.reason == "not-in-group" })
    // Without this the writers would not have met, and the test would prove nothing.
    let turns = zip(events, events.dropFirst()).count { $0.pid != $1.pid }
    #expect(turns > 20)
    let summary = try Command.permcheck(["log", "--json", "--log", log])
    #expect(summary.status == 0 && summary.errors.isEmpty)
  }

  @Test func `Twenty checks at once lose no line`() throws {
    let tree = try Tree()
    let script = """
      for i in $(seq 20); do "$0" -q camera=/dev/null mic=/dev/null photos=/ --log "$1" & done; wait
      """
    let outcome = try Command.run(["sh", "-c", script, Command.permcheck, tree.path("log")])
    #expect(outcome.errors.isEmpty)
    let events = try LoggedEvent.all(in: tree.path("log"))
    for name in ["camera", "microphone", "photos"] {
      #expect(events.count { $0.accessor == name && $0.event == "check" } == 20)
    }
    #expect(Set(events.map(\.pid)).count == 20)
  }
}

/// Where the log goes, and that it never changes an answer.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct LogTests {
  /// A home, a node that opens and one that does not.
  func tree() throws -> Tree {
    let tree = try Tree()
    try tree.home()
    try tree.device("yes", mode: 0o666)
    try tree.device("no", mode: 0o660)
    return tree
  }

  func ask(
    _ arguments: [String], _ tree: Tree, _ environment: [String: String?] = [:]
  ) throws -> Outcome {
    let question =
      ["timeout", "30", Command.permcheck]
      + [tree.path("yes"), tree.path("no"), "photos"]
    var variables = tree.homeEnvironment
    variables["PERMCHECK_LOG"] = nil as String?
    return try Command.run(
      question + arguments, environment: variables.merging(environment) { $1 }, as: stranger)
  }

  func mode(_ path: String) throws -> String {
    try Command.run(["stat", "-c", "%a %U:%u", path]).output
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test func `Each event says what happened`() throws {
    let tree = try tree()
    try tree.file("log", mode: 0o666)
    #expect(try ask(["--log", tree.path("log")], tree).status == 1)
    let events = try LoggedEvent.all(in: tree.path("log"))
    #expect(events.map(\.accessor) == [tree.path("yes"), tree.path("no"), "photos"])
    #expect(events.map(\.status) == ["authorized", "denied", "authorized"])
    #expect(events.allSatisfy { $0.event == "check" && $0.v == 1 && $0.uid == stranger.uid })
    #expect(events.allSatisfy { $0.duration >= 0 && $0.duration < 60_000_000 && $0.pid > 1 })
    #expect(events[0].reason == nil && events[1].reason == "not-in-group")
    let format = /20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{6}Z/
    #expect(events.allSatisfy { $0.time.wholeMatch(of: format) != nil })
    let times = ISO8601DateFormatter()
    times.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    let now = try #require(times.date(from: events[0].time))
    #expect(abs(now.timeIntervalSinceNow) < 600, "the time is UTC")
  }

  /// An output without the time of the check.
  private static func timeless(_ outcome: Outcome) -> String {
    outcome.output.replacing(/"time":"[^"]*"/, with: "")
  }

  /// Logs that cannot be written: the answer is the same, and there is one warning.
  @Test(
    arguments: Effort.some(
      ["folder", "closed/log", "none/log", "/dev/full", "fifo", "dangling", "ro/log"],
      of: "LogTests Unwritable nothing", atLeast: 2))
  func `Unwritable log changes nothing`(_ log: String) throws {
    let tree = try tree()
    try tree.folder("folder", mode: 0o777)
    try tree.folder("closed", mode: 0o700)
    try tree.folder("ro", mode: 0o755)
    try tree.link("dangling", to: "nowhere/log")
    #expect(try Command.run(["mkfifo", "-m", "666", tree.path("fifo")]).status == 0)
    let path = log.hasPrefix("/") ? log : tree.path(log)
    for more in [[], ["--json"], ["--format", "plain"], ["-q"], ["--all"]] {
      let good = try ask(more + ["--log", "none"], tree)
      #expect(good.status == 1 && good.errors.isEmpty)
      let bad = try ask(more + ["--log", path], tree)
      #expect(bad.status == good.status && Self.timeless(bad) == Self.timeless(good))
      let variable = try ask(more, tree, ["PERMCHECK_LOG": path])
      #expect(variable.status == good.status && Self.timeless(variable) == Self.timeless(good))
      for outcome in [bad, variable] {
        let isQuiet = more == ["-q"]
        #expect(isQuiet ? outcome.errors.isEmpty : isOneLine(outcome.errors), "\(outcome.errors)")
        #expect(isQuiet || outcome.errors.contains("warning") && outcome.errors.contains(path))
      }
      if more == ["-q"] { continue }
      let verbose = try ask(more + ["-v", "--log", path], tree)
      #expect(verbose.status == good.status)
      let silent = try ask(more + ["-v", "--log", "none"], tree)
      #expect(Self.timeless(verbose) == Self.timeless(silent))
      #expect(isOneLine(verbose.errors), Comment(rawValue: verbose.errors))
      #expect(verbose.errors.contains("warning") && verbose.errors.contains(path))
    }
  }

  @Test(arguments: ["000", "022", "077"]) func `The default file is private`(
    _ umask: String
  ) throws {
    let tree = try tree()
    try tree.folder("state", mode: 0o777)
    for state in [tree.path("state"), tree.path("state/not/there/yet")] {
      let drop = "exec setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all"
      let script = "umask \(umask); \(drop) \"$0\" photos"
      var variables = tree.homeEnvironment
      variables["PERMCHECK_LOG"] = nil as String?
      variables["XDG_STATE_HOME"] = state
      let outcome = try Command.run(
        ["sh", "-c", script, Command.permcheck],
        environment: variables)
      #expect(outcome.status == 0 && outcome.errors.isEmpty)
      let folder = "\(state)/permcheck"
      #expect(try mode(folder) == "700 UNKNOWN:54321")
      #expect(try mode("\(folder)/analytics.jsonl") == "600 UNKNOWN:54321")
      #expect(try LoggedEvent.all(in: "\(folder)/analytics.jsonl").count == 1)
    }
  }

  /// Without XDG_STATE_HOME it is ~/.local/state; the base directory standard says so, and that
  /// relative paths do not count.
  @Test(arguments: [nil, "", "relative/state"] as [String?])
  func `The default file is in the home`(_ state: String?) throws {
    let tree = try tree()
    #expect(try ask([], tree, ["XDG_STATE_HOME": state]).status == 1)
    let file = tree.path("home/.local/state/permcheck/analytics.jsonl")
    #expect(try LoggedEvent.all(in: file).count == 3)
    #expect(try ask([], tree, ["XDG_STATE_HOME": state]).status == 1)
    #expect(try LoggedEvent.all(in: file).count == 6, "a log is added to")
  }

  @Test func `An unwritable state folder changes no answer`() throws {
    let tree = try tree()
    try tree.folder("state", mode: 0o755)
    let good = try ask(["-v", "--log", "none"], tree)
    let bad = try ask(["-v"], tree, ["XDG_STATE_HOME": tree.path("state")])
    #expect(bad.status == good.status && bad.output == good.output)
    #expect(isOneLine(bad.errors))
    #expect(try ask([], tree, ["XDG_STATE_HOME": tree.path("state")]).errors.isEmpty)
  }

  @Test func `The option comes before the variable, which comes before the default`()
    throws
  {
    let tree = try tree()
    for name in ["option", "variable"] { try tree.file(name, mode: 0o666) }
    let count = { (name: String) in try LoggedEvent.all(in: tree.path(name)).count }
    let variable: [String: String?] = ["PERMCHECK_LOG": tree.path("variable")]
    _ = try ask([], tree, variable)
    #expect(try (count("variable"), count("option")) == (3, 0))
    _ = try ask(["--log", tree.path("option")], tree, variable)
    #expect(try (count("variable"), count("option")) == (3, 3))
    for none in [
      try ask(["--log", "none"], tree, variable), try ask([], tree, ["PERMCHECK_LOG": "none"]),
    ] {
      #expect(none.errors.isEmpty)
    }
    #expect(try (count("variable"), count("option")) == (3, 3))
    #expect(!FileManager.default.fileExists(atPath: tree.path("home/.local")))
    #expect(!FileManager.default.fileExists(atPath: "none"))
    for dash in [
      try ask(["--log", "-"], tree, variable), try ask([], tree, ["PERMCHECK_LOG": "-"]),
    ] {
      #expect(try LoggedEvent.all(dash.errors).count == 3)
      #expect(dash.output == (try ask(["--log", "none"], tree)).output)
    }
    #expect(try (count("variable"), count("option")) == (3, 3))
  }
}
