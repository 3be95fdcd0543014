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

  /// Runs a script in mount and pid namespaces of its own, with an /etc of its own; N asks as nobody.
  private func expect(_ script: String) throws {
    let outcome = try Command.run([
      "unshare", "-pfm", "--kill-child", "--mount-proc", "--propagation", "private", "sh", "-uc",
      Command.privateEtc + """
        export PERMCHECK_LOG=none LC_ALL=C.UTF-8
        mount -t tmpfs -o mode=755 none /mnt; cp "$1" /mnt/pc; cd /mnt; private_etc
        printf 'passwd: files systemd\\ngroup: files systemd\\n' >/etc/nsswitch.conf
        echo 'blind:x:61001:61001::/mnt/home:/bin/sh' >>/etc/passwd
        N="setpriv --reuid 65534 --regid 65534 --clear-groups"
        U="setpriv --reuid 61001 --regid 61001 --groups 61001,62001 unshare -Ur"
        # One system call fails: its number, errno, and the program.
        F="/usr/bin/python3 /mnt/filter.py"; cat >filter.py <<'END'
        import ctypes, os, struct, sys
        libc = ctypes.CDLL(None)
        number, errno = int(sys.argv[1]), int(sys.argv[2])
        code = ctypes.create_string_buffer(struct.pack("<HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, number, 6, 0, 0, 0x50000 | errno, 6, 0, 0, 0x7FFF0000))
        program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(code)))
        libc.prctl(38, 1, 0, 0, 0)
        assert libc.prctl(22, 2, program, 0, 0) == 0
        os.execv(sys.argv[3], sys.argv[3:])
        END
        answers() { want=$1; shift; "$@" >/mnt/o 2>&1; got=$?; case " $want " in *" $got "*) ;; *)
          echo "FAIL $got instead of $want: $*"; cat /mnt/o; exit 9 ;; esac; }
        \(script)
        """, "sh", Command.permcheck,
    ])
    #expect(outcome.status == 0, "\(outcome)")
  }

  /// nss-systemd reads records in folders, and glibc skips those that it cannot read.
  @Test func `Groups in records that cannot be read are unknown`() throws {
    try expect(
      """
      mkdir -m 755 /etc/userdb; echo '{"userName":"blind","groupName":"fam"}' >/etc/userdb/blind:fam.membership
      echo x >f; chown 0:62062 f; chmod 604 f
      chmod 600 /etc/userdb/*; answers 70 $N ./pc ./f --user blind; answers 70 $N ./pc audit ./f --user blind
      chmod 644 /etc/userdb/*; chmod 700 /etc/userdb; answers 70 $N ./pc ./f --user blind
      rm -r /etc/userdb; answers 0 $N ./pc ./f --user blind
      """)
  }

  /// An id that a user namespace does not map is shown as -1 in an ACL, and may be one of the process's own.
  @Test func `Ids that are not mapped are unknown`() throws {
    try expect(
      """
      echo x >h; chmod 666 h; setfacl -m g:62001:---,m::rw h
      $U truncate -s0 h 2>/dev/null && exit 8
      answers 2 $U ./pc explain ./h --to truncate; answers 2 $U ./pc ./h --need w --probe none
      echo x >k; chown 0:61001 k; chmod 640 k; setfacl -m g:62001:rw,m::rw k
      $U truncate -s0 k || exit 8
      answers 2 $U ./pc explain ./k --to truncate; answers 2 $U ./pc ./k --need w --probe none
      answers 0 $U ./pc explain ./k --need w; head -1 o | grep -q 'write granted' || { cat o; exit 7; }
      echo x >c; chown 61001:61001 c; $U chown 1000 c 2>/dev/null && exit 8
      answers 1 $U ./pc explain ./c 1000 --to chown; head -1 o | grep -q EINVAL || { cat o; exit 7; }
      """)
  }

  /// What a part of sysfs or of udev's data base hides is no missing device.
  @Test func `Devices that cannot be seen are unknown`() throws {
    try expect(
      """
      mkdir -p /etc/permcheck/accessors.d; cd /etc/permcheck/accessors.d
      printf 'name="fulldev"\\nsummary="x"\\nnodes=["/dev/full"]\\nneed="r"\\nsubsystem="mem"\\nproperty="ID_X=1"\\n' >full.toml
      printf 'name="memdev"\\nsummary="x"\\nnodes=["/dev/full"]\\nneed="r"\\nsubsystem="mem"\\n' >mem.toml
      printf 'name="memclass"\\nsummary="x"\\nclass="mem"\\nneed="r"\\n' >class.toml
      cd /mnt; mount -t tmpfs -o mode=755 none /run; mkdir -p /run/udev/data; echo E:ID_X=1 >/run/udev/data/c1:7
      answers 0 $N ./pc fulldev; answers 0 $N ./pc memdev; answers 0 ./pc memclass /dev/full
      chmod 600 /run/udev/data/c1:7; answers 2 $N ./pc fulldev
      chmod 644 /run/udev/data/c1:7; chmod 700 /run/udev/data; answers 2 $N ./pc fulldev
      mount -t tmpfs none /sys/devices; answers 2 $N ./pc memdev; answers 2 $N ./pc memclass; umount /sys/devices
      mount -t tmpfs none /sys; answers 2 $N ./pc memclass
      """)
  }

  /// A filter of system calls that refuses faccessat2(2) itself says nothing about a file.
  @Test func `A filter of the question refuses no file`() throws {
    try expect(
      """
      mkdir t; echo x >t/a; chmod 755 t; chmod 644 t/a
      [ $(uname -m) = x86_64 ] || exit 0
      for errno in 1 13 5 38; do
        answers 2 $N $F 439 $errno ./pc audit ./t
        answers 2 $N $F 439 $errno ./pc ./t --recursive
        answers 0 $N $F 439 $errno ./pc ./t/a; answers 2 $N $F 439 $errno ./pc ./t --need x
      done
      """)
  }

  /// Names of groups and processes that cannot be looked up are not called absent.
  @Test func `A group or process that cannot be seen is not called absent`() throws {
    try expect(
      """
      groupadd() { echo "$1:x:62063:blind" >>/etc/group; }; groupadd fam; echo x >f; chmod 644 f
      chmod 600 /etc/group
      answers 70 $N ./pc ./f --group fam; answers 70 $N ./pc explain ./f :fam --to chown
      grep -q 'no group' o && { cat o; exit 7; }
      chmod 644 /etc/group; answers 0 $N ./pc ./f --group fam; answers 64 $N ./pc ./f --group nofam
      sleep 99 & PID=$!
      mount -t proc -o hidepid=2 none /proc; answers 3 $N ./pc /proc/$PID/status
      grep -q "there is no /proc/$PID, or hidepid of /proc hides it" o || { cat o; exit 7; }
      mount -t tmpfs none /proc; ./pc ./f --pid $PID >o 2>&1 && exit 8
      grep -q 'because /proc is not mounted' o || { cat o; exit 7; }
      """)
  }

  /// faccessat2(2) does not ask Landlock: a tree under a domain is not granted by it alone.
  @Test func `A tree is not granted where only opening shows it`() throws {
    try expect(
      """
      cat >domain.py <<'END'
      import ctypes, os, struct, sys
      libc = ctypes.CDLL(None)
      attribute = ctypes.create_string_buffer(struct.pack("<QQ", 4, 0))
      ruleset = libc.syscall(444, attribute, 8, 0)
      assert ruleset >= 0
      for path in sys.argv[1].split(","):
          rule = ctypes.create_string_buffer(struct.pack("<Qi", 4, os.open(path, os.O_PATH)))
          assert libc.syscall(445, ruleset, 1, rule, 0) == 0
      libc.prctl(38, 1, 0, 0, 0)
      assert libc.syscall(446, ruleset, 0) == 0
      os.execv(sys.argv[2], sys.argv[2:])
      END
      mkdir t d; chmod 755 t d; echo x >t/f; chmod 644 t/f; cp /bin/cat d/
      places=$(for d in /usr /lib /lib64 /etc /proc /mnt/d $(ldd ./pc 2>/dev/null | grep -o '/[^ ]*/'); do [ ! -e $d ] || echo $d; done | sort -u | paste -sd,)
      L="$N /usr/bin/python3 domain.py $places,/mnt/pc"
      $L d/cat t/f 2>/dev/null && exit 8
      answers 2 $L ./pc audit ./t; grep -q 'confined (Landlock, 1 domain)' o || { cat o; exit 7; }
      answers 2 $L ./pc ./t --recursive; answers 0 $N ./pc audit ./t; answers 0 $N ./pc ./t --recursive
      """)
  }

  /// Where the working directory cannot be opened, a relative path does not begin at the root.
  @Test func `A working directory that is not seen is not the root`() throws {
    try expect(
      """
      mkdir -m 777 w; mkdir -m 700 c; echo x >w/f; echo x >c/f; chmod 666 w/f c/f
      (cd w; exec $N sleep 99) & P=$!; sleep .3
      V="setpriv --reuid 61003 --regid 61003 --clear-groups"
      answers 2 $V ./pc ./f --pid $P; answers 2 $V ./pc ./etc/passwd --pid $P
      grep -q 'the working directory cannot be opened (EACCES)' o || { cat o; exit 6; }
      cd c; answers 2 $N ../pc ./etc/passwd --probe none; answers 2 $N ../pc ./f --probe none
      grep -q 'the working directory cannot be opened (EACCES)' /mnt/o || { cat /mnt/o; exit 7; }
      answers 1 $N ../pc ./etc/passwd; answers 2 $N ../pc explain ./tmp/x --to create
      mkdir -p two ../one/in; echo x >../one/f
      for top in . ./two; do answers 2 $N ../pc audit /mnt/one $top --user nobody; answers 2 $N ../pc audit /mnt/one $top --who --user nobody; done
      kill $P; mkdir -p /mnt/p/q; cd /mnt/p/q; answers 1 ../../pc explain /mnt/p --to rename ./new
      """)
  }

  /// A file system without room, of which a process or a filter hides the count.
  @Test func `No room is not taken for room`() throws {
    try expect(
      """
      mkdir full; mount -t tmpfs -o mode=777,nr_inodes=2 none full; : >full/a; $N touch full/b 2>/dev/null && exit 8
      $N sleep 99 & P=$!; sleep .3
      answers 1 ./pc explain /mnt/full/b --to create --pid $P; answers 1 $N ./pc explain /mnt/full/b --to create
      [ $(uname -m) = x86_64 ] || exit 0
      answers 2 $F 138 1 ./pc explain /mnt/full/b --to create --uid 5 --gid 60
      grep -q 'cannot ask whether the file system of /mnt/full has room (EPERM)' o || { cat o; exit 7; }
      answers 2 $F 138 1 ./pc explain /mnt/full --future --umask 022 --uid 5 --gid 60
      """)
  }

  /// The top of an audit, of which a FUSE server shows no name.
  @Test func `A folder that cannot be listed is not all of its tree`() throws {
    try expect(
      """
      cat >fuse.py <<'END'
      import sys
      sys.path.append(sys.argv[1])
      import server
      answer = lambda operation, node, body: (5, b"") if operation == server.OPENDIR else server.answer(operation, node, body)
      server.serve("/mnt/a", 0, ["default_permissions", "allow_other"], answer, lambda _: None)
      END
      mkdir a; /usr/bin/python3 fuse.py '\(Checkout.path("Tests/permcheckTests/Storage"))' >ready & sleep .5; cat ready
      ls a 2>/dev/null && exit 8
      answers 2 $N ./pc audit /mnt/a; answers 2 ./pc audit /mnt/a --user blind
      """)
  }

  /// On FUSE a folder is opened and listed, and a filter may refuse the list alone.
  @Test func `A filter of lists is no refusal of the FUSE daemon`() throws {
    try expect(
      """
      [ $(uname -m) = x86_64 ] || exit 0
      cat >fuse.py <<'END'
      import sys
      sys.path.append(sys.argv[1])
      import server
      refused = int(sys.argv[2])
      answer = lambda operation, node, body: (refused, b"") if refused and operation == 28 else server.answer(operation, node, body)
      server.serve("/mnt/a", 0, ["allow_other"], answer, lambda _: None)
      END
      serve() { /usr/bin/python3 fuse.py '\(Checkout.path("Tests/permcheckTests/Storage"))' $1 >ready 2>log & sleep .5; cat ready; }
      mkdir a; serve 0; answers 0 $N ./pc ./a
      for errno in 1 13 5 38; do answers 2 $N $F 217 $errno ./pc ./a; answers 0 $N $F 217 $errno ./pc /mnt; done
      grep -q 'FUSE daemon' o && { cat o; exit 7; }
      # Nor does a filter of sendmsg(2), by which another process is asked.
      for errno in 1 2 13 38; do answers 2 $N $F 46 $errno ./pc ./a; answers 2 $F 46 $errno ./pc ./a/album; done
      umount a; serve 13; ls a 2>/dev/null && exit 8
      answers 2 $N $F 217 2 ./pc ./a
      answers 1 $N ./pc ./a; answers 2 $N $F 217 1 ./pc ./a
      """)
  }

  /// A service of systemd that knows groups and does not admit this process.
  @Test func `Groups of a service that cannot be asked are unknown`() throws {
    try expect(
      """
      mount -t tmpfs -o mode=755 none /run; mkdir -p /run/systemd/userdb
      /usr/bin/python3 -c 'import socket, time; s = socket.socket(1); s.bind("/run/systemd/userdb/io.test"); s.listen(9); time.sleep(99)' & sleep .3
      chmod 444 /run/systemd/userdb/io.test; echo x >f; chown 0:62062 f; chmod 640 f
      answers 70 $N ./pc ./f --user blind; answers 70 $N ./pc audit ./f --user blind
      # What is no such socket is none for glibc, either.
      /usr/bin/python3 -c 'import socket; socket.socket(1, 2).bind("/run/systemd/userdb/datagram")'; chmod 666 /run/systemd/userdb/datagram
      rm /run/systemd/userdb/io.test; : >/run/systemd/userdb/$(printf %150s | tr ' ' a); answers 1 $N ./pc ./f --user blind
      """)
  }
}
