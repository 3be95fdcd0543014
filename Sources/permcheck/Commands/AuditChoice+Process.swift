import PermissionKit

// Audits for another process.
extension AuditChoice {
  /// Throws an error if a process has another root directory or other mounts than this one.
  ///
  /// What it sees below the same path would be another tree.
  static func requireSamePlace(_ process: Int32, _ system: any System) throws {
    let isSame: Bool
    do throws(Errno) {
      isSame = try system.sharesPaths(withProcess: process)
    } catch {
      throw PermissionError(
        .unknownProcess, "it cannot be read where process \(process) has its files",
        path: PathBytes("/proc/\(process)/root"), call: "statx", errno: error,
        advice: "try again as root")
    }
    if !isSame {
      throw PermissionError(
        .invalidArgument,
        "process \(process) has another root directory or other mounts, so its files are others",
        advice:
          "audit from there, for the user of the process: sudo nsenter -t \(process) -m -r permcheck audit …"
      )
    }
  }

  /// Returns why a process may be refused what mode and ACL grant it; empty for other subjects.
  func doubts(
    _ subject: Subject, _ roots: [PathBytes], _ system: any System
  ) throws -> [Reason] {
    guard let process = subject.process, let top = roots.first else { return [] }
    return ProcessLayers(system, process).doubts(top, question.need, isDevice: false)
  }
}
