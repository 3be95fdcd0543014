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

  /// Checks the accessors of a batch; shows the progress only if somebody watches standard error.
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

  /// Removes what is shown; nothing is shown afterwards.
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
