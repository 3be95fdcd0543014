import Foundation
import Glibc

extension Process {
  private static let starting = NSLock()

  /// Starts the process; one at a time.
  ///
  /// Foundation learns of the end of a process from a socket, which another process that starts at the
  /// same moment inherits; then the end is seen when both have ended.
  package func start() throws {
    try Self.starting.withLock { try run() }
  }
}

/// A command that keeps running while the test reads its output line by line.
package final class LiveCommand {
  private let process: Process
  private let input: Pipe?
  private let output = Pipe()
  private let errors = Pipe()
  /// What of the standard input is not written yet, and what of the output nobody asked for yet.
  private var (unwritten, rest, errorText) = (Data(), Data(), Data())

  /// Whether the command was killed because its time was over.
  private(set) var isOverdue = false

  /// Starts a command.
  ///
  /// - Parameters:
  ///   - arguments: The program, looked up in PATH, and its arguments.
  ///   - environment: Variables to add to the test's own; a nil value removes the variable.
  ///   - account: The ids to run with, without capabilities (needs root).
  ///   - text: What `finish` writes to the standard input; nil for /dev/null.
  /// - Throws: An error if the command could not be started.
  package init(
    _ arguments: [String], environment: [String: String?] = [:], as account: Account? = nil,
    input text: String? = nil
  ) throws {
    process = Command.prepared(arguments, environment: environment, as: account)
    input = text.map { _ in Pipe() }
    unwritten = Data((text ?? "").utf8)
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input ?? FileHandle.nullDevice
    try process.start()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  package var pid: Int32 { process.processIdentifier }

  package func send(_ signal: Int32) { kill(pid, signal) }

  /// Returns the next line without its newline; nil at the end or after the time limit.
  package func line(within seconds: Double = 60) -> String? {
    let end = Date().addingTimeInterval(seconds)
    while true {
      if let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(newline + 1)...]) }
        return String(decoding: rest[..<newline], as: UTF8.self)
      }
      var request = [Self.question(output.fileHandleForReading, POLLIN)]
      guard Self.poll(&request, until: end) else { return nil }
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { return nil }
      rest += part
    }
  }

  /// Stops reading the output of the command.
  package func closeOutput() throws { try output.fileHandleForReading.close() }

  /// Writes the input, reads the output to its end and waits for the end of the command, which is
  /// killed after the time limit.
  ///
  /// - Parameter seconds: The time limit.
  /// - Returns: The unread output and the status; the status of SIGKILL after the time limit.
  /// - Throws: An error if a killed command does not end.
  package func finish(within seconds: Double = 60) throws -> Outcome {
    let end = Date().addingTimeInterval(seconds)
    isOverdue = !communicate(until: end)
    if isOverdue { kill(pid, SIGKILL) }
    while process.isRunning {
      let late = -end.timeIntervalSinceNow
      if late > 0, !isOverdue {
        isOverdue = true
        kill(pid, SIGKILL)
      }
      guard late < 60 else {
        throw CocoaError(
          .executableLoad, userInfo: [NSLocalizedDescriptionKey: "process \(pid) survives SIGKILL"])
      }
      usleep(500)
    }
    process.waitUntilExit()
    let isExit = process.terminationReason == .exit
    return Outcome(
      status: isExit ? process.terminationStatus : 128 + process.terminationStatus,
      output: String(decoding: rest, as: UTF8.self),
      errors: String(decoding: errorText, as: UTF8.self))
  }

  // MARK: - Streams

  /// Writes and reads all streams at the same time, so that none fills up and blocks the command.
  ///
  /// - Returns: False if the time is over.
  private func communicate(until end: Date) -> Bool {
    let (reading, failing) = (output.fileHandleForReading, errors.fileHandleForReading)
    var (isReading, isFailing) = (reading.fileDescriptor >= 0, true)
    var writing = input?.fileHandleForWriting
    if let writing { _ = fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK) }
    while isReading || isFailing || writing != nil {
      if unwritten.isEmpty, let done = writing {
        try? done.close()
        writing = nil
        continue
      }
      var requests = [
        Self.question(isReading ? reading : nil, POLLIN),
        Self.question(isFailing ? failing : nil, POLLIN), Self.question(writing, POLLOUT),
      ]
      guard Self.poll(&requests, until: end) else { return false }
      if requests[0].revents != 0 { isReading = Self.read(reading, &rest) }
      if requests[1].revents != 0 { isFailing = Self.read(failing, &errorText) }
      // A command that reads no input has closed it.
      if requests[2].revents != 0, !write() { unwritten = Data() }
    }
    return true
  }

  private static func question(_ file: FileHandle?, _ events: Int32) -> pollfd {
    pollfd(fd: file?.fileDescriptor ?? -1, events: Int16(events), revents: 0)
  }

  /// Returns false if nothing came until then.
  private static func poll(_ requests: inout [pollfd], until end: Date) -> Bool {
    while true {
      let left = end.timeIntervalSinceNow
      guard left > 0 else { return false }
      let count = Glibc.poll(&requests, nfds_t(requests.count), Int32(min(left, 1e6) * 1000) + 1)
      if count > 0 { return true }
      guard count == 0 || errno == EINTR else { return false }
    }
  }

  /// Reads what is there; returns false at the end.
  private static func read(_ file: FileHandle, _ data: inout Data) -> Bool {
    let part = file.availableData
    data += part
    return !part.isEmpty
  }

  /// Writes what the command takes; returns false if it takes no more.
  private func write() -> Bool {
    guard let file = input?.fileHandleForWriting.fileDescriptor else { return false }
    let count = unwritten.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    guard count >= 0 else { return errno == EAGAIN || errno == EINTR }
    unwritten = Data(unwritten.dropFirst(count))
    return true
  }
}
