/// An open file descriptor.
@_spi(SystemCalls) public struct Descriptor: RawRepresentable, Hashable, Sendable {
  /// The number of the descriptor, or AT_FDCWD.
  public let rawValue: Int32

  /// Creates a descriptor from a number that a system call returned.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// AT_FDCWD: relative paths start at the working directory.
  public static let currentDirectory = Descriptor(rawValue: -100)
}

extension Descriptor {
  /// STDIN_FILENO.
  package static let standardInput = Descriptor(rawValue: 0)
  /// STDOUT_FILENO.
  package static let standardOutput = Descriptor(rawValue: 1)
  /// STDERR_FILENO.
  package static let standardError = Descriptor(rawValue: 2)

  /// The link of the descriptor in /proc, `/proc/self/fd/N`, which leads to the very file.
  package var link: PathBytes {
    var digits: [UInt8] = []
    var rest = rawValue
    repeat {
      digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    return PathBytes(Array("/proc/self/fd/".utf8) + digits.reversed())
  }
}
