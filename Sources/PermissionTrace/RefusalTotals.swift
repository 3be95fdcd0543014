internal import PermissionKit

/// Refusals of a program, with equal ones counted together.
///
/// Two refusals are equal if operation, paths, errno, program and ids are. A program may be refused without
/// an end, so the number of different ones is bounded; what comes after that is only counted.
public struct RefusalTotals: Sendable {
  /// Refusals that are equal.
  public struct Entry: Sendable {
    /// The first of them.
    public let first: Refusal
    /// When the last of them happened: CLOCK_MONOTONIC, in nanoseconds.
    public fileprivate(set) var lastTime: UInt64
    /// How many there were.
    public fileprivate(set) var count = 1

    /// Creates an entry for one refusal.
    public init(_ refusal: Refusal) { (first, lastTime) = (refusal, refusal.time) }
  }

  private struct Key: Hashable {
    let number: Int32
    let interface: Refusal.Interface
    let path, secondPath: PathBytes?
    let errno: Errno
    let name: PathBytes
    let user, group: UInt32

    init(_ refusal: Refusal) {
      (number, interface) = (refusal.number, refusal.interface)
      (path, secondPath) = (refusal.path, refusal.secondPath)
      (errno, name) = (refusal.errno, refusal.name)
      (user, group) = (refusal.credentials.user.fileSystem, refusal.credentials.group.fileSystem)
    }
  }

  /// The most different refusals that are kept.
  public let limit: Int
  private var indices: [Key: Int] = [:]

  /// The different refusals, in the order in which each came first.
  public private(set) var entries: [Entry] = []
  /// How many refusals are in no entry, because there were more different ones than the limit.
  public private(set) var dropped = 0

  /// Creates totals without refusals.
  ///
  /// - Parameter limit: The most different refusals that are kept.
  public init(limit: Int = 100_000) { self.limit = limit }

  /// Counts a refusal.
  public mutating func add(_ refusal: Refusal) {
    let key = Key(refusal)
    if let index = indices[key] {
      entries[index].count += 1
      entries[index].lastTime = refusal.time
    } else if entries.count < limit {
      indices[key] = entries.count
      entries.append(Entry(refusal))
    } else {
      dropped += 1
    }
  }
}
