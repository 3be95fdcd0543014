import Foundation
import TestSupport
import Testing

/// What may be done to a path besides opening it: `explain --to`, and `to =` of verify.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct OperationTests {
  /// Random trees: permcheck's answers are compared with the operations themselves, and fixes are
  /// carried out and undone.
  @Test func `The kernel decides operations as predicted`() throws {
    try Command.expectNoneWrong(
      "operations.py", Effort.of(2_250, atLeast: 10), Effort.of(600, atLeast: 4))
  }

  /// A private /srv and data base of users.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "--mount", "bash", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /srv; cd /srv
        private_etc; printf '%s\\n' ada:x:2000:2000::/:/bin/sh bob:x:2001:2001::/:/bin/sh >>/etc/passwd
        printf '%s\\n' ada:x:2000: bob:x:2001: >>/etc/group
        as() { setpriv --reuid $1 --regid $1 --clear-groups -- "${@:2}"; }
        P=$1; export PERMCHECK_LOG=none
        mkdir -m 1777 spool; touch spool/job7; chown bob:bob spool/job7
        \(script)
        """, "bash", Command.permcheck,
    ])
  }

  /// Scene 17.
  @Test func `A sticky folder is named`() throws {
    let outcome = try run(
      """
      as ada rm -f spool/job7 2>/dev/null && echo removed
      $P explain /srv/spool/job7 --to delete --user ada; echo $?
      $P explain /srv/spool/job7 --to delete --user bob | head -1
      $P explain /srv/spool/job7 --to rename /srv/spool/job8 --user ada | grep ^why
      touch spool/mine; chown ada spool/mine
      $P explain /srv/spool/mine --to rename /srv/spool/job7 --user ada | grep ^why
      """)
    #expect(
      outcome.output == """
        /srv/spool/job7   delete refused (EPERM) for ada (uid 2000)
        ├─ /      drwxr-xr-x  root root  search ✔ other r-x
        ├─ srv    drwxr-xr-x  root root  search ✔ other r-x
        ├─ spool  drwxrwxrwt  root root  write ✔ other rwx, sticky ✘  decides
        └─ job7   -rw-r--r--  bob bob
        why: /srv/spool is sticky: only bob, the owner of job7, or root, the owner of the folder, may delete job7
        fix: let the owner or root do it
        1
        /srv/spool/job7   delete granted for bob (uid 2001)
        why: /srv/spool is sticky: only bob, the owner of job7, or root, the owner of the folder, may rename job7
        why: /srv/spool is sticky: only bob, the owner of job7, or root, the owner of the folder, may replace job7

        """, "\(outcome)")
  }

  /// Scene 16: what another user left in a folder is not deleted by writing to it.
  @Test func `The folder of a file decides whether it is deleted`() throws {
    let outcome = try run(
      """
      mkdir -p _work/repo/nm/x; touch _work/repo/nm/x/f; chown ada: _work _work/repo; chmod 666 _work/repo/nm/x/f
      as ada rm -rf _work/repo/nm 2>/dev/null && echo removed
      $P explain /srv/_work/repo/nm/x/f --to delete --user ada -v | tail -8
      before=$(getfacl -p _work/repo/nm/x; stat -c '%a %u %g' _work/repo/nm/x)
      fix=$($P explain /srv/_work/repo/nm/x/f --to delete --user ada | tail -1)
      undo=$($P explain /srv/_work/repo/nm/x/f --to delete --user ada -v | tail -1)
      eval "$fix"
      $P explain /srv/_work/repo/nm/x/f --to delete --user bob -q && echo bob
      as ada rm _work/repo/nm/x/f && echo removed
      eval "$undo"
      [ "$before" = "$(getfacl -p _work/repo/nm/x; stat -c '%a %u %g' _work/repo/nm/x)" ] && echo as before
      $P explain /srv/_work/repo/nm/x --to delete --user ada | grep ^why
      $P explain /srv/_work/repo/nm --to delete --user ada | grep -A1 ^why
      """)
    #expect(
      outcome.output == """
        ├─ nm     drwxr-xr-x  root root  search ✔ other r-x
        ├─ x      drwxr-xr-x  root root  write ✘ other r-x  decides
        └─ f      -rw-rw-rw-  root root
        why: ada may not delete anything in /srv/_work/repo/nm/x: ada is neither the owner nor in group root (drwxr-xr-x root:root)
        smallest fix (lasts until the next boot; nobody else gets access; ada can then create, delete and replace every file in /srv/_work/repo/nm/x; tested by simulation):
          setfacl -n -m u:2000:rwx,m::rwx /srv/_work/repo/nm/x
        undo:
          setfacl -n -x u:2000:,m:: /srv/_work/repo/nm/x
        removed
        as before
        why: ada may not delete anything in /srv/_work/repo/nm: ada is neither the owner nor in group root (drwxr-xr-x root:root)
        why: /srv/_work/repo/nm is not empty (ENOTEMPTY)
        fix: delete what is in it first

        """, "\(outcome)")
  }

  @Test func `A fix above the working directory names it from there`() throws {
    let outcome = try run(
      """
      mkdir -p a/c b; chmod 700 b; touch b/f
      cd a/c
      fix=$($P explain ../../b/f --to delete --user ada | tail -1); echo "$fix"
      eval "$fix"
      $P explain ../../b/f --to delete --user ada -q; echo $?
      $P explain ../../b/f --need r --user ada -q; echo $?
      """)
    #expect(
      outcome.output == "  setfacl -n -m u:2000:-wx,m::-wx ../../b\n0\n0\n", "\(outcome)")
  }

  /// Mount points are no matter of one file system, so the corpus has none.
  @Test func `Mounts are not removed and not crossed`() throws {
    let outcome = try run(
      """
      mkdir a a/m b; mount -t tmpfs none a/m; touch a/f a/m/g
      say() { $P explain "$@" | head -1; $P explain "$@" | sed -n 's/^why: //p'; }
      say /srv/a/m --to delete
      say /srv/a/m --to rename /srv/b/m
      say /srv/a/f --to rename /srv/a/m/f
      say /srv/a/f --to link /srv/a/m/f
      say /srv/a/f --to rename /srv/b/f
      rmdir a/m 2>&1; mv -T a/m b/m 2>&1; ln a/f a/m/f 2>&1
      mount -o remount,ro,bind a/m
      say /srv/a/m/g --to delete
      say /srv/a/m/g --to touch
      """)
    #expect(
      outcome.output == """
        /srv/a/m   delete refused (EBUSY) for root (uid 0)
        /srv/a/m is a mount point (EBUSY)
        /srv/a/m   rename to /srv/b/m refused (EBUSY) for root (uid 0)
        /srv/a/m is a mount point (EBUSY)
        /srv/a/f   rename to /srv/a/m/f refused (EXDEV) for root (uid 0)
        /srv/a/f and /srv/a/m/f are on different mounts; copy it instead (EXDEV)
        /srv/a/f   link to /srv/a/m/f refused (EXDEV) for root (uid 0)
        /srv/a/f and /srv/a/m/f are on different mounts; copy it instead (EXDEV)
        /srv/a/f   rename to /srv/b/f granted for root (uid 0)
        rmdir: failed to remove 'a/m': Device or resource busy
        mv: cannot move 'a/m' to 'b/m': Device or resource busy
        ln: failed to create hard link 'a/m/f' => 'a/f': Invalid cross-device link
        /srv/a/m/g   delete refused (EROFS) for root (uid 0)
        /srv/a/m is on /srv/a/m, which is mounted read-only (EROFS)
        /srv/a/m/g   touch refused (EROFS) for root (uid 0)
        /srv/a/m/g is on /srv/a/m, which is mounted read-only (EROFS)

        """, "\(outcome)")
  }

  @Test func `verify judges operations`() throws {
    let outcome = try run(
      """
      expect() { printf '[[expect]]\\npath = "/srv/spool/job7"\\n%s\\n' "$1" >t.toml; $P verify t.toml 2>&1; echo $?; }
      expect 'user = "ada"
      to = "delete"
      is = "refused"
      reason = "sticky"'
      expect 'user = ["bob"]
      to = "rename"
      target = "/srv/spool/job8"
      is = "granted"'
      expect 'user = "ada"
      to = "chown"
      target = "ada:bob"
      is = "granted"'
      expect 'to = "delet"
      is = "granted"'
      expect 'to = "rename"
      need = "r"
      is = "granted"'
      expect 'to = "delete"
      target = "/srv/b"
      is = "granted"'
      """)
    #expect(
      outcome.output == """
        ✔ delete /srv/spool/job7 is refused, for sticky  ada  restricted
        1 of 1 hold
        0
        ✔ rename /srv/spool/job7 to /srv/spool/job8 is granted  bob  authorized
        1 of 1 hold
        0
        ✘ chown /srv/spool/job7 to ada:bob is granted  ada  restricted
            what      chown /srv/spool/job7 to ada:bob
            expected  granted
            got       restricted
            why       only root may give /srv/spool/job7 to another owner (EPERM, CAP_CHOWN)
            fix: let root do it
        0 of 1 hold
        1
        permcheck: t.toml:3:6: there is no operation "delet"; did you mean delete? See permcheck verify --help
        64
        permcheck: t.toml:3:6: rename needs target, the new path
        permcheck: t.toml:4:8: need and to cannot be combined; see permcheck verify --help
        64
        permcheck: t.toml:4:10: delete takes no target; see permcheck verify --help
        64

        """, "\(outcome)")
  }

  @Test func `A wrong question is an error`() throws {
    for (arguments, message) in [
      (["/srv/a", "--to", "rename"], "--to rename needs two paths, the old one and the new one"),
      (
        ["/srv/a", "/srv/b", "/srv/c", "--to", "link"],
        "--to link needs two paths, the old one and the new one"
      ),
      (["camera", "--to", "delete"], "camera: --to needs a path, one with a slash"),
      (["/srv/a", "--to", "delete", "--need", "w"], "--to and --need cannot be combined"),
      (["/srv/a", "--to", "delete", "--future"], "--to and --future cannot be combined"),
      (["/srv/a", "nobody-here", "--to", "chown"], "there is no user nobody-here"),
      (["/srv/a", ":nobody-here", "--to", "chown"], "there is no group nobody-here"),
    ] {
      let outcome = try Command.run([Command.permcheck, "explain"] + arguments)
      #expect(outcome.status == 64 || outcome.status == 70, "\(arguments): \(outcome)")
      #expect(outcome.errors.contains("permcheck: \(message)"), "\(arguments): \(outcome)")
    }
  }

  @Test func `Each reason has its code`() throws {
    let outcome = try run(
      """
      code() { $P explain "$@" --user ada --json | grep -o '"code":"[a-z-]*"' | sort -u; }
      sysctl -q -n fs.protected_hardlinks
      code /srv/spool/job7 --to delete
      code /srv/n --to mkdir
      code /srv/spool/job7 --to chmod
      code /srv/spool/job7 /srv/spool/b --to link
      code /srv/spool --to create
      """)
    #expect(
      outcome.output == """
        1
        "code":"sticky"
        "code":"parent-write"
        "code":"not-owner"
        "code":"protected-hardlink"
        "code":"not-possible"

        """, "\(outcome)")
  }

  /// Who may give a file to a group: its owner, to a group of his; and root.
  @Test func `The owner is named where only the owner may give a file to a group`() throws {
    let tree = try Tree()
    try tree.file("roots", mode: 0o644)
    try tree.file("own", mode: 0o644, uid: 61234, gid: 61234)
    for (name, uid, groups, words) in [
      (
        "roots", "61234", "61235",
        "only root may give \(tree.path("roots")) to another group (EPERM)"
      ),
      (
        "own", "61236", "61235",
        "only 61234, the owner of \(tree.path("own")), or root may give it to another group (EPERM)"
      ),
      (
        "own", "61234", "61236",
        "only root may give \(tree.path("own")) to a group that uid 61234 is not in (EPERM, CAP_CHOWN)"
      ),
    ] {
      let outcome = try Command.permcheck([
        "explain", tree.path(name), ":61235", "--to", "chown", "--uid", uid, "--gid", uid,
        "--groups", groups,
      ])
      #expect(outcome.status == 1 && outcome.output.contains("why: \(words)\n"), "\(outcome)")
    }
  }

  /// The kernel does each thing after it was asked about, on a file system of three inodes.
  @Test func `A file system without a free inode refuses what takes one`() throws {
    let outcome = try run(
      """
      mkdir full; mount -t tmpfs -o mode=777,nr_inodes=3 none full; mkdir -m 777 free
      touch full/a full/b; chmod 666 full/a
      does() { answer=$(as ada $P explain "${@:2}" --json | grep -o '"status":"authorized"\\|no-space' | head -1)
          as ada bash -c "$1" 2>/dev/null && echo "$answer done" || echo "$answer refused"; }
      does 'mkdir full/new/' full/new/ --to mkdir
      does 'ln -s x full/new' full/new --to symlink
      does 'ln full/a full/new' full/a --to link /srv/full/new
      does 'mv full/a full/c' full/a --to rename /srv/full/c
      does ': >free/new' free/new --to create
      $P explain /srv/full --future --creator ada --umask 022 | head -1
      """)
    #expect(
      outcome.output == """
        no-space refused
        no-space refused
        no-space refused
        "status":"authorized" done
        "status":"authorized" done
        /srv/full   unavailable

        """, "\(outcome)")
  }

  @Test func `Documents name the operation`() throws {
    let outcome = try run(
      """
      $P explain /srv/spool/job7 --to rename /srv/job8 --user ada --json | python3 -c '
      import json, sys
      r = json.load(sys.stdin)["reports"][0]["resources"][0]
      print(r["operation"], r["need"] or "-", r["decision"]["rule"], r["reasons"][0]["code"])
      print([c["component"] for c in r["walk"]], [c["component"] for c in r["targetWalk"]])'
      $P explain /srv/spool/job7 --to touch --user ada --json | python3 -c '
      import json, sys
      r = json.load(sys.stdin)["reports"][0]["resources"][0]
      print(r["operation"], r["need"], r["remedies"][0]["command"], r["remedies"][0]["undoCommand"])'
      """)
    #expect(
      outcome.output == """
        {'name': 'rename', 'target': '/srv/job8'} - sticky sticky
        ['/', 'srv', 'spool', 'job7'] ['/', 'srv', 'job8']
        {'name': 'touch'} w ['setfacl', '-P', '-n', '-m', 'u:2000:rw-,m::rw-', '/srv/spool/job7'] ['setfacl', '-P', '-n', '-x', 'u:2000:,m::', '/srv/spool/job7']

        """, "\(outcome)")
  }
}
