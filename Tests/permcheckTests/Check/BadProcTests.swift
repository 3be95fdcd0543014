import Foundation
import Glibc
import TestSupport
import Testing

/// A /proc that cannot be read: nothing is guessed, and nothing else goes wrong.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct BadProcTests {
  /// Ways to spoil /proc, run by a shell in a mount namespace of its own before permcheck.
  static let spoilers = [
    "empty": "mount -t tmpfs none /proc",
    "closed": "mount -t tmpfs -o mode=700 none /proc",
    "no mounts": "mount -t tmpfs none /mnt && : >/mnt/n && chmod 0 /mnt/n"
      + " && mount --bind /mnt/n /proc/$$/mountinfo",
    "no facts of self": "mount -t tmpfs none /mnt && : >/mnt/n && chmod 0 /mnt/n"
      + " && for f in mountinfo status uid_map gid_map; do"
      + " mount --bind /mnt/n /proc/$$/$f || exit 99; done",
  ]

  func permcheck(_ arguments: [String], _ spoiler: String, home: Tree) throws -> Outcome {
    let spoil = try #require(Self.spoilers[spoiler])
    let drop = "setpriv --reuid 54321 --regid 54321 --groups 54400 --inh-caps=-all"
    let script = "\(spoil) || exit 98; exec \(drop) \"$0\" \"$@\""
    return try Command.run(
      ["unshare", "--mount", "sh", "-c", script, Command.permcheck] + arguments,
      environment: home.homeEnvironment)
  }

  func tree() throws -> Tree {
    let tree = try Tree()
    try tree.home()
    try tree.device("yes", mode: 0o666)
    try tree.device("no", mode: 0o600)
    try tree.camera(0, mode: 0o600)
    return tree
  }

  @Test(arguments: Effort.some(spoilers.keys.sorted(), of: "BadProcTests A /proc", atLeast: 2))
  func `A refusal stays one without /proc`(
    _ spoiler: String
  ) throws {
    let tree = try tree()
    let node = tree.path("no")
    for more in [[], ["--probe", "none"], ["--probe", "access"], ["--user", "daemon"]] {
      try permcheck([node] + more, spoiler, home: tree).expectRefusal([1, 2])
    }
    try permcheck(["camera", "--root", tree.root], spoiler, home: tree).expectRefusal([1, 2])
  }

  static let predictions = [
    ["--probe", "none"], ["--user", "daemon"], ["--uid", "9", "--gid", "9"],
  ]

  /// On a mount without devices, for reading only: what /proc does not say is not assumed.
  @Test(arguments: Effort.some(spoilers.keys.sorted(), of: "BadProcTests A mountinfo", atLeast: 2))
  func `A mount is not guessed without mountinfo`(
    _ spoiler: String
  ) throws {
    let tree = try tree()
    let spoil = try #require(Self.spoilers[spoiler])
    let drop = "setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all"
    let script = """
      mount -t tmpfs -o mode=755 none /srv && mknod -m 666 /srv/node c 1 3 &&
      mkdir -m 777 /srv/folder && mount -o remount,bind,ro,nodev /srv || exit 97
      \(drop) sh -c ': <>/srv/node || : >/srv/folder/new' 2>/dev/null && exit 96
      \(spoil) || exit 98
      exec \(drop) "$0" "$@"
      """
    for more in Self.predictions + [[]] {
      for question in [["/srv/node"], ["photos=/srv/folder", "--need", "w"]] {
        let outcome = try Command.run(
          ["unshare", "--mount", "sh", "-c", script, Command.permcheck] + question + more,
          environment: tree.homeEnvironment)
        outcome.expectRefusal([1, 2])
        #expect(!outcome.output.contains(" on ,"), "a mount without a name")
      }
    }
  }

  /// What the kernel would grant is granted or left open, but not refused.
  @Test(arguments: Effort.some(spoilers.keys.sorted(), of: "BadProcTests Access facts", atLeast: 2))
  func `Access is not refused for lack of facts`(
    _ spoiler: String
  ) throws {
    let tree = try tree()
    for more in Self.predictions {
      let outcome = try permcheck([tree.path("yes")] + more, spoiler, home: tree)
      #expect([0, 2].contains(outcome.status), Comment(rawValue: outcome.errors))
    }
  }

  /// What the kernel itself has granted just now may be called so.
  @Test(arguments: spoilers.keys.sorted()) func `The probe decides if facts are missing`(
    _ spoiler: String
  ) throws {
    let tree = try tree()
    #expect(try Kernel.open(tree.path("yes"), O_RDWR, as: stranger) == 0)
    let outcome = try permcheck([tree.path("yes"), "--json"], spoiler, home: tree)
    #expect([0, 2].contains(outcome.status), Comment(rawValue: outcome.errors))
    let resource = try #require(try outcome.report().resources.first)
    if resource.status == "authorized" {
      let probe = try #require(resource.probe)
      #expect(probe.method == "open" && probe.errno == nil)
    }
  }

  @Test(arguments: spoilers.keys.sorted()) func `A usage error stays one without /proc`(
    _ spoiler: String
  ) throws {
    let tree = try tree()
    let wrong = try permcheck(["camra"], spoiler, home: tree)
    wrong.expectRefusal([64])
    #expect(wrong.errors.contains("camra"))
    let version = try permcheck(["--version"], spoiler, home: tree)
    #expect(version.status == 0)
  }

  /// Proves that a spoiler spoils, or the other tests would are not counted.
  @Test(arguments: spoilers.keys.sorted()) func `The test's spoiler changes what is read`(
    _ spoiler: String
  ) throws {
    let spoil = try #require(Self.spoilers[spoiler])
    let drop = "setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=-all"
    let outcome = try Command.run([
      "unshare", "--mount", "sh", "-c", "\(spoil) && exec \(drop) cat /proc/self/mountinfo",
    ])
    #expect(outcome.status == 1 && outcome.output.isEmpty)
  }
}
