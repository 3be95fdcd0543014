import Foundation

/// One document and what Python says of it; Reference/reference.py describes the bytes.
struct ReferenceRecord {
  /// Why Python refuses a document.
  struct Reasons: OptionSet {
    let rawValue: UInt8
    static let syntax = Self(rawValue: 1)
    static let utf8 = Self(rawValue: 2)
    static let constant = Self(rawValue: 4)
    static let duplicate = Self(rawValue: 8)
    static let surrogate = Self(rawValue: 16)
    static let deep = Self(rawValue: 32)
  }

  let document: [UInt8]
  /// Empty for a valid document.
  let reasons: Reasons
  /// The value of a valid document, see `ReferenceDump`.
  let dump: [UInt8]
  /// The value of a valid document, as JSONWriter must write it.
  let compact: [UInt8]
  /// The offset of the first byte that is not UTF-8; 0 unless `reasons` has `utf8`.
  let firstBadByte: Int

  /// Reads records up to the end of the file.
  ///
  /// - Throws: Where the file ends inside a record.
  static func forEach(in file: FileHandle, _ body: (ReferenceRecord) -> Void) throws {
    let head = 13
    var rest: [UInt8] = []
    while let chunk = try file.read(upToCount: 1 << 20), !chunk.isEmpty {
      let bytes = rest + chunk
      var offset = 0
      while bytes.count >= offset + head {
        let document = offset + head..<offset + head + number(bytes, offset)
        let reasons = Reasons(rawValue: bytes[offset + 4])
        let dumpLength = reasons == .utf8 ? 0 : number(bytes, offset + 5)
        let dump = document.upperBound..<document.upperBound + dumpLength
        let compact = dump.upperBound..<dump.upperBound + number(bytes, offset + 9)
        guard compact.upperBound <= bytes.count else { break }
        body(
          ReferenceRecord(
            document: Array(bytes[document]), reasons: reasons, dump: Array(bytes[dump]),
            compact: Array(bytes[compact]),
            firstBadByte: reasons == .utf8 ? number(bytes, offset + 5) : 0))
        offset = compact.upperBound
      }
      rest = Array(bytes[offset...])
    }
    guard rest.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
  }

  /// A number of four bytes, little-endian.
  private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16
      | Int(bytes[offset + 3]) << 24
  }
}
