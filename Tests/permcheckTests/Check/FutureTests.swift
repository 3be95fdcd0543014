import Foundation
import TestSupport
import Testing

/// What the next file and folder in a folder will allow.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct FutureTests {
  /// Random folders on each file system that the kernel has; the files are made, and fixes carried out.
  @Test func `The kernel makes new files as predicted`() throws {
    try Command.expectNoneWrong(
      "future.py", Effort.of(3_000, atLeast: 60), Effort.of(200, atLeast: 8))
  }

  /// A folder of the owner's, with a private data base of users.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "--mount", "sh", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /mnt; cd /mnt
        private_etc; printf '%s\\n' ada:x:52000:52100::/:/bin/sh immich:x:52002:52002::/:/bin/sh >>/etc/passwd
        printf '%s\\n' family:x:52100: immich:x:52002: >>/etc/group
        mkdir -m 755 photos; chown ada:family photos
        P=$1
        \(script)
        """, "sh", Command.permcheck,
    ])
  }

  @Test func `The output shows file and folder, and the least fix`() throws {
    let outcome = try run(
      """
      $P explain /mnt/photos --future --creator ada --umask 027 --user immich && exit 9
      setfacl -d -n -m u::rwx,u:52002:r-x,g::r-x,m::r-x,o::--- /mnt/photos
      $P explain /mnt/photos --future --creator ada --umask 077 --user immich
      """)
    #expect(outcome.status == 0)
    #expect(
      outcome.output == """
        /mnt/photos   what ada makes here with umask 027, for immich (uid 52002)
        ├─ next file    -rw-r-----  ada family  read ✘ other ---
        └─ next folder  drwxr-x---  ada family  list+search ✘ other ---
        why: the next file: immich is not in group family (-rw-r----- ada:family) and no ACL entry names immich
        why: the next folder: immich is not in group family (drwxr-x--- ada:family) and no ACL entry names immich
        smallest fix (lasts until the next boot; nobody else gets access; tested by simulation):
          setfacl -d -n -m u::rwx,u:52002:r-x,g::r-x,m::r-x,o::--- /mnt/photos
        a default ACL replaces every umask in /mnt/photos: new files there get these permissions, whoever makes them
        /mnt/photos   what ada makes here, for immich (uid 52002)
        ├─ next file    -rw-r-----+  ada family  read ✔ ACL user:immich:r-x
        └─ next folder  drwxr-x---+  ada family  list+search ✔ ACL user:immich:r-x

        """)
  }

  @Test func `The umask is that of the process`() throws {
    let outcome = try run(
      """
      (umask 027; exec setpriv --reuid ada --regid family --clear-groups sleep 60) & PID=$!
      until grep -q '^Name:.sleep' /proc/$PID/status; do sleep 0.05; done
      $P explain /mnt/photos --future --pid $PID --need rwx --json >json || true
      grep -oE '"creator":"[a-z]*"|"umask":"[0-7]*"' json | sort -u
      kill $PID
      """)
    #expect(outcome.output == "\"creator\":\"ada\"\n\"umask\":\"027\"\n", "\(outcome)")
  }

  @Test func `verify judges new files`() throws {
    let outcome = try run(
      """
      expect() { printf '[[expect]]\\npath = "/mnt/photos"\\nfuture = true\\nuser = "immich"\\n%s\\n' "$1" >t.toml
        $P verify t.toml -q; echo $?; }
      expect 'creator = "ada"
      umask = "027"
      is = "refused"
      reason = "future-files"'
      expect 'creator = "ada"
      umask = "022"
      is = "granted"'
      expect 'creator = "ada"
      is = "granted"'
      expect 'creator = "immich"
      umask = "022"
      is = "unavailable"
      reason = "cannot-create"'
      expect 'umask = "8"
      is = "granted"' 2>&1
      """)
    #expect(
      outcome.output
        == "0\n0\n1\n0\npermcheck: t.toml:5:9: umask must be a string of octal digits, such as \"027\"; see permcheck verify --help\n64\n",
      "\(outcome)")
  }

  /// Scene 5: what ada uploads is read by immich, and not written.
  @Test func `A grant gives new files what was asked`() throws {
    let outcome = try run(
      """
      mount -t tmpfs none /var/lib; export XDG_STATE_HOME=/mnt/state PERMCHECK_LOG=none
      setfacl -d -m u:bin:r-x photos; chmod 750 photos
      as() { setpriv --reuid $1 --regid $2 --clear-groups sh -c "$3"; }
      $P request photos=/mnt/photos --need rx --user immich --recursive --dry-run | grep new.files
      $P request photos=/mnt/photos --need rx --user immich --recursive --yes >/dev/null || echo request $?
      as ada family 'echo y >photos/new.jpg; mkdir photos/2025; echo z >photos/2025/a.jpg'
      as immich immich 'cat photos/new.jpg photos/2025/a.jpg' || echo not read
      as immich immich 'echo OVERWRITTEN >photos/new.jpg' 2>/dev/null && echo written
      as immich immich 'touch photos/2025/mine' 2>/dev/null && echo made
      as bin bin 'ls photos/2025' 2>/dev/null && echo bin
      getfacl -cpn photos/2025 photos/new.jpg | grep 52002
      $P revoke photos --user immich | grep -c revoked
      getfacl -cpnR photos | grep 52002
      getfacl -cpn photos/2025 photos/new.jpg
      as immich immich 'cat photos/new.jpg' 2>/dev/null && echo read
      $P list --grants
      """)
    #expect(
      outcome.output == """
          note: new files: those that ada makes there or below get the same entry, which is removed when the access ends; files moved or linked out of /mnt/photos keep it
        y
        z
        user:52002:r-x
        default:user:52002:r-x
        user:52002:r-x\t#effective:r--
        2
        user::rwx
        user:2:r-x
        group::r-x
        mask::r-x
        other::r-x
        default:user::rwx
        default:user:2:r-x
        default:group::r-x
        default:mask::r-x
        default:other::r-x

        user::rw-
        user:2:r-x\t#effective:r--
        group::r-x\t#effective:r--
        mask::r--
        other::r--

        no grants in /var/lib/permcheck/grants.jsonl

        """, "\(outcome)")
  }

  /// Leases on folders, what others do there meanwhile, and revocations that are killed.
  @Test func `A lease removes the entries that were inherited`() throws {
    try Command.expectNoneWrong("inherited.py", Effort.of(150, atLeast: 3))
  }

  @Test func `New files that cannot be predicted are reported`() throws {
    let outcome = try run(
      """
      say() { $P explain "$@" 2>&1; echo $?; }
      say /mnt/photos --future --creator ada --user immich | grep -v '─'
      : >file; say /mnt/file --future
      say camera --future
      say /mnt/photos --umask 022
      say /mnt/photos --future --umask 99
      """)
    #expect(
      outcome.output == """
        /mnt/photos   what ada makes here with umask unknown, for immich (uid 52002)
        why: the umask of ada decides and is unknown: with umask 000 granted, with 777 refused
        fix: name the umask (022 is usual), or the running process that makes the files
        2
        /mnt/file   unavailable
          /mnt/file is not a directory
        3
        permcheck: camera: --future works only for a folder; see permcheck explain --help
        64
        permcheck: --umask needs --future; see permcheck explain --help
        64
        permcheck: --umask 99: expected octal digits from 0 to 777, as in 022; see permcheck explain --help
        64

        """, "\(outcome)")
  }
}
