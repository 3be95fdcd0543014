/// Formats times for documents and logs.
package enum Timestamp {
  /// Returns a time in microseconds since 1970-01-01 UTC in the format of RFC 3339, in UTC.
  package static func rfc3339(_ microseconds: Int64) -> String {
    func floored(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
      let rest = ((value % divisor) + divisor) % divisor
      return ((value - rest) / divisor, rest)
    }
    func padded(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let (seconds, fraction) = floored(microseconds, 1_000_000)
    let (days, second) = floored(seconds, 86_400)
    // Converts days to a Gregorian date, in eras of 400 years that begin on 1 March.
    let (era, dayOfEra) = floored(days + 719_468, 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shifted + 2) / 5 + 1
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
      + ".\(padded(fraction, 6))Z"
  }

  /// Returns the microseconds since 1970-01-01 UTC of a time that `rfc3339` wrote; nil for other text.
  package static func microseconds(_ text: String) -> Int64? {
    let ends = [4, 7, 10, 13, 16, 19, 26]
    var (numbers, number): ([Int64], Int64) = ([], 0)
    for (index, byte) in text.utf8.enumerated() {
      guard (48...57).contains(byte) != ends.contains(index), index < 27 else { return nil }
      if ends.contains(index) {
        numbers.append(number)
        number = 0
      } else {
        number = number * 10 + Int64(byte - 48)
      }
    }
    guard numbers.count == 7 else { return nil }
    // Years begin on 1 March, so that the leap day is the last.
    let (month, year) = ((numbers[1] + 9) % 12, numbers[0] - (numbers[1] < 3 ? 1 : 0))
    let days =
      365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 719_469
    let seconds = ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
    let time = seconds * 1_000_000 + numbers[6]
    return rfc3339(time) == text ? time : nil
  }
}
