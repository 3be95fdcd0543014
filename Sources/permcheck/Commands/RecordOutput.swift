@_spi(SystemCalls) import PermissionKit
import Synchronization

/// Standard output for records that several threads write while more of them are found.
final class RecordOutput: Sendable {
  private let state = Mutex<Errno?>(nil)

  /// The errno of the write that failed; nil if all was written.
  var failure: Errno? { state.withLock { $0 } }

  /// Writes whole records, unless a write has failed before.
  func write(_ records: [UInt8]) {
    state.withLock { failure in
      guard failure == nil else { return }
      do throws(Errno) {
        try LinuxSystem().writeAll(.standardOutput, records)
      } catch {
        failure = error
      }
    }
  }
}
