import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// An argument that names an accessor or a path: `camera`, `camera=/dev/video2`, `/srv`.
///
/// A word with a slash before any `=` is a path, and so are `.` and `..`.
struct AccessorArgument {
  let entry: AccessorRegistry.Entry
  /// The name as it was given, perhaps an alias; `path` for a path.
  let name: String
  /// The path; nil for everything that the accessor finds.
  ///
  /// A path alone is as it was given; that of `NAME=PATH` begins with a slash.
  let path: PathBytes?
  /// Whether limited access is not enough.
  private let wantsAll: Bool
  private let accessors: Accessors
  /// Whether the argument is a path alone.
  var isPath: Bool { name == PathAccessor.name }

  init(
    _ argument: PathBytes, _ accessors: Accessors, through: AudioRoute = .alsa,
    wantsAll: Bool = false
  ) throws {
    if argument.isEmpty { throw ValidationError("the path is empty") }
    let equals = argument.bytes.firstIndex(of: UInt8(ascii: "="))
    let word = argument.bytes[..<(equals ?? argument.bytes.endIndex)]
    if word.contains(UInt8(ascii: "/")) || argument == "." || argument == ".." {
      self.init(path: argument, accessors, wantsAll: wantsAll)
      return
    }
    let name = PathBytes(Array(word)).description
    guard let entry = accessors[name] else {
      throw ValidationError(Suggestions.unknownAccessor(name, accessors.all, equals != nil))
    }
    guard let equals else {
      self.init(entry, accessors, name: name, path: nil, wantsAll: wantsAll)
      return
    }
    let path = PathBytes(Array(argument.bytes[(equals + 1)...]))
    if path.isEmpty { throw ValidationError("\(name)=: the path is empty") }
    if through != .alsa, entry.name == MicrophoneAccessor.name {
      throw ValidationError(
        "--through \(through.rawValue): a sound server does not offer single nodes; leave out =\(Sanitizer.clean(path.description))"
      )
    }
    if path.bytes.starts(with: "~/".utf8) {
      let shown = Sanitizer.clean(path.description)
      throw ValidationError("\(name)=\(shown): the shell did not replace ~; write $HOME instead")
    }
    self.init(
      entry, accessors, name: name, path: LinuxSystem().absolute(path) ?? path, wantsAll: wantsAll)
  }

  private init(
    _ entry: AccessorRegistry.Entry, _ accessors: Accessors, name: String, path: PathBytes?,
    wantsAll: Bool
  ) {
    (self.entry, self.accessors, self.name, self.path) = (entry, accessors, name, path)
    self.wantsAll = wantsAll
  }

  private init(path: PathBytes, _ accessors: Accessors, wantsAll: Bool) {
    var registry = AccessorRegistry()
    registry.add(PathAccessor.name, summary: "", origin: .builtIn) {
      PathAccessor($0.knowing(accessors), shown: path, analytics: $1)
    }
    self.init(
      registry.entries[0], accessors, name: PathAccessor.name, path: path, wantsAll: wantsAll)
  }

  /// The argument with an absolute path, which means the same in every working directory.
  func absolute(_ system: any System) -> AccessorArgument {
    guard isPath, let path else { return self }
    return AccessorArgument(path: system.absolute(path) ?? path, accessors, wantsAll: wantsAll)
  }

  /// The argument as it was given.
  var text: PathBytes {
    guard let path else { return PathBytes(name) }
    return isPath ? path : PathBytes(Array("\(name)=".utf8) + path.bytes)
  }

  /// The argument for people, safe for a terminal.
  var shown: String { Sanitizer.clean(isPath ? text.description : entry.name) }

  func accessor(_ context: AccessContext, _ analytics: AnalyticsLog) -> PermissionAccessor {
    var context = context
    context.path = path.map(context.belowRoot)
    let accessor = entry.make(context, analytics)
    accessor.acceptsLimited = !wantsAll
    return accessor
  }

  /// Returns the target of the check.
  func target(
    _ context: AccessContext, _ subject: Subject
  ) throws(PermissionError) -> Inspection.Target {
    let accessor = accessor(context, .discard)
    guard let set = (accessor as? ResourceAccessor)?.resources(for: subject) else {
      throw PermissionError(.invalidArgument, "\(accessor.name) has no resources to explain")
    }
    return Inspection.Target(name: accessor.name, set: set)
  }
}

/// One path of any type: a file, folder, socket, device node or link.
///
/// Its name is always `path`; its reports have the path as it was given instead.
final class PathAccessor: ResourceAccessor {
  static let name = "path"

  private let shown: String

  /// Creates an accessor for `context.path`.
  init(_ context: AccessContext, shown: PathBytes, analytics: AnalyticsLog) {
    self.shown = shown.description
    super.init(name: Self.name, context: context, analytics: analytics)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    Inspection.Target(path: context.path ?? context.root, in: context).set
  }

  override func checkAccess() -> AccessReport {
    var report = super.checkAccess()
    report.accessor = shown
    return report
  }
}

extension ArgumentHelp {
  /// The help for arguments that are accessors.
  static let accessors = ArgumentHelp(
    "camera, mic, photos or another of permcheck list; NAME=PATH for one node or folder; or any path.",
    valueName: "name|path")
}
