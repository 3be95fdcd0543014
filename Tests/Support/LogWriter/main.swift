// log-writer FILE COUNT GATE: writes COUNT events into the log FILE through the public interface.
//
// Writes one byte to standard output when ready, then waits for a shared lock on GATE, so that many
// writers start together. Every tenth event has a long name, which makes its line longer than
// PIPE_BUF. `duration` is the number of the event.
import Glibc
@_spi(SystemCalls) import PermissionKit

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int64(arguments[2]) else { exit(64) }
let log = AnalyticsLog.file(PathBytes(arguments[1]))
let gate = open(arguments[3], O_RDONLY | O_CLOEXEC)
guard gate >= 0, write(1, ".", 1) == 1, flock(gate, LOCK_SH) == 0 else { exit(70) }
for number in 0..<count {
  let name = number % 10 == 9 ? String(repeating: "long\u{e9}\"\n", count: 1_000) : "camera"
  log.log(
    AccessEvent(
      time: "2030-01-02T03:04:05.678901Z", event: .check, accessor: name, status: .denied,
      reason: .notInGroup, uid: getuid(), pid: getpid(), duration: number))
}
exit(log.failure == nil ? 0 : 1)
