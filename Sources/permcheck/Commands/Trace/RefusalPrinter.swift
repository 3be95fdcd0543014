@_spi(SystemCalls) import PermissionKit
import PermissionTrace

/// Prints refusals: each when it comes, or at the end with equal ones counted together.
final class RefusalPrinter {
  private let system: any System
  private let format: any ReportFormat
  let file: Descriptor
  /// The name of the file; nil for standard error.
  private let path: PathBytes?
  private let isImmediate: Bool
  private var totals = RefusalTotals()
  private var hasPrinted = false
  /// Why nothing more is written.
  private var failure: Errno?
  /// The difference between the time of day and CLOCK_MONOTONIC, in microseconds.
  private let offset: Int64

  /// Opens the file before anything is run.
  init(
    _ system: any System, _ output: OutputChoice, file path: PathBytes?, isImmediate: Bool
  ) throws(PermissionError) {
    self.system = system
    self.path = path
    self.isImmediate = isImmediate
    offset = system.realtime() - system.monotonic()
    let console = Console(system, color: output.color, file: path)
    format = output.form.init(
      path == nil ? console.errorStyle : console.style, isVerbose: output.verbose)
    file =
      try path.map { (path) throws(PermissionError) in try Self.open(path, system) }
      ?? .standardError
  }

  private static func open(
    _ path: PathBytes, _ system: any System
  ) throws(PermissionError) -> Descriptor {
    do throws(Errno) {
      return try system.openat(
        .currentDirectory, path, [.writeOnly, .create, .truncate, .noControllingTerminal],
        mode: 0o666)
    } catch {
      throw PermissionError(
        .system, "\(Sanitizer.clean(path.description)) cannot be written", path: path,
        call: "open", errno: error)
    }
  }

  /// Reads what there is.
  ///
  /// - Parameters:
  ///   - stream: The stream.
  ///   - own: A process whose refusals do not count.
  func read(_ stream: RefusalStream, without own: Int32? = nil) {
    do throws(PermissionError) {
      try stream.read { refusal in
        if let own, refusal.process == UInt32(own) { return }
        if isImmediate {
          write(line(RefusalTotals.Entry(refusal)))
          hasPrinted = true
        } else {
          totals.add(refusal)
        }
      }
    } catch {
      Console.report(error.description, system)
    }
  }

  /// Prints lines for people: before the refusals, or on standard error where programs read them.
  func note(_ lines: [String]) {
    if !format.noRefusals.isEmpty {
      write(lines.map { "permcheck: \($0)\n" }.joined())
    } else {
      for line in lines { Console.report(line, system) }
    }
  }

  /// Prints the totals, and what is missing from them.
  func finish(_ stream: RefusalStream) {
    write(totals.entries.map(line).joined())
    hasPrinted = hasPrinted || !totals.entries.isEmpty
    if !hasPrinted, totals.dropped == 0, stream.lost == 0 { write(format.noRefusals) }
    if totals.dropped > 0 {
      Console.warn(
        "\(totals.dropped) refusals are not listed, because there were more than \(totals.limit) different ones",
        system)
    }
    let lost = stream.lost
    if lost > 0 {
      Console.warn(
        "\(lost) refusals or processes were missed, because they came faster than they were read",
        system)
    }
    if stream.replacements > 0 {
      Console.warn(
        "the process that traces was killed, and another one went on; refusals of that moment may be missing",
        system)
    }
    if let failure, failure != .EPIPE {
      Console.warn("\(path ?? "standard error") could not be written (\(failure))", system)
    }
  }

  private func line(_ entry: RefusalTotals.Entry) -> String {
    func time(_ nanoseconds: UInt64) -> Int64 { offset + Int64(nanoseconds / 1000) }
    let line = RefusalLine(
      refusal: entry.first, count: entry.count, first: time(entry.first.time),
      last: time(entry.lastTime))
    do {
      return try format.text(line)
    } catch {
      Console.report("\(error)", system)
      return ""
    }
  }

  private func write(_ text: String) {
    if failure != nil || text.isEmpty { return }
    do throws(Errno) {
      try system.writeAll(file, Array(text.utf8))
    } catch {
      failure = error
    }
  }
}
