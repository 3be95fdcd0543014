public import ArgumentParser
public import PermissionKit

extension PathBytes: ExpressibleByArgument {
  /// Creates a path from an argument, as `PathBytes.init(escaped:)` reads it.
  public init?(argument: String) { self.init(escaped: argument) }
}

extension TimeSpan: ExpressibleByArgument {}

extension Probe.Method: ExpressibleByArgument {}

extension AudioRoute: ExpressibleByArgument {}

extension RootCommand.Via: ExpressibleByArgument {}

/// An argument that must be valid UTF-8.
struct TextArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard let text = String(validating: PathBytes(escaped: argument).bytes, as: UTF8.self) else {
      return nil
    }
    self.text = text
  }
}
