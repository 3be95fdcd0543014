import Foundation
import TestSupport
import Testing

/// A process that confines itself is not told that it may write where it may not.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct AttackConfinedTests {
  /// Runs a program under Landlock, with these access rights handled and allowed nowhere.
  static let landlock = """
    import ctypes, os, sys
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(int(sys.argv[1], 16))
    rules = libc.syscall(444, ctypes.byref(handled), ctypes.c_size_t(8), ctypes.c_uint32(0))
    assert rules >= 0 and libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.syscall(446, rules, ctypes.c_uint32(0)) == 0
    os.execv(sys.argv[2], sys.argv[2:])
    """

  /// Landlock refuses LANDLOCK_ACCESS_FS_MAKE_REG, and faccessat2(2) does not know.
  @Test("Row 10: Files that cannot be created") func row10FilesThatCannotBeCreated() throws {
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
}
