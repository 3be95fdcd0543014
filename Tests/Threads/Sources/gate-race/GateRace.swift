import Glibc
import PermissionKit

/// Lets many tasks use gates at random, and holds the gates to what they promise.
///
/// In each round the folder of a gate is closed, and tasks request access to it; some are cancelled, some
/// have little time, some follow. A person agrees to each request after a moment.
@main struct GateRace {
  static let gates = 50
  static let tasks = 20
  /// How long a person thinks at most, in microseconds; as long as many rounds of the other gates take.
  static let moment = 300_000

  static func main() async {
    do {
      try await race()
    } catch {
      print("gate race: not so: \(error)")
      exit(1)
    }
  }

  static func race() async throws {
    guard CommandLine.arguments.count == 3, let seconds = Int(CommandLine.arguments[2]) else {
      print("usage: gate-race FOLDER SECONDS")
      exit(64)
    }
    let folder = CommandLine.arguments[1]
    // The first use of the runtime's clocks and queues opens descriptors of its own.
    guard mkdir("\(folder)/first", 0) == 0 else { throw Broken("no folder") }
    _ = try await Race("\(folder)/first").run(until: .now + .milliseconds(500))
    for _ in 0..<20 { try await Task.sleep(for: .milliseconds(50)) }
    let before = descriptors()
    let end = ContinuousClock.now + .seconds(seconds)
    let totals = try await withThrowingTaskGroup(of: Totals.self) { group in
      for number in 0..<gates {
        group.addTask {
          let path = "\(folder)/\(number)"
          guard mkdir(path, 0) == 0 else { throw Broken("no folder \(path)") }
          return try await Race(path).run(until: end)
        }
      }
      var totals = Totals()
      for try await found in group { totals.add(found) }
      return totals
    }
    // The threads of the followers end after their streams.
    for _ in 0..<200 where descriptors().count > before.count {
      try await Task.sleep(for: .milliseconds(50))
    }
    let after = descriptors()
    guard after.count <= before.count else { throw Broken("left: \(after), before: \(before)") }
    guard totals.granted > 0, totals.withdrawn > 0, totals.quiet > 0 else {
      throw Broken("not everything happened: \(totals)")
    }
    print(
      "gate race: \(totals.rounds) rounds of \(tasks) tasks on \(gates) gates at once, \(totals.granted) granted, \(totals.withdrawn) withdrawn, \(totals.quiet) rounds in which nobody waited to the end: nothing changed in them; 0 faults"
    )
  }

  /// What the open descriptors lead to, in order.
  static func descriptors() -> [String] {
    (0..<1024).compactMap { number in
      var target = [CChar](repeating: 0, count: 256)
      let length = readlink("/proc/self/fd/\(number)", &target, 255)
      return length < 0
        ? nil : String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }.sorted()
  }
}

struct Broken: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

struct Totals {
  var rounds = 0
  var granted = 0
  var withdrawn = 0
  /// Rounds in which every request was taken back.
  var quiet = 0

  mutating func add(_ other: Totals) {
    rounds += other.rounds
    granted += other.granted
    withdrawn += other.withdrawn
    quiet += other.quiet
  }
}

/// One gate, and the folder that it is about.
struct Race {
  enum End { case granted, refused, withdrawn, followed }

  let path: String
  let gate: PermissionGate

  init(_ path: String) {
    self.path = path
    gate = PermissionGate {
      let accessor = PhotoLibraryAccessor(
        AccessContext(need: [.read, .execute], path: PathBytes(path)), analytics: .discard)
      accessor.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in
        usleep(UInt32.random(in: 0..<UInt32(GateRace.moment)))
        return true
      }
      return accessor
    }
  }

  func run(until end: ContinuousClock.Instant) async throws -> Totals {
    var totals = Totals()
    while ContinuousClock.now < end {
      let ends = try await round()
      totals.rounds += 1
      totals.granted += ends.count { $0 == .granted }
      totals.withdrawn += ends.count { $0 == .withdrawn }
      let isQuiet = !ends.contains(.granted) && !ends.contains(.refused)
      if isQuiet { totals.quiet += 1 }
      // Whatever still runs ends before this check, for the gate has one queue.
      let report = await gate.check()
      let mode = try mode()
      guard !isQuiet || mode == 0 else { throw Broken("\(path): changed to \(mode) for nobody") }
      guard report.isGranted == (mode & 0o500 == 0o500) else {
        throw Broken("\(path): \(report) with mode \(mode)")
      }
      guard !ends.contains(.granted) || report.isGranted else {
        throw Broken("\(path): granted, and then \(report)")
      }
      if report.isGranted { _ = try await gate.revokeAccess() }
      guard try self.mode() == 0 else { throw Broken("\(path) was not closed again") }
    }
    return totals
  }

  /// Lets all tasks run at the same time, and returns how each ended.
  private func round() async throws -> [End] {
    // In some rounds everybody is cancelled.
    let patience = Int.random(in: 0..<3)
    let running = (0..<GateRace.tasks).map { number in
      Task { () throws -> End in
        if number < 2 {
          for await change in await gate.changes(following: number == 0) {
            if change.to != .unchecked { break }
          }
          return .followed
        }
        if number == 2 {
          _ = await gate.check()
          return .followed
        }
        do throws(PermissionError) {
          let limit: Duration? =
            patience == 0 ? .microseconds(Int.random(in: 0..<GateRace.moment)) : nil
          let report = try await gate.requestAccessIfNeeded(within: limit)
          return report.isGranted ? .granted : .refused
        } catch {
          guard error.code == .withdrawn else { throw error }
          return .withdrawn
        }
      }
    }
    if patience < 2 {
      try await Task.sleep(for: .microseconds(Int.random(in: 0..<GateRace.moment)))
      for (number, task) in running.enumerated() where patience == 0 || number.isMultiple(of: 2) {
        if number > 2 { task.cancel() }
      }
    }
    var ends: [End] = []
    for task in running { ends.append(try await task.value) }
    return ends
  }

  private func mode() throws -> UInt32 {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Broken("\(path) is gone") }
    return status.st_mode & 0o777
  }
}
