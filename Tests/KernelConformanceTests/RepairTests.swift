import Foundation
import OracleCorpus
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// Shows that the rule which a refusal names is the one that decides.
///
/// Grants the missing bits in just the field that the rule names, nothing else, and asks again,
/// until access is granted or something else refuses. The rule must move on at every step, and the
/// kernel must answer every step as the evaluator does.
@Suite(
  .blocking,
  .enabled(if: Kernel.canAsk, "mounting file systems and taking on other credentials wants root"))
struct RepairTests {
  static let refusals = Effort.of(5_000, atLeast: 100)

  /// A case as its line of JSON has it, so that it can be changed and written again.
  struct Line {
    var object: [String: Any]

    func decoded() throws -> OracleCase {
      try JSONDecoder().decode(
        OracleCase.self, from: JSONSerialization.data(withJSONObject: object))
    }

    /// Adds `want` to the field of the node at `index` that `rule` names.
    ///
    /// Answers whether the rule names one.
    mutating func repair(_ index: Int, _ rule: Rule, _ want: UInt16) -> Bool {
      guard var tree = object["tree"] as? [[Any]],
        let mode = UInt16(tree[index][2] as? String ?? "", radix: 8)
      else { return false }
      defer { object["tree"] = tree }
      guard let text = tree[index][5] as? String else {
        let shifts: [Rule: UInt16] = [.ownerBits: 6, .groupBits: 3, .otherBits: 0]
        guard let shift = shifts[rule] else { return false }
        tree[index][2] = String(mode | want << shift, radix: 8)
        return true
      }
      var entries = text.split(separator: ",").map {
        $0.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      }
      let hasMask = entries.contains { $0[0] == "m" }
      guard let field = Self.field(rule, hasMask: hasMask),
        let place = entries.firstIndex(where: { $0[0] == field.0 && $0[1] == field.1 })
      else { return false }
      entries[place][2] = String((UInt16(entries[place][2]) ?? 0) | want)
      tree[index][5] = entries.map { $0.joined(separator: ":") }.joined(separator: ",")
      func bits(_ tag: String) -> UInt16 {
        entries.first { $0[0] == tag && $0[1].isEmpty }.flatMap { UInt16($0[2]) } ?? 0
      }
      let group = bits(hasMask ? "m" : "g")
      tree[index][2] = String(mode & ~0o777 | bits("u") << 6 | group << 3 | bits("o"), radix: 8)
      return true
    }

    /// Tag and id of the entry that a rule names.
    private static func field(_ rule: Rule, hasMask: Bool) -> (String, String)? {
      switch rule {
      case .ownerBits: ("u", "")
      case .aclUser(let id): ("u", "\(id)")
      case .aclOwningGroup: ("g", "")
      case .aclGroup(let id): ("g", "\(id)")
      case .aclOther, .otherBitsMaskEmpty: ("o", "")
      case .maskLimitsUser, .maskLimitsOwningGroup, .maskLimitsGroup, .groupBitsMaskEmpty:
        (hasMask ? "m" : "g", "")
      default: nil
      }
    }
  }

  @Test func `Access follows when the named rule is repaired`() throws {
    let lines = try OracleCorpus.lines(of: CorpusTests.paths[0])
    let header = try JSONDecoder().decode(OracleCorpus.Header.self, from: lines[0])
    let families: Set = ["dac", "acl", "cap", "overlay", "userns", "mount"]
    var pool: [(Line, String)] = []
    // The whole corpus, or enough of it.
    for text in lines.dropFirst().prefix(Self.refusals * 50) {
      let object = try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:]
      guard families.contains(object["cls"] as? String ?? "") else { continue }
      // In a fixed order: a dictionary has another one in each process.
      for (token, errno) in (object["k"] as? [String: Int] ?? [:]).sorted(by: { $0.key < $1.key })
      where errno == Errno.EACCES.rawValue && "of".contains(token.prefix(1))
        && !token.contains("creat") && !token.contains("tmp")
      {
        pool.append((Line(object: object), token))
      }
    }
    var random = SeededNumbers("repairs")
    pool.shuffle(using: &random)
    try #require(pool.count >= Self.refusals)

    var (steps, unexpected, repaired): ([Data], [String], Int) = ([], [], 0)
    for (line, token) in pool.prefix(Self.refusals) {
      var line = line
      var last: Decision?
      while true {
        let one = try line.decoded()
        let decision = AccessEvaluator(
          facts: one.facts(drivers: header.driver_errno), credentials: one.credentials
        ).decide(try #require(OracleCase.question(token)), path: PathBytes(one.path))
        line.object["k"] = [token: Int(decision.kernelErrno.rawValue)]
        steps.append(try JSONSerialization.data(withJSONObject: line.object))
        if decision == last { unexpected.append("case \(one.id) \(token): \(decision) stays") }
        guard decision.errno == .EACCES, decision != last, let inode = decision.inode else {
          repaired += decision.isGranted ? 1 : 0
          break
        }
        last = decision
        let want: UInt16 = decision.step == .walk ? 1 : Self.want(token)
        if !line.repair(inode, decision.rule, want) { break }
      }
    }
    let file = FileManager.default.temporaryDirectory
      .appending(path: "permissionkit-repair-\(UUID().uuidString).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(([lines[0]] + steps).joined(separator: [0x0a])).write(to: file)
    let outcome = try Command.run(
      [
        "python3",
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracle/oracle.py")
          .path,
        "--replay", file.path,
        "--asker", Command.products.appending(path: "kernel-asker").path,
      ], environment: ["PYTHONDONTWRITEBYTECODE": "1"])
    print(
      "repair: \(Self.refusals) refusals, \(steps.count) steps asked, \(repaired) repaired to access,"
        + " \(unexpected.count) rules stuck; \(outcome.output.split(separator: "\n").last ?? "")")
    #expect(unexpected.isEmpty, "\(unexpected.prefix(5))")
    #expect(outcome.status == 0, "\(outcome.output.prefix(2000)) \(outcome.errors.prefix(2000))")
  }

  /// The bits that a question asks of its target.
  private static func want(_ token: String) -> UInt16 {
    switch OracleCase.question(token) {
    case .open(let flags):
      var bits: UInt16 = [4, 2, 6, 6][Int(flags.rawValue & 3)]
      if flags.contains(.truncate) { bits |= 2 }
      return bits
    case .faccessat2(let want, _), .access(let want): return UInt16(want.rawValue)
    case .execute, .operation, .createInside, nil: return 1
    }
  }
}
