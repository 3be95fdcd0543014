import ArgumentParser
import PermissionKit
import PermissionKitPlugins

/// An argument that is an accessor or a path.
enum Operand {
  case path(PathBytes)
  case accessor(AccessorArgument)

  init(_ argument: PathBytes, _ accessors: Accessors, through: AudioRoute) throws {
    let name = argument.bytes.prefix { $0 != UInt8(ascii: "=") }
    if argument.isEmpty { throw ValidationError("the path is empty") }
    if name.contains(UInt8(ascii: "/")) || argument == "." || argument == ".." {
      self = .path(argument)
    } else {
      self = .accessor(try AccessorArgument(argument, accessors, through: through))
    }
  }

  func target(
    _ context: AccessContext, _ subject: Subject
  ) throws(PermissionError) -> Inspection.Target {
    switch self {
    case .path(let path): return Inspection.Target(path: context.belowRoot(path), in: context)
    case .accessor(let argument):
      let accessor = argument.accessor(context, .discard)
      guard let set = (accessor as? ResourceAccessor)?.resources(for: subject) else {
        throw PermissionError(
          .invalidArgument, "\(accessor.name) has no resources to explain")
      }
      return Inspection.Target(name: accessor.name, set: set)
    }
  }
}
