import Foundation
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// The owner of a folder swaps what is in it while root plans and applies a request.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "changing what belongs to another user wants root"))
struct SwapRaceTests {
  static let tries = Effort.of(600, atLeast: 45)
  static let attacker = Account(uid: 54_333, gid: 54_333)
  static let guest: UInt32 = 54_334

  /// Puts each trap in the place of NAME and takes it out again, until it is ended.
  static let racer = """
    import os, random, sys, time
    name, traps = sys.argv[1], ["../den/" + trap for trap in sys.argv[2:]]
    print("ready", flush=True)
    while True:
        for trap in traps:
            os.rename(name, "../den/held")
            os.rename(trap, name)
            time.sleep(random.choice((0, 0, 0.0005)))
            os.rename(name, trap)
            os.rename("../den/held", name)
            time.sleep(random.choice((0, 0.0005, 0.002)))
    """

  static func victims(_ tree: Tree) -> [PathBytes] {
    ["vault", "vault/secret", "vault/album", "vault/album/deep"].map { PathBytes(tree.path($0)) }
  }

  static func state(_ paths: [PathBytes]) throws -> [[UInt8]] {
    let system = LinuxSystem()
    return try paths.flatMap { path in
      let file = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      defer { system.close(file) }
      let mode = try system.statx(file).mode
      func acl(_ name: ExtendedAttribute) -> [UInt8] {
        (try? system.getxattr(name, of: file)) ?? []
      }
      return [[UInt8(mode & 0xff), UInt8(mode >> 8 & 0xff)], acl(.access), acl(.default)]
    }
  }

  /// What is asked for below the attacker's folder, what is swapped in it, and for what.
  struct Race {
    let name: String
    let asked: String
    let swapped: String
    let traps: [String]
    var isRecursive = false
  }

  static let races = [
    Race(
      name: "folder", asked: "home/album", swapped: "album",
      traps: ["to-vault", "to-secret", "other", "to-album"]),
    Race(
      name: "folder above", asked: "home/album/deep", swapped: "album",
      traps: ["to-album", "to-vault", "other"]),
    Race(
      name: "file in it", asked: "home", swapped: "file",
      traps: ["to-vault", "to-secret", "twin", "to-album"], isRecursive: true),
    Race(
      name: "folder in it", asked: "home", swapped: "album",
      traps: ["to-vault", "twin", "to-album", "other"], isRecursive: true),
  ]

  /// The attacker's folders, and the victim's beside them.
  private static func plant(_ race: Race) throws -> Tree {
    let tree = try Tree()
    let (uid, gid) = (attacker.uid, attacker.gid)
    try tree.folder("vault/album/deep", mode: 0o700)
    try tree.folder("vault/album", mode: 0o700)
    try tree.folder("vault", mode: 0o755)
    try tree.file("vault/secret", "secret", mode: 0o600)
    try tree.folder("home/album/deep", mode: 0o700, uid: uid, gid: gid)
    try tree.folder("home/album", mode: 0o700, uid: uid, gid: gid)
    try tree.folder("den/other/deep", mode: 0o700, uid: uid, gid: gid)
    try tree.folder("den/other", mode: 0o700, uid: uid, gid: gid)
    try tree.folder("home", mode: 0o711, uid: uid, gid: gid)
    try tree.folder("den", mode: 0o711, uid: uid, gid: gid)
    try tree.file("home/file", mode: 0o600, uid: uid, gid: gid)
    for trap in ["to-vault": "vault", "to-secret": "vault/secret", "to-album": "vault/album"] {
      try tree.link("den/\(trap.key)", to: tree.path(trap.value))
      _ = lchown(tree.path("den/\(trap.key)"), uid, gid)
    }
    if race.traps.contains("twin") {
      try FileManager.default.linkItem(
        atPath: tree.path("vault/secret"), toPath: tree.path("den/twin"))
    }
    return tree
  }

  /// The process that swaps, once it does.
  private static func start(_ race: Race, _ tree: Tree) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.currentDirectoryURL = URL(filePath: tree.path("home"))
    process.arguments =
      [
        "setpriv", "--reuid", "\(attacker.uid)", "--regid", "\(attacker.gid)", "--clear-groups",
        "--inh-caps=-all",
        "/usr/bin/python3", "-c", racer, race.swapped,
      ] + race.traps
    let ready = Pipe()
    process.standardOutput = ready
    process.standardError = FileHandle.nullDevice
    try process.start()
    try #require(try ready.fileHandleForReading.read(upToCount: 5)?.count == 5)
    return process
  }

  @Test(arguments: races.indices) func `A swapped path never changes another file`(
    _ index: Int
  ) throws {
    let race = Self.races[index]
    let tree = try Self.plant(race)
    // What was granted and then carried off is not found again by its path; it is undone by these.
    let system = LinuxSystem()
    let own = try ["home", "home/file", "home/album", "home/album/deep"].map { name in
      try system.openat(
        .currentDirectory, PathBytes(tree.path(name)), [.path, .noFollow], mode: 0)
    }
    let modes = try own.map { try system.statx($0).mode }
    defer { for file in own { system.close(file) } }
    let victims = Self.victims(tree)
    let before = try Self.state(victims)

    let process = try Self.start(race, tree)
    defer {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    let subject = try UserDatabase(LinuxSystem()).subject(
      .ids(uid: Self.guest, gid: Self.guest, groups: []))
    var context = AccessContext(subject: subject)
    context.path = PathBytes(tree.path(race.asked))
    let accessor = PhotoLibraryAccessor(context)
    accessor.grants.isRecursive = race.isRecursive
    let journal = GrantJournal(PathBytes(tree.path("state/grants.jsonl")))
    var (made, refused, nothing) = (0, 0, 0)
    for _ in 0..<(race.isRecursive ? Self.tries / 3 : Self.tries) {
      do {
        let outcome = try journal.carryOut { (_) throws(PermissionError) in
          try accessor.grantPlan()?.grants() ?? []
        }
        if outcome.grants.isEmpty { nothing += 1 } else { made += 1 }
        let now = try Self.state(victims)
        try #require(now == before, "the victim was changed: \(outcome.grants)")
        _ = try journal.undo { _ in true }
      } catch is PermissionError {
        refused += 1
      }
      try #require(try Self.state(victims) == before)
      if try !journal.grants().isEmpty { _ = try? journal.undo { _ in true } }
      for (file, mode) in zip(own, modes) {
        try? system.removexattr(.access, of: file)
        try system.chmod(file, UInt16(mode & 0o7777))
      }
      // Lines are only ever added; each try begins anew.
      try? FileManager.default.removeItem(atPath: journal.path.description)
    }
    #expect(process.isRunning)
    #expect(refused > 0 && made + nothing > 0, "the race was never run")
    print(
      "swaps: \(race.name): \(made) made, \(refused) refused, \(nothing) nothing to do, 0 victims")
  }
}
