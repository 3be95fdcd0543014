/// A device number, see makedev(3).
public struct DeviceNumber: Hashable, Sendable {
  /// The number of the driver: 81 for V4L2, 116 for ALSA.
  public var major: UInt32
  /// The number of the device among its driver's.
  public var minor: UInt32

  /// Makes one of its parts.
  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }
}
