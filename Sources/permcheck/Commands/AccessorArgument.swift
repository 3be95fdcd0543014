import ArgumentParser
import PermissionKit

/// An argument that names an accessor: `camera`, or `camera=/dev/video2`.
struct AccessorArgument {
  let entry: AccessorRegistry.Entry
  let path: PathBytes?

  init(_ argument: PathBytes, _ registry: AccessorRegistry) throws {
    let equals = argument.bytes.firstIndex(of: UInt8(ascii: "="))
    let name = PathBytes(Array(argument.bytes[..<(equals ?? argument.bytes.endIndex)])).description
    guard let entry = registry[name] else {
      let known = registry.entries.flatMap { [$0.name] + $0.aliases }.joined(separator: ", ")
      throw ValidationError("there is no accessor \"\(Sanitizer.clean(name))\"; known: \(known)")
    }
    self.entry = entry
    guard let equals else {
      path = nil
      return
    }
    let path = PathBytes(Array(argument.bytes[(equals + 1)...]))
    if path.isEmpty { throw ValidationError("\(name)=: the path is empty") }
    if !path.isAbsolute {
      throw ValidationError(
        "\(name)=\(Sanitizer.clean(path.description)): the path must start with /")
    }
    self.path = path
  }

  func accessor(_ context: AccessContext, _ analytics: AnalyticsLog) -> PermissionAccessor {
    var context = context
    context.path = path.map(context.belowRoot)
    return entry.make(context, analytics)
  }
}
