/// An open file descriptor.
@_spi(SystemCalls) public struct Descriptor: RawRepresentable, Hashable, Sendable {
  /// The number of the descriptor, or AT_FDCWD.
  public let rawValue: Int32

  /// Creates a descriptor from a number that a system call returned.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// AT_FDCWD: relative paths start at the working directory.
  public static let currentDirectory = Descriptor(rawValue: -100)
}
