import JSONSyntax
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

/// A file of expectations that hold now.
struct StarterFile {
  private(set) var text = "# The current access. Check it with: permcheck verify FILE\n"

  /// Checks the accessors and paths for each subject.
  ///
  /// - Parameters:
  ///   - names: The accessors and paths; all built-in accessors if there are none.
  ///   - accessors: The accessors that there are.
  ///   - subject: Whose access, and which permissions.
  ///   - system: The system to look at.
  /// - Throws: An error if a name or a user is unknown.
  init(
    _ names: [PathBytes], _ accessors: Accessors, for subject: SubjectChoice, _ system: any System
  ) throws {
    let all = accessors.builtIn.entries.map { PathBytes($0.name) }
    let arguments = try (names.isEmpty ? all : names).map { try AccessorArgument($0, accessors) }
    for (who, context) in try subject.each(system) {
      for argument in arguments { add(argument, who, context, subject.need) }
    }
  }

  private mutating func add(
    _ argument: AccessorArgument, _ who: Who, _ context: AccessContext, _ need: Permissions?
  ) {
    let report = argument.accessor(context, .discard).currentAccess()
    let word = argument.path.map { "\(argument.entry.name)=\($0)" } ?? argument.entry.name
    text += "\n[[expect]]\n"
    if argument.isPath {
      line("path", .string(argument.absolute(context.system).text.description))
    } else {
      line("accessor", .string(word))
    }
    switch who {
    case .user(let name): line("user", .string(name))
    case .ids(let uid, let gid, let groups):
      line("uid", JSONValue(uid))
      line("gid", JSONValue(gid))
      if !groups.isEmpty { line("groups", .array(groups.map { JSONValue($0) })) }
    case .current, .process, .group, .everybody: break
    }
    if let need { line("need", .string(need.letters)) }
    if report.status == .notDetermined {
      // What cannot be told cannot be expected; whoever knows better fills it in.
      text += "is = \"granted\"   # it cannot be determined now; set the value by hand\n"
    } else {
      line("is", .string(report.status.rawValue))
    }
  }

  /// Adds a key; texts and arrays of TOML are written as in JSON.
  private mutating func line(_ key: String, _ value: JSONValue) {
    text += "\(key) = \(JSONWriter().text(value))\n"
  }
}
