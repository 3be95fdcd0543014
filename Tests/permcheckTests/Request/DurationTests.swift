import Foundation
import PermissionKit
import TestSupport
import Testing

/// How long a fix lasts, and the smaller of two fixes.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct DurationTests {
  private func run(_ script: String) throws -> Outcome {
    try Command.run(
      [
        "unshare", "-pfmn", "--kill-child", "--mount-proc", "--propagation", "private", "sh", "-uc",
        """
        mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /var/lib
        \(Command.privateEtc)
        private_etc; cd /mnt; export PERMCHECK_LOG=none COLUMNS=400 LC_ALL=C.UTF-8
        \(script)
        """, Command.permcheck, "\(Effort.seed)",
      ])
  }

  /// Twelve places: what does not end the fix is done, and then what is printed as its end.
  @Test func `A fix lasts as long as is printed`() throws {
    let program = Checkout.path("Tests/permcheckTests/Runner/durations.py")
    let outcome = try run("exec timeout -k 5 300 /usr/bin/python3 '\(program)' /mnt \"$0\" \"$1\"")
    print(outcome.output, terminator: "")
    #expect(outcome.status == 0 && outcome.output.contains("; 0 wrong"), "\(outcome)")
  }

  /// Random refusals: a printed fix gives access when it is typed, and where there is none, a line says why.
  @Test func `Each fix of a random refusal works, or why there is none is said`() throws {
    let program = Checkout.path("Tests/permcheckTests/Runner/refusals.py")
    let count = Effort.of(300, atLeast: 40)
    let outcome = try run(
      "cp \"$0\" pc; exec timeout -k 5 900 /usr/bin/python3 '\(program)' /mnt /mnt/pc \"$1\" \(count)"
    )
    print(outcome.output, terminator: "")
    #expect(outcome.status == 0 && outcome.output.contains("; 0 wrong"), "\(outcome)")
  }

  /// sysfs has no ACLs: the file goes to the smallest group of the user, and nobody but the group gains.
  @Test func `An attribute is given to a group and not to everybody`() throws {
    let outcome = try run(
      """
      echo 'attra:x:61001:61001::/:/bin/sh
      attrb:x:61002:61002::/:/bin/sh' | sed 's/^ *//' >>/etc/passwd
      printf 'attra:x:61001:\\nattrs:x:61009:attra,attrb\\n' >>/etc/group
      mount -t sysfs none /sys; ip link add v0 type veth peer name v1; F=/sys/class/net/v0/ifalias
      open() { setpriv --reuid $1 --regid $1 --init-groups /usr/bin/python3 -c 'import os, sys; os.open(sys.argv[1], os.O_WRONLY)' $F 2>/dev/null; }
      open 61001 && exit 8; "$0" explain $F --need w --user attra -v >o; cat o
      "$0" explain $F --need w --user attra --json | jq -r '.reports[0].resources[0] | .remedies[].shell' | sh -e
      open 61001 && ! open 61002 || exit 9
      "$0" $F --need r --uid 61002 --gid 61002 -q || exit 10
      ls -lL $F; sed -n '/^undo:/,$p' o | tail -n +2 | sh -e; ls -lL $F
      """)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.output.contains(
        "smallest fix (2 steps; lasts until the device is re-plugged or changed; nobody else gets access"
      ),
      "\(outcome)")
    #expect(outcome.output.contains("-rw-rw-r-- 1 root attra"), "\(outcome)")
    #expect(outcome.output.contains("-rw-r--r-- 1 root root"), "\(outcome)")
    #expect(
      outcome.output.contains(
        #"SUBSYSTEM=="net", KERNEL=="v0", RUN+="/bin/chgrp attra /sys%p/ifalias""#),
      "\(outcome)")
  }

  /// A server makes its socket anew, and its setting is named.
  @Test func `The setting behind a socket is named`() throws {
    let outcome = try run(
      """
      cp "$(readlink -f /usr/bin/python3)" php-fpm8.2
      ./php-fpm8.2 -c 'import socket, os, time; s = socket.socket(socket.AF_UNIX); os.umask(0o117); s.bind("/mnt/s"); s.listen(9); time.sleep(99)' & sleep .5
      "$0" explain /mnt/s --to connect --uid 61001 --gid 61001
      "$0" request /mnt/s --need w --uid 61001 --gid 61001 --dry-run
      """)
    let note =
      "php-fpm makes the socket anew when it starts: what lasts is listen.group and listen.mode of the pool"
    #expect(outcome.output.contains("\n\(note)\n"), "\(outcome)")
    #expect(outcome.output.contains("  note: \(note)\n"), "\(outcome)")
  }

  /// Documentation/durations.md is made of the function that decides.
  @Test func `The page of durations is what the program prints`() throws {
    var text = """
      # How long a change lasts

      What permcheck prints after `lasts`. The place decides, and who makes the file anew; a plan lasts as long as the
      shortest of its changes. This page is made by `DurationTests` from the function that decides, and
      `Tests/permcheckTests/Runner/durations.py` holds it to reality: it does what ends a change, and looks whether access
      is gone.

      | what is changed | lasts |
      |---|---|

      """
    let places: [(String, Persistence)] = [
      ("a file or folder on a disk", Persistence(.regular, on: "ext4", at: "/")),
      ("an attribute of a file (`chattr`)", Persistence(.regular, on: "ext4", at: "/")),
      ("a group in the user data base", .permanent),
      ("a file of a snapshot (btrfs)", .untilSnapshotIsDeleted),
      ("a file on tmpfs", Persistence(.regular, on: "tmpfs", at: "/srv")),
      ("a file below /run/user/UID", Persistence(.regular, on: "tmpfs", at: "/run/user/1000")),
      ("a device in /dev", Persistence(.characterDevice, on: "devtmpfs", at: "/dev")),
      ("an attribute of a device in /sys", Persistence(.regular, on: "sysfs", at: "/sys")),
      ("a socket", Persistence(.socket, on: "ext4", at: "/")),
      ("the options of a mount", .untilReboot),
      ("a mount that only one process has, and what is in its memory", .untilProcessEnds),
      ("what a container or sandbox has of its own", .untilContainerEnds),
      ("what a service has of its own, such as its /dev", .untilServiceRestart),
      ("a group or a umask of one shell", .untilLogout),
    ]
    text += places.map { "| \($0) | \($1.words) |\n" }.joined()
    let file = Checkout.file("Documentation/durations.md")
    if Variables.value("PERMCHECK_GOLDEN") == "write" { try Data(text.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }
}
