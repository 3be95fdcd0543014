/// Reads JSON documents strictly, as RFC 8259 defines them.
///
/// Use this reader for every document that another program or user can write. The bytes must be
/// UTF-8 without byte order mark. The reader accepts no extension of the grammar, and refuses what
/// the RFC leaves open: an object with a duplicate key, and half of a surrogate pair. Depth and size
/// are bounded, and the reader does not recurse, so no document can exhaust the stack.
package struct JSONReader: Sendable {
  /// The default of `maximumDepth`.
  package static let defaultDepth = 128
  /// The default of `maximumSize` in bytes: 256 MiB.
  package static let defaultSize = 256 << 20
  /// The greatest `maximumDepth`: freeing, comparing and writing a value do recurse.
  package static let greatestDepth = 1024

  /// The greatest number of arrays and objects around one another; 0 allows scalars alone.
  package let maximumDepth: Int
  /// The greatest number of bytes in a document.
  package let maximumSize: Int

  /// Creates a reader with these bounds.
  ///
  /// - Parameters:
  ///   - maximumDepth: Levels of nesting; values outside `0...greatestDepth` become the nearest.
  ///   - maximumSize: Bytes; a negative value becomes 0.
  package init(maximumDepth: Int = defaultDepth, maximumSize: Int = defaultSize) {
    self.maximumDepth = min(max(maximumDepth, 0), Self.greatestDepth)
    self.maximumSize = max(maximumSize, 0)
  }

  /// Reads the one value that a document consists of.
  ///
  /// - Parameter bytes: The whole document; white space around the value is allowed.
  /// - Returns: The value, whose numbers keep their digits and objects their order.
  /// - Throws: The first rule that the document breaks, in the order of its bytes.
  /// - Complexity: O(n) in the number of bytes.
  package func value(from bytes: [UInt8]) throws(JSONError) -> JSONValue {
    try value(from: bytes.span)
  }

  /// Reads the one value that a document consists of, without copying its bytes.
  ///
  /// Use this method for a part of a larger buffer, such as a line of a log.
  ///
  /// - Parameter bytes: The whole document; white space around the value is allowed.
  /// - Returns: The value, whose numbers keep their digits and objects their order.
  /// - Throws: The first rule that the document breaks, in the order of its bytes.
  /// - Complexity: O(n) in the number of bytes.
  package func value(from bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
    guard bytes.count <= maximumSize else { throw JSONError(.tooLarge, at: maximumSize) }
    var parser = JSONParser(maximumDepth: maximumDepth)
    return try parser.document(bytes)
  }
}
