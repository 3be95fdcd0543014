@_spi(SystemCalls) import PermissionKit

/// Requests access through permcheck-helper; only this type writes the helper's command line.
struct HelperElevation: Elevation {
  private let command: RootCommand
  private let system: any System

  /// Creates the elevation; nil without the helper, or without sudo or pkexec to start it.
  init?(_ via: RootCommand.Via, _ system: any System) {
    guard let program = Self.helper(system) else { return nil }
    command = RootCommand(via: via, program: program)
    self.system = system
    guard command.isAvailable(system) else { return nil }
  }

  func request(_ request: ElevatedRequest) throws(PermissionError) -> HelperAnswer {
    var arguments: [PathBytes] = ["grant", PathBytes(request.accessor)]
    if let need = request.need { arguments += ["--need", PathBytes(need.letters)] }
    if let expires = request.expires {
      let seconds = max(1, (expires - system.realtime()) / 1_000_000)
      arguments += ["--for", PathBytes("\(seconds)")]
    }
    if let process = request.process { arguments += ["--while", PathBytes("\(process)")] }
    return try answer(arguments, asks: true)
  }

  /// Revokes what the helper gave the calling user.
  ///
  /// - Parameters:
  ///   - accessor: The name of the accessor.
  ///   - process: The process whose end ends the grants; nil for every grant.
  ///   - request: The request that gave them; nil for every grant.
  ///   - asks: Whether sudo may ask for a password.
  /// - Returns: The answer of the helper.
  /// - Throws: If the helper cannot be run, or fails.
  func revoke(
    _ accessor: String, process: Int32? = nil, request: String? = nil, asks: Bool = true
  ) throws(PermissionError) -> HelperAnswer {
    var arguments: [PathBytes] = ["revoke", PathBytes(accessor)]
    if let process { arguments += ["--while", PathBytes("\(process)")] }
    if let request { arguments += ["--request", PathBytes(request)] }
    return try answer(arguments, asks: asks)
  }

  private func answer(_ arguments: [PathBytes], asks: Bool) throws(PermissionError) -> HelperAnswer
  {
    let output = try command.run(arguments, asks: asks, system)
    guard let answer = HelperAnswer(output) else {
      throw PermissionError(
        .changeFailed, "permcheck-helper gave an answer that this version cannot read")
    }
    if let message = answer.message {
      throw PermissionError(.changeFailed, "permcheck-helper: \(message)")
    }
    return answer
  }

  /// Returns the helper that is installed with this program: `../libexec/permcheck-helper`.
  ///
  /// Only a file that only root can write is used, and no other folder is searched.
  private static func helper(_ system: any System) -> PathBytes? {
    guard let own = Tool.executable(system) else { return nil }
    let path = own.parent.parent.appending("libexec/permcheck-helper")
    guard let status = try? system.status(of: path), status.kind == .regular, status.uid == 0,
      status.mode & 0o022 == 0
    else { return nil }
    return path
  }
}

extension GrantOptions {
  /// Returns whether permcheck-helper makes the request: by ACL, for all devices of an accessor.
  ///
  /// An administrator must make every other request.
  func isServed(_ argument: AccessorArgument, _ system: any System) -> Bool {
    elevation != nil && argument.path == nil && argument.entry.isServed(system) && !allowsOthers
      && !isRecursive && [GrantStrategies.auto.name, "acl"].contains(strategy.name)
  }
}
