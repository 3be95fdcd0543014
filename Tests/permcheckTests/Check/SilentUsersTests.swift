import Foundation
import TestSupport
import Testing

/// A user data base that does not answer, as with a directory server that is gone: bounded, and never
/// taken for an answer.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "another nsswitch.conf wants root"))
struct SilentUsersTests {
  /// A source for nsswitch.conf(5) that never answers, and one that knows of nobody.
  static let module = """
    #include <nss.h>
    #include <unistd.h>
    #define ASKS(name, ...) \\
      enum nss_status _nss_silent_##name(__VA_ARGS__) { for (;;) pause(); } \\
      enum nss_status _nss_empty_##name(__VA_ARGS__) { return NSS_STATUS_NOTFOUND; }
    struct passwd; struct group;
    ASKS(getpwnam_r, const char *n, struct passwd *p, char *b, size_t s, int *e)
    ASKS(getpwuid_r, unsigned u, struct passwd *p, char *b, size_t s, int *e)
    ASKS(getgrnam_r, const char *n, struct group *g, char *b, size_t s, int *e)
    ASKS(getgrgid_r, unsigned u, struct group *g, char *b, size_t s, int *e)
    ASKS(initgroups_dyn, const char *n, unsigned g, long *a, long *b, unsigned **c, long d, int *e)
    """

  private static func run(_ source: String, _ command: String) throws -> Outcome {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file("module.c", module)
    try tree.file("nsswitch.conf", "passwd: files \(source)\ngroup: files \(source)\n")
    let script = """
      cd "$T"; mkdir upper work
      cc -shared -fPIC -w -o upper/libnss_silent.so.2 module.c; cp upper/libnss_silent.so.2 upper/libnss_empty.so.2
      libraries=$(dirname "$(realpath "$(cc -print-file-name=libc.so.6)")")
      mount -t tmpfs none work; mkdir work/upper work/work; cp upper/* work/upper
      mount -t overlay -o "lowerdir=$libraries,upperdir=$T/work/upper,workdir=$T/work/work" none "$libraries"
      mount --bind nsswitch.conf /etc/nsswitch.conf
      \(command)
      """
    return try Command.run(
      ["timeout", "30", "unshare", "--mount", "sh", "-ec", script],
      environment: ["T": tree.root])
  }

  @Test func `A check of this process goes on without names`() throws {
    // setpriv(1) would ask the user data base itself.
    let drop =
      "import os; os.setgroups([]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3); "
      + "os.execv('\(Command.permcheck)', ['permcheck', 'explain', '/dev/null', '--json'])"
    let outcome = try Self.run("silent", "/usr/bin/python3 -c \"\(drop)\"")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try outcome.report().status == "authorized")
  }

  @Test func `A user whose server does not answer is not judged`()
    throws
  {
    for source in ["silent", "empty"] {
      let outcome = try Self.run(
        source, "\(Command.permcheck) camera --user nobody-of-that-name || exit $?")
      #expect(outcome.output.isEmpty && isOneLine(outcome.errors), "\(outcome)")
      let isSilent = outcome.errors.contains("in time")
      #expect(isSilent == (source == "silent"), "\(outcome.errors)")
      #expect(outcome.status == (isSilent ? 2 : 64), "\(outcome)")
    }
  }

  @Test func `A user in files is not judged without the server's groups`() throws {
    // root is in the files; whether a server names more groups cannot be known.
    let outcome = try Self.run("silent", "\(Command.permcheck) camera --user root || exit $?")
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
  }

  /// What stands in the place of getent(1), and what a check of a user says, whom files have, and of one whom they lack.
  static let stubs: [(stub: String, known: String, unknown: String)] = [
    ("sleep 600", "in time", "in time"),
    ("trap '' TERM; while :; do :; done", "in time", "in time"),
    ("sleep 600 & echo", "cannot be read", "cannot be read"),
    ("kill -SEGV $$", "failed", "failed"), ("exit 1", "failed", "failed"),
    ("exit 0", "cannot be read", "cannot be read"),
    ("exit 2", "cannot be read", "no user"),
    ("yes ada:x:5:5::/:/bin/sh", "too much", "too much"),
    ("head -c 3000000 /dev/zero", "too much", "too much"),
    ("echo ada:x:5:5::/:/bin/sh; echo eve:x:5:5::/:/bin/sh", "cannot be read", "cannot be read"),
    ("echo eve:x:5:5::/:/bin/sh", "cannot be read", "no user"),
    ("echo root:x:5", "cannot be read", "cannot be read"),
    ("printf 'root 1 2 x\n'", "cannot be read", "cannot be read"),
    ("printf 'root 1 2'", "cannot be read", "cannot be read"),
  ]

  @Test(arguments: stubs)
  func `A getent that hangs, dies or prints anything is bounded, and said`(
    _ stub: String, _ known: String, _ unknown: String
  ) throws {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file("nsswitch.conf", "passwd: files sss\ngroup: files sss\n")
    try tree.file("getent", "#!/bin/sh\n\(stub)\n")
    chmod("\(tree.root)/getent", 0o755)
    let script = """
      mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf; mount --bind "$T/getent" /usr/bin/getent
      trap '' CHLD
      for user in root ada; do
        before=$(date +%s); s=0; \(Command.permcheck) explain /dev/null --user $user 2>&1 || s=$?
        echo "status $s"; test $(($(date +%s) - before)) -le 3 || echo slow
      done
      pgrep -x sleep || echo none left
      """
    let outcome = try Command.run(
      ["timeout", "60", "unshare", "-pfm", "--kill-child", "--mount-proc", "sh", "-ec", script],
      environment: ["T": tree.root])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 5 && lines.last == "none left", "\(outcome)")
    guard lines.count == 5 else { return }
    #expect(lines[0].contains(known) && lines[1] == "status 2", "\(outcome)")
    #expect(lines[2].contains(unknown), "\(outcome)")
    #expect(lines[3] == (unknown == "no user" ? "status 64" : "status 2"), "\(outcome)")
    #expect(lines[0].contains("sss in /etc/nsswitch.conf"), "\(outcome)")
  }

  @Test func `Without getent, what other sources know is not known, and said`() throws {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file("nsswitch.conf", "passwd: files sss\ngroup: files sss\n")
    let script = """
      exec 2>&1; mount --bind "$T/nsswitch.conf" /etc/nsswitch.conf
      mount -t tmpfs none "$T/usr"; cp -a /usr/bin "$T/usr"; rm "$T/usr/bin/getent"; mount --bind "$T/usr/bin" /usr/bin
      touch "$T/f"; chown 54321:54321 "$T/f"
      \(Command.permcheck) explain "$T/f"
      for user in root ada; do s=0; \(Command.permcheck) explain /dev/null --user $user || s=$?; echo "status $s"; done
      """
    try tree.folder("usr")
    let outcome = try Command.run(
      ["timeout", "60", "unshare", "--mount", "sh", "-ec", script],
      environment: ["T": tree.root])
    #expect(outcome.output.contains("54321"), "a name stays a number: \(outcome)")
    let said = outcome.output.split(separator: "\n").filter {
      $0.contains("sss in /etc/nsswitch.conf") && $0.contains("there is no getent")
    }
    #expect(said.count == 2, "\(outcome)")
    #expect(outcome.output.components(separatedBy: "status 2").count == 3, "\(outcome)")
  }
}
