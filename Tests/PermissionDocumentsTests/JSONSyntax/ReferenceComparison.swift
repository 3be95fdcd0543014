import JSONSyntax

/// Counts the documents on which this module and Python agree, and keeps the others.
struct ReferenceComparison {
  private(set) var valid = 0
  private(set) var broken = 0
  /// How often the reader gave each reason.
  private(set) var codes: [JSONError.Code: Int] = [:]
  /// A line for each document on which both differ.
  private(set) var disagreements: [String] = []

  private let reader = JSONReader()
  private let writer = JSONWriter()

  var summary: String {
    "json: \(valid + broken) documents, \(valid) valid, \(broken) broken, "
      + "\(disagreements.count) disagree"
  }

  mutating func add(_ record: ReferenceRecord) {
    if record.reasons.isEmpty { valid += 1 } else { broken += 1 }
    do {
      let value = try reader.value(from: record.document)
      if !record.reasons.isEmpty {
        differ("accepted, Python's reasons are \(record.reasons.rawValue)", record)
      } else if ReferenceDump.bytes(value) != record.dump {
        differ("read as \(value)", record)
      } else if writer.bytes(value) != record.compact {
        differ("written as \(value)", record)
      }
    } catch {
      codes[error.code, default: 0] += 1
      if !Self.isPlausible(error, record) { differ("\(error.code.rawValue): \(error)", record) }
    }
  }

  /// Whether Python refuses the document for the same reason.
  ///
  /// What Python calls a syntax error may have any code here. A document that breaks only rules of
  /// ours must be refused for one of those.
  private static func isPlausible(_ error: JSONError, _ record: ReferenceRecord) -> Bool {
    let reasons = record.reasons
    if reasons.contains(.syntax) { return true }
    if reasons.contains(.utf8) { return error.offset <= record.firstBadByte }
    return switch error.code {
    case .duplicateKey: reasons.contains(.duplicate)
    case .loneSurrogate: reasons.contains(.surrogate)
    case .tooDeep: reasons.contains(.deep)
    case .unexpectedByte, .invalidNumber: reasons.contains(.constant)
    default: false
    }
  }

  private mutating func differ(_ what: String, _ record: ReferenceRecord) {
    var text = ""
    for byte in record.document.prefix(400) {
      switch byte {
      case 0x20..<0x7f: text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "\\x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
      }
    }
    disagreements.append("\(text) \(what)")
  }
}

/// A value in bytes that need no escapes, written by other code than JSONWriter.
///
/// `n`, `t`, `f`; `d` and `s` with a length, a colon, and the digits or UTF-8; `a` and `o` with a
/// count, a colon, and the elements, or keys and values in turn.
enum ReferenceDump {
  static func bytes(_ value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, to: &bytes)
    return bytes
  }

  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(UInt8(ascii: "n"))
    case .bool(let bool): bytes.append(UInt8(ascii: bool ? "t" : "f"))
    case .number(let number): append("d", number.lexeme, to: &bytes)
    case .string(let string): append("s", string, to: &bytes)
    case .array(let array):
      bytes += Array("a\(array.count):".utf8)
      for element in array { append(element, to: &bytes) }
    case .object(let object):
      bytes += Array("o\(object.members.count):".utf8)
      for (key, value) in object.members {
        append("s", key, to: &bytes)
        append(value, to: &bytes)
      }
    }
  }

  private static func append(_ kind: String, _ text: String, to bytes: inout [UInt8]) {
    let utf8 = Array(text.utf8)
    bytes += Array("\(kind)\(utf8.count):".utf8)
    bytes += utf8
  }
}
