import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

extension Accessors {
  /// Creates the one instance of the tool, which every lookup of a name uses.
  convenience init(_ system: LinuxSystem) {
    self.init(system) { Console.report($0, system) }
  }

  /// Throws if a file that others can write would make root change something.
  func requiresTrust(_ arguments: [AccessorArgument]) throws(PermissionError) {
    try Self.requireTrust(arguments.map(\.entry), system)
  }
}

extension AccessorRegistry.Entry {
  /// Returns whether permcheck-helper gives access to this accessor, and no file redefines it.
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
