internal import CCap
internal import Glibc

/// How access to a file or folder is decided for one user.
package struct CensusAnswer: Hashable, Sendable {
  /// The answer of the kernel.
  package enum Verdict: String, Sendable {
    case granted
    case refused
    case undetermined
  }

  /// The answer of the kernel.
  package let verdict: Verdict
  /// The rule that decides.
  package let rule: Rule
  /// Whether the rule is that of a folder on the path, which refuses search.
  package let isSearch: Bool

  /// A sort key for answers with equal counts.
  package var order: String { "\(rule) \(isSearch) \(verdict)" }

  init(_ decision: Decision, isSearch: Bool) {
    switch decision.verdict {
    case .granted: verdict = .granted
    case .refused: verdict = .refused
    case .undetermined: verdict = .undetermined
    }
    rule = decision.rule
    self.isSearch = isSearch
  }
}

/// Counts for each of many users, in one thread, how access to the names of a tree is decided.
///
/// Inodes with equal owner, group, mode, ACL and mount are judged once for all users.
final class TreeCensus {
  /// The users whom the folders above block, each with the number of the answer that blocks; 0 for none.
  struct BlockedUsers {
    /// Nil if nobody is blocked.
    fileprivate let numbers: [Int]?
    static let none = BlockedUsers(numbers: nil)
  }

  /// The answers for all users to equal inodes.
  private struct Verdicts {
    /// The number of the answer for each user.
    let need: [Int]
    /// The same for search; nil if all users may search.
    let search: [Int]?
  }

  /// The most verdicts that are kept, in users times inodes.
  private static let limit = 1 << 20

  private let users: [Credentials]
  private let question: TreeQuestion
  let judge: TreeJudge
  private var numbers: [CensusAnswer: Int] = [:]
  private var known: [CensusAnswer] = []
  /// How often each answer was given, by its number and the user.
  private var totals: [[Int]] = []
  private var verdicts: [TreeJudge.Key: Verdicts] = [:]
  /// A run of names with equal facts that is not counted yet.
  private var last: (key: TreeJudge.Key, verdicts: Verdicts, count: Int)?

  init(_ question: TreeQuestion, _ judge: TreeJudge) {
    users = question.everyone
    self.question = question
    self.judge = judge
    // The number 0 stands for no answer.
    totals.append([])
  }

  /// Every answer with how often it was given to each user.
  var counts: [(CensusAnswer, [Int])] {
    known.indices.map { (known[$0], totals[$0 + 1]) }
  }

  private func number(_ answer: CensusAnswer) -> Int {
    if let number = numbers[answer] { return number }
    known.append(answer)
    totals.append(Array(repeating: 0, count: users.count))
    numbers[answer] = known.count
    return known.count
  }

  // MARK: - Folders above

  /// Returns the blocked users of a folder, from each user's answer to the search of its path.
  func blockedUsers(_ answers: [CensusAnswer?]) -> BlockedUsers {
    if answers.allSatisfy({ $0 == nil }) { return .none }
    return BlockedUsers(numbers: answers.map { $0.map { number($0) } ?? 0 })
  }

  /// Returns the answers by which users are blocked, for another thread; nil if nobody is.
  func answers(_ blocked: BlockedUsers) -> [CensusAnswer?]? {
    blocked.numbers?.map { $0 == 0 ? nil : known[$0 - 1] }
  }

  /// Returns the users who are blocked inside a folder.
  func blockedUsers(inside key: TreeJudge.Key, _ above: BlockedUsers) -> BlockedUsers {
    guard let search = verdicts(on: key).search else { return above }
    guard let numbers = above.numbers else { return BlockedUsers(numbers: search) }
    return BlockedUsers(numbers: zip(numbers, search).map { $0 == 0 ? $1 : $0 })
  }

  // MARK: - Counting

  /// Counts a name in a folder that the blocked users cannot search.
  func count(_ key: TreeJudge.Key, _ blocked: BlockedUsers) {
    if let last, last.key == key {
      self.last?.count += 1
      return
    }
    finish(blocked)
    last = (key, verdicts(on: key), 1)
  }

  /// Counts the last run of names of a folder.
  func finish(_ blocked: BlockedUsers) {
    guard let last else { return }
    self.last = nil
    add(last.verdicts.need, blocked, last.count)
  }

  /// Counts a name with an answer for each user.
  func count(_ answers: [CensusAnswer], _ blocked: BlockedUsers) {
    add(answers.map { number($0) }, blocked, 1)
  }

  private func add(_ numbers: [Int], _ blocked: BlockedUsers, _ count: Int) {
    if let blockedUsers = blocked.numbers {
      for user in numbers.indices {
        totals[blockedUsers[user] == 0 ? numbers[user] : blockedUsers[user]][user] += count
      }
    } else {
      for user in numbers.indices { totals[numbers[user]][user] += count }
    }
  }

  private func verdicts(on key: TreeJudge.Key) -> Verdicts {
    if let known = verdicts[key] { return known }
    let facts = judge.facts(of: key)
    let needs = question.needs(on: StatusFields.kind(ofMode: key.mode))
    let found = users.map { TreeJudge.verdict(facts, $0, needs) }
    let computed = Verdicts(
      need: found.map { number(CensusAnswer($0.need, isSearch: false)) },
      search: found.allSatisfy(\.search.isGranted)
        ? nil
        : found.map {
          $0.search.isGranted ? 0 : number(CensusAnswer($0.search, isSearch: true))
        })
    if (verdicts.count + 1) * users.count > Self.limit { verdicts = [:] }
    verdicts[key] = computed
    return computed
  }
}

// Counting for many users.
extension TreeWorker {
  /// Counts a top; returns, for each user, the answer that decides on the path to it, or nil if
  /// nothing can be determined.
  mutating func countTop(_ top: PathBytes, _ census: TreeCensus) -> TreeCensus.BlockedUsers? {
    walk.count(asked: 1)
    guard let facts = try? FactsReader.facts(of: [top], system, isSubject: false) else {
      report(.failed(.EACCES), "")
      return nil
    }
    let decisions = walk.question.everyone.map {
      AccessEvaluator(facts: facts, credentials: $0)
        .decide(walk.question.access(of: top, facts), path: top)
    }
    census.count(decisions.map { Self.answer($0) }, .none)
    return census.blockedUsers(
      decisions.map { $0.step == .walk && !$0.isGranted ? Self.answer($0) : nil })
  }

  /// Returns the answer for a user; a missing name is no refusal of search.
  private static func answer(_ decision: Decision) -> CensusAnswer {
    CensusAnswer(decision, isSearch: decision.step == .walk && decision.errno != .ENOENT)
  }

  /// Notes which users cannot search the folder of a level.
  mutating func noteBlockedUsers(
    _ index: Int, _ above: TreeCensus.BlockedUsers, _ census: TreeCensus
  ) {
    levels[index].blockedUsers = above
    guard let number = levels[index].descriptor else { return }
    let folder = Descriptor(rawValue: number)
    guard let status = try? system.statx(folder) else { return }
    levels[index].blockedUsers = census.blockedUsers(
      inside: census.judge.key(folder, status), above)
  }

  /// Counts the names of one read.
  mutating func countNames(_ count: Int, _ census: TreeCensus) {
    let blocked = levels[levels.count - 1].blockedUsers
    var asked = 0
    for index in 0..<count {
      var fields = named[index]
      if fields.error == Errno.ENOENT.rawValue { continue }
      asked += 1
      let start = Int(fields.name)
      if fields.error == EXDEV, !statMount(start, &fields) { continue }
      if fields.error != 0 {
        report(.failed(Errno(rawValue: fields.error)), name(start))
      } else if fields.mode & 0o170000 == 0o120000 {
        countLink(name(start), blocked, census)
      } else {
        census.count(key(fields, start, census.judge), blocked)
        if fields.mode & 0o170000 == 0o040000 { wait(for: start) }
      }
    }
    census.finish(blocked)
    walk.count(asked: asked)
  }

  /// Counts a link in the working directory by the path to its target.
  private mutating func countLink(
    _ name: PathBytes, _ blocked: TreeCensus.BlockedUsers, _ census: TreeCensus
  ) {
    guard let folder = levels.last?.descriptor,
      !mounts.leadsToBlocking(name, in: Descriptor(rawValue: folder), system)
    else { return report(.remote, name, isLink: true) }
    guard let facts = try? FactsReader.facts(of: [name], system, isSubject: false) else {
      return report(.failed(.EACCES), name, isLink: true)
    }
    let answers = walk.question.everyone.map {
      Self.answer(
        AccessEvaluator(facts: facts, credentials: $0)
          .decide(walk.question.access(of: name, facts), path: name))
    }
    census.count(answers, blocked)
  }
}
