package import Foundation
import Glibc

/// The result of a process.
package struct Outcome {
  package let status: Int32
  package let output: String
  package let errors: String
}

/// The ids that a process runs with.
package struct Account {
  package let uid: UInt32
  package let gid: UInt32
  package let groups: [UInt32]

  package init(uid: UInt32, gid: UInt32, groups: [UInt32] = []) {
    self.uid = uid
    self.gid = gid
    self.groups = groups
  }
}

package enum Command {
  /// The folder of the products of `swift build`, which contains the running test bundle.
  package static let products: URL = {
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    return own.deletingLastPathComponent()
  }()

  /// The path of a copy of the built permcheck that every user can run.
  ///
  /// PERMCHECK_BINARY=FILE tests another one, such as the release, and the helper FILE-helper.
  package static let permcheck: String = copied("permcheck", to: "bin")

  /// The path of a copy of the built permcheck-helper, where permcheck looks for it.
  package static let helper: String = copied("permcheck-helper", to: "libexec")

  /// The file of permcheck that is tested, with its helper beside it.
  package static let original =
    Variables.value("PERMCHECK_BINARY")
    ?? products.appending(path: "permcheck").path

  private static func copied(_ product: String, to name: String) -> String {
    let folder = "/tmp/permissionkit-tests-\(ProcessInfo.processInfo.processIdentifier)"
    let copy = "\(folder)/\(name)/\(product)"
    let file = original + product.dropFirst("permcheck".count)
    guard (try? run(["install", "-D", "-m", "755", file, copy]))?.status == 0 else {
      fatalError("\(file) cannot be copied to \(copy)")
    }
    _ = chmod(folder, 0o755)
    _ = chmod("\(folder)/\(name)", 0o755)
    atexit {
      try? FileManager.default.removeItem(
        atPath: "/tmp/permissionkit-tests-\(ProcessInfo.processInfo.processIdentifier)")
    }
    return copy
  }

  /// Writes a program that can be started at once.
  ///
  /// By another process: what this one has open for writing, a child of another test may hold for a
  /// moment, and then execve(2) fails with ETXTBSY.
  package static func write(program: String, to path: String) throws {
    let script = "cat >\"$0\" && chmod 755 \"$0\""
    let outcome = try run(["sh", "-c", script, path], input: program)
    guard outcome.status == 0 else {
      throw CocoaError(
        .fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: outcome.errors])
    }
  }

  /// Runs a command in the root directory and waits for its end.
  ///
  /// - Parameters:
  ///   - arguments: The program, looked up in PATH, and its arguments.
  ///   - environment: Variables to add to the test's own; a nil value removes the variable.
  ///   - account: The ids to run with, without capabilities (needs root).
  ///   - input: The standard input of the command.
  ///   - seconds: The time limit.
  /// - Returns: The output and the exit status, or 128 plus the number of the signal that ended the
  ///   command.
  /// - Throws: An error if the command could not be started, or has not ended within the time limit.
  package static func run(
    _ arguments: [String], environment: [String: String?] = [:], as account: Account? = nil,
    input: String = "", within seconds: Double = 900
  ) throws -> Outcome {
    let command = try LiveCommand(
      arguments, environment: environment, as: account, input: input)
    let outcome = try command.finish(within: seconds)
    guard !command.isOverdue else {
      let text = "\(arguments) did not end within \(seconds) s: \(outcome.errors.suffix(2000))"
      throw CocoaError(.executableLoad, userInfo: [NSLocalizedDescriptionKey: text])
    }
    return outcome
  }

  /// Returns a process that is not started yet and has the streams of the test.
  static func prepared(
    _ arguments: [String], environment: [String: String?], as account: Account?
  ) -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    var command = arguments
    if let account {
      let groups =
        account.groups.isEmpty
        ? ["--clear-groups"]
        : ["--groups", account.groups.map(String.init).joined(separator: ",")]
      command =
        ["setpriv", "--reuid", "\(account.uid)", "--regid", "\(account.gid)"] + groups
        + ["--inh-caps=-all"] + arguments
    }
    // A thread of Dispatch blocks almost every signal, and a child inherits the blocked signals.
    // Without SIGCHLD the `wait` of a shell never ends. GNU env resets the signals.
    process.arguments = ["--default-signal"] + command
    var variables = Variables.all
    variables["PERMCHECK_LOG"] = "none"
    variables["LC_ALL"] = "C.UTF-8"
    for (name, value) in environment { variables[name] = value }
    // The checkout may be where other users may not enter; a shell looks at PWD.
    variables["PWD"] = "/"
    process.environment = variables
    process.currentDirectoryURL = URL(filePath: "/")
    return process
  }

  /// Runs the built permcheck.
  package static func permcheck(
    _ arguments: [String], environment: [String: String?] = [:], as account: Account? = nil
  ) throws -> Outcome {
    try run([Self.permcheck as String] + arguments, environment: environment, as: account)
  }
}
