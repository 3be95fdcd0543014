/// Writes a value as JSON and reads it back, with a schema for both.
///
/// One description gives writer, reader and schema, so that they always agree.
package struct JSONCodec<Value>: Sendable {
  /// The JSON Schema of the values that are written.
  package let schema: JSONValue
  /// Returns the value as JSON.
  package let encode: @Sendable (Value) -> JSONValue
  /// Returns the value that the JSON represents; throws a `JSONMismatch`.
  package let decode: @Sendable (JSONValue) throws -> Value

  /// Creates a codec.
  package init(
    schema: JSONValue, encode: @escaping @Sendable (Value) -> JSONValue,
    decode: @escaping @Sendable (JSONValue) throws -> Value
  ) {
    self.schema = schema
    self.encode = encode
    self.decode = decode
  }
}

/// The error for a JSON value that differs from the expected one.
package struct JSONMismatch: Error, Hashable, Sendable {
  /// The names and indices that lead to the place, outermost first.
  package var path: [String] = []
  /// The expected value, for people: `a string`.
  package let expected: String

  /// Creates the error for the place itself.
  package init(expected: String) { self.expected = expected }

  /// The place and the expected value, in one line.
  package var description: String {
    "\(path.isEmpty ? "the document" : path.joined(separator: ".")): expected \(expected)"
  }
}

/// Runs `body`, and adds a step to the path of the error that it throws.
func at<Result>(_ step: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch var error as JSONMismatch {
    error.path.insert(step, at: 0)
    throw error
  }
}

// MARK: - Scalars and lists

extension JSONCodec {
  /// Creates a codec that converts to and from another value.
  ///
  /// - Parameters:
  ///   - codec: Writes and reads the other value.
  ///   - expected: The expected value, for people.
  ///   - to: Returns the other value.
  ///   - from: Returns the value that the other value represents; nil if there is none.
  package init<Other>(
    _ codec: JSONCodec<Other>, expected: String, to: @escaping @Sendable (Value) -> Other,
    from: @escaping @Sendable (Other) -> Value?
  ) {
    self.init(schema: codec.schema, encode: { codec.encode(to($0)) }) { json in
      guard let value = from(try codec.decode(json)) else { throw JSONMismatch(expected: expected) }
      return value
    }
  }

  /// Returns a codec of lists of these values.
  package var list: JSONCodec<[Value]> {
    JSONCodec<[Value]>(
      schema: JSONSchema.array(schema), encode: { .array($0.map(encode)) }
    ) { json in
      guard let elements = json.array else { throw JSONMismatch(expected: "an array") }
      return try elements.enumerated().map { index, element in
        try at(String(index)) { try decode(element) }
      }
    }
  }
}

extension JSONCodec<String> {
  /// A codec of strings.
  package static let string = JSONCodec(schema: JSONSchema.string, encode: { .string($0) }) {
    json in
    guard let text = json.string else { throw JSONMismatch(expected: "a string") }
    return text
  }
}

extension JSONCodec<Bool> {
  /// A codec of true and false.
  package static let bool = JSONCodec(schema: JSONSchema.bool, encode: { .bool($0) }) { json in
    guard let bool = json.bool else { throw JSONMismatch(expected: "true or false") }
    return bool
  }
}

extension JSONCodec where Value: FixedWidthInteger & Sendable {
  /// A codec of whole numbers in the range of the type.
  package static var integer: JSONCodec {
    JSONCodec(schema: JSONSchema.integer, encode: { JSONValue($0) }) { json in
      guard let number = json.integer(as: Value.self) else {
        throw JSONMismatch(expected: "a whole number from \(Value.min) to \(Value.max)")
      }
      return number
    }
  }
}

extension JSONCodec where Value: RawRepresentable & Sendable, Value.RawValue == String {
  /// A codec of enumeration values by name; an unknown name is a mismatch.
  package static var name: JSONCodec {
    JSONCodec(.string, expected: "a known name", to: \.rawValue) { Value(rawValue: $0) }
  }
}

extension JSONCodec
where Value: RawRepresentable & Sendable, Value.RawValue: FixedWidthInteger & Sendable {
  /// A codec of values that represent a number.
  package static var number: JSONCodec {
    JSONCodec(.integer, expected: "a known number", to: \.rawValue) { Value(rawValue: $0) }
  }
}

extension JSONCodec {
  /// Returns a codec of objects whose members are such values and have any names.
  package var dictionary: JSONCodec<[String: Value]> {
    JSONCodec<[String: Value]>(
      schema: ["type": "object", "additionalProperties": schema],
      encode: { values in
        let members = values.sorted { $0.key < $1.key }.map { ($0.key, encode($0.value)) }
        return .object(JSONObject(members))
      }
    ) { json in
      guard let object = json.object else { throw JSONMismatch(expected: "an object") }
      var values: [String: Value] = [:]
      for (key, value) in object.members { values[key] = try at(key) { try decode(value) } }
      return values
    }
  }
}
