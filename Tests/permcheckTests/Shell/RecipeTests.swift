import Foundation
import TestSupport
import Testing

/// The recipes of the guide for the shell and jq, as it has them, on a fixed machine.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct RecipeTests {
  struct Recipe {
    /// The comment above the command.
    let title: String
    let command: String
  }

  /// What each recipe prints, by its title, and its status.
  static let expected: [String: (output: String, status: Int32)] = [
    "The status of each accessor.": (
      "camera limited\nmicrophone denied\nphotos authorized\n", 0
    ),
    "Whether a script may go on: jq ends with 1 if not.": ("true\n", 0),
    "Why not, one reason a line: the code for programs, the message for people.": (
      "not-in-group: tester is not in group audio (crw-rw---- root:audio) and no ACL entry names tester\n",
      0
    ),
    "The nodes that can be used now.": ("/ROOT/dev/video0\n", 0),
    "What an administrator would type: a line for sh, whatever bytes the names have.": (
      """
      sudo setfacl -n -m u:54321:rw-,m::rw- /ROOT/dev/snd/pcmC0D0c
      sudo setfacl -n -m u:54321:rw-,m::rw- /ROOT/dev/snd/controlC0

      """, 0
    ),
    "Which part of a path decides, and by which rule.": (
      "video2 refused by other-bits\n", 0
    ),
    "A line of comma-separated values for each user and accessor.": (
      """
      "root","camera","authorized"
      "root","microphone","authorized"
      "tester","camera","limited"
      "tester","microphone","denied"

      """, 0
    ),
    "An error is a document, too.": ("usage\n", 0),
  ]

  /// The block of the guide that uses jq.
  static func recipes() throws -> [Recipe] {
    let file = Checkout.file("Documentation/guide/json.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    let block = try #require(text.split(separator: "```sh\n").dropFirst().first)
    return try block.split(separator: "```")[0].split(separator: "\n\n").map { part in
      let lines = part.split(separator: "\n")
      try #require(lines.count == 2 && lines[0].hasPrefix("# "), "\(part)")
      return Recipe(title: String(lines[0].dropFirst(2)), command: String(lines[1]))
    }
  }

  @Test func `Recipes work`() throws {
    let recipes = try Self.recipes()
    // A recipe without an expectation is not tested, and an expectation without a recipe is stale.
    #expect(recipes.map(\.title).sorted() == Self.expected.keys.sorted())
    let tree = try SnapshotTests.laptop()
    let tools = try Tree()
    // The fixed machine stands for this one.
    try tools.file(
      "permcheck", "#!/bin/sh\nexec \(Command.permcheck) \"$@\" --root \(tree.root)\n")
    try tools.mode("permcheck", 0o755)
    for recipe in recipes {
      let outcome = try Command.run(
        ["sh", "-c", recipe.command],
        environment: [
          "HOME": "/home/tester",
          "PATH": "\(tools.root):/usr/local/bin:/usr/bin:/bin",
        ], as: SnapshotTests.account)
      let output = outcome.output.replacing(tree.root, with: "/ROOT")
      let expected = Self.expected[recipe.title]
      #expect(output == expected?.output, "\(recipe.title)")
      #expect(outcome.status == expected?.status, "\(recipe.title)")
      #expect(outcome.errors.isEmpty, "\(recipe.title): \(outcome.errors)")
    }
  }

  /// Proves that a recipe for a machine without access says so.
  @Test func `A recipe for a refusal ends with a refusal`() throws {
    let recipe = try #require(try Self.recipes().first { $0.command.contains("jq -e") })
    let outcome = try Command.run(
      [
        "sh", "-c",
        recipe.command.replacing("permcheck photos", with: "\(Command.permcheck) photos=/root"),
      ],
      as: SnapshotTests.account)
    #expect(outcome.output == "false\n" && outcome.status == 1)
  }
}
