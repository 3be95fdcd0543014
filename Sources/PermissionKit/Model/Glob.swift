/// Patterns of names, see glob(7): `*`, `?`, `[a-z]`, `[!a-z]`; and `#` for a decimal number.
package enum Glob {
  /// Returns whether a name matches a pattern, byte by byte, and a leading period only itself.
  ///
  /// - Complexity: O(length of the name × length of the pattern).
  package static func matches(_ name: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
    let dot = UInt8(ascii: ".")
    if name.first == dot, pattern.first != dot { return false }
    var (name, pattern) = (name, pattern)
    // After the last star: the pattern behind it, and the name that is left for both.
    var star: (pattern: ArraySlice<UInt8>, name: ArraySlice<UInt8>)?
    while true {
      if pattern.first == UInt8(ascii: "*") {
        pattern = pattern.dropFirst()
        star = (pattern, name)
        continue
      }
      if pattern.isEmpty, name.isEmpty { return true }
      if take(&name, &pattern) { continue }
      guard let (rest, left) = star, !left.isEmpty else { return false }
      (pattern, name) = (rest, left.dropFirst())
      star = (pattern, name)
    }
  }

  /// Removes the first sign of the pattern and its match from both; false if it does not match.
  private static func take(
    _ name: inout ArraySlice<UInt8>, _ pattern: inout ArraySlice<UInt8>
  )
    -> Bool
  {
    guard let sign = pattern.popFirst(), let byte = name.first else { return false }
    switch sign {
    case UInt8(ascii: "#"):
      let digits = name.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      name = name.dropFirst(digits.count)
      return !digits.isEmpty
    case UInt8(ascii: "["):
      guard let set = takeSet(&pattern), set.contains(byte) else { return false }
    case UInt8(ascii: "?"): break
    default: if sign != byte { return false }
    }
    name = name.dropFirst()
    return true
  }

  /// The bytes between brackets.
  private struct ByteSet {
    var ranges: [ClosedRange<UInt8>] = []
    var isNegated = false

    func contains(_ byte: UInt8) -> Bool {
      ranges.contains { $0.contains(byte) } != isNegated
    }
  }

  /// Takes a set and its closing bracket from a pattern; nil if the set does not end.
  private static func takeSet(_ pattern: inout ArraySlice<UInt8>) -> ByteSet? {
    var set = ByteSet()
    if let sign = pattern.first, sign == UInt8(ascii: "!") || sign == UInt8(ascii: "^") {
      set.isNegated = true
      pattern = pattern.dropFirst()
    }
    while let first = pattern.popFirst() {
      // A bracket that comes first stands for itself.
      if first == UInt8(ascii: "]"), !set.ranges.isEmpty { return set }
      var last = first
      if pattern.first == UInt8(ascii: "-"), let end = pattern.dropFirst().first,
        end != UInt8(ascii: "]")
      {
        last = end
        pattern = pattern.dropFirst(2)
      }
      guard first <= last else { return nil }
      set.ranges.append(first...last)
    }
    return nil
  }

  /// Returns whether a component of a pattern has wildcards.
  package static func isPattern(_ component: PathBytes) -> Bool {
    component.bytes.contains { "*?[#".utf8.contains($0) }
  }

  /// Returns whether each set of a pattern is closed, and each range is ascending.
  package static func isValid(_ pattern: PathBytes) -> Bool {
    var rest = pattern.bytes[...]
    while let sign = rest.popFirst() {
      if sign == UInt8(ascii: "["), takeSet(&rest) == nil { return false }
    }
    return true
  }

  /// Returns a name that usually matches a pattern: each sign stands for a zero.
  package static func example(_ pattern: PathBytes) -> PathBytes {
    var (name, rest) = ([UInt8](), pattern.bytes[...])
    while let sign = rest.popFirst() {
      if sign == UInt8(ascii: "["), takeSet(&rest) == nil { return pattern }
      name.append("*?[#".utf8.contains(sign) ? UInt8(ascii: "0") : sign)
    }
    return PathBytes(name)
  }

  /// Returns whether each component of an absolute path matches that of a pattern.
  package static func matches(path: PathBytes, _ pattern: PathBytes) -> Bool {
    let (names, patterns) = (path.components, pattern.components)
    return names.count == patterns.count
      && zip(names, patterns).allSatisfy { matches($0.bytes[...], $1.bytes[...]) }
  }
}
