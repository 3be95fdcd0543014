import ArgumentParser
@_spi(SystemCalls) import PermissionKit
import PermissionKitLogging
import PermissionKitPlugins

struct Log: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Sums up earlier checks.",
    usage: "permcheck log [OPTION …]",
    discussion: """
      EXAMPLES
        permcheck log
        permcheck log --since 7d --user www-data --accessor camera
        permcheck log --json --log /var/log/permcheck.jsonl
        permcheck log --since 1d --format openmetrics

      A check counts as granted if its status is authorized or limited, and as
      refused if its status is denied or restricted. The share is that of the
      checks for which there was a device or folder. Checks with --root are not
      counted.
      """)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only events since this long ago: 12h, 7d.", valueName: "duration"))
  var since: TimeSpan?

  @Option(
    help: ArgumentHelp("Only checks of this user's access.", valueName: "name|uid"),
    completion: .users)
  var user: TextArgument?

  @Option(help: ArgumentHelp("Only this accessor.", valueName: "name"), completion: .accessors)
  var accessor: String?

  @OptionGroup var output: FormatOptions
  @OptionGroup var log: LogOptions

  func run(_ accessors: Accessors) throws {
    let system = LinuxSystem()
    let console = Console(system, color: output.color)
    guard let path = log.choice.chosen(system), !AnalyticsLog.placesWithoutFile.contains(path)
    else {
      throw ValidationError("there is no log file to summarise; choose one with --log FILE")
    }
    let name = try accessor.map {
      try AccessorArgument(PathBytes($0), accessors).entry.name
    }
    let uid = try user.map { try self.uid($0.text, system) }
    let start = since.map { Timestamp.rfc3339(system.realtime() - $0.microseconds) }
    let (events, unreadable) = try read(path, system)
    if unreadable > 0 {
      console.warn("\(path): ignored \(unreadable) line(s) that are not events")
    }
    let chosen = events.filter { event in
      // Times of one form are ordered as texts are. A what-if is no check of this machine.
      event.root == nil && (start.map { $0 <= event.time } ?? true)
        && (uid.map { $0 == event.subject ?? event.uid } ?? true)
        && (name.map { $0 == event.accessor } ?? true)
    }
    let summary = LogSummary(lines: lines(chosen), unreadable: unreadable)
    console.print(try output.format(console).text(summary))
    try console.finish(.authorized)
  }

  private func uid(_ text: String, _ system: any System) throws -> UInt32 {
    do throws(PermissionError) {
      return try UserDatabase(system).subject(.user(text)).credentials.user.fileSystem
    } catch {
      // Events of a user who is gone are still there.
      guard let number = UInt32(text) else { throw error }
      return number
    }
  }

  private func read(_ path: PathBytes, _ system: any System) throws -> ([AccessEvent], Int) {
    func events(_ path: PathBytes) throws(Errno) -> ([AccessEvent], Int) {
      let found = AccessEvent.events(inLines: try system.contents(of: path, limit: 1 << 30))
      return (found.events, found.unreadable)
    }
    do throws(Errno) {
      let old = try? events(FileLogging(path, system: system).oldPath)
      let new = try events(path)
      return ((old?.0 ?? []) + new.0, (old?.1 ?? 0) + new.1)
    } catch .ENOENT where log.log == nil {
      return ([], 0)
    } catch {
      throw PermissionError(
        .system, "the analytics log \(path) cannot be read", path: path, call: "open",
        errno: error, advice: "choose another file with --log FILE")
    }
  }

  private func lines(_ events: [AccessEvent]) -> [LogSummary.Line] {
    var lines: [String: LogSummary.Line] = [:]
    for event in events {
      var line = lines[event.accessor] ?? LogSummary.Line(accessor: event.accessor)
      switch event.event {
      case .check:
        line.checks += 1
        switch event.status {
        case .authorized, .limited: line.granted += 1
        case .denied, .restricted: line.refused += 1
        case .unavailable: line.unavailable += 1
        case .notDetermined: break
        }
      case .willReceiveAccess: line.requests += 1
      case .didReceiveAccess, .didRejectAccess: break
      }
      lines[event.accessor] = line
    }
    return lines.values.sorted { $0.accessor < $1.accessor }
  }
}
