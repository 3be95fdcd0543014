import Foundation
import GrantJudge
import Synchronization
import TestSupport
import Testing

@testable import PermissionKit

/// Grants on random trees: the subject gets what it asked for and loses nothing, nobody else gets access or
/// loses anything, and undoing puts everything back.
@Suite(
  .blocking,
  .enabled(if: Kernel.canAsk, "mounting file systems and taking on other credentials wants root"))
struct GrantNeutralityTests {
  /// Refused requests that are planned for; of every tree the first numbers are also made for real.
  static let plans = Effort.of(100_000, atLeast: 1_000)
  static let applications = Effort.of(5_000, atLeast: 40)
  static let commands = Effort.of(200, atLeast: 10)
  static let seed = Effort.seed

  // MARK: - Planned

  /// What came of many plans.
  struct Plans {
    var trees = 0
    var planned = 0
    var impossible = 0
    var withoutAccess = 0
    var subjectLost = 0
    var subjectGotMore = 0
    var ofModes = 0
    var asked: UInt64 = 0
    var gained: UInt64 = 0
    var lost: UInt64 = 0
    var untold: [String] = []

    static func += (sum: inout Plans, one: Plans) {
      sum.trees += one.trees
      sum.planned += one.planned
      sum.impossible += one.impossible
      sum.withoutAccess += one.withoutAccess
      sum.subjectLost += one.subjectLost
      sum.subjectGotMore += one.subjectGotMore
      sum.ofModes += one.ofModes
      sum.asked += one.asked
      sum.gained += one.gained
      sum.lost += one.lost
      sum.untold += one.untold
    }
  }

  /// What the plans would do is judged by a model in C that `whatIsAppliedIsNeutral` holds to the
  /// kernel; the evaluator, by which they were made, has no say.
  @Test func `No plan gives access to anybody else`() {
    let total = Mutex(Plans())
    let workers = 8
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      var plans = Plans()
      var number = worker
      while plans.planned < Self.plans / workers {
        Self.plan(number, &plans)
        number += workers
      }
      total.withLock { $0 += plans }
    }
    let sum = total.withLock { $0 }
    print(
      "grants planned: \(sum.planned) of \(sum.trees) requests, \(sum.withoutAccess) without access,"
        + " \(sum.gained) others gain, \(sum.lost) others lose, \(sum.subjectLost) subject lost, \(sum.subjectGotMore) got more than asked;"
        + " \(sum.ofModes) without ACLs, \(sum.untold.count) gains untold,"
        + " \(sum.asked) others judged, seed \(Self.seed)")
    #expect(sum.planned >= Self.plans)
    #expect(sum.impossible == 0)
    #expect(sum.withoutAccess == 0)
    #expect(sum.subjectLost == 0)
    #expect(sum.subjectGotMore == 0)
    #expect(sum.gained == 0)
    #expect(sum.lost == 0)
    #expect(sum.untold.isEmpty, "\(sum.untold.prefix(5))")
  }

  private static func plan(_ number: Int, _ plans: inout Plans) {
    let tree = RandomTree(seed: seed, number: number)
    let hasACLs = number % 32 != 0
    let before = tree.facts(hasACLs: hasACLs)
    var least = LeastChange(facts: before, credentials: tree.subject)
    let decision = least.grant(
      tree.need, path: PathBytes("/" + tree.path), isDirectory: tree.target.kind == .directory)
    plans.trees += 1
    guard decision.isGranted else {
      plans.impossible += 1
      return
    }
    if least.changes.isEmpty { return }

    let uid = tree.subject.user.fileSystem
    let groups = [tree.subject.group.fileSystem] + tree.subject.groups
    let isDirectory = tree.target.kind == .directory
    var (gained, lost): (UInt64, UInt64) = (0, 0)
    var (subjectLost, gotMore, hasAccess) = (false, false, true)
    for index in before.inodes.indices {
      let (old, new) = (before.inodes[index], least.facts.inodes[index])
      let isTarget = index == before.inodes.count - 1
      let wanted = isTarget ? tree.digits(isDirectory: isDirectory) : 1 << 1
      new.withJudged { new in
        let permitted = judge_model(new, uid, groups, groups.count)
        hasAccess = hasAccess && permitted & wanted == wanted
      }
      if old.mode == new.mode, old.acl == new.acl { continue }
      old.withJudged { old in
        new.withJudged { new in
          let difference = judge_compare(old, new, uid)
          plans.asked += difference.asked
          gained += difference.gained
          lost += difference.lost
          let had = judge_model(old, uid, groups, groups.count)
          let has = judge_model(new, uid, groups, groups.count)
          let isFolder: Int32 = before.inodes[index].kind == .directory ? 1 : 0
          if judge_worth(had & ~has, isFolder) != 0 { subjectLost = true }
          let asked = Int32(isTarget ? tree.need.rawValue : 1)
          if judge_beyond(had, has, asked, isFolder) != 0 {
            gotMore = gotMore || !Self.isSaid(least.changes, index, tree)
          }
        }
      }
    }
    if !hasAccess { plans.withoutAccess += 1 }
    if subjectLost { plans.subjectLost += 1 }
    if gotMore { plans.subjectGotMore += 1 }
    // Who gains is told where there are no ACLs to keep it from them.
    if !hasACLs || number % 512 == 1, !isTold(least.changes, uid, (gained, lost)) {
      plans.untold.append("tree \(number)")
    }
    guard hasACLs else {
      plans.ofModes += 1
      return
    }
    plans.planned += 1
    plans.gained += gained
    plans.lost += lost
  }

  /// Whether the plan says that others gain or lose where they do, and only there.
  private static func isTold(
    _ changes: [InodeChange], _ uid: UInt32, _ others: (gained: UInt64, lost: UInt64)
  ) -> Bool {
    let classes = changes.map { SubjectClasses(of: $0.before, and: $0.after, without: [uid]) }
    let gains = !classes.allSatisfy(\.gains.isEmpty)
    let losses = !classes.allSatisfy(\.losses.isEmpty)
    return gains == (others.gained > 0) && losses == (others.lost > 0)
  }

  /// Whether the plan says that the subject can do more in a folder than was asked.
  private static func isSaid(_ changes: [InodeChange], _ index: Int, _ tree: RandomTree) -> Bool {
    changes.contains { change in
      change.inode == index
        && change.openings(at: "/", for: tree.subject).contains {
          [.root, .names].contains($0.rank)
        }
    }
  }

  // MARK: - Applied

  @Test func `No applied plan gives access to anybody else`() throws {
    let place = "/tmp/permissionkit-grants-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(
      atPath: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: place) }

    let total = Mutex<Result<LiveGrants, any Error>>(.success(LiveGrants(place: place)))
    let workers = 2
    DispatchQueue.concurrentPerform(iterations: workers) { worker in
      let some = Result {
        try LiveGrants.inOwnNamespace([place, "/var/lib"]) {
          try Self.apply(LiveGrants(place: place), worker, of: workers)
        }
      }
      total.withLock { total in
        total = Result {
          var sum = try total.get()
          sum += try some.get()
          return sum
        }
      }
    }
    let grants = try total.withLock { $0 }.get()
    let product = grants.product
    print("grants: \(product), \(product.undone) undone exactly, seed \(Self.seed)")
    print("grants by permcheck: \(grants.command), \(grants.command.undone) undone exactly")
    print("setfacl -m: \(grants.setfacl)")
    print("setfacl -m with parents: \(grants.setfaclWithParents)")
    print("chmod o+: \(grants.chmod)")
    print("chmod o+ with parents: \(grants.chmodWithParents)")
    print(
      "grants: \(grants.refused) refused requests, \(grants.asked) others asked before and after,"
        + " \(grants.disagreements) answers unlike the model's,"
        + " \(grants.compared) compared with setfacl(1), \(grants.unlikeSetfacl) unlike it;"
        + " \(grants.typed) plans typed, \(grants.unlikePlan) unlike what they did")
    #expect(grants.unplanned.isEmpty, "\(grants.unplanned.prefix(5))")
    #expect(grants.faults.isEmpty, "\(grants.faults.prefix(5))")
    #expect(grants.disagreements == 0)
    #expect(grants.compared >= (Effort.isFull ? 20 : 1))
    #expect(grants.unlikeSetfacl == 0)
    #expect(grants.typed >= (Effort.isFull ? 20 : 1))
    #expect(grants.unlikePlan == 0)
    for tally in [product, grants.command] {
      #expect(tally.access == tally.applied)
      #expect(tally.undone == tally.applied)
      #expect(tally.gained == 0)
      #expect(tally.lost == 0)
      #expect(tally.subjectLost == 0)
      #expect(tally.gotMore == 0)
    }
    // What finds no fault must be able to find one.
    #expect(grants.setfacl.gained > 0)
    #expect(grants.setfacl.subjectLost > 0)
    #expect(grants.chmodWithParents.gotMore > 0)
    #expect(grants.chmod.gained > 0)
    #expect(grants.chmod.access < grants.chmod.applied)
  }
}

extension GrantNeutralityTests {
  /// Applies grants to every n-th tree, until this worker has done its share.
  private static func apply(
    _ start: LiveGrants, _ worker: Int, of workers: Int
  ) throws -> LiveGrants {
    var grants = start
    var number = worker
    while grants.product.applied < applications / workers, grants.unplanned.count < 100 {
      try grants.apply(RandomTree(seed: seed, number: number), number)
      number += workers
    }
    while grants.command.applied < commands / workers {
      try grants.applyByCommand(RandomTree(seed: seed, number: number), number)
      number += workers
    }
    return grants
  }
}

extension RandomTree {
  /// What is asked of the target at once, as bits of a judged set: r and w by open(2), the rest by
  /// faccessat2(2).
  func digits(isDirectory: Bool) -> UInt8 {
    let (opened, rest) = questions(isDirectory: isDirectory)
    return (opened.isEmpty ? 0 : 1 << opened.rawValue) | (rest.isEmpty ? 0 : 1 << rest.rawValue)
  }

  /// What of the need open(2) asks, and what faccessat2(2): a directory cannot be opened for writing.
  func questions(isDirectory: Bool) -> (opened: Permissions, rest: Permissions) {
    let opened = need.intersection(isDirectory ? .read : [.read, .write])
    return (opened, need.subtracting(opened))
  }
}
