import Foundation
import GrantJudge
import TestSupport

@_spi(SystemCalls) @testable import PermissionKit

/// The test itself could not be carried out.
private struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// Throws for a negative errno.
private func check(_ result: Int32, _ what: String) throws {
  guard result < 0 else { return }
  throw Failure(description: "\(what): \(String(cString: strerror(-result)))")
}

/// Makes random trees in the running kernel, applies grants and what people do instead, and has the
/// kernel tell who can do what before and after.
struct LiveGrants {
  /// What came of one way to give access.
  struct Tally: CustomStringConvertible {
    var applied = 0
    var access = 0
    /// Cases in which somebody other than the subject gained, or lost.
    var gained = 0
    var lost = 0
    var subjectLost = 0
    /// Cases in which the subject can do more than was asked, and nobody says so.
    var gotMore = 0
    var undone = 0

    mutating func count(_ changes: judge_changes, hasAccess: Bool, isSaid: Bool) {
      applied += 1
      access += hasAccess ? 1 : 0
      gained += changes.gained > 0 ? 1 : 0
      lost += changes.lost > 0 ? 1 : 0
      subjectLost += changes.subject_lost != 0 ? 1 : 0
      gotMore += changes.subject_got_more != 0 && !isSaid ? 1 : 0
    }

    static func += (sum: inout Tally, one: Tally) {
      sum.applied += one.applied
      sum.access += one.access
      sum.gained += one.gained
      sum.lost += one.lost
      sum.subjectLost += one.subjectLost
      sum.gotMore += one.gotMore
      sum.undone += one.undone
    }

    var description: String {
      func percent(_ count: Int) -> String {
        count == 0 || count == applied
          ? "" : " (\(Double(1000 * count / max(applied, 1)) / 10) %)"
      }
      return "\(applied) applied, \(access)\(percent(access)) have access,"
        + " \(gained)\(percent(gained)) others gain, \(lost)\(percent(lost)) others lose,"
        + " \(subjectLost)\(percent(subjectLost)) subject lost, \(gotMore)\(percent(gotMore)) got more"
    }
  }

  let place: String
  var product = Tally()
  var command = Tally()
  var setfacl = Tally()
  var setfaclWithParents = Tally()
  var chmod = Tally()
  var chmodWithParents = Tally()
  var refused = 0
  var asked = 0
  var disagreements: UInt64 = 0
  var compared = 0
  var unlikeSetfacl = 0
  var typed = 0
  var unlikePlan = 0
  /// Requests that were refused, and for which there was no plan.
  var unplanned: [String] = []
  /// Grants that did not do what they are for.
  var faults: [String] = []
  private let system = LinuxSystem()

  init(place: String) { self.place = place }

  static func += (sum: inout LiveGrants, one: LiveGrants) {
    sum.product += one.product
    sum.command += one.command
    sum.setfacl += one.setfacl
    sum.setfaclWithParents += one.setfaclWithParents
    sum.chmod += one.chmod
    sum.chmodWithParents += one.chmodWithParents
    sum.refused += one.refused
    sum.asked += one.asked
    sum.disagreements += one.disagreements
    sum.compared += one.compared
    sum.unlikeSetfacl += one.unlikeSetfacl
    sum.typed += one.typed
    sum.unlikePlan += one.unlikePlan
    sum.unplanned += one.unplanned
    sum.faults += one.faults
  }

  /// Calls `body` on a thread that has mounts of its own: empty file systems on these folders.
  ///
  /// What it starts has them, too.
  static func inOwnNamespace(
    _ folders: [String], _ body: @escaping @Sendable () throws -> LiveGrants
  ) throws -> LiveGrants {
    nonisolated(unsafe) var result: Result<LiveGrants, any Error>?
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      result = Result {
        let names = folders.map { strdup($0) }
        defer { names.forEach { free($0) } }
        try check(
          judge_enter_namespace(names.map { UnsafePointer($0) }, names.count), "a mount namespace")
        return try body()
      }
      done.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
    done.wait()
    guard let result else { throw Failure(description: "no result") }
    return try result.get()
  }

  // MARK: - One tree

  private enum Time {
    static let before: Int32 = 0
    static let after: Int32 = 1
    static let undone: Int32 = 2
    static let other: Int32 = 3
  }

  /// Makes the tree, and looks at it as it is before anything is changed.
  private mutating func plant(_ tree: inout RandomTree, _ name: String) throws -> OpaquePointer {
    let base = "\(place)/\(name)"
    try check(mkdir(base, 0o755), "mkdir")
    guard let judged = judge_open(base, tree.path) else { throw Failure(description: "judge_open") }
    var path = ""
    for (index, inode) in tree.inodes.enumerated() {
      path += index == 0 ? "0" : "/\(index)"
      let kinds: [FileKind: Character] = [
        .directory: "d", .regular: "f", .fifo: "p", .characterDevice: "c",
      ]
      let kind = CChar(bitPattern: kinds[inode.kind]?.asciiValue ?? 0)
      try check(inode.withJudged { judge_make(judged, path, kind, $0) }, "making \(path)")
    }
    // At the end: what is made in a directory would inherit it.
    if let acl = tree.target.defaultACL {
      try check(judge_set_default(judged, acl.judged, acl.entries.count), "default ACL")
    }
    for one in [tree.subject] + tree.bystanders() {
      judge_add_subject(
        judged, one.user.fileSystem, one.group.fileSystem, one.groups, one.groups.count)
    }
    try check(judge_look(judged, Time.before), "looking")
    disagreements += judge_disagreements(judged, Time.before)
    return judged
  }

  private func reaches(_ judged: OpaquePointer, _ tree: RandomTree) throws -> Bool {
    let isDirectory = tree.target.kind == .directory
    let (opened, rest) = tree.questions(isDirectory: isDirectory)
    let result = judge_reaches(
      judged, Int32(opened.rawValue), Int32(rest.rawValue), isDirectory ? 1 : 0)
    try check(result, "asking")
    return result == 1
  }

  /// Looks at what was done, and counts it.
  private mutating func judge(
    _ judged: OpaquePointer, _ tree: RandomTree, at time: Int32,
    _ tally: WritableKeyPath<LiveGrants, Tally>, said: [String] = []
  ) throws -> (changes: judge_changes, hasAccess: Bool) {
    try check(judge_look(judged, time), "looking")
    disagreements += judge_disagreements(judged, time)
    let changes = judge_changes(judged, Time.before, time, Int32(tree.need.rawValue))
    let hasAccess = try reaches(judged, tree)
    let isSaid = said.contains { $0.contains("can then create") }
    self[keyPath: tally].count(changes, hasAccess: hasAccess, isSaid: isSaid)
    return (changes, hasAccess)
  }

  private mutating func note(
    _ what: String, _ changes: judge_changes, _ hasAccess: Bool, isUndone: Bool
  ) {
    var wrong: [String] = []
    if !hasAccess { wrong.append("no access") }
    if changes.gained > 0 { wrong.append("others gain") }
    if changes.lost > 0 { wrong.append("others lose") }
    if changes.subject_lost != 0 { wrong.append("the subject loses") }
    if !isUndone { wrong.append("not undone") }
    if !wrong.isEmpty { faults.append("\(what): \(wrong.joined(separator: ", "))") }
  }

  /// Grants by the planner and its commands, and gives access in other ways.
  mutating func apply(_ tree: RandomTree, _ number: Int) throws {
    var tree = tree
    let judged = try plant(&tree, "\(number)")
    defer { judge_close(judged) }
    if try reaches(judged, tree) { return }
    refused += 1

    let path = PathBytes("\(place)/\(number)/\(tree.path)")
    let resource = Resource(
      path: path, label: "t", device: "t", need: tree.need, kind: tree.target.kind)
    let subject = Subject(source: .ids, credentials: tree.subject)
    let context = AccessContext(system: system, subject: subject)
    let target = Inspection.Target(name: "test", set: ResourceSet(resources: [resource]))
    let inspection = try Inspection(context, users: UserDatabase(IDNames())) { _ in [target] }
    let request = GrantRequest(
      accessor: "test", inspection: inspection, asks: [inspection.ask(resource)],
      allowsOthers: false, isRecursive: false)
    do {
      guard let plan = try GrantStrategies.auto.plan(request) else {
        unplanned.append("tree \(number)")
        return
      }
      // A journal is read whole each time, so each serves a few trees.
      let file = PathBytes("\(place)/journal/\(number / 8).jsonl")
      let journal = GrantJournal(file, system: system)
      _ = try journal.carryOut { _ in plan.grants() }
      let seen = try judge(judged, tree, at: Time.after, \.product, said: plan.warnings)
      asked += judge_subjects(judged) - 1
      var isUndone = try journal.undo { _ in true }.notes.isEmpty
      try check(judge_look_at_states(judged, Time.undone), "looking")
      isUndone = isUndone && judge_is_same(judged, Time.before, Time.undone) != 0
      product.undone += isUndone ? 1 : 0
      note("tree \(number)", seen.changes, seen.hasAccess, isUndone: isUndone)
      // Where it was not undone, the others shall have the same tree all the same.
      if !isUndone { try check(judge_restore(judged, Time.before), "restoring") }
      if typed < 40, !tree.inodes.contains(where: \.hasDuplicates) {
        try runCommands(of: plan, judged)
      }
    } catch let error as PermissionError {
      unplanned.append("tree \(number): \(error)")
      try check(judge_restore(judged, Time.before), "restoring")
    }
    try applyOthers(judged, tree, path)
  }

  /// Runs the commands that the plan shows, and compares what they do with what the plan did.
  private mutating func runCommands(of plan: GrantPlan, _ judged: OpaquePointer) throws {
    for step in plan.steps {
      let command = step.change.command.arguments.map(\.description)
      let outcome = try Command.run(command)
      if outcome.status != 0 { faults.append("\(command): \(outcome.errors)") }
    }
    try check(judge_look_at_states(judged, Time.undone), "looking")
    typed += 1
    unlikePlan += judge_is_same(judged, Time.after, Time.undone) != 0 ? 0 : 1
    try check(judge_restore(judged, Time.before), "restoring")
  }

  /// Grants by `permcheck request`, and undoes by `permcheck revoke`.
  mutating func applyByCommand(_ tree: RandomTree, _ number: Int) throws {
    var tree = tree
    let judged = try plant(&tree, "c\(number)")
    defer { judge_close(judged) }
    if try reaches(judged, tree) { return }
    let permcheck = Command.permcheck
    let path = "\(place)/c\(number)/\(tree.path)"
    let asked = tree.target.kind == .directory ? "photos=\(path)" : path
    let groups = tree.subject.groups.map(String.init).joined(separator: ",")
    let request = try Command.run([
      permcheck, "request", asked, "--yes", "--all",
      "--need", tree.need.letters, "--uid", "\(tree.subject.user.fileSystem)",
      "--gid", "\(tree.subject.group.fileSystem)", "--groups", groups,
    ])
    let seen = try judge(judged, tree, at: Time.after, \.command, said: [request.errors])
    self.asked += judge_subjects(judged) - 1
    let revoke = try Command.run([permcheck, "revoke", asked])
    try check(judge_look_at_states(judged, Time.undone), "looking")
    let isUndone = judge_is_same(judged, Time.before, Time.undone) != 0
    command.undone += isUndone ? 1 : 0
    note("permcheck, tree \(number)", seen.changes, seen.hasAccess, isUndone: isUndone)
    if request.status != 0 || revoke.status != 0 {
      faults.append(
        "permcheck, tree \(number): exit status \(request.status), \(revoke.status):"
          + " \(request.output)\(request.errors)\(revoke.errors)")
    }
  }

  // MARK: - What people do instead

  private mutating func applyOthers(
    _ judged: OpaquePointer, _ tree: RandomTree, _ path: PathBytes
  ) throws {
    let target = tree.inodes.count - 1
    let parents = (0..<target).filter { judge_permitted(judged, Time.before, $0) & 1 << 1 == 0 }
    let uid = tree.subject.user.fileSystem

    try addEntry(judged, target, uid, tree.need)
    let entry = try judge(judged, tree, at: Time.other, \.setfacl)
    if compared < 40, !tree.target.hasDuplicates {
      try compare(judged, uid, tree.need, path)
      try addEntry(judged, target, uid, tree.need)
    }
    for parent in parents { try addEntry(judged, parent, uid, .execute) }
    if parents.isEmpty {
      setfaclWithParents.count(entry.changes, hasAccess: entry.hasAccess, isSaid: false)
    } else {
      _ = try judge(judged, tree, at: Time.other, \.setfaclWithParents)
    }
    try check(judge_restore(judged, Time.before), "restoring")

    try addBits(judged, target, tree.need)
    let bits = try judge(judged, tree, at: Time.other, \.chmod)
    for parent in parents { try addBits(judged, parent, .execute) }
    if parents.isEmpty {
      chmodWithParents.count(bits.changes, hasAccess: bits.hasAccess, isSaid: false)
    } else {
      _ = try judge(judged, tree, at: Time.other, \.chmodWithParents)
    }
    try check(judge_restore(judged, Time.before), "restoring")
    try check(judge_look_at_states(judged, Time.other), "looking")
    guard judge_is_same(judged, Time.before, Time.other) != 0 else {
      throw Failure(description: "the test did not restore \(path)")
    }
  }

  /// What `chmod o+…` does.
  private func addBits(_ judged: OpaquePointer, _ inode: Int, _ need: Permissions) throws {
    var mode: UInt16 = 0
    var entries = [judge_entry](repeating: judge_entry(), count: JUDGE_MAX_ENTRIES)
    _ = judge_state(judged, Time.before, inode, &mode, &entries)
    try check(judge_change_mode(judged, inode, mode | UInt16(need.rawValue)), "chmod")
  }

  /// What `setfacl -m u:UID:…` does: the entry is added or changed, and the mask becomes the union of
  /// all entries that it bounds.
  private func addEntry(
    _ judged: OpaquePointer, _ inode: Int, _ uid: UInt32, _ need: Permissions
  ) throws {
    typealias Tag = AccessControlList.Tag
    var mode: UInt16 = 0
    var entries = [judge_entry](repeating: judge_entry(), count: JUDGE_MAX_ENTRIES)
    let count = judge_state(judged, Time.before, inode, &mode, &entries)
    entries = count > 0 ? Array(entries[..<count]) : AccessControlList(mode: mode).judged
    let own = judge_entry(tag: Tag.user.rawValue, permissions: UInt16(need.rawValue), id: uid)
    entries.removeAll { $0.tag == own.tag && $0.id == uid || $0.tag == Tag.mask.rawValue }
    entries.append(own)
    let bounded = [Tag.user, .owningGroup, .group].map(\.rawValue)
    let mask = entries.filter { bounded.contains($0.tag) }.reduce(0) { $0 | $1.permissions }
    entries.append(judge_entry(tag: Tag.mask.rawValue, permissions: mask, id: .max))
    entries.sort { ($0.tag, $0.id) < ($1.tag, $1.id) }
    try check(judge_change_acl(judged, inode, entries, entries.count), "setfacl")
  }

  /// Mode and entries of each inode, in no particular order.
  private func state(_ judged: OpaquePointer, _ time: Int32) -> [Set<[UInt32]>] {
    (0..<judge_inodes(judged)).map { inode in
      var mode: UInt16 = 0
      var entries = [judge_entry](repeating: judge_entry(), count: JUDGE_MAX_ENTRIES)
      let count = judge_state(judged, time, inode, &mode, &entries)
      let words = entries[..<count].map { [UInt32($0.tag), UInt32($0.permissions), $0.id] }
      return Set(words + [[UInt32(mode)]])
    }
  }

  /// Has setfacl(1) itself do it, on the tree as it was, and compares.
  private mutating func compare(
    _ judged: OpaquePointer, _ uid: UInt32, _ need: Permissions, _ path: PathBytes
  ) throws {
    try check(judge_restore(judged, Time.before), "restoring")
    let outcome = try Command.run(
      ["setfacl", "-m", "u:\(uid):\(need.letters)", path.description])
    guard outcome.status == 0 else { throw Failure(description: "setfacl: \(outcome.errors)") }
    try check(judge_look_at_states(judged, Time.undone), "looking")
    compared += 1
    // Where there is nothing to change, setfacl(1) leaves the entries in the order they have.
    unlikeSetfacl += state(judged, Time.other) == state(judged, Time.undone) ? 0 : 1
    try check(judge_restore(judged, Time.before), "restoring")
  }
}

extension InodeFacts {
  /// Two entries for the same user or group, which the kernel takes and libacl does not.
  fileprivate var hasDuplicates: Bool {
    let named = (acl?.entries ?? []).filter { $0.tag == .user || $0.tag == .group }
    return Set(named.map { "\($0.tag) \($0.id)" }).count < named.count
  }
}
