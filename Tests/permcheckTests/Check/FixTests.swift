import Foundation
import TestSupport
import Testing

/// Every fix that is printed works when it is typed: then the same question has the answer that the fix
/// promises.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "typing commands of an administrator wants root"))
struct FixTests {
  struct Scene: CustomTestStringConvertible {
    let testDescription: String
    /// What root makes first, in the folder $T; `node NAME MODE` makes a node of the null device.
    let setup: String
    /// What is asked; $T is the folder.
    let ask: String
    /// Who asks: `root`, or a user whom the user data base knows.
    var who = "root"
  }

  static let scenes = [
    Scene(
      testDescription: "one node, for a user", setup: "node a 660", ask: "$T/a --user games"),
    Scene(
      testDescription: "a node, as the user", setup: "node a 660", ask: "$T/a", who: "games"),
    Scene(
      testDescription: "a folder, for a user", setup: "mkdir -m 700 p",
      ask: "photos=$T/p --user games"),
    Scene(
      testDescription: "a folder that is limited", setup: "mkdir -m 755 p",
      ask: "photos=$T/p --user games --all"),
    Scene(
      testDescription: "parents that are closed", setup: "mkdir -p -m 700 b/c/p",
      ask: "photos=$T/b/c/p --user games --need rx"),
    Scene(
      testDescription: "a folder of one's own", setup: "mkdir -m 055 p; chown games p",
      ask: "photos=$T/p", who: "games"),
    Scene(
      testDescription: "a need", setup: "mkdir -m 700 p", ask: "photos=$T/p --user games --need r"),
    Scene(
      testDescription: "a user without a name", setup: "node a 660",
      ask: "$T/a --uid 54321 --gid 54321"),
    Scene(
      testDescription: "a user without a name, as that user", setup: "node a 660",
      ask: "$T/a",
      who: "54321"),
    Scene(
      testDescription: "an explanation", setup: "mkdir -m 700 b; echo x >b/f; chmod 600 b/f",
      ask: "explain $T/b/f --user games"),
    Scene(
      testDescription: "an odd name", setup: "mkdir -m 700 \"p \\$(x)'y\"",
      ask: "\"photos=$T/p \\$(x)'y\" --user games"),
    Scene(
      testDescription: "a read-only mount", setup: "mkdir p; mount -t tmpfs -o ro,mode=777 none p",
      ask: "photos=$T/p"),
    Scene(
      testDescription: "a read-only mount of a closed folder",
      setup: "mkdir p; mount -t tmpfs -o mode=755 none p; mkdir -m 700 p/d; mount -o remount,ro p",
      ask: "explain $T/p/d --need rwx --user games"),
    Scene(
      testDescription: "an immutable file that is closed",
      setup: "mkdir d; mount -t tmpfs none d; echo >d/a; chmod 640 d/a; chattr +i d/a",
      ask: "explain $T/d/a --need w --user games"),
    Scene(
      testDescription: "a mount without programs, and a file that is none",
      setup: "mkdir d; mount -t tmpfs -o noexec none d; echo >d/a; chmod 640 d/a",
      ask: "explain $T/d/a --need x --user games"),
    Scene(
      testDescription: "a mount without devices",
      setup: "mkdir d; mount -t tmpfs -o mode=755,nodev none d; node d/a 666", ask: "$T/d/a"),
    Scene(
      testDescription: "a mount without programs",
      setup: "mkdir d; mount -t tmpfs -o noexec none d; echo >d/a; chmod 755 d/a",
      ask: "explain $T/d/a --need x"),
    Scene(
      testDescription: "an immutable file",
      setup: "mkdir d; mount -t tmpfs none d; echo >d/a; chattr +i d/a",
      ask: "explain $T/d/a --need w"),
    Scene(
      testDescription: "a read-only snapshot",
      setup: """
        truncate -s 128M i; mkfs.btrfs -q i; mkdir d; mount -o loop i d; chmod 755 d
        btrfs -q subvolume create d/one; echo >d/one/a; chmod 666 d/one/a; chmod 755 d/one
        btrfs -q subvolume snapshot -r d/one d/two
        """,
      ask: "explain $T/d/two/a --need w"),
    Scene(
      testDescription: "a mount of one process",
      setup: """
        mkdir d; echo >d/a; chmod 666 d/a
        unshare --mount sh -c 'mount --bind d d; mount -o remount,bind,ro d; echo $$ >own; exec sleep 99' &
        until [ -s own ]; do sleep 0.1; done; OWN=$(cat own); trap 'kill $OWN' EXIT
        """,
      ask: "explain $T/d/a --need w --pid $OWN"),
    Scene(
      testDescription: "a file that only one process has",
      setup: """
        mkdir d; echo outside >d/a; chmod 600 d/a
        unshare --mount sh -c 'mount -t tmpfs -o mode=755 none d; echo >d/a; chmod 600 d/a; chattr +i d/a; echo $$ >own
          exec setpriv --reuid games --regid games --clear-groups sleep 99' &
        until [ -s own ] && grep -q sleep /proc/$(cat own)/comm; do sleep 0.1; done
        OWN=$(cat own); trap 'kill $OWN; [ $(stat -c %a d/a) = 600 ] || echo changed >changed' EXIT
        """,
      ask: "explain $T/d/a --need r --pid $OWN"),
    Scene(
      testDescription: "a process with another root",
      setup: """
        mkdir -p d; echo >d/a; chmod 600 d/a
        /usr/bin/python3 -c 'import os; os.chroot("."); os.setgroups([]); os.setgid(5); os.setuid(5); print(os.getpid(), file=os.fdopen(3, "w"), flush=True); import time; time.sleep(99)' 3>own &
        until [ -s own ]; do sleep 0.1; done; OWN=$(cat own); trap 'kill $OWN' EXIT
        """,
      ask: "explain /d/a --need r --pid $OWN"),
    Scene(
      testDescription: "a file that only grows",
      setup: "mkdir d; mount -t tmpfs none d; echo >d/a; chattr +a d/a",
      ask: "explain $T/d/a --need w"),
  ]

  /// Takes the commands below `fix` out of what permcheck prints, without their numbers.
  static let typed = """
    import re, sys
    depth = None
    for line in sys.stdin.read().split("\\n"):
        indent = len(line) - len(line.lstrip(" "))
        if re.match(r" *(smallest )?fix( \\(.*\\))?:$", line):
            depth = indent
        elif depth is not None and indent > depth and line.strip():
            print(re.sub(r"^[0-9]+\\. ", "", line.strip()))
        else:
            depth = None
    """

  @Test(arguments: Effort.some(scenes, of: "FixTests scenes")) func `Each printed fix works`(
    _ scene: Scene
  ) throws {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file("typed.py", Self.typed)
    try PrivateJournal(environment: ["T": tree.root, "LC_ALL": "C.UTF-8"]).expect(
      """
      cd "$T"
      node() { mknod -m "$2" "$1" c 1 3; }
      mkdir bin home; chmod 777 home; printf '#!/bin/sh\\nexec "$@"\\n' >bin/sudo; chmod 755 bin bin/sudo
      cp "$P" bin/permcheck; cp "$H" bin/permcheck-helper
      export PATH=$T/bin:$PATH HOME=$T/home
      unset XDG_STATE_HOME SUDO_USER
      \(scene.setup)
      by() { case \(scene.who) in root) "$@" ;; *) as $(id -u \(scene.who) 2>/dev/null || echo \(scene.who)) "$@" ;; esac; }
      before=0; by permcheck \(scene.ask) >$OUT.o || before=$?
      [ $before = 1 ] || [ $before = 0 ] || fail "asked: $before $(cat $OUT.o)"
      python3 typed.py <$OUT.o >commands
      [ -s commands ] || fail "no fix: $(cat $OUT.o)"
      # What is for an administrator says sudo; everything else the one who asked types.
      while IFS= read -r line; do
        case $line in
          sudo*request*) line="$line --yes"; sh -c "$line" ;;
          sudo*) sh -c "$line" ;;
          *"permcheck request "*) by sh -c "$line --yes" ;;
          *) by sh -c "$line" ;;
        esac >>$OUT.e 2>&1 </dev/null || fail "typed: $line: $(cat $OUT.e)"
      done <commands
      after=0; by permcheck \(scene.ask) >$OUT.e || after=$?
      [ $after = 0 ] || fail "after $(cat commands): $after $(cat $OUT.e)"
      ! grep -q '^ *fix' $OUT.e || fail "a fix is left: $(cat $OUT.e)"
      """)
  }

  /// What `-v` prints as undo leaves all as it was, the mount and the attribute too.
  @Test(arguments: [
    ("mkdir d; mount -t tmpfs none d; echo >d/a; chmod 600 d/a; chattr +i d/a", "d/a --need w"),
    ("mkdir d; mount -t tmpfs none d; echo >d/a; chmod 600 d/a; chattr +i d/a", "d/a --need r"),
    ("mkdir d; mount -t tmpfs none d; echo >d/a; chmod 666 d/a; chattr +a d/a", "d/a --need w"),
    (
      "mkdir d; mount -t tmpfs -o mode=755 none d; echo >d/a; chmod 600 d/a; mount -o remount,ro d",
      "d/a --need rw"
    ),
    ("mkdir d; mount -t tmpfs -o mode=755,noexec none d; echo >d/a; chmod 644 d/a", "d/a --need x"),
    ("mkdir d; mount -t tmpfs -o mode=755,nodev none d; mknod -m 600 d/a c 1 3", "d/a --need rw"),
  ])
  func `The undo of a fix leaves all as it was`(_ setup: String, _ ask: String) throws {
    let tree = try Tree()
    chmod(tree.root, 0o755)
    try tree.file("typed.py", Self.typed.replacing("(smallest )?fix", with: "undo"))
    try tree.file("fix.py", Self.typed)
    try PrivateJournal(environment: ["T": tree.root, "LC_ALL": "C.UTF-8"]).expect(
      """
      cd "$T"; unset SUDO_USER
      \(setup)
      state() { stat -c '%a %u %g' d/a; getfacl -n d/a; lsattr d/a || :; grep " $T/d " /proc/self/mountinfo; }
      state >before 2>/dev/null
      "$P" explain $T/\(ask) --user games -v >$OUT.o && fail "granted"
      sed '/^undo:/,$d' $OUT.o | python3 fix.py >fix; python3 typed.py <$OUT.o >undo
      [ -s fix ] || fail "no fix: $(cat $OUT.o)"
      sh -e fix || fail "fix: $(cat fix)"
      "$P" explain $T/\(ask) --user games >$OUT.e || fail "not granted after $(cat fix)"
      sh -e undo || fail "undo: $(cat undo)"
      state >after 2>/dev/null
      diff before after || fail "left after $(cat fix) and $(cat undo)"
      """)
  }

  /// Where the kernel lets nobody change permissions, or a change would open a session of somebody else, no
  /// command is printed; what helps is said.
  @Test func `No command is printed that cannot or should not work`() throws {
    try PrivateJournal(environment: ["LC_ALL": "C.UTF-8"]).expect(
      """
      sleep 99 & PID=$!; trap 'kill $PID' EXIT
      for name in fd; do
        "$P" explain /proc/$PID/$name --need r --user games >$OUT.o && fail "granted $name"
        grep -q chmod $OUT.o && fail "a command: $(cat $OUT.o)"
        grep -q 'fix: ask as root or as the user of the process' $OUT.o || fail "no advice: $(cat $OUT.o)"
        chmod o+r /proc/$PID/$name 2>/dev/null && fail "the kernel changes $name"
      done
      "$P" explain /proc/sys/kernel/cap_last_cap --need w --user games >$OUT.o && fail "granted"
      grep -q chmod $OUT.o && fail "a command: $(cat $OUT.o)"
      chmod o+w /proc/sys/kernel/cap_last_cap 2>/dev/null && fail "the kernel changes a sysctl"
      export P; script -qc 'tty >/dev/null && chmod 620 $(tty) && "$P" explain $(tty) --need rw --user games' /dev/null \
        </dev/null >$OUT.o || true
      grep -q chmod $OUT.o && fail "a command: $(cat $OUT.o)"
      grep -q 'start a terminal of your own' $OUT.o || fail "no advice: $(cat $OUT.o)"
      """)
  }
}
