import ArgumentParser
import PermissionKit
import PermissionKitPlugins
import Synchronization

/// The accessors that the tool knows: one value, which is handed to whatever looks up a name.
///
/// Built-in names come first, so that a check of them reads no file that declares others.
final class Accessors: Sendable {
  /// Those that are built in, which a check without a name is about.
  let builtIn = AccessorRegistry.standard
  private let system: any System
  private let declared = Mutex<AccessorRegistry?>(nil)

  init(_ system: any System) { self.system = system }

  /// Returns the accessor with this name or alias; nil if there is none.
  subscript(name: String) -> AccessorRegistry.Entry? {
    builtIn[name] ?? all[name] ?? ExecutableSearch.program(name, system).map { entry(name, $0) }
  }

  private func entry(
    _ name: String, _ program: PathBytes, summary: String = ""
  ) -> AccessorRegistry.Entry {
    var registry = AccessorRegistry()
    registry.add(name, summary: summary, origin: .executable(program)) {
      ExecutableAccessor(name: name, program: program, $0, analytics: $1)
    }
    return registry.entries[0]
  }

  /// The accessors that are programs in PATH; each is asked what it is about.
  ///
  /// Reports those that give no answer.
  var executables: [AccessorRegistry.Entry] {
    ExecutableSearch.names(system).compactMap { name in
      guard all[name] == nil, let program = ExecutableSearch.program(name, system) else {
        return nil
      }
      do throws(Dialogue.Failure) {
        let summary = try ExecutableAccessor.summary(of: name, program, system)
        return entry(name, program, summary: summary)
      } catch {
        Console.report("\(Sanitizer.clean(program.description)) \(error.message)", system)
        return entry(name, program)
      }
    }
  }

  /// The names that a person may type, without asking any program.
  var names: [String] {
    all.entries.flatMap { [$0.name] + $0.aliases }
      + ExecutableSearch.names(system).filter { all[$0] == nil }
  }

  /// All accessors, which are read from files when they are asked for the first time.
  ///
  /// Reports what is wrong with the files then.
  var all: AccessorRegistry {
    declared.withLock { declared in
      if let known = declared { return known }
      let (registry, problems) = DeclarationFiles(system).registry()
      for problem in problems { Console.report(problem.description, system) }
      declared = registry
      return registry
    }
  }

  /// Throws an error if root would change what a file tells that others can write.
  func requiresTrust(_ arguments: [AccessorArgument]) throws(PermissionError) {
    guard system.isRoot else { return }
    for argument in arguments {
      guard case .file(let path) = argument.entry.origin, !system.isWritableOnlyByRoot(path) else {
        continue
      }
      throw PermissionError(
        .notAllowed,
        "\(argument.entry.name) is declared in \(Sanitizer.clean(path.description)), which others than root can change, so root makes no request for it",
        path: path,
        advice: "put the file into /etc/permcheck/accessors.d, as root's own")
    }
  }
}

extension AccessorRegistry.Entry {
  /// Returns whether the root side gives access to just this, and not to what another file declares.
  func isServed(_ system: any System) -> Bool {
    guard isHelperGrantable else { return false }
    return origin == .builtIn
      || DeclarationFiles(ofRoot: system).registry().registry[name]?.declaration == declaration
  }
}

/// A command that looks up accessors.
protocol AccessorCommand: ParsableCommand {
  /// Runs the command.
  func run(_ accessors: Accessors) throws
}
