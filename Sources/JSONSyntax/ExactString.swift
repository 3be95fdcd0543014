/// A string that equals another only when the UTF-8 bytes of both are the same.
///
/// `String` itself compares by canonical equivalence. RFC 8259, section 8.3, compares code units, and the kernel and
/// NSS compare bytes: two users, folders or expectations can have names that are equal as a `String`.
package struct ExactString: Hashable, Sendable {
  /// The string.
  package let string: String

  /// Creates an exact string from a string.
  package init(_ string: String) { self.string = string }

  /// Returns whether the UTF-8 bytes of both are the same.
  package static func == (left: Self, right: Self) -> Bool {
    // Equal bytes are canonically equivalent, so the fast comparison of the library comes first.
    left.string.utf8.count == right.string.utf8.count && left.string == right.string
      && left.string.utf8.elementsEqual(right.string.utf8)
  }

  /// Feeds the UTF-8 bytes to the hasher.
  ///
  /// The hash of `String` is the same for all canonically equivalent strings: whoever writes a
  /// document could make all keys of an object collide.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(string.utf8.count)
    for byte in string.utf8 { hasher.combine(byte) }
  }
}
