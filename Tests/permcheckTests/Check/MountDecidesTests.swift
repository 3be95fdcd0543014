import Foundation
import TestSupport
import Testing

/// Who decides on a mount: the kernel, the options of the mount, its owner, or the daemon.
///
/// Asked with real daemons, as
/// far as they are installed.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting wants root"))
struct MountDecidesTests {
  private func run(_ script: String) throws -> String {
    let outcome = try Command.run([
      "unshare", "-pfm", "--kill-child", "--mount-proc", "--propagation", "private", "timeout",
      "-k", "5", "60", "bash", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755,dev none /srv; mount -t tmpfs -o mode=755 none /var/lib; cd /srv; umask 022
        private_etc; for id in 61001:ada 61002:bob; do echo ${id#*:}:x:${id%:*}:${id%:*}::/:/bin/sh >>/etc/passwd; echo ${id#*:}:x:${id%:*}: >>/etc/group; done
        mkdir dev; mount -t tmpfs -o dev,mode=755 none dev; mknod -m 666 dev/fuse c 10 229; mount --bind dev/fuse /dev/fuse
        as() { setpriv --reuid $1 --regid $1 --clear-groups -- "${@:2}"; }
        P=$1; export PERMCHECK_LOG=none LC_ALL=C.UTF-8
        says() { $P explain "$@" | sed -n '1s/^[^ ]* *//p; /^why/p; /^fix/p; /^  /p'; }
        \(script)
        """, "bash", Command.permcheck,
    ])
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  private func expect(
    _ program: String, _ script: String, _ lines: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let output = try run(
      "command -v \(program) >/dev/null || { echo skipped; exit; }\n\(script)")
    #expect(output == lines || output == "skipped\n", "\(output)", sourceLocation: sourceLocation)
  }

  private func alone(_ point: String) -> String {
    let refused =
      "why: /srv/u/m is a FUSE mount of ada without allow_other, so no other user may enter it, not even root (EACCES)\n  user_allow_other   in /etc/fuse.conf, and mount with -o allow_other\n"
    return """
      read cannot be determined for ada (uid 61001)
      why: ada mounted \(point) without allow_other and may enter it, but nobody else sees what is inside
      fix: check as ada
      read refused (EACCES) for bob (uid 61002)
      \(refused)read refused (EACCES) for root (uid 0)
      \(refused)
      """
  }

  /// Row 20: fuse_allow_current_process() lets in who mounted it, and nobody else, not even root.
  @Test func `A FUSE mount without allow_other is its owner's alone`() throws {
    try expect(
      "bindfs",
      """
      mkdir -p u/s u/m; echo x >u/s/a; chown -R 61001 u; as 61001 bindfs --no-allow-other u/s u/m
      for p in /srv/u/m/a u/m/a /srv/u/m; do as 61001 cat $p >/dev/null 2>&1; for u in 61001 61002; do says $p --uid $u --gid $u; done; says $p; done
      # Asked by themselves, both are told what the kernel says.
      for u in 61001 61002; do as $u cat u/m/a 2>&1; as $u $P u/m/a -q; echo $?; done
      printf '[[expect]]\\npath = "/srv/u/m/a"\\nuser = "bob"\\nis = "refused"\\n' | $P verify - -q; echo $?
      umount u/m
      """,
      """
      \(alone("/srv/u/m"))\(alone("u/m"))\(alone("/srv/u/m"))x
      0
      cat: u/m/a: Permission denied
      1
      0

      """)
  }

  /// The links of /proc/PID lead to a daemon that answers nobody, and nothing waits for it.
  @Test func `A stopped daemon keeps nobody waiting`() throws {
    try expect(
      "bindfs",
      """
      mkdir s m; echo x >s/a; bindfs -f -o allow_other s m & D=$!; until mountpoint -q m; do sleep .1; done
      (cd m; exec sleep 50) & Q=$!; sleep .2; kill -STOP $D
      for p in /proc/$Q/cwd/a /proc/$Q/cwd /srv/m/a; do timeout -k 1 5 $P $p -q; echo $?; done
      kill -9 $D $Q
      """,
      """
      2
      2
      2

      """)
  }

  /// Row 19: a daemon without default_permissions decides about chmod, chown and times, as ATTR_FORCE says.
  @Test func `The daemon decides who changes modes`() throws {
    try expect(
      "ntfs-3g",
      """
      truncate -s 20M image; mkntfs -q -F image >/dev/null 2>&1; mkdir n; ntfs-3g image n; echo x >n/a
      for o in chmod utimes; do says n/a --to $o --user bob; done; says n/a 61002 --to chown --user bob
      as 61002 chmod 600 n/a && echo the daemon lets him; umount n
      """,
      """
      \(unknown("chmod"))\(unknown("utimes"))\(unknown("chown to 61002"))the daemon lets him

      """)
  }

  private func unknown(_ operation: String) -> String {
    """
    \(operation) cannot be determined for bob (uid 61002)
    why: n/a is on fuse, whose daemon makes the final decision
    fix: only doing it as bob shows whether the daemon allows it

    """
  }

  /// Row 21: mergerfs says where a file of its pool is.
  @Test func `A pool names its branch`() throws {
    try expect(
      "mergerfs",
      """
      mkdir -p d1/m d2 pool; echo x >d1/m/f; chmod 750 d1; mergerfs -o allow_other /srv/d1:/srv/d2 /srv/pool; as 61002 cat pool/m/f
      says pool/m/f --user bob; chmod 755 d1; chmod 600 d1/m/f; sleep 1.1; says pool/m/f --user bob; umount pool
      """,
      """
      read refused (EACCES) for bob (uid 61002)
      why: bob may not search pool: bob is not in group root (drwxr-x--- root:root) and no ACL entry names bob
      fix: change the permissions of /srv/d1: pool shows those of its branch
      read refused (EACCES) for bob (uid 61002)
      why: bob is neither the owner nor in group root (-rw------- root:root)
      fix: change the permissions of /srv/d1/m/f: pool/m/f shows those of its branch

      """)
  }

  /// Row 18: the options that give the access are printed; who has the files now keeps them.
  @Test func `The options of ntfs-3g are named`() throws {
    try expect(
      "ntfs-3g",
      """
      truncate -s 20M image; mkntfs -q -F image >/dev/null 2>&1; L=$(losetup -f --show image); mkdir n
      ntfs-3g -o uid=61001,gid=61001,umask=077 $L n; echo x >n/a; as 61002 cat n/a; says n/a --user bob; O=$($P explain n/a --user bob | sed -n 's/^ *\\(uid=[^ ]*\\) .*/\\1/p')
      umount n; ntfs-3g -o $O $L n; as 61002 cat n/a; as 61001 cat n/a; says n/a --user bob; umount n
      ntfs-3g -o umask=077 $L n; says n/a --user bob; umount n
      # What others have stays, but for a group whose place is taken; and no option helps against another one.
      ntfs-3g -o uid=61001,gid=61001,umask=002 $L n; says ./n --need w --user bob | grep uid=; $P explain ./n --need w --user bob | grep -o 'group ada loses.*'; umount n
      ntfs-3g -o umask=077,ro $L n; says ./n --need w --user bob | grep -c uid=; umount n
      ntfs-3g -o umask=000 $L n; $P ./n --need rwx --user bob -q; echo $?; umount n; losetup -d $L
      """,
      """
      read refused (EACCES) for bob (uid 61002)
      why: bob may not search n: bob is neither the owner nor in group ada (drwx------ ada:ada)
        umount /srv/n
        uid=61001,gid=61002,umask=027   to the options of /srv/n in /etc/fstab, then mount it again
      x
      x
      read granted for bob (uid 61002)
      read refused (EACCES) for bob (uid 61002)
      why: bob may not search n: bob is neither the owner nor in group root (drwx------ root:root)
        umount /srv/n
        uid=61002,gid=0,umask=077   to the options of /srv/n in /etc/fstab, then mount it again
        uid=61001,gid=61002,umask=002   to the options of /srv/n in /etc/fstab, then mount it again
      group ada loses what it has
      0
      0

      """)
  }
}
