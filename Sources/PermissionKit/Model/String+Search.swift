// Searches of the regular-expression library would add 1.3 MB to every program, for these few words.
extension StringProtocol {
  /// Returns the place of a part in the text, in UTF-8; nil if the text does not have it.
  func range(of part: StaticString) -> Range<Index>? {
    let text = utf8
    var start = text.startIndex
    while start != text.endIndex {
      var (place, count) = (start, 0)
      while count < part.utf8CodeUnitCount, place != text.endIndex,
        unsafe text[place] == part.utf8Start[count]
      {
        text.formIndex(after: &place)
        count += 1
      }
      if count == part.utf8CodeUnitCount { return start..<place }
      text.formIndex(after: &start)
    }
    return nil
  }

  /// Returns the parts between separators, without empty ones.
  package func parts(by separator: StaticString) -> [SubSequence] {
    var parts: [SubSequence] = []
    var rest = self[...]
    while let place = rest.range(of: separator) {
      parts.append(rest[..<place.lowerBound])
      rest = rest[place.upperBound...]
    }
    return (parts + [rest]).filter { !$0.isEmpty }
  }

  /// Returns whether the text has a part.
  package func has(_ part: StaticString) -> Bool { range(of: part) != nil }
}

extension ArraySlice<UInt8> {
  /// Returns whether the bytes contain other bytes, which are not empty.
  func contains(_ wanted: [UInt8]) -> Bool {
    unsafe withUnsafeBufferPointer { bytes in
      unsafe wanted.withUnsafeBufferPointer { wanted in
        var start = 0
        while start + wanted.count <= bytes.count {
          var length = 0
          while length < wanted.count, unsafe bytes[start + length] == wanted[length] {
            length += 1
          }
          if length == wanted.count { return true }
          start += 1
        }
        return false
      }
    }
  }
}

extension String {
  /// Whether the text has only letters, digits, `_` and `-`, which udev and shells do not interpret.
  package var isPlainName: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x2d: true
        default: false
        }
      }
  }
}
