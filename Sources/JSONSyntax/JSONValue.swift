/// A JSON value, as RFC 8259 defines it: what `JSONReader` reads and `JSONWriter` writes.
///
/// Two values are equal when `JSONWriter` writes the same bytes for both. Strings are compared by
/// their UTF-8 bytes, numbers by their digits, and objects with the order of their members.
package enum JSONValue: Hashable, Sendable {
  /// The literal `null`.
  case null
  /// The literal `true` or `false`.
  case bool(Bool)
  /// A number, with the digits of its document.
  case number(JSONNumber)
  /// A string of Unicode scalars.
  case string(String)
  /// Values in their order.
  case array([JSONValue])
  /// Members in their order, each key once.
  case object(JSONObject)
}

// MARK: - Access

extension JSONValue {
  /// Whether the value is `null`.
  package var isNull: Bool { self == .null }

  /// The truth value; nil when the value is no boolean.
  package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }

  /// The number; nil when the value is no number.
  package var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }

  /// The string; nil when the value is no string.
  package var string: String? { if case .string(let string) = self { string } else { nil } }

  /// The elements; nil when the value is no array.
  package var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }

  /// The object; nil when the value is no object.
  package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

  /// The number nearest to the value; nil when the value is no number.
  package var double: Double? { number?.double }

  /// Returns the integer that the value is, exactly.
  ///
  /// - Parameter type: The integer type that must hold the number.
  /// - Returns: Nil when the value is no number, no plain integer, or outside the range of `type`.
  package func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
    number?.integer(as: type)
  }

  /// The member with this key; nil when the value is no object or has no such member.
  package subscript(key: String) -> JSONValue? { object?[key] }

  /// The element at this index; nil when the value is no array or is shorter.
  package subscript(index: Int) -> JSONValue? {
    guard let array, array.indices.contains(index) else { return nil }
    return array[index]
  }
}

// MARK: - Equality

extension JSONValue {
  /// Returns whether both values are written with the same bytes.
  package static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): ExactString(left) == ExactString(right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Feeds the kind and the content of the value to the hasher.
  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let bool):
      hasher.combine(1)
      hasher.combine(bool)
    case .number(let number):
      hasher.combine(2)
      hasher.combine(number)
    case .string(let string):
      hasher.combine(3)
      hasher.combine(ExactString(string))
    case .array(let array):
      hasher.combine(4)
      hasher.combine(array)
    case .object(let object):
      hasher.combine(5)
      hasher.combine(object)
    }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The compact document of the value, for messages and tests.
  package var description: String { JSONWriter().text(self) }
}
