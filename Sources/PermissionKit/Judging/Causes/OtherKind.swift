/// A file of another type than what is needed, or another device.
struct OtherKind: Cause {
  func find(in evidence: Evidence) -> Finding? {
    evidence.otherKind.map { Finding(status: .unavailable, reasons: [$0], replaces: .all) }
  }
}
