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

  /// The same as a plan: journalled, and undone only as far as nobody else changed it.
  @Test func `A request gives a file without ACLs to a group, and takes it back`() throws {
    let outcome = try run(
      """
      echo 'attra:x:61001:61001::/:/bin/sh
      attrb:x:61002:61002::/:/bin/sh' | sed 's/^ *//' >>/etc/passwd
      printf 'attra:x:61001:\\nattrs:x:61009:attra,attrb\\n' >>/etc/group
      mount -t ramfs none /srv; chmod 755 /srv; mount -t sysfs none /sys; ip link add v0 type veth peer name v1
      open() { setpriv --reuid $2 --regid $2 --init-groups /usr/bin/python3 -c 'import os, sys; os.open(sys.argv[1], os.O_WRONLY)' $1 2>/dev/null; }
      state() { stat -Lc '%a %U:%G' $1; }
      is() { [ "$1" = "$2" ] || { echo "line $3: $1 instead of $2"; exit 9; }; }
      for f in /sys/class/net/v0/ifalias /srv/f; do
        [ -e $f ] || { echo x >$f; chmod 644 $f; }
        open $f 61001 && exit 8
        "$0" $f --need w --user attra >o; grep -q 'request .* --need w --user attra$' o || { cat o; exit 8; }
        "$0" request $f --need w --user attra --dry-run >o; is $? 1 dry; is "$(state $f)" "644 root:root" dry
        sed -n 's/^  \\(chgrp .* && chmod .*\\)/\\1/p' o | sh -e; is "$(state $f)" "664 root:attra" typed
        open $f 61001 || exit 7; chmod 644 $f; chgrp root $f
        # For itself, and for a time.
        "$0" request $f --need w --user attra --yes >o || exit 7
        is "$(state $f)" "664 root:attra" given; open $f 61001 || exit 6; open $f 61002 && exit 6
        "$0" list --grants | grep -q "owning group attra, with mode bits g+w" || exit 6
        # The other user cannot get it without everybody.
        "$0" request $f --need w --user attrb --yes >o 2>&1 && exit 5; is "$(state $f)" "664 root:attra" other
        "$0" revoke --all >o || exit 5; is "$(state $f)" "644 root:root" revoked; open $f 61001 && exit 5
        "$0" request $f --need w --user attra --for 1s --yes >o || exit 4; sleep 1.2; "$0" revoke --expired >o; is "$(state $f)" "644 root:root" ended
        # What others change meanwhile stays.
        "$0" request $f --need w --user attra --yes >o || exit 3; chmod o+w $f
        "$0" revoke --all >o || exit 3; is "$(state $f)" "646 root:root" o+w; chmod o-w $f
        "$0" request $f --need w --user attra --yes >o || exit 3; chmod g+x $f
        "$0" revoke --all >o 2>&1 || exit 3; grep -q "only what was given is taken back" o || exit 3
        is "$(state $f)" "654 root:attra" g+x; chgrp root $f; chmod 644 $f
        "$0" request $f --need w --user attra --yes >o || exit 3; chgrp attrs $f
        "$0" revoke --all >o 2>&1 || exit 3; is "$(state $f)" "664 root:attrs" chgrp
        sed -n 's/.*left as it is; \\(chmod .*\\) takes from.*/\\1/p' o | sh -e; is "$(state $f)" "644 root:attrs" typed; chgrp root $f
        # With a set-id bit the group means more than access: it stays, and only the access goes.
        if [ $f = /srv/f ]; then
          chmod 755 $f; "$0" request $f --need w --user attra --yes >o || exit 3; chmod 4775 $f
          "$0" revoke --all >o 2>&1 || exit 3; grep -q "only what was given is taken back" o || exit 3
          is "$(state $f)" "4755 root:attra" set-id; chown root:root $f; chmod 644 $f
        fi
        # Two leases: the first one to end takes only what is its own.
        "$0" request $f --need r --user attrb --allow-others --yes >o 2>&1; "$0" request $f --need w --user attra --for 1s --yes >o || exit 3
        "$0" request $f --need w --user attra --yes >o || exit 3; grep -q revoke o || exit 3; sleep 1.1; "$0" revoke --expired >o
        is "$(state $f)" "664 root:attra" second; open $f 61001 || exit 3; "$0" revoke --all >o || exit 3; is "$(state $f)" "644 root:root" both
        # A process that is killed between the two calls.
        strace -f -o /dev/null -e trace=chmod -e inject=chmod:signal=KILL:when=1 "$0" request $f --need w --user attra --yes >o 2>&1
        is "$(state $f)" "644 root:attra" killed; "$0" revoke --expired >o; is "$(state $f)" "644 root:root" recovered
      done
      # Nothing of it where the group would lose, or what is there would: it is everybody or nobody.
      chmod 664 /srv/f; "$0" request /srv/f --need w --user attra --yes >o 2>&1 && exit 2; is "$(state /srv/f)" "664 root:root" loses
      chmod 4744 /srv/f; "$0" request /srv/f --need w --user attra --yes >o 2>&1 && exit 2; is "$(state /srv/f)" "4744 root:root" set-id
      # Who may not give it back changes nothing.
      mkdir -m 777 /srv/d; echo x >/srv/d/g; chown 61001:root /srv/d/g; chmod 600 /srv/d/g
      setpriv --reuid 61001 --regid 61001 --init-groups env HOME=/srv/d "$0" request /srv/d/g --need r --user attrb --allow-others --yes --via none >o 2>&1 && { cat o; exit 2; }
      is "$(state /srv/d/g)" "600 attra:root" back
      # A whole tree.
      mkdir -p /srv/t/u; echo x >/srv/t/u/g; chmod -R go= /srv/t
      "$0" request /srv/t --need rwx --recursive --user attra --yes >o 2>&1 || { cat o; exit 2; }
      open /srv/t/u/g 61001 && ! open /srv/t/u/g 61002 || exit 2
      "$0" revoke --all >o; is "$(state /srv/t) $(state /srv/t/u) $(state /srv/t/u/g)" "700 root:root 700 root:root 600 root:root" tree
      rm /srv/f; echo done
      """)
    #expect(outcome.status == 0 && outcome.output.hasSuffix("done\n"), "\(outcome)")
  }

  /// Several leases of one owning group, and what is killed meanwhile.
  @Test func `Leases of owning groups end as the first one began`() throws {
    try Command.expectNoneWrong("groups.py", Effort.of(400, atLeast: 12))
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
      ("another attribute in /sys, such as those of the kernel", .untilReboot),
      ("a file of a control group", .untilCgroupIsRemoved),
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
