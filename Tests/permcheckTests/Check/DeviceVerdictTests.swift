import Foundation
import Glibc
import TestSupport
import Testing

/// permcheck's statuses for device nodes against what open(2) gives a process of that user.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct DeviceVerdictTests {
  /// One way to set up /dev/video0 in a tree, as shell words that make sense to an administrator.
  struct Case: CustomTestStringConvertible {
    let name: String
    var mode: mode_t = 0o660
    var uid: uid_t = 0
    var gid: gid_t = 0
    var acl: [String] = []
    /// Set after the ACL, which changes the mask.
    var lateMode: mode_t?
    var folderMode: mode_t = 0o755
    var folderACL: [String] = []
    var device: (UInt32, UInt32) = (1, 3)
    var testDescription: String { name }
  }

  static let reader = Account(uid: 54_321, gid: 54_321, groups: [54_400, 54_401])

  static let cases: [Case] = [
    Case(name: "other none"),
    Case(name: "other rw", mode: 0o666),
    Case(name: "other r only", mode: 0o664),
    Case(name: "other w only", mode: 0o662),
    Case(name: "owner rw", mode: 0o600, uid: 54_321),
    Case(name: "owner r only", mode: 0o466, uid: 54_321),
    Case(name: "owner none, other rw", mode: 0o066, uid: 54_321),
    Case(name: "primary group rw", mode: 0o660, gid: 54_321),
    Case(name: "supplementary group rw", mode: 0o660, gid: 54_400),
    Case(name: "group r, other rw", mode: 0o646, gid: 54_400),
    Case(name: "group none, other rw", mode: 0o606, gid: 54_400),
    Case(name: "foreign group rw", mode: 0o660, gid: 44),
    Case(name: "ACL user rw", acl: ["-m", "u:54321:rw"]),
    Case(name: "ACL user r", acl: ["-m", "u:54321:r"]),
    Case(name: "ACL user none, other rw", mode: 0o666, acl: ["-m", "u:54321:-"]),
    Case(name: "ACL other user rw", acl: ["-m", "u:54399:rw"]),
    Case(name: "ACL user rw, mask r", acl: ["-m", "u:54321:rw,m::r"]),
    Case(name: "ACL user rw, chmod 600", acl: ["-m", "u:54321:rw"], lateMode: 0o600),
    Case(name: "ACL user rw, chmod 606: mask empty", acl: ["-m", "u:54321:rw"], lateMode: 0o606),
    Case(name: "ACL user -, chmod 606: mask empty", acl: ["-m", "u:54321:-"], lateMode: 0o606),
    Case(name: "ACL group rw", acl: ["-m", "g:54400:rw"]),
    Case(name: "ACL group r + group w", acl: ["-m", "g:54400:r,g:54401:w"]),
    Case(name: "ACL group r + group rw", acl: ["-m", "g:54400:r,g:54401:rw"]),
    Case(name: "ACL group none, other rw", mode: 0o666, acl: ["-m", "g:54400:-"]),
    Case(name: "ACL group rw, mask r", acl: ["-m", "g:54400:rw,m::r"]),
    Case(
      name: "ACL owning group r, group rw", mode: 0o640, gid: 54_400, acl: ["-m", "g:54401:rw"]),
    Case(name: "ACL owning group rw, mask -", gid: 54_400, acl: ["-m", "u:9:rw,m::-"]),
    Case(name: "ACL user r before group rw", acl: ["-m", "u:54321:r,g:54400:rw"]),
    Case(name: "ACL owner entry inert", mode: 0o060, uid: 54_321, acl: ["-m", "u:54321:rw"]),
    Case(name: "ACL foreign group, other rw", mode: 0o666, acl: ["-m", "g:54402:-"]),
    Case(name: "folder no search", mode: 0o666, folderMode: 0o750),
    Case(name: "folder search only", mode: 0o666, folderMode: 0o711),
    Case(name: "folder read only", mode: 0o666, folderMode: 0o744),
    Case(
      name: "folder ACL user x", mode: 0o666, folderMode: 0o750, folderACL: ["-m", "u:54321:x"]),
    Case(
      name: "folder ACL user r", mode: 0o666, folderMode: 0o755, folderACL: ["-m", "u:54321:r"]),
    Case(
      name: "folder ACL user x, mask r", mode: 0o666, folderMode: 0o750,
      folderACL: ["-m", "u:54321:x,m::r"]),
    Case(name: "folder group x", mode: 0o666, folderMode: 0o710),
    Case(name: "no driver, other rw", mode: 0o666, device: (81, 7)),
    Case(name: "no driver, other none", mode: 0o660, device: (81, 7)),
    Case(name: "no driver, ACL user rw", acl: ["-m", "u:54321:rw"], device: (81, 9)),
    Case(name: "sound without driver, other rw", mode: 0o666, device: (116, 24)),
    Case(name: "set-id and sticky bits", mode: 0o7666),
    Case(name: "mode 0", mode: 0),
    Case(name: "x bits only", mode: 0o111),
    Case(
      name: "ACL of 32 users",
      acl: ["-m", (1...31).map { "u:\($0):rw" }.joined(separator: ",") + ",u:54321:rw"]),
  ]

  /// What a status must be for what open(2) answered.
  static func expected(_ errno: Int32) -> [String] {
    switch errno {
    case 0: ["authorized"]
    case EACCES: ["denied"]
    case EPERM, EROFS: ["restricted"]
    case ENXIO, ENODEV, ENOENT: ["unavailable"]
    default: []
    }
  }

  func tree(_ one: Case) throws -> Tree {
    let tree = try Tree()
    try tree.device(
      "dev/video0", one.device.0, one.device.1, mode: one.mode, uid: one.uid, gid: one.gid)
    if !one.acl.isEmpty { try tree.setfacl(one.acl, "dev/video0") }
    if let late = one.lateMode { try tree.mode("dev/video0", late) }
    try tree.mode("dev", one.folderMode)
    if !one.folderACL.isEmpty { try tree.setfacl(one.folderACL, "dev") }
    return tree
  }

  struct Answer: Decodable {
    struct Report: Decodable {
      let status: String
    }
    let reports: [Report]
    let exitStatus: Int32
  }

  func status(_ outcome: Outcome) throws -> String {
    let answer = try JSONDecoder().decode(Answer.self, from: Data(outcome.output.utf8))
    #expect(answer.exitStatus == outcome.status)
    return answer.reports[0].status
  }

  @Test(arguments: Effort.some(cases, of: "DeviceVerdictTests cases"))
  func `Prediction is the kernel's`(
    _ one: Case
  ) throws {
    let tree = try tree(one)
    let node = tree.path("dev/video0")
    let errno = try Kernel.open(node, O_RDWR, as: Self.reader)
    let ids = ["--uid", "54321", "--gid", "54321", "--groups", "54400,54401"]
    let listed = try Command.permcheck([node, "--json"] + ids)
    #expect(Self.expected(errno).contains(try status(listed)), "kernel: errno \(errno)")
  }

  @Test(arguments: Effort.some(cases, of: "DeviceVerdictTests cases"))
  func `Probe is the kernel's`(_ one: Case) throws {
    let tree = try tree(one)
    let node = tree.path("dev/video0")
    let errno = try Kernel.open(node, O_RDWR, as: Self.reader)
    let own = try Command.permcheck([node, "--json"], as: Self.reader)
    #expect(Self.expected(errno).contains(try status(own)), "kernel: errno \(errno)")
  }

  @Test(
    arguments: Effort.some(
      cases.filter { $0.folderMode == 0o755 && $0.folderACL.isEmpty },
      of: "DeviceVerdictTests Catalogue kernel's", atLeast: 6))
  func `Catalogue is the kernel's`(_ one: Case) throws {
    let tree = try tree(one)
    let errno = try Kernel.open(tree.path("dev/video0"), O_RDWR, as: Self.reader)
    let own = try Command.permcheck(["camera", "--json", "--root", tree.root], as: Self.reader)
    #expect(Self.expected(errno).contains(try status(own)), "kernel: errno \(errno)")
  }

  /// Proves that the asker can be refused and let in, or its answers would are not counted.
  @Test func `The tests' process distinguishes the answers`() throws {
    let tree = try Tree()
    try tree.device("no", mode: 0o600)
    try tree.device("yes", mode: 0o666)
    #expect(try Kernel.open(tree.path("no"), O_RDWR, as: Self.reader) == EACCES)
    #expect(try Kernel.open(tree.path("yes"), O_RDWR, as: Self.reader) == 0)
    #expect(try Kernel.open(tree.path("absent"), O_RDWR, as: Self.reader) == ENOENT)
  }
}

/// A node that is named as a camera or a microphone, and is something else.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "making device nodes wants root"))
struct OtherDeviceTests {
  @Test(arguments: [
    ("camera=/dev/null", "/dev/null is the null device (1:3), not a camera"),
    ("mic=/dev/zero", "/dev/zero is the zero device (1:5), not a microphone"),
    ("serial=/dev/urandom", "/dev/urandom is the urandom device (1:9), not a serial device"),
    ("camera=/dev/tty", "/dev/tty is the tty device (5:0), not a camera"),
  ])
  func `Another device is no camera`(_ argument: String, _ message: String) throws {
    for more in [[], ["--user", "daemon"], ["--skip-unavailable"]] {
      let outcome = try Command.permcheck([argument] + more)
      #expect(outcome.status == 3 && outcome.output.contains(message), "\(outcome)")
    }
    let explained = try Command.permcheck(["explain", argument])
    #expect(explained.status == 3 && explained.output.contains(message), "\(explained)")
    let expectation = "[[expect]]\naccessor = \"\(argument)\"\nis = \"granted\"\n"
    let verified = try Command.run([Command.permcheck, "verify", "-"], input: expectation)
    #expect(verified.status == 1 && verified.output.contains(message), "\(verified)")
  }

  /// A number that the kernel does not know counts where the name fits, too.
  @Test func `The number decides, not the name`() throws {
    let tree = try Tree()
    try tree.device("dev/video0", 1, 3, mode: 0o666)
    try tree.device("video250", 81, 250, mode: 0o666)
    try tree.device("odd", 81, 250, mode: 0o666)
    let wrong = try Command.permcheck(["camera=\(tree.path("dev/video0"))"])
    #expect(wrong.status == 3 && wrong.output.contains("not a camera"), "\(wrong)")
    // There is no such device, but it would be a camera.
    let absent = try Command.permcheck(["camera=\(tree.path("video250"))"])
    #expect(absent.status == 3 && !absent.output.contains("not a camera"), "\(absent)")
    let odd = try Command.permcheck(["camera=\(tree.path("odd"))"])
    #expect(odd.status == 3 && odd.output.contains("not a camera"), "\(odd)")
    // Without sysfs nobody can tell.
    let other = try Command.run([
      "unshare", "--mount", "sh", "-ec",
      "mount -t tmpfs none /sys; exec \"$0\" -v \"camera=$1\" --user daemon", Command.permcheck,
      tree.path("video250"),
    ])
    #expect(
      other.status == 2 && other.output.contains("cannot see in /sys whether a driver serves it"),
      "\(other)")
  }

  /// What lies in a closed folder is looked at before anything is changed.
  @Test func `Nothing is given on the path to a node that is no camera`() throws {
    let tree = try Tree()
    try tree.folder("closed", mode: 0o700)
    try tree.device("closed/node", 1, 3, mode: 0o600)
    try tree.file("closed/file", mode: 0o600)
    try PrivateJournal().expect(
      """
      cd $1; CLEAN=$(state closed closed/node closed/file)
      for what in camera=$PWD/closed/node camera=$PWD/closed/file photos=$PWD/closed/file; do
        ! $P request $what --user games --yes >$OUT.o 2>&1 || fail "$what"
        grep -Eq "is (the null device .1:3., )?not a" $OUT.o || fail "$(cat $OUT.o)"
        same "$(state closed closed/node closed/file)" "$CLEAN" "$what"
      done
      rm -f $OUT.o
      """, [tree.root])
  }
}
