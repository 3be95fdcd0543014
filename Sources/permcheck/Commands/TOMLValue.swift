internal import CTOML
import PermissionKit

/// A value of a TOML 1.0 document (toml.io), and where it is written.
struct TOMLValue: Sendable {
  /// Where a key or a value begins, both from 1.
  struct Place: Hashable, Sendable, Comparable {
    /// The line.
    var line: Int
    /// The column, in characters.
    var column: Int

    /// Creates a place.
    init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }

    static func < (left: Place, right: Place) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// A key of a table with its value.
  struct Member: Sendable {
    /// The key.
    let key: String
    /// Where the key is written.
    let place: Place
    /// The value.
    let value: TOMLValue
  }

  /// What a value is.
  enum Content: Sendable {
    /// A text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// True or false.
    case boolean(Bool)
    /// The values of an array.
    case array([TOMLValue])
    /// The members of a table, in no order that the document tells.
    case table([Member])
    /// A number with a fraction, a date or a time.
    case other
  }

  /// What the value is.
  let content: Content
  /// Where the value is written.
  let place: Place

  /// A document that is not TOML.
  struct SyntaxError: Error {
    /// Where the error is.
    let place: Place
    /// What is wrong, in the words of the parser.
    let message: String

    /// Returns the error with the words for a text whose end is missing, of which the parser sees only what
    /// comes instead.
    func inPlainWords(_ bytes: [UInt8]) -> SyntaxError {
      guard message.has("string") else { return self }
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      var line = lines.indices.contains(place.line - 1) ? lines[place.line - 1] : []
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      // A column is a character.
      let isAtEnd = String(decoding: line, as: UTF8.self).unicodeScalars.count < place.column
      let isOpen = message.has("control characters") && isAtEnd || message.has("end-of-file")
      return isOpen ? SyntaxError(place: place, message: "missing closing quote") : self
    }
  }

  /// Reads a document.
  ///
  /// - Parameter bytes: The document; UTF-8.
  /// - Returns: A table.
  /// - Throws: If the document is not TOML.
  static func document(_ bytes: [UInt8]) throws(SyntaxError) -> TOMLValue {
    let receiver = Receiver()
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ctoml_read(
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count,
        Unmanaged.passUnretained(receiver).toOpaque()
      ) { context, part in
        guard let context = unsafe context, let part = unsafe part?.pointee else { return }
        let place = unsafe Place(line: Int(part.line), column: Int(part.column))
        let text = unsafe UnsafeRawBufferPointer(
          start: part.text, count: part.text == nil ? 0 : part.length)
        unsafe Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue().receive(
          part.kind, place, String(decoding: text, as: UTF8.self), part.number)
      }
    }
    if let error = receiver.error { throw error.inPlainWords(bytes) }
    return receiver.document ?? TOMLValue(content: .table([]), place: Place(line: 1, column: 1))
  }
}

/// Builds the values of a document from its parts.
private final class Receiver {
  /// A table or an array that has not ended.
  private struct Open {
    let isTable: Bool
    let place: TOMLValue.Place
    var members: [TOMLValue.Member] = []
    var values: [TOMLValue] = []
    /// The key of the next member, and where it is written.
    var key: (String, TOMLValue.Place)?

    var value: TOMLValue {
      TOMLValue(content: isTable ? .table(members) : .array(values), place: place)
    }
  }

  private var open: [Open] = []
  var document: TOMLValue?
  var error: TOMLValue.SyntaxError?

  func receive(_ kind: ctoml_kind, _ place: TOMLValue.Place, _ text: String, _ number: Int64) {
    switch kind {
    case CTOML_ERROR: error = TOMLValue.SyntaxError(place: place, message: text)
    case CTOML_TABLE, CTOML_ARRAY: open.append(Open(isTable: kind == CTOML_TABLE, place: place))
    case CTOML_END: if let ended = open.popLast() { add(ended.value) }
    case CTOML_KEY: if !open.isEmpty { open[open.count - 1].key = (text, place) }
    case CTOML_STRING: add(TOMLValue(content: .string(text), place: place))
    case CTOML_INTEGER: add(TOMLValue(content: .integer(number), place: place))
    case CTOML_BOOLEAN: add(TOMLValue(content: .boolean(number != 0), place: place))
    default: add(TOMLValue(content: .other, place: place))
    }
  }

  private func add(_ value: TOMLValue) {
    guard let last = open.indices.last else {
      document = value
      return
    }
    if let (key, place) = open[last].key {
      open[last].members.append(TOMLValue.Member(key: key, place: place, value: value))
      open[last].key = nil
    } else {
      open[last].values.append(value)
    }
  }
}
