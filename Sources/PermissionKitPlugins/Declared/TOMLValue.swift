/// A value of a TOML 1.0 document (toml.io), with its place.
///
/// Numbers with a fraction, dates and times are not read: no file of permcheck has any. A whole
/// number has 64 bits, a key has at most eight parts, and lists and tables are nested at most eight
/// deep.
package struct TOMLValue: Sendable {
  /// The place where a key or a value begins; both numbers start at 1.
  package struct Place: Hashable, Sendable, Comparable {
    /// The line.
    package var line: Int
    /// The column, in Unicode scalars.
    package var column: Int

    /// Creates a place.
    package init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }

    package static func < (left: Place, right: Place) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  /// A key of a table with its value.
  package struct Member: Sendable {
    /// The key.
    package let key: String
    /// Where the key is written.
    package let place: Place
    /// The value.
    package let value: TOMLValue
  }

  /// The type and the content of a value.
  package enum Content: Sendable {
    /// A text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// True or false.
    case boolean(Bool)
    /// The values of an array.
    case array([TOMLValue])
    /// The members of a table, in the order of the document.
    case table([Member])
  }

  /// The type and the content.
  package let content: Content
  /// Where the value is written.
  package let place: Place

  /// A document that cannot be read.
  package struct SyntaxError: Error {
    /// Where the error is.
    package let place: Place
    /// The mistake, for people.
    package let message: String
  }

  /// Reads a document.
  ///
  /// - Parameter bytes: The document; UTF-8.
  /// - Returns: A table.
  /// - Throws: If the document is not TOML, or has what is not read.
  package static func document(_ bytes: [UInt8]) throws(SyntaxError) -> TOMLValue {
    TOMLValue(
      content: .table(try TOMLReader.members(bytes)), place: Place(line: 1, column: 1))
  }
}
