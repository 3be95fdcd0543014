import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import Synchronization

/// Requests access through permcheck-helper; the only place that writes its command line.
struct HelperElevation: Elevation {
  private let command: RootCommand
  private let system: any System
  /// What the helper answered to the requests of this command.
  let heard = HeardAnswers()

  /// Creates the elevation; nil without the helper, or without sudo or pkexec to start it.
  init?(_ via: RootCommand.Via, _ system: any System) {
    guard let program = Self.helper(system) else { return nil }
    command = RootCommand(via: via, program: program)
    self.system = system
    guard command.isAvailable(system) else { return nil }
  }

  /// Returns whether the helper makes such requests: by ACL, for all devices of an accessor.
  ///
  /// Everything else is for an administrator in person.
  func serves(_ argument: AccessorArgument, _ options: GrantOptions) -> Bool {
    argument.path == nil && argument.entry.isServed(system) && !options.allowsOthers
      && !options.isRecursive
      && [GrantStrategies.auto.name, "acl"].contains(options.strategy.name)
  }

  func request(_ request: ElevatedRequest) throws(PermissionError) {
    var arguments: [PathBytes] = ["grant", PathBytes(request.accessor)]
    if let need = request.need { arguments += ["--need", PathBytes(need.letters)] }
    if let expires = request.expires {
      let seconds = max(1, (expires - system.realtime()) / 1_000_000)
      arguments += ["--for", PathBytes("\(seconds)")]
    }
    if let process = request.process { arguments += ["--while", PathBytes("\(process)")] }
    heard.add(try answer(arguments, asks: true), to: request.accessor)
  }

  /// Takes back what the helper gave the calling user.
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
        .changeFailed, "permcheck-helper gave no answer that this version reads")
    }
    if let message = answer.message {
      throw PermissionError(.changeFailed, "permcheck-helper: \(message)")
    }
    return answer
  }

  /// Returns the helper that is installed beside this program: `../libexec/permcheck-helper`.
  ///
  /// Only a file that root alone can write counts, and no other folder is searched.
  private static func helper(_ system: any System) -> PathBytes? {
    guard let own = Tool.executable(system) else { return nil }
    let path = own.parent.parent.appending("libexec/permcheck-helper")
    guard let status = try? system.status(of: path), status.kind == .regular, status.uid == 0,
      status.mode & 0o022 == 0
    else { return nil }
    return path
  }
}

/// The answers of permcheck-helper to the requests of one command, in their order.
final class HeardAnswers: Sendable {
  private let answers = Mutex<[CheckDocument.HelperAnswered]>([])

  /// Returns the answers since the last call.
  func take() -> [CheckDocument.HelperAnswered] {
    answers.withLock { answers in
      defer { answers = [] }
      return answers
    }
  }

  fileprivate func add(_ answer: HelperAnswer, to accessor: String) {
    answers.withLock { $0.append(CheckDocument.HelperAnswered(accessor: accessor, answer: answer)) }
  }
}
