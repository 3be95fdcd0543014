@_spi(SystemCalls) import PermissionKit
import Synchronization

/// Shows on a terminal how many files and folders were looked through for what they inherited.
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
    write("\r\(count.grouped) files and folders looked through\u{1b}[K")
  }

  /// Removes what is shown.
  func clear() { if hasShown.load(ordering: .relaxed) { write("\r\u{1b}[K") } }

  private func write(_ text: String) {
    _ = try? system.write(.standardError, Array(text.utf8))
  }
}
