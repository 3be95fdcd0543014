import ArgumentParser
import PermissionKit

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Summarises the analytics log: checks, grants and refusals of each accessor.",
    discussion: """
      A check counts as granted if its status is authorized or limited, and as
      refused if its status is denied or restricted. Other checks count as neither.

      EXAMPLES
        permcheck log
        permcheck log --json --log /var/log/permcheck.jsonl
      """)

  @OptionGroup var output: OutputOptions
  @OptionGroup var log: LogOptions

  func run() throws {
    let system = LinuxSystem()
    let console = Console(system, output)
    guard let path = log.chosen(system), path != "none", path != "-" else {
      throw ValidationError("there is no log file to summarise; choose one with --log FILE")
    }
    let (events, unreadable) = try read(path, system)
    if unreadable > 0 {
      console.warn("\(path): ignored \(unreadable) line(s) that are not events")
    }
    let summary = LogSummary(lines: lines(events), unreadable: unreadable)
    console.print(try output.format(console).text(summary))
    try console.finish(.authorized)
  }

  private func read(_ path: PathBytes, _ system: any System) throws -> ([AccessEvent], Int) {
    do throws(Errno) {
      let found = AccessEvent.events(inLines: try system.contents(of: path, limit: 1 << 30))
      return (found.events, found.unreadable)
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
        let isGranted = event.status == .authorized || event.status == .limited
        line.granted += isGranted ? 1 : 0
        line.refused += [.denied, .restricted].contains(event.status) ? 1 : 0
      case .willReceiveAccess: line.requests += 1
      case .didReceiveAccess, .didRejectAccess: break
      }
      lines[event.accessor] = line
    }
    return lines.values.sorted { $0.accessor < $1.accessor }
  }
}
