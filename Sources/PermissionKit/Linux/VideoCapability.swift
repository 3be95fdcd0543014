/// The answer of VIDIOC_QUERYCAP for one video node.
@_spi(SystemCalls) public struct VideoCapability: Hashable, Sendable {
  /// The V4L2_CAP_… bits of this node alone (`device_caps`).
  public var deviceCaps: UInt32
  /// The name of the card.
  public var card: PathBytes

  /// Creates an answer with these values.
  public init(deviceCaps: UInt32, card: PathBytes) {
    self.deviceCaps = deviceCaps
    self.card = card
  }
}
