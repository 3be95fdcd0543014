import Foundation
import Glibc

/// A command that keeps running while the test reads its output line by line.
package final class LiveCommand {
  private let process: Process
  private let output = Pipe()
  private let errors = Pipe()
  private var rest = Data()

  /// Starts a command, see `Command.run`.
  package init(
    _ arguments: [String], environment: [String: String?] = [:], as account: Account? = nil
  ) throws {
    process = Command.prepared(arguments, environment: environment, as: account)
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
  }

  deinit {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  package var pid: Int32 { process.processIdentifier }

  package func send(_ signal: Int32) { kill(pid, signal) }

  /// Returns the next line without its newline; nil at the end or after the time limit.
  package func line(within seconds: Double = 60) -> String? {
    let descriptor = output.fileHandleForReading.fileDescriptor
    let end = Date().addingTimeInterval(seconds)
    while true {
      if let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(newline + 1)...]) }
        return String(decoding: rest[..<newline], as: UTF8.self)
      }
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = end.timeIntervalSinceNow
      guard left > 0, poll(&request, 1, Int32(left * 1000) + 1) == 1 else { return nil }
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { return nil }
      rest += part
    }
  }

  /// Stops reading the output of the command.
  package func closeOutput() throws { try output.fileHandleForReading.close() }

  /// Waits for the end of the command, and kills it after the time limit.
  ///
  /// - Parameter seconds: The time limit.
  /// - Returns: The unread output and the status; the status of SIGKILL after the time limit.
  /// - Throws: An error if the output cannot be read.
  package func finish(within seconds: Double = 60) throws -> Outcome {
    let end = Date().addingTimeInterval(seconds)
    while process.isRunning {
      if end.timeIntervalSinceNow < 0 { kill(pid, SIGKILL) }
      usleep(2000)
    }
    process.waitUntilExit()
    let text = (try? output.fileHandleForReading.readToEnd()) ?? nil
    let errors = try errors.fileHandleForReading.readToEnd()
    let isExit = process.terminationReason == .exit
    return Outcome(
      status: isExit ? process.terminationStatus : 128 + process.terminationStatus,
      output: String(decoding: rest + (text ?? Data()), as: UTF8.self),
      errors: String(decoding: errors ?? Data(), as: UTF8.self))
  }
}
