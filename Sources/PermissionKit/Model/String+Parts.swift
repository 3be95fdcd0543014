// Text is split at bytes. `split` of the library looks for a `Character`: it does not split CR LF at LF, nor at a
// separator that a combining character follows.
extension Substring {
  /// Returns the parts between the bytes of an ASCII character.
  package func parts(
    by separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    utf8.split(
      separator: UInt8(ascii: separator), maxSplits: maxSplits,
      omittingEmptySubsequences: omittingEmptySubsequences
    ).map { Substring($0) }
  }

  /// Returns the parts between the bytes of any of some ASCII characters, without empty parts.
  package func parts(byAny separators: String) -> [Substring] {
    utf8.split { separators.utf8.contains($0) }.map { Substring($0) }
  }
}

extension String {
  /// Returns the parts between the bytes of an ASCII character.
  package func parts(
    by separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
  ) -> [Substring] {
    self[...].parts(
      by: separator, maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences)
  }

  /// Returns the parts between the bytes of any of some ASCII characters, without empty parts.
  package func parts(byAny separators: String) -> [Substring] {
    self[...].parts(byAny: separators)
  }
}
