/// A device number, see makedev(3).
public struct DeviceNumber: Hashable, Sendable {
  /// The number that stands for the driver: 81 for V4L2, 116 for ALSA.
  public var major: UInt32
  /// The number that the driver gave this device.
  public var minor: UInt32

  /// Creates a device number.
  public init(major: UInt32, minor: UInt32) {
    self.major = major
    self.minor = minor
  }
}
