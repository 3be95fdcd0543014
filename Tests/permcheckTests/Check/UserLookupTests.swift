import Foundation
import TestSupport
import Testing

/// What a check reads of the user data base: each file once, however many accessors there are.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "another /etc/passwd wants root"))
struct UserLookupTests {
  /// Counts by inotify(7) how often the files of the data base are opened while a command runs.
  static let counter = """
    import ctypes, os, struct, subprocess, sys
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    # IN_OPEN and IN_CLOSE_NOWRITE take turns, so that the kernel joins no two of them.
    names = {libc.inotify_add_watch(watch, name.encode(), 0x30): name for name in ("passwd", "group")}
    assert all(number > 0 for number in names), ctypes.get_errno()
    done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
    found = dict.fromkeys(names.values(), 0)
    data = os.read(watch, 1 << 16)
    while data:
        number, mask, _, length = struct.unpack_from("iIII", data)
        if mask & 0x20: found[names[number]] += 1
        data = data[16 + length:]
    print(found["passwd"], found["group"], done.stdout.decode().count("games"))
    """

  /// Returns how often a command opened passwd and group, of a data base that has only these files.
  private func opens(_ command: String, after setting: String = "") throws -> [Substring] {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file(
      "passwd", "root:x:0:0:root:/root:/bin/sh\ngames:x:5:60:games:/usr/games:/bin/sh\n")
    try tree.file("group", "root:x:0:\ngames:x:60:\nvideo:x:44:games\n")
    try tree.file("nsswitch.conf", "passwd: files\ngroup: files\n")
    try tree.file("count.py", Self.counter)
    let script = """
      \(setting)cd "$T"; private_etc; cp passwd group nsswitch.conf /etc; cd /etc
      exec python3 $T/count.py \(command)
      """
    let outcome = try Command.run(
      ["timeout", "60", "unshare", "--mount", "sh", "-ec", Command.privateEtc + script],
      environment: ["T": tree.root])
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(whereSeparator: \.isWhitespace)
  }

  @Test func `A check for a user opens passwd and group once each, for all accessors together`()
    throws
  {
    // The counter first shows that it sees what is opened.
    #expect(try opens("cat passwd passwd group") == ["2", "1", "8"])
    for output in ["--json", "-v"] {
      let found = try opens(
        "\(Command.permcheck) camera mic photos --user games --log none \(output)")
      #expect(found.prefix(2) == ["1", "1"], "\(output)")
    }
  }

  @Test func `A request opens passwd and group as often, though it plans again`() throws {
    let folder = "mkdir $T/a; chmod 700 $T/a; mount -t tmpfs none /var/lib; "
    let found = try opens(
      "\(Command.permcheck) request photos=$T/a --user games --yes --log none", after: folder)
    #expect(found.prefix(2) == ["1", "1"], "\(found)")
  }

  @Test func `Random files and nsswitch.conf give the users and groups of a login`() throws {
    try Command.expectNoneWrong("users.py", Effort.of(2000, atLeast: 60))
  }
}
