import Foundation
import TestSupport
import Testing

/// The scripts of action.yml and Templates/gitlab-ci.yml, as far as a shell can be the runner.
@Suite(.blocking) struct RunnerTests {
  /// What the jobs verify: the one that holds, the one that does not, and the one that is skipped.
  private static func files() throws -> Tree {
    let tree = try Tree()
    try tree.file("secret", mode: 0o600)
    func expectation(_ line: String, _ status: String) -> String {
      "[[expect]]\nname = \"100%, of: it\"\n\(line)\nuid = 54321\ngid = 54321\nis = \"\(status)\"\n"
    }
    let secret = "path = \"\(tree.path("secret"))\"\nneed = \"r\""
    try tree.file("holds.toml", expectation(secret, "refused"))
    try tree.file("fails.toml", expectation(secret, "granted"))
    try tree.file(
      "absent.toml", expectation("path = \"/dev/video250\"\nneed = \"r\"", "granted"))
    try tree.file("wrong.toml", "[[expect]]\n")
    return tree
  }

  /// Runs the scripts of a runner in a folder.
  private static func run(
    _ runner: String, _ words: [String], in tree: borrowing Tree, path: String? = nil
  ) throws -> Outcome {
    let script = Checkout.path("Tests/permcheckTests/Runner/run.py")
    return try Command.run(
      ["env", "-C", tree.root, "/usr/bin/python3", script, runner] + words,
      environment: ["RUN_PATH": path])
  }

  /// What GitHub reads: the exit status, the annotations and the outputs of the action.
  private struct Outputs: Decodable {
    let status: String?
    let binary: String?
    let summary: String
  }

  private static func outputs(_ outcome: Outcome) throws -> Outputs {
    let line = try #require(outcome.output.split(separator: "\n").last)
    return try JSONDecoder().decode(Outputs.self, from: Data(line.utf8))
  }

  @Test(
    arguments: Effort.some(
      [
        (["file=holds.toml"], 0, "0", "1 of 1 hold"),
        (["file=fails.toml"], 1, "1", "::error file=fails.toml"),
        (["file=absent.toml", "skip-unavailable=true"], 0, "77", "everything was"),
        (["file=absent.toml"], 1, "1", "::error file=absent.toml"),
        (["file=fails.toml", "format=human"], 1, "1", "0 of 1 hold"),
        (["file=fails.toml", "format=junit", "output=a b.xml"], 1, "1", "::error file=fails.toml"),
        (["file=wrong.toml"], 64, "64", "exit status 64"),
        (["file=none.toml"], 64, "64", "exit status 64"),
        (["file=holds.toml", "format=none"], 64, "64", "exit status 64"),
        ([], 64, "64", "exit status 64"),
      ], of: "RunnerTests The verifies", atLeast: 2)) func `The action verifies`(
      _ inputs: [String], _ exit: Int32, _ status: String, _ text: String
    ) throws
  {
    let tree = try Self.files()
    let outcome = try Self.run("github", inputs + ["binary=\(Command.permcheck)"], in: tree)
    #expect(outcome.status == exit, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains(text), "\(outcome.output)\(outcome.errors)")
    let outputs = try Self.outputs(outcome)
    #expect(outputs.status == status && outputs.binary == Command.permcheck)
    if inputs == ["file=fails.toml"] { #expect(outputs.summary.contains("| fails |")) }
    let hasFile = FileManager.default.fileExists(atPath: tree.path("a b.xml"))
    #expect(hasFile == inputs.contains("output=a b.xml"))
  }

  /// No input is read as a command or as an option, nor does it add an output.
  @Test(
    arguments: Effort.some(
      [
        "file=$(touch pwned)", "file='; touch pwned; '", "file=`touch pwned`", "file=--init",
        "file=\"; touch pwned; \"", "format=json --output=pwned", "format=$(touch pwned)",
        "output=$(touch pwned)/none", "skip-unavailable=$(touch pwned)", "binary=$(touch pwned)",
        "binary=touch pwned", "binary=true\nstatus=0", "binary=-v",
      ], of: "RunnerTests Inputs commands", atLeast: 2)) func `Inputs are never run as commands`(
      _ input: String
    ) throws
  {
    let tree = try Self.files()
    let words = ["file=holds.toml", "binary=\(Command.permcheck)", input]
    let outcome = try Self.run("github", words, in: tree)
    #expect((outcome.status == 0) == input.hasPrefix("skip-unavailable"), "\(outcome.output)")
    #expect(!FileManager.default.fileExists(atPath: tree.path("pwned")))
  }

  @Test(
    arguments: Effort.some(
      [
        ("holds", "false", 0, "artifact: permcheck.xml: True"),
        ("fails", "false", 1, "0 of 1 hold"), ("absent", "false", 1, "0 of 1 hold"),
        ("absent", "true", 77, "the job is shown with a warning"),
        ("wrong", "false", 64, "permcheck.xml: True"),
        ("$(touch pwned)", "false", 64, "permcheck.xml: False"),
        ("-- --init", "false", 64, "permcheck.xml: False"),
      ], of: "RunnerTests The verifies", atLeast: 2)) func `The job verifies`(
      _ file: String, _ skips: String, _ exit: Int32, _ text: String
    ) throws
  {
    let tree = try Self.files()
    let words = [
      "PERMCHECK_BINARY=\(Command.permcheck)", "PERMCHECK_FILE=\(file).toml",
      "PERMCHECK_SKIP_UNAVAILABLE=\(skips)",
    ]
    let outcome = try Self.run("gitlab", words, in: tree)
    #expect(outcome.status == exit, "\(outcome.output)\(outcome.errors)")
    #expect(outcome.output.contains(text), "\(outcome.output)\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: tree.path("pwned")))
  }

  /// Without Swift and without a program each says what to do.
  @Test func `A missing input is reported`() throws {
    let tree = try Self.files()
    for shell in ["bash", "sh"] { try tree.link("bin/\(shell)", to: "/bin/\(shell)") }
    let path = tree.path("bin")
    let action = try Self.run("github", ["file=holds.toml"], in: tree, path: path)
    #expect(
      action.status == 69 && action.output.contains("::error title=permcheck::there is no Swift"))
    let wrong = try Self.run("github", ["file=holds.toml", "binary=/none"], in: tree)
    #expect(wrong.status == 69 && wrong.output.contains("names no program"))
    let job = try Self.run("gitlab", ["PERMCHECK_BINARY=none"], in: tree, path: path)
    #expect(job.status == 69 && job.errors.contains("PERMCHECK_SOURCE names no repository"))
    let own = ["PERMCHECK_BINARY=none", "PERMCHECK_SOURCE=\(Checkout.root.path)"]
    for commit in ["", "main", "0123456", String(repeating: "a", count: 41)] {
      let moving = try Self.run("gitlab", own + ["PERMCHECK_COMMIT=\(commit)"], in: tree)
      #expect(moving.status == 69 && moving.errors.contains("the whole id of the commit"))
    }
    let whole = "PERMCHECK_COMMIT=" + String(repeating: "a", count: 40)
    let source = try Self.run("gitlab", own + [whole], in: tree, path: path)
    #expect(source.status == 69 && source.errors.contains("there is no Swift in this image"))
  }

  /// The recipe of the container copies and runs what there is.
  @Test func `The recipe finds its files`() throws {
    let text = try String(
      contentsOf: Checkout.file("Containers/Dockerfile"), encoding: .utf8)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.filter { $0.hasPrefix("FROM ") }.count == 2)
    for line in lines where line.hasPrefix("RUN Scripts/") {
      let script = Checkout.path(String(line.split(separator: " ")[1]))
      #expect(FileManager.default.isExecutableFile(atPath: script), "\(line)")
    }
    let build = try #require(lines.first { $0.contains("Scripts/build-release") })
    let built = try #require(build.split(separator: " ").last)
    #expect(text.contains("COPY --from=build \(built) /usr/local/bin/permcheck\n"))
    let setup = try Command.run(
      ["sh", Checkout.path("Scripts/setup"), "--build"])
    #expect(setup.output == "setup: everything is there\n", "\(setup.errors)")
  }
}
