/// The umask of whoever makes a new file, where it decides and is not known.
struct UnknownUmask: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard let future = evidence.future, let closed = future.closed,
      evidence.isGranted != closed.isGranted
    else { return nil }
    func word(_ evidence: Evidence) -> String { evidence.isGranted ? "granted" : "refused" }
    let reason = Reason(
      .unknownUmask, .proven,
      "the umask of \(future.creator.subject.displayName) decides and is unknown: with umask 000 \(word(evidence)), with 777 \(word(closed))"
    )
    return Finding(status: .notDetermined, reasons: [reason], replaces: .all)
  }
}
