import Foundation
import JSONSyntax
import TestSupport
import Testing

/// The reader and the writer against Python's json, on a million documents.
///
/// Python generates the documents and judges them, see Reference/reference.py.
@Suite(.blocking) struct ReferenceTests {
  static let documents = Effort.of(200_000, atLeast: 5_000)

  @Test func `Reader agrees with Python`() throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Reference/reference.py")
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B", script.path, "\(Effort.seed)", "\(Self.documents)"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.start()
    defer { if process.isRunning { process.terminate() } }

    var comparison = ReferenceComparison()
    try ReferenceRecord.forEach(in: output.fileHandleForReading) { comparison.add($0) }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)

    print(comparison.summary)
    for line in comparison.disagreements.prefix(20) { print("json: seed \(Effort.seed): \(line)") }
    #expect(comparison.disagreements.isEmpty)
    #expect(comparison.valid + comparison.broken == Self.documents)
    guard Self.documents >= 100_000 else { return }
    // The generator must reach what is compared: both verdicts, and each rule but the size.
    #expect(comparison.valid > Self.documents / 4 && comparison.broken > Self.documents / 4)
    for code in JSONError.Code.allCases where code != .tooLarge && code != .byteOrderMark {
      #expect(comparison.codes[code, default: 0] >= 100, "\(code)")
    }
    #expect(comparison.codes[.byteOrderMark, default: 0] > 0)
  }
}
