import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

extension Accessors {
  /// Creates the one value of the tool, which is handed to whatever looks up a name.
  convenience init(_ system: LinuxSystem) {
    self.init(system) { Console.report($0, system) }
  }

  /// Throws an error if root would change what a file tells that others can write.
  func requiresTrust(_ arguments: [AccessorArgument]) throws(PermissionError) {
    try Self.requireTrust(arguments.map(\.entry), system)
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
