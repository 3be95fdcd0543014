// There is no literal for `.null`: an optional value has `nil` already, and one would hide the other.

extension JSONValue {
  /// Creates a number from an integer of any type.
  package init(_ integer: some BinaryInteger) { self = .number(JSONNumber(integer)) }

  /// Creates a number from a floating-point number; nil when `double` is not finite.
  package init?(_ double: Double) {
    guard let number = JSONNumber(double) else { return nil }
    self = .number(number)
  }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// Creates a boolean from a literal.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// Creates a number from a literal.
  package init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByFloatLiteral {
  /// Creates a number from a literal; null from one that is not finite, such as `1e999`.
  package init(floatLiteral value: Double) { self = JSONNumber(value).map(Self.number) ?? .null }
}

extension JSONValue: ExpressibleByStringLiteral {
  /// Creates a string from a literal.
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// Creates an array from a literal.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal, in its order; of members with the same key the last counts.
  package init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(JSONObject(members))
  }
}
