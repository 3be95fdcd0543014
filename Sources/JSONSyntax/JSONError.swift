/// The reason why `JSONReader` refused a document, and where.
package struct JSONError: Error, Hashable, Sendable {
  /// The rule that a document breaks; the raw value is stable and may be logged.
  package enum Code: String, Hashable, Sendable, CaseIterable {
    /// The document has more bytes than the reader accepts.
    case tooLarge
    /// Arrays and objects are nested deeper than the reader accepts.
    case tooDeep
    /// The document starts with a byte order mark.
    case byteOrderMark
    /// The document ends before its value does.
    case unexpectedEnd
    /// A byte is not allowed at its place.
    case unexpectedByte
    /// A comma precedes the end of an array or object.
    case trailingComma
    /// Something other than white space follows the value.
    case trailingBytes
    /// A word that starts like `true`, `false` or `null` goes on in another way.
    case invalidLiteral
    /// A number starts with a zero that another digit follows.
    case leadingZero
    /// A number lacks a digit.
    case invalidNumber
    /// A string contains a byte below 0x20.
    case controlCharacter
    /// A backslash does not start an escape of RFC 8259.
    case invalidEscape
    /// A `\u` escape is half of a surrogate pair, and the other half is missing.
    case loneSurrogate
    /// A string contains bytes that are not UTF-8.
    case invalidUTF8
    /// An object has the same key twice.
    case duplicateKey
  }

  /// The rule that the document breaks.
  package let code: Code

  /// The number of bytes before the fault.
  ///
  /// The fault is the first byte that no valid document has after the bytes before. It is the start
  /// of the sequence for `invalidUTF8`, the backslash of the first half for `loneSurrogate`, and the
  /// opening quote of the second key for `duplicateKey`.
  package let offset: Int

  /// Creates an error with these values.
  package init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}

extension JSONError: CustomStringConvertible {
  /// One sentence for people, without the place.
  package var message: String {
    switch code {
    case .tooLarge: "The document is larger than the reader accepts."
    case .tooDeep: "Arrays and objects are nested deeper than the reader accepts."
    case .byteOrderMark: "The document starts with a byte order mark, which JSON does not allow."
    case .unexpectedEnd: "The document ends before its value is complete."
    case .unexpectedByte: "This byte is not allowed here."
    case .trailingComma: "A comma must not precede the end of an array or object."
    case .trailingBytes: "Only white space may follow the value."
    case .invalidLiteral: "This word is none of true, false and null."
    case .leadingZero: "A number must not start with a zero that another digit follows."
    case .invalidNumber: "This number lacks a digit."
    case .controlCharacter: "A control character in a string must be written as an escape."
    case .invalidEscape: "JSON has no such escape."
    case .loneSurrogate: "This escape is half of a surrogate pair, and the other half is missing."
    case .invalidUTF8: "The string contains bytes that are not UTF-8."
    case .duplicateKey: "The object has this key twice."
    }
  }

  /// The place and the message, for logs and terminals.
  package var description: String { "byte \(offset): \(message)" }
}
