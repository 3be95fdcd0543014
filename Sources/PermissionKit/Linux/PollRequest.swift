/// The events to wait for on a descriptor, or the events that happened, see poll(2).
@_spi(SystemCalls) public struct PollEvents: OptionSet, Hashable, Sendable {
  /// The bits of `struct pollfd`.
  public let rawValue: Int16

  /// Creates a set from its bits.
  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// POLLIN: data can be read.
  public static let readable = PollEvents(rawValue: 0x1)
  /// POLLPRI: for mountinfo, the mounts have changed.
  public static let priority = PollEvents(rawValue: 0x2)
  /// POLLOUT: data can be written.
  public static let writable = PollEvents(rawValue: 0x4)
  /// POLLERR: an error, or a pipe without a reader; reported even if not asked for.
  public static let error = PollEvents(rawValue: 0x8)
}

/// A descriptor to wait for, see poll(2).
@_spi(SystemCalls) public struct PollRequest: Hashable, Sendable {
  /// The descriptor to wait for.
  public var descriptor: Descriptor
  /// The events to wait for; errors and hang-ups are always reported.
  public var events: PollEvents

  /// Creates a request to wait for events on a descriptor.
  public init(_ descriptor: Descriptor, _ events: PollEvents) {
    self.descriptor = descriptor
    self.events = events
  }
}
