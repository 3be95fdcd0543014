/// A piecewise translation of user or group ids, one line of /proc/PID/uid_map a range.
///
/// See user_namespaces(7); the kernel's is `map_id_range_down()` in kernel/user_namespace.c.
public struct IDMap: Hashable, Sendable {
  /// `count` ids from `inside` on stand for the ids from `outside` on.
  public struct Range: Hashable, Sendable {
    /// The first id in the namespace, or on disk.
    public var inside: UInt32
    /// The id outside that `inside` stands for.
    public var outside: UInt32
    /// How many ids in a row, on both sides.
    public var count: UInt32

    /// Makes one of its parts.
    public init(inside: UInt32, outside: UInt32, count: UInt32) {
      self.inside = inside
      self.outside = outside
      self.count = count
    }
  }

  /// The ranges; the first that holds an id translates it.
  public var ranges: [Range]

  /// Makes a map of ranges, which should not overlap.
  public init(_ ranges: [Range]) { self.ranges = ranges }

  /// Every id stands for itself: the map of the initial user namespace.
  package static let identity = IDMap([Range(inside: 0, outside: 0, count: .max)])

  /// Reads lines of "inside outside count", as /proc/PID/uid_map has them.
  ///
  /// Nil when a line is anything else.
  package init?(lines bytes: [UInt8]) {
    ranges = []
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      if end > start {
        guard let inside = Self.number(bytes, &start, end),
          let outside = Self.number(bytes, &start, end),
          let count = Self.number(bytes, &start, end), start == end
        else { return nil }
        ranges.append(Range(inside: inside, outside: outside, count: count))
      }
      start = end + 1
    }
  }

  /// Reads one number and the blanks around it; nil where there is none or it does not fit.
  private static func number(_ bytes: [UInt8], _ index: inout Int, _ end: Int) -> UInt32? {
    let blank = UInt8(ascii: " ")
    while index < end, bytes[index] == blank { index += 1 }
    let first = index
    var value: UInt64 = 0
    while index < end, bytes[index] &- UInt8(ascii: "0") < 10 {
      value = value * 10 + UInt64(bytes[index] - UInt8(ascii: "0"))
      if value > UInt32.max { return nil }
      index += 1
    }
    guard index > first, index == end || bytes[index] == blank else { return nil }
    while index < end, bytes[index] == blank { index += 1 }
    return UInt32(value)
  }

  /// Whether every id is mapped to itself, as in the initial user namespace.
  package var isIdentity: Bool {
    ranges.count == 1 && ranges[0] == Range(inside: 0, outside: 0, count: .max)
  }

  /// The id outside that `id` inside stands for; nil where the map has none.
  package func outside(_ id: UInt32) -> UInt32? {
    for range in ranges where id >= range.inside && id - range.inside < range.count {
      let (sum, overflow) = range.outside.addingReportingOverflow(id - range.inside)
      return overflow ? nil : sum
    }
    return nil
  }

  /// The id inside that stands for `id` outside; nil where the map has none.
  package func inside(_ id: UInt32) -> UInt32? {
    for range in ranges where id >= range.outside && id - range.outside < range.count {
      let (sum, overflow) = range.inside.addingReportingOverflow(id - range.outside)
      return overflow ? nil : sum
    }
    return nil
  }
}

/// The id maps of one user namespace, or of one idmapped mount.
public struct IDMapping: Hashable, Sendable {
  /// The map of uids, as /proc/PID/uid_map.
  public var users: IDMap
  /// The map of gids, as /proc/PID/gid_map.
  public var groups: IDMap

  /// Makes one of its parts.
  public init(users: IDMap, groups: IDMap) {
    self.users = users
    self.groups = groups
  }

  /// The same for ids that are mapped already: it has those that can be seen, each for itself.
  var ofSeenIDs: IDMapping {
    func seen(_ map: IDMap) -> IDMap {
      IDMap(map.ranges.map { .init(inside: $0.outside, outside: $0.outside, count: $0.count) })
    }
    return IDMapping(users: seen(users), groups: seen(groups))
  }
}
