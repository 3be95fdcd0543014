/// A duration: `90s`, `2h30m`, `1d`; a bare number means seconds, which may have a fraction.
///
/// The maximum is 366 days.
package struct TimeSpan: Sendable {
  /// The duration in microseconds, never negative.
  package let microseconds: Int64

  private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
  private static let most = 366 * 86_400.0

  /// Creates a duration of so many microseconds.
  package init(microseconds: Int64) { self.microseconds = microseconds }

  /// Reads a duration.
  ///
  /// - Parameter argument: The text; nil comes back if it is no duration, or longer than 366 days.
  package init?(argument: String) {
    var seconds = 0.0
    var number = ""
    for character in argument {
      if character.isASCII, character.isNumber || character == "." {
        number.append(character)
        continue
      }
      guard let unit = Self.units[character], let value = Double(number) else { return nil }
      if number.contains("."), character != "s" { return nil }
      seconds += value * unit
      number = ""
    }
    if !number.isEmpty {
      // A bare number after a unit is ambiguous.
      guard number.count == argument.count, let value = Double(number) else { return nil }
      seconds = value
    }
    guard !argument.isEmpty, seconds <= Self.most else { return nil }
    microseconds = Int64((seconds * 1_000_000).rounded())
  }
}
