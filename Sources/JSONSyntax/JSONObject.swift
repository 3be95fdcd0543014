/// A JSON object: members in their order, no key twice.
///
/// Keys differ when their UTF-8 bytes differ. Swift's `String` compares by canonical equivalence,
/// where `"é"` and `"e\u{301}"` are one key; in JSON they are two.
package struct JSONObject: Hashable, Sendable {
  /// The members in their order.
  package private(set) var members: [(key: String, value: JSONValue)]

  /// Creates an object without members.
  package init() { members = [] }

  /// Creates an object with these members; of members with the same key the last value counts.
  ///
  /// - Complexity: O(n²) in the number of members, meant for objects built by code.
  package init(_ members: some Sequence<(String, JSONValue)>) {
    self.init()
    for (key, value) in members { self[key] = value }
  }

  /// Creates an object with members whose keys differ, which is not checked.
  package init(distinct members: [(key: String, value: JSONValue)]) { self.members = members }

  /// The keys in their order.
  package var keys: [String] { members.map(\.key) }

  /// The value of the member with this key; nil when there is no such member.
  ///
  /// A new member goes to the end, a changed one keeps its place, and nil removes the member.
  ///
  /// - Complexity: O(n) in the number of members.
  package subscript(key: String) -> JSONValue? {
    get { index(of: key).map { members[$0].value } }
    set {
      switch (index(of: key), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((key, value))
      case (nil, nil): break
      }
    }
  }

  /// Returns the place of the member with this key; nil when there is no such member.
  private func index(of key: String) -> Int? {
    let key = ExactString(key)
    return members.firstIndex { ExactString($0.key) == key }
  }
}

extension JSONObject {
  /// Returns whether both objects have the same members in the same order.
  package static func == (left: Self, right: Self) -> Bool {
    left.members.count == right.members.count
      && zip(left.members, right.members).allSatisfy { left, right in
        ExactString(left.key) == ExactString(right.key) && left.value == right.value
      }
  }

  /// Feeds the members in their order to the hasher.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(members.count)
    for (key, value) in members {
      hasher.combine(ExactString(key))
      hasher.combine(value)
    }
  }
}
