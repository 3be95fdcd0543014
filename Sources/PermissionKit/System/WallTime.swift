/// The clock on the wall, see localtime_r(3).
public struct WallTime: Hashable, Sendable {
  /// 0 to 23.
  public var hour: Int
  /// 0 to 59.
  public var minute: Int
  /// 0 to 60, for leap seconds.
  public var second: Int

  /// Makes one of its parts.
  public init(hour: Int, minute: Int, second: Int) {
    self.hour = hour
    self.minute = minute
    self.second = second
  }
}
