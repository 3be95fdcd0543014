@_spi(SystemCalls) import PermissionKit
import Synchronization

/// Shows on a terminal which accessor is being checked, if the check takes longer than a second.
///
/// A thread of its own writes the line, because one accessor alone may take that long.
final class CheckProgress: Sendable {
  private struct State {
    var text = ""
    var shown = ""
    var isOver = false
  }

  private let state = Mutex(State())
  private let system: any System
  private let columns: Int
  /// Ends the thread.
  private let end: EventFD

  /// Checks the accessors of a batch; shows the progress only if standard error is a terminal that
  /// shows it.
  static func run(
    _ batch: AccessBatch, _ analytics: AnalyticsLog, _ system: any System, _ console: Console
  ) throws -> [AccessReport] {
    guard let columns = console.watchedColumns, let progress = Self(system, columns) else {
      return try analytics.together { try batch.check().reports }
    }
    defer { progress.finish() }
    return try analytics.together { try batch.check { progress.note($0) }.reports }
  }

  private init?(_ system: any System, _ columns: Int) {
    guard let end = try? EventFD(system) else { return nil }
    (self.system, self.columns, self.end) = (system, columns, end)
    _ = DetachedThread.start { self.show() }
  }

  private func note(_ progress: BatchProgress) {
    if progress.status == nil { state.withLock { $0.text = progress.description } }
  }

  /// Erases the progress line, which does not appear again.
  private func finish() {
    state.withLock {
      $0.isOver = true
      if !$0.shown.isEmpty { write("\r\u{1b}[K") }
    }
    end.signal()
  }

  private func show() {
    var wait: Int32 = 1000
    while true {
      let events = try? system.poll([end.request], timeout: wait)
      let isOver = state.withLock { state in
        if state.isOver || events?.first?.isEmpty == false { return true }
        if state.text != state.shown {
          // A line that is too long would stay on the screen.
          let text = state.text.displayWidth < columns ? state.text : ""
          write("\r\(text)\u{1b}[K")
          state.shown = state.text
        }
        return false
      }
      if isOver { return }
      wait = 200
    }
  }

  private func write(_ text: String) {
    _ = try? system.write(.standardError, Array(text.utf8))
  }
}

/// Shows the progress of an audit on a terminal, and notices Ctrl-C.
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

  /// Whether a signal asked for the end.
  var isInterrupted: Bool {
    guard let signals else { return false }
    let events = try? system.poll([PollRequest(signals, .readable)], timeout: 0)
    return events?.first?.isEmpty == false
  }

  /// Shows the number of checked files, twice a second.
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

  /// Erases the progress line.
  func clear() { if shown > 0 { write("\r\u{1b}[K") } }

  private func write(_ text: String) {
    _ = try? system.write(.standardError, Array(text.utf8))
  }
}

/// Shows on a terminal how many files and folders were searched for inherited entries.
final class RevokeProgress: Sendable {
  private let system: any System
  private let isShown: Bool
  private let last: Mutex<Int64>
  private let hasShown = Atomic(false)

  /// Creates the progress of a revocation that begins now.
  init(_ system: any System, _ console: Console, isQuiet: Bool) {
    self.system = system
    isShown = !isQuiet && console.errorStyle.columns != nil
    last = Mutex(system.monotonic())
  }

  /// Shows a number, twice a second.
  func show(_ count: Int) {
    guard isShown else { return }
    let now = system.monotonic()
    let isDue = last.withLock { last in
      if now - last < 500_000 { return false }
      last = now
      return true
    }
    guard isDue else { return }
    hasShown.store(true, ordering: .relaxed)
    write("\r\(count.grouped) files and folders searched\u{1b}[K")
  }

  /// Erases the progress line.
  func clear() { if hasShown.load(ordering: .relaxed) { write("\r\u{1b}[K") } }

  private func write(_ text: String) {
    _ = try? system.write(.standardError, Array(text.utf8))
  }
}
