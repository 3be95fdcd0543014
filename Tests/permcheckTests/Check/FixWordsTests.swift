import Foundation
import TestSupport
import Testing

/// What is printed beside a refusal: the fix, why there is none, the call that was made, marks.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct FixWordsTests {
  /// Random refusals with odd names; dash runs what was printed, as the one who asked.
  @Test func `Each printed fix runs in dash as printed`() throws {
    try Command.expectNoneWrong("fixes.py", Effort.of(300, atLeast: 8))
  }

  /// A folder on a tmpfs, with private users, where everybody can run permcheck.
  private func run(_ script: String) throws -> String {
    try Command.run([
      "unshare", "--mount", "sh", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /var/lib; cd /mnt
        private_etc; echo 'ada:x:52000:52000::/mnt/home:/bin/sh' >>/etc/passwd
        printf '%s\\n' ada:x:52000: team:x:52100: >>/etc/group
        cp "$1" permcheck; chmod 755 permcheck; mkdir home; chown ada home
        printf '#!/bin/sh\\nexec "$@"\\n' >sudo; chmod 755 sudo; unset SUDO_USER DOAS_USER
        export PATH="/mnt:$PATH" PERMCHECK_LOG=none HOME=/mnt/home LC_ALL=C.UTF-8
        as() { setpriv --reuid $1 --regid $1 --clear-groups sh -c "$2"; }
        exec 2>&1
        \(script)
        """, "sh", Command.permcheck,
    ]).output
  }

  @Test func `A lease has one end: whole seconds of local time, the zone named`() throws {
    let output = try run(
      """
      mkdir -m 700 album; export TZ=XYZ-5:30
      request() { permcheck request /mnt/album --user ada "$@"; }
      request --need rx --for 2h --dry-run | grep -E 'lasts|note'
      request --need rx --for 2h --yes | grep given
      permcheck list --grants
      request --need rwx --for 2h --dry-run --json | python3 -c '
      import json, sys
      plan = json.load(sys.stdin)["plans"][0]
      print(plan["lasts"], plan["expires"], plan["warnings"], sep=chr(10))'
      """)
    let words = output.replacing(/20\d\d-\d\d-\d\d \d\d:\d\d:\d\d XYZ/, with: "TIME")
      .replacing(/20\d\d-[-:T.\d]+Z/, with: "UTC")
    #expect(
      words == """
          lasts: until the next boot, at most until TIME; the next request or permcheck revoke --expired then ends it
          note: ada can then reach what is below /mnt/album, as far as its own permissions allow
        permcheck: note: ada can then reach what is below /mnt/album, as far as its own permissions allow
        given until TIME; the next request or permcheck revoke --expired then ends it
        path  ada  /mnt/album  ACL entry user:ada:r-x  since TIME  until TIME
        until the next boot, at most until TIME; the next request or permcheck revoke --expired then ends it
        UTC
        ['ada can then create, delete and replace every file in /mnt/album']

        """)
  }

  @Test func `All evidence has the same one fix`() throws {
    let output = try run(
      """
      mkdir -m 700 album
      permcheck check photos=album --user ada | tail -2; permcheck check photos=album --user ada -v | tail -2
      permcheck check photos=./album --user ada -v | grep -c fix
      """)
    let fix = """
                  fix (1 change; lasts until the next boot; nobody else gets access; ada can then create, delete and replace every file in /mnt/album; and reach what is below /mnt/album, as far as its own permissions allow):
                    /mnt/permcheck request photos=/mnt/album --user ada

      """
    #expect(output == fix + fix + "1\n")
  }

  @Test func `Below a closed folder an administrator is named`() throws {
    let output = try run(
      """
      mkdir -p up/b; chmod 700 up
      as ada 'permcheck request /mnt/up/b --need rx'; as ada 'permcheck check /mnt/up/b --need rx'
      as ada 'permcheck explain /mnt/up/b --need rx' | tail -1
      """)
    #expect(
      output == """
        permcheck: only an administrator may give access to /mnt/up/b:
          sudo /mnt/permcheck request /mnt/up/b --need rx --user ada
        ✘ /mnt/up/b  denied
                       ada may not search /mnt/up: ada is neither the owner nor in group root (drwx------ root:root)
                       fix: ask as root, who sees what is below /mnt/up
        ✘ /mnt/up/b  denied
                       ada may not search /mnt/up: ada is neither the owner nor in group root (drwx------ root:root)
                       fix (--dry-run shows the changes):
                         sudo /mnt/permcheck request /mnt/up/b --need rx --user ada
        fix: ask as root, who sees what is below /mnt/up

        """, "\(output)")
  }

  /// As who types it becomes root: not at all, by sudo, by doas, or by su, which takes one word.
  @Test func `The way to root is one that is there`() throws {
    let output = try run(
      """
      mkdir -m 700 b; fix() { permcheck explain /mnt/b --user games | tail -1; }
      fix; SUDO_USER=ada fix; as ada "PATH=/mnt:/usr/bin:/bin; permcheck explain /mnt/b --user games" | tail -1
      mv sudo doas; as ada "PATH=/mnt; permcheck explain /mnt/b --user games" | tail -1
      rm doas; as ada "PATH=/mnt; permcheck explain /mnt/b --user games" | tail -1
      """)
    #expect(
      output == """
          setfacl -n -m u:5:r-x,m::r-x /mnt/b
          sudo setfacl -n -m u:5:r-x,m::r-x /mnt/b
          sudo setfacl -n -m u:5:r-x,m::r-x /mnt/b
          doas setfacl -n -m u:5:r-x,m::r-x /mnt/b
          su -c 'setfacl -n -m u:5:r-x,m::r-x /mnt/b'

        """, "\(output)")
  }

  @Test func `An owner types no sudo`() throws {
    let output = try run(
      """
      mkdir -m 700 own theirs; chown ada own
      as ada 'permcheck explain /mnt/own --need rx --user games' | tail -1
      as ada 'permcheck check /mnt/own --need rx --user games' | tail -1
      permcheck explain /mnt/theirs --need rx --user games | tail -1
      """)
    #expect(
      output == """
          setfacl -n -m u:5:r-x,m::r-x /mnt/own
                        /mnt/permcheck request /mnt/own --need rx --user games
          setfacl -n -m u:5:r-x,m::r-x /mnt/theirs

        """, "\(output)")
  }

  @Test func `Where permissions cannot be changed, it says what comes before and after`() throws {
    let output = try run(
      """
      mkdir m; mount -t tmpfs none m; mkdir -m 700 m/c m/i; mkdir -m 700 m/c/d
      chattr +i m/i; permcheck explain /mnt/m/i --user games | tail -3; chattr -i m/i
      mount -o remount,ro m
      permcheck explain /mnt/m/c --user games | tail -3
      permcheck check /mnt/m/c/d --user games | tail -4
      """)
    #expect(
      output == """
          chattr -i /mnt/m/i
          setfacl -n -m u:5:r-x,m::r-x /mnt/m/i
          chattr +i /mnt/m/i
          mount -o remount,rw /mnt/m
          setfacl -n -m u:5:r-x,m::r-x /mnt/m/c
          mount -o remount,ro /mnt/m
                          mount -o remount,rw /mnt/m
                          setfacl -n -m u:5:--x,m::--x /mnt/m/c
                          setfacl -n -m u:5:r-x,m::r-x /mnt/m/c/d
                          mount -o remount,ro /mnt/m

        """, "\(output)")
  }

  @Test func `Links in a circle take a line each`() throws {
    let output = try run(
      "ln -s b a; ln -s a b; ln -s l l; permcheck explain /mnt/a; permcheck check /mnt/l")
    #expect(
      output == """
        /mnt/a   read refused (ELOOP) for root (uid 0)
        ├─ /    drwxr-xr-x  root root  search ✔ owner rwx
        ├─ mnt  drwxr-xr-x  root root  search ✔ owner rwx
        ├─ a    lrwxrwxrwx  root root  → b
        └─   b  lrwxrwxrwx  root root  → a  ✘  decides
        why: /mnt/a and /mnt/b are symbolic links that point at each other (ELOOP)
        kernel: open fails (ELOOP)
        fix: repair or remove the symbolic link
        – /mnt/l  unavailable  /mnt/l is a symbolic link that points at itself (ELOOP)
                    fix: repair or remove the symbolic link

        """, "\(output)")
  }

  @Test func `The call that failed is named`() throws {
    let output = try run(
      """
      mkdir m; mount -t tmpfs -o noexec none m; echo '#!/bin/sh' >m/s.sh; chmod 755 m m/s.sh
      as ada 'permcheck explain /mnt/m/s.sh --need x --probe open' | grep kernel
      as ada 'permcheck explain /mnt/m/s.sh --need rx --probe open' | grep kernel
      as ada 'permcheck explain /mnt/m/s.sh --need r --probe open' | grep kernel
      as ada 'permcheck explain /mnt/m/s.sh --need w --probe open' | grep kernel
      """)
    #expect(
      output == """
        kernel: faccessat2 fails (EACCES)
        kernel: faccessat2 fails (EACCES)
        kernel: open succeeds
        kernel: open fails (EACCES)

        """, "\(output)")
  }

  @Test func `In ASCII marks are words, and steps stand alone`() throws {
    let output = try run(
      """
      mkdir -m 700 a a/b; LC_ALL=C permcheck explain /mnt/a/b --user games
      """)
    #expect(
      output == """
        /mnt/a/b   read+execute refused (EACCES) for games (uid 5)
        |- /    drwxr-xr-x  root root  search ok other r-x
        |- mnt  drwxr-xr-x  root root  search ok other r-x
        |- a    drwx------  root root  search no other ---  decides
        `- b    not reached
        why: games may not search /mnt/a: games is neither the owner nor in group root (drwx------ root:root)
        smallest fix (2 steps; lasts until the next boot; nobody else gets access; games can then reach what is below /mnt/a, as far as its own permissions allow; tested by simulation):
          setfacl -n -m u:5:--x,m::--x /mnt/a
          setfacl -n -m u:5:r-x,m::r-x /mnt/a/b

        """, "\(output)")
  }

  @Test func `A process gets no groups while it runs`() throws {
    let output = try run(
      """
      touch f; chgrp 52100 f; chmod 640 f
      setpriv --reuid 52000 --regid 52000 --clear-groups sleep 60 & PID=$!
      until grep -q '^Name:.sleep' /proc/$PID/status; do sleep 0.05; done
      sed -i 's/^team:.*/&ada/' /etc/group
      permcheck explain /mnt/f --pid $PID | tail -1 | sed "s/process $PID/process PID/"
      kill $PID
      """)
    #expect(
      output
        == "fix: start process PID again after a new login of ada, since a running process gets no groups\n",
      "\(output)")
  }

  @Test func `A mount of another namespace is changed there`() throws {
    let output = try run(
      """
      mkdir m; mount -t tmpfs none m; touch m/f; chmod 666 m/f; cd /
      unshare -m sh -c 'mount -o remount,bind,ro /mnt/m; echo >/mnt/ready; exec sleep 60' & PID=$!
      until [ -e /mnt/ready ]; do sleep 0.05; done
      permcheck explain /mnt/m/f --need w --pid $PID | tail -1 >/mnt/fix; sed "s/ $PID / PID /" /mnt/fix
      nsenter -t $PID -m sh -c 'echo x >/mnt/m/f' 2>/dev/null && echo written before
      sh -c "$(cat /mnt/fix)"
      nsenter -t $PID -m sh -c 'echo x >/mnt/m/f' && echo written
      kill $PID
      """)
    #expect(
      output == "  nsenter -t PID -m mount -o remount,bind,rw /mnt/m\nwritten\n", "\(output)")
  }

  /// Each folder and file has a grant of its own.
  @Test func `An expired grant is reported once`() throws {
    let output = try run(
      """
      mkdir -m 700 d d/e
      permcheck request /mnt/d/e --need rx --user games --for 1s --yes >/dev/null 2>&1
      permcheck request /mnt/d/e --need rx --user games --for 1s --yes >/dev/null 2>&1
      sleep 1.2; permcheck check /mnt/d/e --need rx --user games | grep EXPIRED | grep -o '/mnt/d[^ ]*'
      """)
    #expect(output == "/mnt/d\n/mnt/d/e\n", "\(output)")
  }

  @Test func `A report contains the mistakes in declarations`() throws {
    let output = try run(
      """
      printf '[[expect]]\\npath = "/x\\nis = "granted"\\n' >t.toml
      permcheck verify t.toml; permcheck verify t.toml --format github 2>/dev/null; echo $?
      permcheck verify t.toml --format junit 2>/dev/null | grep -o '<testcase.*'
      printf '[[expect]]\\naccessor = "hidraw"\\nis = "granted"\\n' >t.toml
      permcheck verify t.toml --format junit --skip-unavailable | grep -o '<skipped.*/>'
      printf "[[expect]]\\npath = '/x" >t.toml; permcheck verify t.toml
      printf '[[expect]]\\npath = "/x\\001"' >t.toml; permcheck verify t.toml | grep -c closing
      """)
    #expect(
      output == """
        permcheck: t.toml:2:11: missing closing quote; see permcheck verify --help
        ::error file=t.toml,line=2,col=11,title=permcheck verify::missing closing quote
        64
        <testcase name="t.toml:2:11" classname="permcheck verify" time="0"><error message="missing closing quote" type="mistake"/></testcase>
        <skipped message="there is no hidraw device"/>
        permcheck: t.toml:2:11: missing closing quote; see permcheck verify --help
        permcheck: t.toml:2:11: unexpected character; see permcheck verify --help
        0

        """, "\(output)")
  }
}
