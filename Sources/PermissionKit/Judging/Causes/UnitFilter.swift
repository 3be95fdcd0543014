/// The filter of system calls that a unit sets.
struct UnitFilter: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefused(as: .seccomp), evidence.confinement.boundary == nil else {
      return nil
    }
    for case (.service(let unit, let settings), let found) in evidence.confinement.found {
      let filters = settings.filter { $0.hasPrefix("SystemCallFilter=") }
      guard !filters.isEmpty else { continue }
      var reason = Reason(
        .sandbox, .suspected,
        "\(unit.name) has a filter of system calls (\(filters.joined(separator: ", ")))",
        evidence: found)
      reason.ownWhose = .service
      // Adds to a list of allowed calls, and takes out of one of refused calls.
      return Finding(
        reasons: [reason], remedies: [.unit(unit, ["SystemCallFilter=openat openat2 ioctl"])])
    }
    return nil
  }
}
