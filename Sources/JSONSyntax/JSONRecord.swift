/// One member of a JSON object that represents a value.
package struct JSONField<Value>: Sendable {
  /// The member's name.
  package let name: String
  /// Whether every document has the member.
  package let isRequired: Bool
  /// Returns the schema of the member, which only `permcheck schema` asks for.
  let makeSchema: @Sendable () -> JSONValue
  /// Returns the JSON to write; nil to omit the member.
  let encode: @Sendable (Value) -> JSONValue?
  /// Reads the member into the value; nil for a member that is only written.
  let decode: (@Sendable (JSONValue?, inout Value) throws -> Void)?

  /// The schema of the member.
  package var schema: JSONValue { makeSchema() }

  /// Returns the member of a value; nil if the member is omitted.
  package func json(_ value: Value) -> JSONValue? { encode(value) }

  /// Creates a member that is only written, and always.
  package static func always(
    _ name: String, _ schema: @escaping @Sendable @autoclosure () -> JSONValue,
    _ encode: @escaping @Sendable (Value) -> JSONValue
  ) -> JSONField {
    JSONField(
      name: name, isRequired: true, makeSchema: schema, encode: { encode($0) }, decode: nil)
  }

  /// Creates a member that is only written, and omitted if there is no value.
  package static func sometimes(
    _ name: String, _ schema: @escaping @Sendable @autoclosure () -> JSONValue,
    _ encode: @escaping @Sendable (Value) -> JSONValue?
  ) -> JSONField {
    JSONField(name: name, isRequired: false, makeSchema: schema, encode: encode, decode: nil)
  }

  /// Creates a member that every object must have.
  package static func required<Member>(
    _ name: String, _ path: any WritableKeyPath<Value, Member> & Sendable,
    _ codec: JSONCodec<Member>
  ) -> JSONField {
    required(name, codec, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Creates a member that every object must have, by closures, which a start sets up more quickly than
  /// key paths.
  package static func required<Member>(
    _ name: String, _ codec: JSONCodec<Member>, get: @escaping @Sendable (Value) -> Member,
    set: @escaping @Sendable (inout Value, Member) -> Void
  ) -> JSONField {
    JSONField(
      name: name, isRequired: true, makeSchema: { codec.schema }, encode: { codec.encode(get($0)) }
    ) { json, value in
      guard let json else { throw JSONMismatch(expected: "a member \(name)") }
      set(&value, try at(name) { try codec.decode(json) })
    }
  }

  /// Creates a member that is always written; a document without it gets the default.
  package static func defaulted<Member>(
    _ name: String, _ path: any WritableKeyPath<Value, Member> & Sendable,
    _ codec: JSONCodec<Member>
  ) -> JSONField {
    JSONField(
      name: name, isRequired: false, makeSchema: { codec.schema },
      encode: { codec.encode($0[keyPath: path]) }
    ) { json, value in
      if let json { value[keyPath: path] = try at(name) { try codec.decode(json) } }
    }
  }

  /// Creates a member that is omitted if there is no value.
  package static func optional<Member>(
    _ name: String, _ path: any WritableKeyPath<Value, Member?> & Sendable,
    _ codec: JSONCodec<Member>
  ) -> JSONField {
    optional(name, codec, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// Creates a member that is omitted if there is no value, by closures.
  package static func optional<Member>(
    _ name: String, _ codec: JSONCodec<Member>, get: @escaping @Sendable (Value) -> Member?,
    set: @escaping @Sendable (inout Value, Member) -> Void
  ) -> JSONField {
    JSONField(
      name: name, isRequired: false, makeSchema: { codec.schema },
      encode: { get($0).map(codec.encode) }
    ) { json, value in
      guard let json, !json.isNull else { return }
      set(&value, try at(name) { try codec.decode(json) })
    }
  }
}

/// A JSON object that represents a value.
package struct JSONRecord<Value>: Sendable {
  /// The members in the order in which they are written.
  package let fields: [JSONField<Value>]
  private let about: String?

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - fields: The members in the order in which they are written.
  ///   - about: A description of the object, for the schema.
  package init(_ fields: [JSONField<Value>], about: String? = nil) {
    self.fields = fields
    self.about = about
  }

  /// Returns the value as an object.
  package func json(_ value: Value) -> JSONValue {
    var members: [(String, JSONValue)] = []
    for field in fields {
      if let json = field.encode(value) { members.append((field.name, json)) }
    }
    return .object(JSONObject(members))
  }

  /// The schema of the object; readers must accept members that it does not name.
  package var schema: JSONValue {
    JSONSchema.object(
      about, required: fields.filter(\.isRequired).map(\.name),
      properties: fields.map { ($0.name, $0.schema) })
  }

  /// Returns a codec that also reads the object; it ignores members that are only written.
  ///
  /// - Parameter blank: The value that the members are read into.
  /// - Returns: The codec.
  package func codec(_ blank: Value) -> JSONCodec<Value> where Value: Sendable {
    JSONCodec(schema: schema, encode: { json($0) }) { json in
      guard let object = json.object else { throw JSONMismatch(expected: "an object") }
      var value = blank
      for field in fields { try field.decode?(object[field.name], &value) }
      return value
    }
  }
}

/// The parts of a JSON Schema, see json-schema.org, draft 2020-12.
package enum JSONSchema: Sendable {
  /// The schema of any string.
  package static let string: JSONValue = ["type": "string"]
  /// The schema of true and false.
  package static let bool: JSONValue = ["type": "boolean"]
  /// The schema of a whole number.
  package static let integer: JSONValue = ["type": "integer"]

  /// Returns the schema of a string that matches a regular expression.
  package static func string(pattern: String) -> JSONValue {
    ["type": "string", "pattern": .string(pattern)]
  }

  /// Returns the schema of a whole number from 0 to `maximum`.
  package static func natural(maximum: UInt64? = nil) -> JSONValue {
    var members: [(String, JSONValue)] = [("type", "integer"), ("minimum", 0)]
    if let maximum { members.append(("maximum", JSONValue(maximum))) }
    return .object(JSONObject(members))
  }

  /// Returns the schema of a string that is one of several.
  package static func oneOf(_ names: [String]) -> JSONValue {
    ["enum": .array(names.map { .string($0) })]
  }

  /// Returns the schema of a list.
  package static func array(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }

  /// Returns a reference to a definition of the same document.
  package static func ref(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

  /// Returns the schema with a description.
  package static func about(_ text: String, _ schema: JSONValue) -> JSONValue {
    guard let object = schema.object else { return schema }
    return .object(
      JSONObject([("description", .string(text))] + object.members.map { ($0.key, $0.value) }))
  }

  /// Returns the schema of an object.
  package static func object(
    _ about: String?, required: [String], properties: [(String, JSONValue)]
  ) -> JSONValue {
    var members: [(String, JSONValue)] = [("type", "object")]
    if let about { members.insert(("description", .string(about)), at: 0) }
    if !required.isEmpty { members.append(("required", .array(required.map { .string($0) }))) }
    members.append(("properties", .object(JSONObject(properties))))
    return .object(JSONObject(members))
  }
}
