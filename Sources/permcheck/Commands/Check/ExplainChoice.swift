import ArgumentParser
import PermissionKit
import PermissionKitPlugins

/// The arguments of permcheck explain.
struct ExplainChoice {
  /// Accessors, or paths.
  var names: [PathBytes] = []
  var all = false
  /// The creator of the new files to judge; nil to judge existing files.
  var future: FutureChoice?
  /// The operation on the path; nil for opening it.
  var operation: NamedOperation.Name?
  /// The program whose own rule is asked; nil for the kernel's rules.
  var program: String?
  var subject = SubjectChoice()
  var output = OutputChoice()

  /// Explains, prints, and returns the exit status.
  func run(_ accessors: Accessors) throws -> ExitStatus {
    let explanation = try explanation(accessors)
    let console = Console(accessors.system, output)
    if !output.quiet { subject.warnOfRoot(explanation.inspection.context, console) }
    return try Self.print(explanation, console: console, output)
  }

  /// Reads the facts, and explains.
  func explanation(_ accessors: Accessors) throws -> Explanation {
    let system = accessors.system
    var context = try subject.context(system).knowing(accessors)
    var names = names
    if let operation {
      let target = try Self.target(of: operation, &names)
      context.question = .operation(try NamedOperation(operation, target: target, context))
    }
    if let program {
      // The folders above count, those of a relative path as well.
      names = names.map { name in
        let isPath = name.bytes.contains(UInt8(ascii: "/")) || name == "." || name == ".."
        guard isPath, let path = system.absolute(name) else { return name }
        return ProgramRules.file(of: program, path, system)
      }
    }
    let arguments = try names.map { try AccessorArgument($0, accessors, through: subject.through) }
    if operation != nil, let accessor = arguments.first(where: { !$0.isPath }) {
      throw ValidationError("\(accessor.shown): --to needs a path, one with a slash")
    }
    if program != nil, let accessor = arguments.first(where: { !$0.isPath }) {
      throw ValidationError("\(accessor.shown): --as-used-by needs a path, one with a slash")
    }
    if let future {
      if let device = arguments.first(where: { $0.entry.family != nil }) {
        throw ValidationError("\(device.shown): --future works only for a folder")
      }
      context.question = .newFiles(
        by: try FileCreator(user: future.creator, umask: future.umask, context))
    }
    let inspection = try Inspection(context) {
      (subject) throws(PermissionError) -> [Inspection.Target] in
      var targets: [Inspection.Target] = []
      for argument in arguments { targets.append(try argument.target(context, subject)) }
      return targets
    }
    if let program { return try Explanation(inspection, usedBy: program) }
    return Explanation(inspection, acceptsLimited: !all)
  }

  /// Removes the second argument of an operation from the names, and returns the target.
  private static func target(
    of operation: NamedOperation.Name, _ names: inout [PathBytes]
  ) throws -> PathBytes? {
    switch operation {
    case .rename, .link:
      guard names.count == 2 else {
        throw ValidationError(
          "--to \(operation.rawValue) needs two paths, the old one and the new one")
      }
    case .chown:
      guard names.count <= 2 else {
        throw ValidationError("--to chown takes a path and an owner, such as ada:video")
      }
    default: return nil
    }
    return names.count == 2 ? names.removeLast() : nil
  }

  /// Prints an explanation of present or saved facts, and returns the exit status.
  static func print(
    _ explanation: Explanation, console: Console, _ output: OutputChoice
  ) throws -> ExitStatus {
    let status = ExitStatus(explanation.reports)
    let result = ExplainResult(explanation: explanation, status: status)
    console.print(try output.format(console).text(result))
    try console.flush()
    return status
  }
}
