import JSONSyntax
import PermissionKit
import PermissionKitPlugins

/// A file of expectations that hold now.
struct StarterFile {
  let text: String

  /// Checks the accessors for this process; all of them if none is named.
  init(_ names: [PathBytes], _ accessors: Accessors, _ system: any System) throws {
    let all = accessors.builtIn.entries.map { PathBytes($0.name) }
    let arguments = try (names.isEmpty ? all : names).map { try AccessorArgument($0, accessors) }
    var context = AccessContext(system: system)
    context.sharedScan = SharedScan()
    var text = "# What is so now; check it with: permcheck verify FILE\n"
    for argument in arguments {
      let report = argument.accessor(context, .discard).currentAccess()
      let word = argument.path.map { "\(argument.entry.name)=\($0)" } ?? argument.entry.name
      let (key, value) =
        argument.isPath
        ? ("path", argument.absolute(system).text.description) : ("accessor", word)
      text += "\n[[expect]]\n\(key) = \(JSONWriter().text(.string(value)))\n"
      if report.status == .notDetermined {
        // What cannot be told cannot be expected; whoever knows better fills it in.
        text += "is = \"granted\"   # it cannot be determined now\n"
      } else {
        text += "is = \"\(report.status.rawValue)\"\n"
      }
    }
    self.text = text
  }
}
