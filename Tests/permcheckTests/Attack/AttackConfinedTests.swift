import Foundation
import TestSupport
import Testing

/// A process that confines itself is not told that it may write where it may not.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct AttackConfinedTests {
  /// Runs a program under Landlock, with these access rights handled and allowed nowhere; root sets no
  /// no_new_privs for it.
  static let landlock = """
    import ctypes, os, sys
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(int(sys.argv[1], 16))
    rules = libc.syscall(444, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    assert rules >= 0 and (os.getuid() == 0 or libc.prctl(38, 1, 0, 0, 0) == 0)
    assert libc.syscall(446, rules, ctypes.c_uint32(0)) == 0
    os.execv(sys.argv[2], sys.argv[2:])
    """

  /// Landlock refuses LANDLOCK_ACCESS_FS_MAKE_REG, and faccessat2(2) does not know.
  @Test func `Row 10: Files that cannot be created`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    let permcheck = Command.permcheck as String
    let album = "photos=\(tree.path("album"))"
    func check(_ confined: Bool, _ words: String...) throws -> Outcome {
      let prefix = confined ? ["/usr/bin/python3", "-c", Self.landlock, "100"] : []
      return try Command.run(prefix + [permcheck, album, "--json"] + words, as: stranger)
    }
    #expect(try check(false).status == 0)
    #expect(try check(false, "--probe", "write").status == 0)
    let unknown = try check(true)
    #expect(unknown.status == 2, "\(unknown.output)")
    #expect(try unknown.report().codes == ["landlock-or-lsm"])
    #expect(try unknown.report().status == "notDetermined")
    #expect(try check(true, "--probe", "write").report().status == "limited")
    let refused = try check(true, "--probe", "write", "--need", "rwx")
    #expect(refused.status == 1, "\(refused.output)")
    #expect(try refused.report().resources.first?.probe?.method == "write")
    #expect(try refused.report().resources.first?.probe?.errno == "EACCES")
    // Reading is not affected.
    #expect(try check(true, "--need", "rx").status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: tree.path("album")).isEmpty)
  }

  /// What may be there is counted, whoever set it: no_new_privs says nothing.
  @Test func `Row 10: A domain of a process that was root, and no_new_privs without one`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    let permcheck = Command.permcheck as String
    let ids = ["--reuid=\(stranger.uid)", "--regid=\(stranger.gid)", "--clear-groups"]
    func check(_ prefix: [String]) throws -> Outcome {
      try Command.run(prefix + [permcheck, "photos=\(tree.path("album"))", "--json"])
    }
    let domain = ["/usr/bin/python3", "-c", Self.landlock, "100", "/usr/bin/setpriv"] + ids
    for prefix in [domain, domain + ["--no-new-privs"]] {
      let unknown = try check(prefix)
      #expect(try unknown.report().status == "notDetermined", "\(unknown.output)")
      #expect(try unknown.report().codes == ["landlock-or-lsm"])
    }
    let free = try check(["/usr/bin/setpriv"] + ids + ["--no-new-privs"])
    #expect(try free.report().status == "authorized", "\(free.output)")
  }

  /// Landlock refuses LANDLOCK_ACCESS_FS_WRITE_FILE or LANDLOCK_ACCESS_FS_READ_DIR, where root asks
  /// faccessat2(2) alone, because the names belong to somebody else.
  @Test func `Row 10: What root does not open`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o755, uid: stranger.uid, gid: stranger.gid)
    try tree.file("album/photo", mode: 0o644, uid: stranger.uid, gid: stranger.gid)
    let permcheck = Command.permcheck as String
    func explain(_ refused: String?, _ name: String?, need: String) throws -> Outcome {
      let prefix = refused.map { ["/usr/bin/python3", "-c", Self.landlock, $0] } ?? []
      return try Command.run(
        prefix + [permcheck, "explain", name.map(tree.path) ?? "/usr", "--need", need, "--json"])
    }
    #expect(try explain(nil, "album/photo", need: "w").report().status == "authorized")
    let unknown = try explain("2", "album/photo", need: "w")
    #expect(try unknown.report().status == "notDetermined", "\(unknown.output)")
    #expect(try unknown.report().codes == ["landlock-or-lsm"])
    #expect(try explain("2", "album", need: "r").report().status == "notDetermined")
    // What only root can put there is opened.
    let refused = try explain("8", nil, need: "r")
    #expect(try refused.report().status == "restricted", "\(refused.output)")
    #expect(try refused.report().resources.first?.probe?.errno == "EACCES")
    // What needs no open, no module of paths judges.
    #expect(try explain("a", "album", need: "x").report().status == "authorized")
  }
}
