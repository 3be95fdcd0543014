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

  /// Creates a time of day.
  public init(hour: Int, minute: Int, second: Int, offset: Int = 0) {
    self.offset = offset
    self.hour = hour
    self.minute = minute
    self.second = second
  }
}
