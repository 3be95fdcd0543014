package import Foundation
package import PermissionKit

/// A file of cases: a header and then one case per line, plain or gzip.
package struct OracleCorpus {
  package struct Header: Decodable {
    package var kernel: String
    package var seed: Int
    package var driver_errno: [String: Int32]
  }

  package let header: Header
  package let cases: [OracleCase]

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - stride: 1 for every case, 2 for every second one.
  /// - Throws: If the file cannot be read or is no corpus.
  package init(contentsOf path: String, every stride: Int = 1) throws {
    var lines = try Self.lines(of: path)[...]
    let decoder = JSONDecoder()
    header = try decoder.decode(Header.self, from: lines.popFirst() ?? Data())
    cases = try Swift.stride(from: lines.startIndex, to: lines.endIndex, by: stride).map {
      try decoder.decode(OracleCase.self, from: lines[$0])
    }
  }

  /// Returns the lines of a plain or gzip file, the header first.
  package static func lines(of path: String) throws -> [Data] {
    var text = try Data(contentsOf: URL(filePath: path))
    if text.starts(with: [0x1f, 0x8b]) { text = try gunzip(path) }
    return text.split(separator: UInt8(ascii: "\n"))
  }

  private static func gunzip(_ path: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return data
  }

  /// One question with the kernel's answer.
  package struct Answer {
    package let token: String
    package let question: AccessQuestion
    package let kernel: Errno
  }

  /// Returns the answers of a case, sorted by their tokens.
  package static func answers(_ one: OracleCase) -> [Answer] {
    one.k.sorted { $0.key < $1.key }.map { token, errno in
      guard let question = OracleCase.question(token) else {
        fatalError("case \(one.id): unknown question \(token)")
      }
      return Answer(token: token, question: question, kernel: Errno(rawValue: errno))
    }
  }
}

extension Decision {
  /// The return value of the kernel: 0, an errno, or -1 if the facts do not tell.
  package var kernelErrno: Errno {
    switch verdict {
    case .granted: Errno(rawValue: 0)
    case .refused(let errno): errno
    case .undetermined: Errno(rawValue: -1)
    }
  }
}
