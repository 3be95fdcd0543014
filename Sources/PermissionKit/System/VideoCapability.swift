/// What VIDIOC_QUERYCAP tells of one video node.
public struct VideoCapability: Hashable, Sendable {
  /// V4L2_CAP_… bits of this very node (`device_caps`).
  public var deviceCaps: UInt32
  /// The name of the card.
  public var card: PathBytes

  /// Makes one of its parts.
  public init(deviceCaps: UInt32, card: PathBytes) {
    self.deviceCaps = deviceCaps
    self.card = card
  }
}
