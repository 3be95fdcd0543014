/// A local time of day, see localtime_r(3).
@_spi(SystemCalls) public struct WallTime: Hashable, Sendable {
  /// The hour, 0 to 23.
  public var hour: Int
  /// The minute, 0 to 59.
  public var minute: Int
  /// The second, 0 to 60; 60 is a leap second.
  public var second: Int
  /// The seconds east of UTC.
  public var offset: Int
  /// The abbreviation of the time zone: `CET`, `UTC`, or `-03` where the zone has none.
  public var zone: String

  /// Creates a time of day.
  public init(hour: Int, minute: Int, second: Int, offset: Int = 0, zone: String = "UTC") {
    self.offset = offset
    self.zone = zone
    self.hour = hour
    self.minute = minute
    self.second = second
  }
}

extension Timestamp {
  /// Returns the local time in whole seconds, with the name of its zone: `2026-11-25 14:30:05 CET`.
  ///
  /// - Returns: The text for people.
  package static func local(_ microseconds: Int64, _ system: any System) -> String {
    let wall = system.localtime(microseconds)
    let shifted = rfc3339(microseconds + Int64(wall.offset) * 1_000_000).utf8
    return
      "\(Substring(shifted.prefix(10))) \(Substring(shifted.dropFirst(11).prefix(8))) \(Sanitizer.clean(wall.zone))"
  }
}
