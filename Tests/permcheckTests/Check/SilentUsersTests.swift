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
      cd "$T"; cc -shared -fPIC -w -o libnss_silent.so.2 module.c; cp libnss_silent.so.2 libnss_empty.so.2
      mount --bind nsswitch.conf /etc/nsswitch.conf
      export LD_LIBRARY_PATH="$T"
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
      let isSilent = outcome.errors.contains("did not answer")
      #expect(isSilent == (source == "silent"), "\(outcome.errors)")
      #expect(outcome.status == (isSilent ? 2 : 64), "\(outcome)")
    }
  }

  @Test func `A user in files is not judged without the server's groups`() throws {
    // root is in the files; whether a server names more groups cannot be known.
    let outcome = try Self.run("silent", "\(Command.permcheck) camera --user root || exit $?")
    #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome)")
  }
}
