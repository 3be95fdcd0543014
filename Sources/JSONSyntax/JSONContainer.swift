/// An array or object whose end is not read yet.
struct JSONContainer: Sendable {
  /// The number of members from which keys are found by their hash.
  private static let fewMembers = 16

  /// Whether this is an object; otherwise it is an array.
  let isObject: Bool
  /// The byte that ends the array or object.
  let closingByte: UInt8
  /// The values of an array.
  private var elements: [JSONValue] = []
  /// The complete members of an object.
  private var members: [(key: String, value: JSONValue)] = []
  /// The key of the member whose value is read next.
  private var key = ""
  /// The keys of all members, once there are more than a few.
  private var keys: Set<ExactString> = []

  /// Creates an empty array or object.
  init(isObject: Bool) {
    self.isObject = isObject
    closingByte = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  /// The array or object with its complete contents.
  var value: JSONValue {
    isObject ? .object(JSONObject(distinct: members)) : .array(elements)
  }

  /// Adds a value: an element, or the value of the key that was begun.
  mutating func append(_ value: JSONValue) {
    if isObject { members.append((key, value)) } else { elements.append(value) }
  }

  /// Begins a member.
  ///
  /// - Returns: False when the object has the key already.
  mutating func begin(key: String) -> Bool {
    self.key = key
    let exact = ExactString(key)
    if members.count < Self.fewMembers { return !members.contains { ExactString($0.key) == exact } }
    if keys.isEmpty { keys = Set(members.map { ExactString($0.key) }) }
    return keys.insert(exact).inserted
  }
}
