import ArgumentParser
import PermissionKit

/// How access is requested.
struct GrantFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What is changed: acl, group, udev, none (show only) or auto, the least that works.",
      valueName: "strategy"))
  var strategy: Strategy = .auto

  @Flag(help: "Also do what lets somebody else in; the plan says whom.")
  var allowOthers = false

  @Flag(help: "A folder means all that is in it as well, or nothing.")
  var recursive = false

  @Option(
    help: "Who does what is for root to do: sudo, pkexec, auto or none.")
  var via: Elevation.Via = .auto

  enum Strategy: String, ExpressibleByArgument, CaseIterable {
    case auto
    case acl
    case group
    case udev
    case none
  }

  func options(_ system: any System) -> GrantOptions {
    var options = GrantOptions(
      strategy: GrantStrategies.named(strategy.rawValue) ?? AutoStrategy(),
      allowsOthers: allowOthers, isRecursive: recursive)
    options.elevation = Self.elevation(via, system)
    return options
  }

  /// What has this very program do as root what it may not itself; nil for `none`.
  static func elevation(_ via: Elevation.Via, _ system: any System) -> Elevation? {
    guard via != .none, let program = program(system) else { return nil }
    return Elevation(via: via, program: program)
  }

  /// Takes back what earlier runs left behind, and tells it.
  static func recover(_ system: any System, _ console: Console) throws {
    let outcome = try GrantJournal.standard(system).recover()
    for note in outcome.notes { console.warn(note) }
    for grant in outcome.recovered {
      console.warn(
        "\(grant.change.command.summary) of \(grant.place) was left over, and is taken back")
    }
  }

  /// This very program.
  private static func program(_ system: any System) -> PathBytes? {
    guard
      let link = try? system.openat(
        .currentDirectory, "/proc/self/exe", [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(link) }
    return try? system.readlinkat(link)
  }
}

/// The side that sudo or pkexec has started: it works for the one who asked, and for nobody else.
struct ElevatedFlags: ParsableArguments {
  @Flag(help: .hidden)
  var elevated = false

  @Option(name: .customLong("while"), help: .hidden)
  var process: Int32?

  /// The uid of the one who asked.
  ///
  /// - Throws: Where it is not sudo or pkexec that has started this.
  func invoker(_ system: any System) throws -> UInt32 {
    let names = ["SUDO_UID", "PKEXEC_UID"]
    let set = names.compactMap { system.getenv($0)?.description }
    guard try system.credentials().user.effective == 0, set.count == 1, let uid = UInt32(set[0]),
      uid != 0, uid != .max
    else {
      throw PermissionError(
        .invalidArgument, "--elevated is for permcheck itself, through sudo or pkexec")
    }
    return uid
  }

  /// The process with whose end a grant is to end.
  func lifetime(_ system: any System, of uid: UInt32) throws -> Grant.Lifetime {
    guard let process else { return Grant.Lifetime() }
    guard let mark = system.mark(of: process),
      try system.status(of: PathBytes("/proc/\(process)")).uid == uid
    else { throw PermissionError(.unknownProcess, "there is no process \(process) of yours") }
    return Grant.Lifetime(process: mark)
  }
}

/// A length of time: `30m`, `2h`, `90s`, `1d`; a bare number is seconds.
struct Duration: ExpressibleByArgument {
  let microseconds: Int64

  init?(argument: String) {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    let unit = argument.last.flatMap { units[$0] }
    guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number > 0,
      number <= 366 * 86_400 / (unit ?? 1)
    else { return nil }
    microseconds = number * (unit ?? 1) * 1_000_000
  }
}
