/// A JSON number, with the digits of its document.
///
/// Numbers are equal when their digits are: `1`, `1.0` and `1e0` are three numbers.
package struct JSONNumber: Hashable, Sendable {
  /// The number as RFC 8259, section 6, writes it, such as `-12` or `6.02e23`.
  package let lexeme: String

  /// Creates a number with digits that the reader checked already.
  init(checked lexeme: String) { self.lexeme = lexeme }

  /// Creates a number from its digits; nil if they are not a JSON number.
  package init?(lexeme: String) {
    var parser = JSONParser(maximumDepth: 0)
    guard let number = try? parser.number(lexeme.utf8.span), parser.offset == lexeme.utf8.count
    else {
      return nil
    }
    self = number
  }

  /// Creates a number from an integer of any type.
  package init(_ integer: some BinaryInteger) { lexeme = String(integer) }

  /// Creates a number with the shortest digits that read back as `double`; nil when not finite.
  package init?(_ double: Double) {
    guard double.isFinite else { return nil }
    lexeme = double.description
  }

  /// Returns the integer that the number is, exactly.
  ///
  /// - Parameter type: The integer type that must hold the number.
  /// - Returns: Nil when the number has a fraction or an exponent, even `1.0` and `1e3`, or is
  ///   outside the range of `type`. `-0` is 0.
  package func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? { T(lexeme) }

  /// The nearest floating-point number; an infinity when the number is too large for `Double`.
  package var double: Double {
    // Every JSON number is in the grammar of Double, so the other case does not occur.
    Double(lexeme) ?? .nan
  }
}
