public import ArgumentParser
public import PermissionKit

extension PathBytes: ExpressibleByArgument {
  /// Takes an argument as `PathBytes.init(escaped:)` reads it.
  public init?(argument: String) { self.init(escaped: argument) }
}

extension Probe.Method: ExpressibleByArgument {}

extension Elevation.Via: ExpressibleByArgument {}

/// An argument that is text: valid UTF-8.
struct TextArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard let text = String(validating: PathBytes(escaped: argument).bytes, as: UTF8.self) else {
      return nil
    }
    self.text = text
  }
}

/// A length of time in seconds, a fraction allowed, of at most a year.
struct Seconds: ExpressibleByArgument {
  let microseconds: Int64

  init?(argument: String) {
    let isPlain = argument.utf8.allSatisfy {
      $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    guard isPlain, let seconds = Double(argument), seconds <= 31_536_000 else { return nil }
    microseconds = Int64((seconds * 1_000_000).rounded())
  }
}
