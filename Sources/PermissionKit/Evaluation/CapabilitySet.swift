/// A set of capabilities, bit numbers as in capabilities(7) and include/uapi/linux/capability.h.
public struct CapabilitySet: OptionSet, Hashable, Sendable, Codable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let dacOverride = CapabilitySet(rawValue: 1 << 1)
  public static let dacReadSearch = CapabilitySet(rawValue: 1 << 2)
  public static let fowner = CapabilitySet(rawValue: 1 << 3)
  /// Every capability the kernel knows today, and those it may learn.
  public static let all = CapabilitySet(rawValue: ~0)
}
