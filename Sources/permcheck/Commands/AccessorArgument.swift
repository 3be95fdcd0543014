import ArgumentParser
import PermissionKit
import PermissionKitPlugins

/// An argument that names an accessor: `camera`, or `camera=/dev/video2`.
struct AccessorArgument {
  let entry: AccessorRegistry.Entry
  /// The name as it was given, perhaps an alias.
  let name: String
  let path: PathBytes?

  init(_ argument: PathBytes, _ accessors: Accessors, through: AudioRoute = .alsa) throws {
    let equals = argument.bytes.firstIndex(of: UInt8(ascii: "="))
    let name = PathBytes(Array(argument.bytes[..<(equals ?? argument.bytes.endIndex)])).description
    guard let entry = accessors[name] else {
      throw ValidationError(Suggestions.unknownAccessor(argument.description, accessors.all))
    }
    self.entry = entry
    self.name = name
    guard let equals else {
      path = nil
      return
    }
    let path = PathBytes(Array(argument.bytes[(equals + 1)...]))
    if path.isEmpty { throw ValidationError("\(name)=: the path is empty") }
    if through != .alsa, entry.name == MicrophoneAccessor.name {
      throw ValidationError(
        "--through \(through.rawValue): a sound server offers no single node; leave out =\(Sanitizer.clean(path.description))"
      )
    }
    guard path.isAbsolute else {
      // The same word may name something else tomorrow, in a script or in a journal.
      let folder = (try? LinuxSystem().getcwd()) ?? "/"
      throw ValidationError(
        "\(name)=\(Sanitizer.clean(path.description)): the path must start with /; here \(name)=\(Sanitizer.clean(folder.appending(path.withoutDots).description))"
      )
    }
    self.path = path
  }

  func accessor(_ context: AccessContext, _ analytics: AnalyticsLog) -> PermissionAccessor {
    var context = context
    context.path = path.map(context.belowRoot)
    return entry.make(context, analytics)
  }
}

extension PathBytes {
  /// The path without `./` at its start.
  fileprivate var withoutDots: PathBytes {
    var rest = bytes[...]
    while rest.starts(with: "./".utf8) { rest = rest.dropFirst(2).drop { $0 == UInt8(ascii: "/") } }
    return PathBytes(Array(rest))
  }
}
