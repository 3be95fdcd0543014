extension System {
  /// The process of that number; nil when there is none that /proc shows, or it has ended and only
  /// its parent has not asked for its status yet.
  public func mark(of pid: Int32) -> Grant.ProcessMark? {
    guard let stat = try? contents(of: PathBytes("/proc/\(pid)/stat")),
      let end = stat.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    // The name, in parentheses, may hold anything; what follows are fields 3 and on.
    let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 19, !["Z", "X"].contains(String(decoding: fields[0], as: UTF8.self)),
      let start = UInt64(String(decoding: fields[19], as: UTF8.self))
    else {
      return nil
    }
    return Grant.ProcessMark(pid: pid, start: start)
  }
}
