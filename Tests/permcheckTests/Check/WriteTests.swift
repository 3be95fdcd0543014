import Foundation
import TestSupport
import Testing

/// How programs write: O_CREAT in sticky folders, names in folders, and what open(2) says of sockets, FIFOs and devices.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct WriteTests {
  /// Random folders under all values of fs.protected_regular and fs.protected_fifos.
  @Test func `The kernel opens with O_CREAT, and makes names, as predicted`() throws {
    try Command.expectNoneWrong("writes.py", Effort.of(20_000, atLeast: 400))
  }

  /// A private /srv and data base of users; SYSCTL sets one of fs.protected_… until the end.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "-m", "bash", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /srv; cd /srv
        private_etc; printf '%s\\n' ada:x:2000:2000::/:/bin/sh bob:x:2001:2001::/:/bin/sh >>/etc/passwd
        printf '%s\\n' ada:x:2000: bob:x:2001: >>/etc/group
        as() { setpriv --reuid $1 --regid $1 --clear-groups -- "${@:2}"; }
        # The lock is that of the oracle's Sysctls.
        exec 9</usr; flock -w 100 9 || exit
        old=$(cat /proc/sys/fs/protected_{regular,fifos})
        trap 'set -- $old; echo $1 >/proc/sys/fs/protected_regular; echo $2 >/proc/sys/fs/protected_fifos' EXIT
        sysctl() { echo $2 >/proc/sys/fs/protected_$1; }
        P=$1; export PERMCHECK_LOG=none
        \(script)
        """, "bash", Command.permcheck,
    ])
  }

  /// Row 1 of the reports: a shell's > on another user's file in a sticky folder, even as root.
  @Test func `A shell's > in a sticky folder is refused as the kernel does`() throws {
    let outcome = try run(
      """
      sysctl regular 1; sysctl fifos 1
      mkdir -m 1777 spool; echo x >spool/log; chown bob: spool/log; chmod 666 spool/log
      mkfifo spool/pipe; chown bob: spool/pipe; chmod 666 spool/pipe
      (echo x >spool/log) 2>/dev/null && echo written
      $P explain spool/log --to write; echo $?
      $P explain spool/log --to write | sed -n 's/.*O_CREAT (\\(dd [^)]*\\)).*/\\1/p' >fix; cat fix
      sh ./fix </dev/null 2>/dev/null && echo fixed
      $P explain spool/pipe --to write --user ada | grep ^why
      $P explain spool/log --to write --user bob | head -1
      sysctl regular 0; $P explain spool/log --to write | head -1; (echo x >spool/log) && echo written
      sysctl regular 2; chmod 1775 spool; $P explain spool/log --to write | head -1; (echo x >spool/log) 2>/dev/null && echo written
      chmod 600 spool/log; $P explain spool/log --to write --user ada | tail -1; as bob sh -c 'echo x >spool/log' && echo written
      """)
    #expect(
      outcome.output == """
        spool/log   write refused (EACCES) for root (uid 0)
        ├─ .      drwxr-xr-x  root root  search ✔ owner rwx
        ├─ spool  drwxrwxrwt  root root  search ✔ owner rwx
        └─ log    -rw-rw-rw-  bob bob    ✘ another user's file in a sticky folder  decides
        why: the kernel opens spool/log with O_CREAT, as a shell's > does, only for its owner bob: the folder is sticky and world-writable (EACCES, fs.protected_regular=1)
        fix: write it without O_CREAT (dd of=spool/log conv=nocreat), or keep it in a folder that is not sticky
        1
        dd of=spool/log conv=nocreat
        fixed
        why: the kernel opens spool/pipe with O_CREAT, as a shell's > does, only for its owner bob: the folder is sticky and world-writable (EACCES, fs.protected_fifos=1)
        spool/log   write granted for bob (uid 2001)
        spool/log   write granted for root (uid 0)
        written
        spool/log   write refused (EACCES) for root (uid 0)
        fix: let bob, its owner, write it
        written

        """, "\(outcome)")
  }

  /// `--need w` stays the plain open, and says where a shell's > differs.
  @Test func `A plain w says that O_CREAT is refused`() throws {
    let outcome = try run(
      """
      sysctl regular 1
      mkdir -m 1777 spool; echo x >spool/log; chown bob: spool/log; chmod 666 spool/log
      $P spool/log --need rw; echo $?
      $P explain spool/log --need w --user ada | grep -v ─
      $P spool/log --need w --json | grep -o '"caveat":"the kernel opens spool/log with O_CREAT'
      printf '[[expect]]\\npath = "/srv/spool/log"\\nneed = "w"\\nis = "granted"\\n' >e; $P verify e; echo $?
      sysctl regular 0; $P spool/log --need rw
      """)
    #expect(
      outcome.output == """
        ✔ spool/log  authorized  other rw-
                       but the kernel opens spool/log with O_CREAT, as a shell's > does, only for its owner bob: the folder is sticky and world-writable (EACCES, fs.protected_regular=1)
        0
        spool/log   write granted for ada (uid 2000)
        works: for everybody on this machine
        but: the kernel opens spool/log with O_CREAT, as a shell's > does, only for its owner bob: the folder is sticky and world-writable (EACCES, fs.protected_regular=1)
        "caveat":"the kernel opens spool/log with O_CREAT
        ✔ /srv/spool/log is granted  this process  authorized
            but the kernel opens /srv/spool/log with O_CREAT, as a shell's > does, only for its owner bob: the folder is sticky and world-writable (EACCES, fs.protected_regular=1)
        1 of 1 hold
        0
        ✔ spool/log  authorized  other rw-

        """, "\(outcome)")
  }

  /// Trees count what is granted, and not opened with O_CREAT: those of others, by each way to ask.
  @Test func `A tree says that O_CREAT is refused`() throws {
    let outcome = try run(
      """
      sysctl regular 1; sysctl fifos 1; chmod 755 .
      mkdir -m 755 t; mkdir -m 1777 t/spool t/spool/deep; mkdir -m 755 t/plain; mkdir -m 1775 t/group
      for f in t/spool/bobs t/spool/deep/bobs t/plain/bobs t/group/bobs; do echo x >$f; chown bob: $f; chmod 666 $f; done
      touch t/spool/closed t/spool/mine t/spool/roots; chmod 600 t/spool/closed; chmod 666 t/spool/mine t/spool/roots
      chown bob: t/spool/closed; chown ada: t/spool/mine; mkfifo t/spool/pipe; chown bob: t/spool/pipe; chmod 666 t/spool/pipe
      for how in "audit ./t --need w --user ada" "audit ./t --need w --uid 2000 --gid 2000"; do $P $how | grep ^but; done
      as ada $P audit /srv/t --need w | grep ^but; $P audit ./t --need r --user ada | grep ^but
      $P audit ./t --need w --user ada --json | tail -1 | grep -o '"onlyWithoutCreate":[0-9]*'
      $P ./t --need w --recursive | grep 'but '; as ada $P /srv/t --recursive --need w | grep 'but '
      sysctl regular 0; sysctl fifos 0; $P audit ./t --need w --user ada | grep ^but
      """)
    let caveat =
      "belong to others in sticky folders, where the kernel opens with O_CREAT, as a shell's > does, only for the owner (fs.protected_regular, fs.protected_fifos)"
    #expect(
      outcome.output == """
        but 3 files \(caveat)
        but 3 files \(caveat)
        but 3 files \(caveat)
        "onlyWithoutCreate":3
                 but 4 files \(caveat)
                    but 2 files \(caveat)

        """, "\(outcome)")
  }

  /// W4: w on a folder is to make and remove names there, which needs x.
  @Test func `w on a folder means names`() throws {
    let outcome = try run(
      """
      export HOME=/srv; mount -t tmpfs none /var/lib
      mkdir -m 702 in; as ada touch in/a 2>/dev/null && echo made
      $P ./in --need w --user ada | head -2
      $P explain ./in --need rw --user ada | sed -n '/^└/p; /^why/p'
      printf '[[expect]]\\npath = "/srv/in"\\nuser = "ada"\\nneed = "rw"\\nis = "granted"\\n' >e; $P verify e >/dev/null; echo $?
      $P audit ./in --need w --user ada | head -1
      ln -s in link; chmod 755 .; as ada $P audit /srv/link --need w | head -1
      mkdir links; ln -s ../in links/in; as ada $P audit /srv/links --need w | grep links/in
      $P request ./in --need w --user ada --yes >/dev/null 2>&1; echo $?
      as ada touch in/a && as ada rm in/a && echo made and removed
      $P ./in --need w --user ada; getfacl -cp in | grep ada
      chattr +a in 2>/dev/null && { $P ./in --need w; chattr -a in; }
      mkdir full; mount -t tmpfs -o mode=777,nr_inodes=2 none full; : >full/a; $P ./full --need w --user ada | head -2
      """)
    #expect(
      outcome.output == """
        ✘ ./in  denied
                  ada is neither the owner nor in group root (drwx----w- root:root); without x, w on a folder lets nobody make or remove a name in it
        └─ in  drwx----w-  root root  rwx ✘ other -w-  decides
        why: ada is neither the owner nor in group root (drwx----w- root:root); without x, w on a folder lets nobody make or remove a name in it
        1
        ✘ ./in  no permission for others  drwx----w-
        ✘ /srv/link  no permission for others  drwx----w-
        ✘ /srv/links/in  target of the link: EACCES
        0
        made and removed
        ✔ ./in  authorized  ACL user:ada:-wx
        user:ada:-wx
        ◐ ./in  limited
                  names can be made in ./in, and none can be removed or changed, since it is append-only (chattr +a)
                  fix: run chattr -a as root
        ✘ ./full  restricted
                    mode and ACL let ada make files in full, but the file system has no room for another file (ENOSPC)

        """, "\(outcome)")
  }

  /// A mount that has no number for bob keeps him from making files, whatever the mode.
  @Test func `A folder in which the user has no id takes no name`() throws {
    let outcome = try run(
      """
      mkdir -m 777 open; mkdir map; cat >map.py <<'END'
      import sys
      sys.path.append(sys.argv[1])
      import kernel
      kernel.bind_idmapped("/srv/open", "/srv/map", kernel.user_namespace([(0, 0, 2001)], [(0, 0, 65535)]))
      END
      /usr/bin/python3 map.py '\(Checkout.path("Tests/KernelConformanceTests/Oracle"))' || exit
      as bob touch map/a 2>/dev/null && echo made
      $P ./map --need w --user bob; $P ./map --need r --user bob; as bob $P /srv/map --need rw --probe access | head -1
      as ada touch map/a; $P ./map --need w --user ada; $P explain ./map --need w --user bob | tail -3
      """)
    #expect(
      outcome.output == """
        ✘ ./map  restricted
                   the mount of map has no id mapping for bob (EOVERFLOW)
                   fix: check outside; rootless Podman keeps the user's groups with --group-add=keep-groups
        ✔ ./map  authorized  other rwx
        ✘ /srv/map  restricted
        ✔ ./map  authorized  other rwx
        └─ map  drwxrwxrwx  root root  ✘ unmapped-subject  decides
        why: the mount of map has no id mapping for bob (EOVERFLOW)
        fix: check outside; rootless Podman keeps the user's groups with --group-add=keep-groups

        """, "\(outcome)")
  }

  /// What was found by an attack: ids that are not mapped, file systems of the kernel's own, a probe that leaves nothing.
  @Test func `Where the kernel knows more, nothing is granted`() throws {
    let outcome = try run(
      """
      sysctl regular 1; mkdir -m 1777 s; echo x >s/f; chown ada: s/f; chmod 666 s/f; chmod 755 .
      as bob unshare -Ur sh -c '(echo x >s/f) 2>/dev/null && echo written; $0 explain s/f --to write; echo $?; $0 s/f --need w' $P | sed -n '1p; /^why: an id/p; /^[0-9]/p; /but/p'
      $P /sys --need w; $P explain /sys/new --to write | grep ^why; $P explain /dev/pts/new --to create | head -1
      mkdir -m 777 a; if chattr +a a 2>/dev/null; then as bob $P /srv/a --need w --probe write | head -1; ls -A a; chattr -a a; fi
      mkdir full; mount -t tmpfs -o mode=777,nr_inodes=2 none full; : >full/a; as bob $P /srv/full --need w --probe write | head -2
      /usr/bin/python3 -c 'import socket; socket.socket(1).bind("s/sock")'; chown ada: s/sock; $P explain s/sock --to write --user bob | tail -1
      mknod s/null c 1 3; chown ada: s/null; chmod 666 s/null; sysctl regular 0; $P audit ./s --need w --user bob | grep ^but
      mkdir -m 755 c; mkdir -m 1777 c/s; cp s/f c/s/f; chown ada: c/s/f; chmod 666 c/s/f; chmod 700 c; sysctl regular 1
      $P audit ./c --need w --deep --user bob | grep ^but
      $P explain ./pipe --to write; mkfifo pipe; $P explain ./pipe --to write | grep ^but
      """)
    #expect(
      outcome.output == """
        s/f   write cannot be determined for root (uid 0)
        why: an id that decides on s/f is not mapped in this user namespace, so its user or group is unknown
        2
                 but whether a program that opens it with O_CREAT, as a shell's > does, is refused is unknown: its owner has no id in this user namespace
        ✘ /sys  restricted
                  /sys is on sysfs, where only the kernel makes files (EACCES)
        why: /sys is on sysfs, where only the kernel makes files (EACCES)
        /dev/pts/new   create refused (EACCES) for root (uid 0)
        ◐ /srv/a  limited
        ✘ /srv/full  restricted
                       mode and ACL let bob make files in /srv/full, but the file system has no room for another file (ENOSPC)
        why: the kernel opens s/sock with O_CREAT, as a shell's > does, only for its owner ada: the folder is sticky and world-writable (EACCES)
        but 1 file belongs to others in sticky folders, where the kernel opens with O_CREAT, as a shell's > does, only for the owner (fs.protected_regular, fs.protected_fifos)
        ./pipe   write granted for root (uid 0)
        ├─ .     drwxr-xr-x  root root  search ✔ owner rwx
        ├─ .     drwxr-xr-x  root root  write ✔ owner rwx
        └─ pipe  not there
        but: open(2) waits until a program opens it for reading

        """, "\(outcome)")
  }

  /// W15: what open(2) says, and execve(2); connect(2) needs w alone.
  @Test func `Sockets, FIFOs and devices are asked as open(2) is`() throws {
    let outcome = try run(
      """
      /usr/bin/python3 -c 'import socket; s = socket.socket(1); s.bind("sock"); s.listen(1)'; chmod 777 sock
      mkfifo pipe; chmod 777 pipe; mknod null c 1 3; chmod 777 null
      for need in r rw w x; do $P explain ./sock --need $need --user ada | sed -n '1p; /^why/p'; done
      for need in r w rw x; do $P explain ./pipe --need $need --user ada | sed -n '1p; /^works/p; /^why/p'; done
      $P explain ./null --need x --user ada | sed -n '1p; /^why/p'
      # The other end of a FIFO does not notice.
      (echo sent >pipe; echo $? >sent) 9<&- & sleep .3; timeout 5 $P ./pipe --need r; timeout 5 $P ./pipe --need w
      timeout 5 cat pipe 9<&-; kill %1 2>/dev/null; wait; cat sent
      $P explain ./in --to write | head -1; mkdir d; $P explain ./d --to write | grep ^why; $P explain ./d/ --to write | grep ^why
      """)
    #expect(
      outcome.output == """
        ./sock   read refused (ENXIO) for ada (uid 2000)
        why: sock is a socket, which is connected and never opened (ENXIO); --to connect asks for that
        ./sock   read+write refused (ENXIO) for ada (uid 2000)
        why: sock is a socket, which is connected and never opened (ENXIO); --to connect asks for that
        ./sock   write granted for ada (uid 2000)
        ./sock   execute refused (EACCES) for ada (uid 2000)
        why: sock is a socket, and only a file can be executed (EACCES)
        ./pipe   read granted for ada (uid 2000)
        works: for everybody on this machine; open(2) waits until a program opens it for writing
        ./pipe   write granted for ada (uid 2000)
        works: for everybody on this machine; open(2) waits until a program opens it for reading
        ./pipe   read+write granted for ada (uid 2000)
        works: for everybody on this machine
        ./pipe   execute refused (EACCES) for ada (uid 2000)
        why: pipe is a FIFO, and only a file can be executed (EACCES)
        ./null   execute refused (EACCES) for ada (uid 2000)
        why: null is a character device, and only a file can be executed (EACCES)
        ✔ ./pipe  authorized  owner rwx
        ✔ ./pipe  authorized  owner rwx
        sent
        0
        ./in   write granted for root (uid 0)
        why: d is a directory, which no program opens for writing (EISDIR)
        why: a path that ends with / is of a directory, and not of a file (EISDIR)

        """, "\(outcome)")
  }
}
