import TestSupport
import Testing

/// What cannot be read is unknown, and neither there nor absent.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct BlindProgramTests {
  /// /proc, the status, mounts and maps of a process, users, sysfs, udev, the program's own calls: one or two
  /// of them are hidden, closed or broken.
  @Test func `A blind program gives no answer that the kernel contradicts`() throws {
    try Command.expectNoneWrong("blind.py", Effort.of(400, atLeast: 30))
  }

  /// Where the rules cannot be seen and the kernel was asked, headline and exit status say what it answered.
  @Test func `The headline is the kernel's answer`() throws {
    let tree = try Tree()
    for (mode, status, headline) in [
      ("0644", 0, "read granted for"), ("0640", 1, "read refused (EACCES) for"),
    ] {
      let outcome = try Command.run(
        [
          "unshare", "--mount", "sh", "-ec",
          """
          mount -t tmpfs -o mode=755 none /srv; echo x >/srv/f; chmod \(mode) /srv/f; mount -t tmpfs none /proc
          exec setpriv --reuid 54321 --regid 54321 --clear-groups "$0" explain /srv/f
          """, Command.permcheck,
        ], environment: tree.homeEnvironment)
      #expect(outcome.status == status && outcome.output.contains(headline), "\(outcome)")
      #expect(outcome.output.contains("not seen: /proc/self/uid_map (ENOENT)"), "\(outcome)")
      #expect(!outcome.output.contains("cannot be determined"), "\(outcome)")
    }
  }
}
