import Foundation
import TestSupport
import Testing

/// `explain --to exec` is execve(2): the interpreter of a script, the loader of a program.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct ExecTests {
  /// Random scripts, interpreters, loaders, modes and mounts, errno for errno.
  @Test func `The kernel executes as predicted`() throws {
    try Command.expectNoneWrong("execs.py", Effort.of(40_000, atLeast: 900))
  }

  /// A private /srv with an interpreter in a closed folder, and a loader without x.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "--mount", "bash", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /srv; cd /srv; umask 022
        private_etc; echo svc:x:2000:2000::/:/bin/sh >>/etc/passwd; echo svc:x:2000: >>/etc/group
        as() { setpriv --reuid 2000 --regid 2000 --clear-groups -- "$@"; }
        P=$1; export PERMCHECK_LOG=none
        mkdir -m 700 priv; cp /bin/sh priv/sh; echo 'echo ran' >body
        # One call of execve(2), without the fallback of shells.
        execs() { as /usr/bin/python3 -c 'import os, sys; os.execv(sys.argv[1], sys.argv[1:])' $1 2>&1 | sed -n 's/^.*Error: .Errno [0-9]*. //p; /^ran/p'; }
        \(script)
        """, "bash", Command.permcheck,
    ])
  }

  /// ETXTBSY: who writes the program, its interpreter or its loader is named.
  @Test func `A program that is open for writing is not executed`() throws {
    let outcome = try run(
      """
      cp priv/sh sh; (echo '#!/srv/sh'; cat body) >job; (echo '#!/srv/priv/sh'; cat body) >closed; chmod 755 sh job closed
      (echo '#!/srv/job'; cat body) >outer; chmod 755 outer
      says() { $P explain $1 --to exec --user svc 7<&- 8>&- >o; sed -n "1p; s/(pid $$, /(pid N, /; /^why/p; /wait until/p" o 8>&-; }
      exec 7</srv/sh 8</srv/job; execs ./job; says ./job
      exec 8>>/srv/sh; execs ./job; says ./job; execs ./outer | tail -1; says ./outer; exec 8>&-; execs ./job
      exec 8<>/srv/job; execs ./outer; says ./outer; exec 8>&-
      # Neither O_PATH nor the access mode 3 writes.
      for flags in 0o10000001 3; do
        /usr/bin/python3 -c "import os, time; os.open('/srv/job', $flags); open('/srv/w', 'w'); time.sleep(30)" & H=$!; until [ -e w ]; do sleep .1; done
        execs ./outer; says ./outer; kill $H; wait $H 2>/dev/null; rm w
      done
      exec 8>>/srv/closed; execs ./closed; says ./closed; exec 8>&-; execs ./closed
      exec 8>>/srv/priv/sh; execs ./closed; says ./closed
      """)
    let writes =
      "open for writing, so nobody may execute it (ETXTBSY)\nfix: wait until it is closed, or end the process that writes it"
    let granted = "exec refused for svc (uid 2000), though mode and ACL grant it"
    let refused = "exec refused (EACCES) for svc (uid 2000)"
    #expect(
      outcome.output == """
        ran
        ./job   exec granted for svc (uid 2000)
        Text file busy
        ./job   \(granted)
        why: bash (pid N, user root) has /srv/sh \(writes)
        Text file busy
        ./outer   \(granted)
        why: bash (pid N, user root) has /srv/sh \(writes)
        ran
        Text file busy
        ./outer   \(granted)
        why: bash (pid N, user root) has /srv/job \(writes)
        ran
        ./outer   exec granted for svc (uid 2000)
        ran
        ./outer   exec granted for svc (uid 2000)
        Text file busy
        ./closed   \(refused)
        why: bash (pid N, user root) has /srv/closed \(writes)
        Permission denied
        Permission denied
        ./closed   \(refused)
        why: line 1 of /srv/closed names /srv/priv/sh, and svc may not search /srv/priv: svc is neither the owner nor in group root (drwx------ root:root)

        """, "\(outcome)")
  }

  /// Entries of binfmt_misc come before everything else; each user namespace has its own since Linux 6.7.
  @Test func `What binfmt_misc loads is executed by its program`() throws {
    let outcome = try run(
      """
      cat >scene <<'END'
      mount -t binfmt_misc none $M || { echo none; exit; }
      register() { printf '%s' "$1" >$M/register; }
      says() { echo "$1: $(/usr/bin/python3 -c 'import os, sys; os.execv(sys.argv[1], sys.argv[1:])' $1 2>&1 | sed -n 's/^.*Error: .Errno [0-9]*. //p; /^ran/p') = $($P explain $1 --to exec | sed -n 's/ for root.*//; 1s/^.* exec/exec/p; s/: root may.*//; /^why/p' | tr '\\n' ' ')"; }
      printf '#!/bin/sh\\necho ran\\n' >by; printf '#!/srv/by\\n' >by2; printf 'AB\\1x' >mark; cp mark 'a.ext'; cp by s.ext; printf 'AC\\1x' >other; echo text >text
      ln -s a.ext link; chmod 755 by* mark other text *.ext; chmod 644 text; chmod 755 text
      for f in ./mark ./a.ext; do says $f; done
      register ':ext:E::ext::/srv/by:'; for f in ./a.ext ./link ./s.ext; do says $f; done
      register ':old:M:0:AB\\x01:\\xff\\xfe\\xff:/srv/no:'; says ./mark; register ':new:M:0:AB:\\xff\\xfe:/srv/by2:'
      for f in ./mark ./other ./text; do says $f; done; echo 0 >$M/new; says ./other; says ./mark; echo 0 >$M/status; says ./mark; echo 1 >$M/status
      # What was opened then need not be there any more.
      cp /bin/true true; register ':fixed:M:1:C:\\xff:/srv/true:F'; mv true old; $P explain ./other --to exec | sed -n '1s/^.* exec/exec/p'; echo -1 >$M/fixed
      # Behind a short file are zeros; and what is registered comes before a first line.
      register ':pad:M:0:PP\\x00\\x00::/srv/by2:'; printf 'PP' >pad; printf 'PPx' >long; printf '#!/srv/no\\n' >p.ext; chmod 755 pad long p.ext
      for f in ./pad ./long ./p.ext; do says $f; done
      sleep 30 & unshare -U sleep 30 & sleep .2; $P explain /srv/other --to exec --pid $! | sed -n '1s/^.* exec/exec/p'; kill %1 %2
      chmod 644 by; says ./s.ext; umount $M; says ./text; says ./other
      END
      M=/proc/sys/fs/binfmt_misc P=$P unshare -Urm bash -u scene
      """)
    let not = "Exec format error = exec refused (ENOEXEC) why: "
    let neither =
      "neither a script with #! nor a program that this kernel loads (ENOEXEC); a shell runs it as a script of its own "
    let missing =
      "No such file or directory = exec refused (ENOENT) why: an entry of binfmt_misc loads /srv/"
    #expect(
      outcome.output == "none\n"
        || outcome.output == """
          ./mark: \(not)mark is \(neither)
          ./a.ext: \(not)a.ext is \(neither)
          ./a.ext: ran = exec granted\u{20}
          ./link: \(not)a.ext is \(neither)
          ./s.ext: ran = exec granted\u{20}
          ./mark: \(missing)mark by /srv/no, and there is no /srv/no\u{20}
          ./mark: ran = exec granted\u{20}
          ./other: ran = exec granted\u{20}
          ./text: \(not)text is \(neither)
          ./other: \(missing)other by /srv/no, and there is no /srv/no\u{20}
          ./mark: \(missing)mark by /srv/no, and there is no /srv/no\u{20}
          ./mark: \(not)mark is \(neither)
          exec cannot be determined for root (uid 0)
          ./pad: ran = exec granted\u{20}
          ./long: \(not)long is \(neither)
          ./p.ext: ran = exec granted\u{20}
          exec cannot be determined for root (uid 0)
          ./s.ext: Permission denied = exec refused (EACCES) why: an entry of binfmt_misc loads /srv/s.ext by /srv/by, and root is the owner, and the owner has no execute permission (-rw-r--r-- root:root)\u{20}
          ./text: \(not)text is \(neither)
          ./other: Exec format error = exec cannot be determined why: other has a format that only an entry of binfmt_misc, or the support of 32-bit programs, may load, which cannot be seen here\u{20}

          """,
      "\(outcome)")
  }

  /// Row 6: each component that refuses is named wherever it lies, and the fix opens its way.
  @Test func `An interpreter in a closed folder refuses`() throws {
    let outcome = try run(
      """
      (echo '#!/srv/priv/sh'; cat body) >job; chmod 755 job; execs ./job
      $P explain ./job --to exec --user svc; echo $?
      eval "$($P explain ./job --to exec --user svc | tail -1)"; execs ./job; $P explain ./job --to exec --user svc | head -1
      (echo '#!/bin/nosuch'; cat body) >gone; chmod 755 gone; execs ./gone; $P explain ./gone --to exec --user svc | sed -n '/^why/p; /^fix/p'
      (echo '#!/srv/job'; cat body) >outer; chmod 755 outer; chmod 644 job; execs ./outer; $P explain ./outer --to exec --user svc | grep ^why
      """)
    let bin = try Command.run(["readlink", "-f", "/bin"]).output.dropLast()
    #expect(
      outcome.output == """
        Permission denied
        ./job   exec refused (EACCES) for svc (uid 2000)
        ├─ .    drwxr-xr-x  root root  search ✔ other r-x
        ├─ .    drwxr-xr-x  root root  search ✔ other r-x
        └─ job  -rwxr-xr-x  root root  x ✔ other r-x
        /srv/priv/sh
        ├─ /     drwxr-xr-x  root root  search ✔ other r-x
        ├─ srv   drwxr-xr-x  root root  search ✔ other r-x
        ├─ priv  drwx------  root root  search ✘ other ---  decides
        └─ sh    not reached
        why: line 1 of /srv/job names /srv/priv/sh, and svc may not search /srv/priv: svc is neither the owner nor in group root (drwx------ root:root)
        smallest fix (lasts until the next boot; nobody else gets access; svc can then reach what is below /srv/priv, as far as its own permissions allow; tested by simulation):
          setfacl -n -m u:2000:--x,m::--x /srv/priv
        1
        ran
        ./job   exec granted for svc (uid 2000)
        No such file or directory
        why: line 1 of gone names /bin/nosuch, and there is no \(bin)/nosuch
        Permission denied
        why: line 1 of /srv/outer names /srv/job, and svc is neither the owner nor in group root (-rw-r--r-- root:root)

        """, "\(outcome)")
  }

  /// W7 and W11: what is missing, ends in CR, is no program, or has a loader without x.
  @Test func `What execve opens besides the program is looked at`() throws {
    let outcome = try run(
      """
      ask() { chmod 755 $1; execs ./$1; $P explain ./$1 --to exec --user svc | sed -n '/^why/p; /^but/p; /^fix/p'; }
      (printf '#!/bin/sh\\r\\n'; cat body) >windows; ask windows
      sh -c "$($P explain ./windows --to exec --user svc | sed -n 's/^fix: remove it: //p')"; ask windows
      (echo '#!/no/such -x'; cat body) >missing; ask missing
      cp body plain; ask plain; : >empty; ask empty; echo '#!' >blank; ask blank
      mkdir d; (echo '#!/srv/d'; cat body) >folder; ask folder; $P explain ./d --to exec --user svc | grep ^why
      sed 's|/lib64/ld-linux-x86-64.so.2|/srv/ld.so\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00|' /bin/echo >loaded; cp /lib64/ld-linux-x86-64.so.2 ld.so; chmod 644 ld.so
      [ $(uname -m) != x86_64 ] || ask loaded
      mkdir noexec; mount -t tmpfs -o mode=755,noexec none noexec; cp /bin/sh noexec/sh; (echo '#!/srv/noexec/sh'; cat body) >onnoexec; ask onnoexec
      (echo '#!/bin/sh'; cat body) >closed; ask closed; chmod 711 closed; as ./closed 2>/dev/null; echo $?; $P explain ./closed --to exec --user svc | grep ^but
      # Its headers name the loader at its end.
      $P explain /lib/$(uname -m)-linux-gnu/libc.so.6 --to exec --user svc | head -1 | cut -d' ' -f4,5
      as $P explain /srv/closed --to exec | sed -n '1p; /^why/p'
      """)
    #expect(
      outcome.output == """
        No such file or directory
        why: line 1 of windows ends with a carriage return (CR, as in files of Windows), so it names no /bin/sh (ENOENT)
        fix: remove it: sed -i 's/\\r$//' windows
        ran
        No such file or directory
        why: line 1 of missing names /no/such, and there is no /no
        Exec format error
        why: plain is neither a script with #! nor a program that this kernel loads (ENOEXEC); a shell runs it as a script of its own
        Exec format error
        why: empty is neither a script with #! nor a program that this kernel loads (ENOEXEC); a shell runs it as a script of its own
        Exec format error
        why: blank is neither a script with #! nor a program that this kernel loads (ENOEXEC); a shell runs it as a script of its own
        Permission denied
        why: line 1 of /srv/folder names /srv/d, and /srv/d is a directory, and only a file can be executed (EACCES)
        why: d is a directory, and only a file can be executed (EACCES)
        Permission denied
        why: /srv/loaded is loaded by /srv/ld.so, and svc is neither the owner nor in group root (-rw-r--r-- root:root)
        Permission denied
        why: line 1 of /srv/onnoexec names /srv/noexec/sh, and /srv/noexec/sh is on /srv/noexec, and the mount allows no programs (noexec)
        ran
        2
        but: /bin/sh itself opens the script, and svc may not read it (EACCES): svc is neither the owner nor in group root (-rwx--x--x root:root)
        exec granted
        /srv/closed   exec cannot be determined for svc (uid 2000)
        why: this process cannot read /srv/closed (EACCES), whose beginning names the interpreter or loader that execve(2) opens as well

        """, "\(outcome)")
  }

  /// Who may not look into other processes is answered by the kernel, which counts mappings, too.
  @Test(.enabled(if: Kernel.checksExecution, "AT_EXECVE_CHECK wants Linux 6.14"))
  func `What others write is not executed`() throws {
    let outcome = try run(
      """
      cp priv/sh sh; (echo '#!/srv/sh'; cat body) >job; printf '#!/srv/job\n' >outer; cp body m; chmod 755 sh job outer m
      says() { as $P explain $1 --to exec 8>&- >o; echo $? $(grep -o '/srv/[a-z]* is open or mapped for writing, so nobody may execute it (ETXTBSY)' o); }
      cp "$P" p; cp "${P%/*}"/*.so . 2>/dev/null; P=/srv/p
      execs ./job; says ./job; exec 8>>sh; execs ./job; says ./job; says ./outer; exec 8>&-; says ./job
      exec 8>>job; execs ./outer; says ./outer; says ./sh; exec 8>&-
      /usr/bin/python3 -c "
      import ctypes, os, time
      f = os.open('sh', os.O_RDWR); ctypes.CDLL(None).mmap(None, 4096, 3, 1, f, 0); os.close(f); open('/srv/w', 'w'); time.sleep(30)" & H=$!; until [ -e w ]; do sleep .1; done
      execs ./job; says ./job; $P explain ./job --to exec --user svc | grep -o 'is open or mapped'; kill $H; wait $H 2>/dev/null; says ./job
      """)
    let busy = "/srv/sh is open or mapped for writing, so nobody may execute it (ETXTBSY)"
    #expect(
      outcome.output == """
        ran
        0
        Text file busy
        1 \(busy)
        1 \(busy)
        0
        Text file busy
        1 \(busy.replacing("/srv/sh", with: "/srv/job"))
        0
        Text file busy
        1 \(busy)
        is open or mapped
        0

        """, "\(outcome)")
  }

  /// An empty PT_INTERP names the working directory, which nobody executes.
  @Test func `A loader without a name is the working directory`() throws {
    let outcome = try run(
      """
      /usr/bin/python3 -c "
      b = open('/bin/true', 'rb').read(); i = b.index(b'/lib64/ld'); open('e', 'wb').write(b[:i] + bytes(1) + b[i + 1:])"
      chmod 755 e; execs ./e; $P explain ./e --to exec --user svc >o; echo $?; head -1 o | grep -o '(EACCES)'
      """)
    #expect(outcome.output == "Permission denied\n1\n(EACCES)\n", "\(outcome)")
  }

  /// A lease, for which execve(2) would wait, is not waited for.
  @Test func `A lease does not keep the check waiting`() throws {
    let outcome = try run(
      """
      cp priv/sh sh; chmod 755 sh
      /usr/bin/python3 -c "
      import fcntl, os, signal, time
      signal.signal(signal.SIGIO, signal.SIG_IGN); f = os.open('sh', os.O_RDWR); fcntl.fcntl(f, 1024, 1); open('/srv/w', 'w'); time.sleep(20)" & H=$!; until [ -e w ]; do sleep .1; done
      timeout 5 $P explain ./sh --to exec >o; echo $?; kill $H; wait $H 2>/dev/null
      """)
    #expect(outcome.output == "1\n", "\(outcome)")
  }

  /// What has no path is read through the link of /proc; memfd_create(2) takes no write access that execve(2) would see.
  @Test func `A program in memory and a loader beyond every file`() throws {
    let outcome = try run(
      """
      /usr/bin/python3 -c "
      import os, struct, time
      b = bytearray(open('/bin/true', 'rb').read()); at, n = struct.unpack_from('<Q', b, 32)[0], struct.unpack_from('<H', b, 56)[0]
      f = os.memfd_create('x'); os.write(f, b); os.fchmod(f, 0o755)
      for o in range(at, at + 56 * n, 56):
          if struct.unpack_from('<I', b, o)[0] == 3: struct.pack_into('<Q', b, o + 8, 1 << 63)
      open('e', 'wb').write(b); os.chmod('e', 0o755); open('w', 'w').write(f'/proc/{os.getpid()}/fd/{f}'); time.sleep(20)" & H=$!; until [ -s w ]; do sleep .1; done
      $(cat w); echo $?; $P explain "$(cat w)" --to exec | head -1 | grep -o 'exec granted'
      ./e 2>&1 | grep -o 'Invalid argument'; $P explain ./e --to exec | head -1 | grep -o 'EINVAL'; kill $H; wait $H 2>/dev/null
      """)
    #expect(
      outcome.output == "0\nexec granted\nInvalid argument\nEINVAL\n", "\(outcome)")
  }
}
