@_spi(SystemCalls) package import PermissionKit
internal import Synchronization

/// The accessors that a program can look up by name: built in, declared in files, and programs.
///
/// Built-in names come first, so that a check of them reads no file that declares others.
package final class Accessors: Sendable {
  /// The built-in accessors, which a check without a name is about.
  package let builtIn = AccessorRegistry.standard
  /// The system whose files and programs are looked up.
  package let system: LinuxSystem
  private let report: @Sendable (String) -> Void
  private let declared = Mutex<AccessorRegistry?>(nil)

  /// Creates a lookup, without reading anything yet.
  ///
  /// - Parameters:
  ///   - system: The system whose files and programs are looked up.
  ///   - report: Receives what is wrong with a file or a program, one line each.
  package init(_ system: LinuxSystem, report: @escaping @Sendable (String) -> Void) {
    self.system = system
    self.report = report
  }

  /// Returns the accessor with this name or alias; nil if there is none.
  package subscript(name: String) -> AccessorRegistry.Entry? {
    builtIn[name] ?? all[name].map(knowing) ?? underscored(name)
      ?? ExecutableSearch.program(name, system).map { entry(name, $0) }
  }

  /// Returns the accessor of `dma-heap` for `dma_heap`, as the kernel calls it.
  private func underscored(_ name: String) -> AccessorRegistry.Entry? {
    guard name.utf8.contains(UInt8(ascii: "_")) else { return nil }
    return all[String(name.map { $0 == "_" ? "-" : $0 })].map(knowing)
  }

  /// Returns an accessor by its name; it also knows the devices of all other accessors.
  private func knowing(_ entry: AccessorRegistry.Entry) -> AccessorRegistry.Entry {
    var registry = AccessorRegistry()
    registry.add(
      entry.name, aliases: entry.aliases, summary: entry.summary, family: entry.family,
      origin: entry.origin
    ) {
      entry.make($0.knowing(self), $1)
    }
    return registry.entries[0]
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

  /// The accessors that are programs in PATH, each with the summary that the program returns.
  ///
  /// Reports programs that return none.
  package var executables: [AccessorRegistry.Entry] {
    ExecutableSearch.names(system).compactMap { name in
      guard all[name] == nil, let program = ExecutableSearch.program(name, system) else {
        return nil
      }
      do throws(ProgramProtocol.Failure) {
        let summary = try ExecutableAccessor.summary(of: name, program, system)
        return entry(name, program, summary: summary)
      } catch {
        report("\(Sanitizer.clean(program.description)) \(error.message)")
        return entry(name, program)
      }
    }
  }

  /// The names for completions and suggestions; no program is run.
  package var names: [String] {
    all.entries.flatMap { [$0.name] + $0.aliases }
      + ExecutableSearch.names(system).filter { all[$0] == nil }
  }

  /// All accessors; their files are read at the first use.
  ///
  /// Reports the mistakes in the files then.
  package var all: AccessorRegistry {
    declared.withLock { declared in
      if let known = declared { return known }
      let (registry, problems) = DeclarationFiles(system).registry()
      for problem in problems { report(problem.description) }
      declared = registry
      return registry
    }
  }

  /// Throws if a file that other users can write would make root change something.
  ///
  /// - Throws: If others than root can change the file of one of them, and this process is root.
  package static func requireTrust(
    _ entries: [AccessorRegistry.Entry], _ system: any System
  ) throws(PermissionError) {
    guard system.isRoot else { return }
    for entry in entries {
      guard case .file(let path) = entry.origin, !system.isWritableOnlyByRoot(path) else {
        continue
      }
      throw PermissionError(
        .notAllowed,
        "\(entry.name) is declared in \(Sanitizer.clean(path.description)), which users other than root can change, so root does not use it",
        path: path,
        advice: "move the file to /etc/permcheck/accessors.d, and make root its owner")
    }
  }
}

extension AccessContext {
  /// Returns the context with the devices of all accessors.
  package func knowing(_ accessors: Accessors) -> AccessContext {
    var context = self
    context.otherFamilies = { accessors.all.families }
    return context
  }
}
