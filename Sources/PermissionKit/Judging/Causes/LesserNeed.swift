/// Fewer permissions than were asked for, with which the resource is of use: a folder that can be read.
struct LesserNeed: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard !evidence.isGranted, evidence.grantsLess else { return nil }
    return Finding(status: .limited)
  }
}
