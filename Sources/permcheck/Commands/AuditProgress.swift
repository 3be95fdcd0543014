@_spi(SystemCalls) import PermissionKit

/// Shows on a terminal how far an audit is, and notices Ctrl-C.
final class AuditProgress {
  private let system: any System
  private let signals: Descriptor?
  private let isShown: Bool
  private let start: Int64
  private var shown: Int64 = 0

  /// Creates the progress; blocks SIGHUP, SIGINT and SIGTERM in this thread and those it starts.
  init(_ system: any System, _ console: Console, isShown: Bool) {
    self.system = system
    self.isShown = isShown && console.errorStyle.columns != nil
    signals = try? system.signalfd([
      SignalInfo.hangup, SignalInfo.interrupt, SignalInfo.terminate,
    ])
    start = system.monotonic()
  }

  deinit { if let signals { system.close(signals) } }

  /// Whether somebody asked for the end.
  var isInterrupted: Bool {
    guard let signals else { return false }
    let events = try? system.poll([PollRequest(signals, .readable)], timeout: 0)
    return events?.first?.isEmpty == false
  }

  /// Shows how many files were asked about, twice a second.
  func show(_ counts: TreeCounts) {
    let now = system.monotonic()
    guard isShown, now - max(shown, start) >= 500_000 else { return }
    shown = now
    let rate = Int64(counts.asked) * 1_000_000 / max(1, now - start)
    let (asked, refused) = (counts.asked.grouped, counts.refused.grouped)
    let text =
      "\(asked) files and folders, \(refused) refused, \(Int(rate).grouped)/s"
    write("\r\(text)\u{1b}[K")
  }

  /// Removes what is shown.
  func clear() { if shown > 0 { write("\r\u{1b}[K") } }

  private func write(_ text: String) {
    _ = try? system.write(.standardError, Array(text.utf8))
  }
}
