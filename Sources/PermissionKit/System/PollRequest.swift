/// What is waited for on a descriptor, and what is ready, see poll(2).
public struct PollEvents: OptionSet, Hashable, Sendable {
  /// The bits of `struct pollfd`.
  public let rawValue: Int16

  /// Takes the bits as they are.
  public init(rawValue: Int16) { self.rawValue = rawValue }

  /// POLLIN: there is something to read.
  public static let readable = PollEvents(rawValue: 0x1)
  /// POLLPRI: of mountinfo, the mounts have changed.
  public static let priority = PollEvents(rawValue: 0x2)
  /// POLLERR: also that nobody reads a pipe any more; sent unasked.
  public static let error = PollEvents(rawValue: 0x8)
}

/// A descriptor to wait for, see poll(2).
public struct PollRequest: Hashable, Sendable {
  /// What to wait for something on.
  public var descriptor: Descriptor
  /// What to wait for; errors and hang-ups count in any case.
  public var events: PollEvents

  /// Makes one of its parts.
  public init(_ descriptor: Descriptor, _ events: PollEvents) {
    self.descriptor = descriptor
    self.events = events
  }
}
