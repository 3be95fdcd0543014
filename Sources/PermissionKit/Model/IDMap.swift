/// A translation of user or group ids; each line of /proc/PID/uid_map is one range.
///
/// See user_namespaces(7) and `map_id_range_down()` in kernel/user_namespace.c.
@_spi(SystemCalls) public struct IDMap: Hashable, Sendable {
  /// A range of ids: `count` ids from `inside` on stand for the ids from `outside` on.
  public struct Range: Hashable, Sendable {
    /// The first id in the namespace, or on disk.
    public var inside: UInt32
    /// The id outside that the first id stands for.
    public var outside: UInt32
    /// The number of ids in the range.
    public var count: UInt32

    /// Creates a range of ids.
    ///
    /// - Parameters:
    ///   - inside: The first id in the namespace, or on disk.
    ///   - outside: The id outside that the first id stands for.
    ///   - count: The number of ids.
    public init(inside: UInt32, outside: UInt32, count: UInt32) {
      self.inside = inside
      self.outside = outside
      self.count = count
    }
  }

  /// The ranges; the first range that contains an id translates the id.
  public var ranges: [Range]

  /// Creates a map of these ranges, which should not overlap.
  public init(_ ranges: [Range]) { self.ranges = ranges }

  /// The map of the initial user namespace: every id stands for itself.
  package static let identity = IDMap([Range(inside: 0, outside: 0, count: .max)])

  /// Creates a map from lines of "inside outside count", the format of /proc/PID/uid_map.
  ///
  /// Empty lines are ignored. Nil if a line has any other format.
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

  /// Reads one number and the blanks around it; nil if there is no number or it exceeds 32 bits.
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

  /// Whether this is the map of the initial user namespace, where every id stands for itself.
  package var isIdentity: Bool {
    ranges.count == 1 && ranges[0] == Range(inside: 0, outside: 0, count: .max)
  }

  /// Returns the id outside that `id` stands for; nil if the map does not contain `id`.
  package func outside(_ id: UInt32) -> UInt32? {
    for range in ranges where id >= range.inside && id - range.inside < range.count {
      let (sum, overflow) = range.outside.addingReportingOverflow(id - range.inside)
      return overflow ? nil : sum
    }
    return nil
  }

  /// Returns the id inside that stands for `id`; nil if the map does not contain `id`.
  package func inside(_ id: UInt32) -> UInt32? {
    for range in ranges where id >= range.outside && id - range.outside < range.count {
      let (sum, overflow) = range.inside.addingReportingOverflow(id - range.outside)
      return overflow ? nil : sum
    }
    return nil
  }
}

/// The id maps of one user namespace or of one idmapped mount.
@_spi(SystemCalls) public struct IDMapping: Hashable, Sendable {
  /// The map of uids, as in /proc/PID/uid_map.
  public var users: IDMap
  /// The map of gids, as in /proc/PID/gid_map.
  public var groups: IDMap

  /// Creates a pair of id maps.
  public init(users: IDMap, groups: IDMap) {
    self.users = users
    self.groups = groups
  }

  /// The identity map over the visible ids, for ids that are translated already.
  var identityOfVisibleIDs: IDMapping {
    func visible(_ map: IDMap) -> IDMap {
      IDMap(map.ranges.map { .init(inside: $0.outside, outside: $0.outside, count: $0.count) })
    }
    return IDMapping(users: visible(users), groups: visible(groups))
  }
}
