import Foundation
import TestSupport
import Testing

/// Names that devices give themselves: hostile ones, wide ones.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct LabelTests {
  static let hostile = [
    "\u{1b}[2J\u{1b}[31mred", "one\n✔ camera  authorized  /dev/video9", "bell\u{7}\u{8}back",
    "carriage\rreturn", "tab\tand\tmore", "\u{9b}31mC1", "\u{202e}desrever\u{2066}",
    "\u{1b}]0;title\u{7}", "\u{2028}line\u{2029}paragraph", "\u{0}nul",
    String(repeating: "long ", count: 2_000), "", " ", "\n\n\n", "\u{7f}\u{85}",
  ]

  /// Characters that turn the direction of what follows.
  static let bidi: [ClosedRange<UInt32>] = [
    0x61c...0x61c, 0x200e...0x200f, 0x202a...0x202e, 0x2066...0x2069,
  ]

  /// Holds that a text has the lines it should and nothing that a terminal obeys.
  func expectTame(_ text: String, plainLines: Int?) {
    let seen = Comment(rawValue: text.debugDescription)
    for scalar in text.unicodeScalars where scalar != "\n" {
      if plainLines != nil && scalar == "\t" { continue }
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: Issue.record(seen)
      default: #expect(!Self.bidi.contains { $0.contains(scalar.value) }, seen)
      }
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(!lines.contains { $0.hasPrefix("✔") }, seen)
    if let plainLines {
      #expect(lines.count == plainLines, seen)
      #expect(lines.allSatisfy { line in line.count { $0 == "\t" } == 9 }, seen)
    } else {
      #expect(lines.count == 4, "one row, one reason, one fix, its command: \(seen)")
      #expect(lines.first?.hasPrefix("✘") == true, seen)
    }
  }

  @Test(
    arguments: Effort.some(Array(hostile.indices), of: "LabelTests"),
    Effort.isFull ? ["sysfs", "udev", "cards", "pcm"] : ["udev", "cards"])
  func `Hostile name is tamed`(_ index: Int, _ source: String) throws {
    let name = Self.hostile[index]
    let tree = try Tree()
    let accessor = source == "sysfs" || source == "udev" ? "camera" : "mic"
    switch source {
    case "sysfs": try tree.camera(0, name: name, mode: 0o600)
    case "udev": try tree.camera(0, mode: 0o600, product: name)
    case "cards":
      try tree.microphone(pcm: 0o600)
      try tree.sound(cards: " 0 [PCH            ]: HDA-Intel - \(name)\n      \(name)\n")
    default:
      try tree.microphone(pcm: 0o600)
      try tree.sound(pcm: "00-00: \(name) : \(name) : capture 1\n")
    }
    for format in ["human", "plain", "json"] {
      let outcome = try Command.permcheck(
        [accessor, "--root", tree.root, "--format", format, "--color", "never"], as: stranger)
      #expect(outcome.errors.isEmpty)
      #expect(outcome.status == 1, "the node is there and refused, whatever its name is")
      switch format {
      case "human": expectTame(outcome.output, plainLines: nil)
      case "plain": expectTame(outcome.output, plainLines: accessor == "mic" ? 2 : 1)
      default:
        #expect(try outcome.report().status == "denied")
        #expect(outcome.output.split(separator: "\n").count == 1)
      }
    }
  }

  /// Columns that a terminal gives to a text of these tests.
  func width(_ text: some StringProtocol) -> Int {
    text.unicodeScalars.reduce(0) { sum, scalar in
      switch scalar.value {
      case 0x300...0x36f, 0x200b...0x200d, 0xfe0f, 0xfeff: sum
      case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xff00...0xff60,
        0x1f300...0x1faff, 0x20000...0x3fffd:
        sum + 2
      default: sum + 1
      }
    }
  }

  @Test(arguments: [
    "漢字カメラ", "한국어 카메라", "e\u{301}te\u{301} Kamera", "📷 Cam", "Ｆｕｌｌ", "ﾊﾝｶｸ", "naïve",
    "z\u{200d}ero",
  ])
  func `Wide names keep columns`(_ name: String) throws {
    let tree = try Tree()
    try tree.camera(0, name: name)
    try tree.camera(1, name: "0123456789")
    try tree.camera(2, name: "x")
    let outcome = try Command.permcheck(["camera", "--root", tree.root])
    #expect(outcome.output.contains(name))
    let starts = outcome.output.split(separator: "\n").compactMap { line in
      line.firstRange(of: tree.root).map { width(line[..<$0.lowerBound]) }
    }
    #expect(starts.count == 3)
    #expect(Set(starts).count == 1, Comment(rawValue: outcome.output))
  }
}
