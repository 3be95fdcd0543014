// Stands in for the module of this name while ArgumentParser is built for a release.
//
// ArgumentParser 1.8 uses two things of Foundation: LocalizedError, to which no error of permcheck
// conforms, and JSONEncoder, for --experimental-dump-help, which a release answers with an empty line.
// The real module adds 5.6 MB and, at each start, a tenth of the time. If ArgumentParser comes to use
// more of it, the release does not build.

public protocol LocalizedError: Error {
  var errorDescription: String? { get }
}

public struct Data: Sendable {}

public final class JSONEncoder {
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let prettyPrinted = Self(rawValue: 1)
    public static let sortedKeys = Self(rawValue: 2)
  }

  struct Unsupported: Error {}

  public var outputFormatting: OutputFormatting = []
  public init() {}
  public func encode(_ value: some Encodable) throws -> Data { throw Unsupported() }
}

extension String {
  public enum Encoding: Sendable { case utf8 }

  public init?(data: Data, encoding: Encoding) { return nil }
}
