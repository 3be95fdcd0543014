// Stands in for the module of this name while ArgumentParser is built for a release.
//
// ArgumentParser 1.8 uses two things of Foundation: LocalizedError, to which no error of permcheck
// conforms, and JSONEncoder, for --experimental-dump-help, which a release answers with an empty line.
// The real module adds 5.6 MB and, at each start, a tenth of the time. If ArgumentParser comes to use
// more of it, the release does not build.

/// The errors that have a text of their own.
public protocol LocalizedError: Error {
  /// The text; nil for the usual one.
  var errorDescription: String? { get }
}

/// What `JSONEncoder` would return; there is none.
public struct Data: Sendable {}

/// An encoder that encodes nothing.
public final class JSONEncoder {
  /// The options of the encoder, which have no effect.
  public struct OutputFormatting: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// Lines and indentation.
    public static let prettyPrinted = Self(rawValue: 1)
    /// Members in the order of their names.
    public static let sortedKeys = Self(rawValue: 2)
  }

  struct Unsupported: Error {}

  /// The options.
  public var outputFormatting: OutputFormatting = []
  /// Creates the encoder.
  public init() {}
  /// Encodes nothing.
  ///
  /// - Parameter value: The value, which is ignored.
  /// - Returns: Never.
  /// - Throws: Always.
  public func encode(_ value: some Encodable) throws -> Data { throw Unsupported() }
}

extension String {
  /// The encodings of text.
  public enum Encoding: Sendable {
    /// UTF-8.
    case utf8
  }

  /// Returns nil, since there is no data.
  public init?(data: Data, encoding: Encoding) { return nil }
}
