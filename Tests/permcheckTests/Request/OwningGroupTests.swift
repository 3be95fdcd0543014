import Foundation
import PermissionKit
import TestSupport
import Testing

/// Where a file system has no ACLs, a request gives a file to a group of the user.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting wants root"))
struct OwningGroupTests {
  /// Runs a script that has a ramfs on /mnt/r, and `users GID LINE...`: the primary group of ada, and groups.
  private func run(_ script: String) throws -> Outcome {
    try Command.run(
      [
        "unshare", "-pfmn", "--kill-child", "--mount-proc", "--propagation", "private", "sh", "-uc",
        """
        exec 2>&1; mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /var/lib
        \(Command.privateEtc)
        private_etc; cd /mnt; export PERMCHECK_LOG=none COLUMNS=400 LC_ALL=C.UTF-8
        mkdir r; mount -t ramfs -o mode=755 none r; cp /bin/true r/f; chmod 600 r/f
        users() {
          printf "root:x:0:0::/:/bin/sh\\nada:x:61001:$1::/:/bin/sh\\nbob:x:61002:61002::/:/bin/sh\\n" >/etc/passwd
          shift; printf '%s\\n' root:x:0: "$@" >/etc/group
        }
        of() { stat -c '%g %a' "$1"; }
        \(script)
        """, Command.permcheck,
      ])
  }

  /// The kernel knows numbers: two names may have one, and a listed name need not be a user.
  @Test func `A group with the number of another is not the user's alone`() throws {
    let outcome = try run(
      """
      refused() { users "$@"; "$0" request r/f --user ada --need r --yes -q 2>&1 | grep -q 'nothing is changed, because others' && [ "$(of r/f)" = '0 600' ] || exit 9; }
      refused 62010 alpha:x:62010:ada beta:x:62010:bob
      refused 62010 alpha:x:62010: beta:x:62010:bob
      refused 61002 alpha:x:62010:ada beta:x:62010:bob
      refused 61002 team:x:62010:ada,ghost
      users 61001 alpha:x:62010:ada beta:x:62010:ada ada:x:61001:
      "$0" request r/f --user ada --need r --yes -q || exit 8
      of r/f; "$0" revoke --all -q; of r/f
      """)
    #expect(outcome.status == 0 && outcome.output == "61001 640\n0 600\n", "\(outcome)")
  }

  /// chgrp(1) looks for a name first: one of two groups with a name, and a name that is a number, are not meant.
  @Test func `A printed chgrp gives the file to the group that is meant`() throws {
    let outcome = try run(
      """
      for groups in "solo:x:62013:bob solo:x:62012:ada" "62012:x:62013:bob team:x:62012:ada" "7:x:62012:ada" "62012:x:62013:bob 8:x:62012:ada"; do
        users 61002 $groups; chown 0:0 r/f; chmod 600 r/f
        "$0" explain r/f --user ada --json | jq -r '.reports[0].resources[0].remedies[].shell' | sh -e; of r/f
        chown 0:0 r/f; chmod 600 r/f; "$0" request r/f --user ada --need r --dry-run | grep '^  chgrp' | sh -e; of r/f
      done
      """)
    let line = "62012 640\n"
    #expect(
      outcome.status == 0 && outcome.output == String(repeating: line, count: 8), "\(outcome)")
  }

  /// chown(2) clears security.capability as it clears set-id bits.
  @Test func `A program with capabilities keeps its group`() throws {
    let outcome = try run(
      """
      truncate -s 120M disk; mkfs.btrfs -q disk 2>/dev/null >/dev/null; mkdir b; mount -o loop,noacl disk b || exit 77
      users 61001 ada:x:61001:; cp /bin/true b/a; cp /bin/true b/b; chmod 700 b/?; setcap cap_net_raw+ep b/a
      "$0" request b/a --user ada --need rx --yes -q 2>&1 | grep -o 'nothing is changed'; getcap b/a; of b/a
      "$0" explain b/a --user ada | grep chgrp
      "$0" request b/b --user ada --need rx --yes -q; of b/b; setcap cap_net_raw+ep b/b
      "$0" revoke --all -q 2>&1 | grep -o 'only what was given is taken back'; getcap b/b; of b/b
      umount b
      """)
    if outcome.status == 77 { return }
    #expect(
      outcome.status == 0
        && outcome.output
          == """
          nothing is changed
          b/a cap_net_raw=ep
          0 700
          61001 750
          only what was given is taken back
          b/b cap_net_raw=ep
          61001 700

          """,
      "\(outcome)")
  }

  /// Each member has a lease of his own, on the folders on the way as well.
  @Test func `What one member was given ends without taking it from another`() throws {
    let outcome = try run(
      """
      users 62001 team:x:62001:; sed -i 's/^bob:x:61002:61002/bob:x:61002:62001/' /etc/passwd
      mkdir -m 700 r/d; cp /bin/true r/d/1; cp /bin/true r/d/2; chmod 600 r/d/?; B="--yes --allow-others -q"
      "$0" request r/d/1 --user ada --need r $B; "$0" request r/d/2 --user bob --need r $B
      "$0" request r/f --user ada --need rw --for 1h $B; "$0" request r/f --user bob --need r $B
      for f in d d/1 d/2 f; do of r/$f; done | paste -sd,
      "$0" revoke r/d/1 --user ada -q; "$0" revoke r/f --user ada -q
      for f in d d/1 d/2 f; do of r/$f; done | paste -sd,
      for f in d/2 f; do setpriv --reuid 61002 --regid 62001 --clear-groups cat r/$f >o || exit 9; done
      "$0" request r/f --uid 61009 --gid 61009 --need r --yes -q 2>&1 | grep -o 'others would get access, too (everybody else: r)'
      "$0" revoke --all -q; for f in d d/1 d/2 f; do of r/$f; done | paste -sd,
      """)
    let lines = [
      "62001 710,62001 640,62001 640,62001 660", "62001 710,0 600,62001 640,62001 640",
      "others would get access, too (everybody else: r)",
      "0 700,0 600,0 600,0 600",
    ]
    #expect(
      outcome.status == 0
        && outcome.output.split(separator: "\n").filter { !$0.hasPrefix("permcheck:") }
          == lines.map { $0[...] },
      "\(outcome)")
  }

  /// What an administrator took from the group, or whom he gave the file, stays.
  @Test func `A revoke gives nothing back that somebody else took`() throws {
    let outcome = try run(
      """
      users 62001 team:x:62001: other:x:62002:; sed -i 's/^bob:x:61002:61002/bob:x:61002:62001/' /etc/passwd; B="--yes --allow-others -q"
      both() { "$0" request r/f --user ada --need rw $B; "$0" request r/f --user bob --need r $B; }
      { both; } 2>/dev/null; chmod g-rw r/f; "$0" revoke r/f --user ada -q; of r/f; "$0" revoke --all -q; of r/f
      "$0" request r/f --user ada --need r $B 2>/dev/null; chgrp other r/f; chmod 664 r/f
      "$0" request r/f --user bob --need r --strategy acl $B 2>&1 | grep -o 'somebody else changed the group'
      "$0" revoke --all -q 2>/dev/null; of r/f
      """)
    #expect(
      outcome.status == 0 && outcome.output == "62001 600\n0 600\n62002 664\n", "\(outcome)")
  }

  /// sed(1) with -i and editors write a file anew, with its mode and group.
  @Test func `A copy in the place of a file loses what the file was given`() throws {
    let outcome = try run(
      """
      truncate -s 120M disk; mkfs.btrfs -q disk 2>/dev/null >/dev/null; mkdir b; mount -o loop,noacl disk b || exit 77
      users 61001 ada:x:61001:; echo x >b/f; chmod 600 b/f; "$0" request b/f --user ada --need r --yes -q
      sed -i s/x/y/ b/f; of b/f; "$0" revoke --all -q 2>&1 | grep -o 'by a copy with its group'; of b/f
      "$0" request b/f --user ada --need r --yes -q; umount b; mount -o loop disk b; setfacl -m u:61002:r b/f
      "$0" revoke --all -q 2>o; grep -o 'has an ACL now' o; getfacl -cp b/f | grep group
      sed -n 's/.*take it from the group (\\(.*\\)), and forget.*/\\1/p' o | sh -e; getfacl -cpn b/f | grep : | paste -sd' '
      "$0" revoke b/f --forget -q 2>/dev/null; umount b; mount -o loop,noacl disk b; echo x >b/g; chmod 600 b/g
      "$0" request b/g --user ada --need rw --yes -q; cp -p b/g b/h; mv b/h b/g; ln b/g b/h; of b/g
      "$0" revoke b/g -q 2>o; grep -o 'with other hard links' o; sed -n 's/.*take that (\\(.*\\)), and forget.*/\\1/p' o | sh -e; of b/g; umount b
      """)
    if outcome.status == 77 { return }
    #expect(
      outcome.status == 0
        && outcome.output
          == """
          61001 640
          by a copy with its group
          0 600
          has an ACL now
          group::r--
          user::rw- user:61002:r-- group::--- mask::r-- other::---
          61001 660
          with other hard links
          61001 600

          """,
      "\(outcome)")
  }

  /// A group of the user that is smaller than the owning group is taken; root is nobody else; who may give the file needs
  /// no root.
  @Test func `The smallest group of the user is taken`() throws {
    let outcome = try run(
      """
      users 61001 ada:x:61001: team:x:62001:ada,bob duo:x:62002:ada,carl; chown 0:62001 r/f
      "$0" request r/f --user ada --need r --yes -q; of r/f; "$0" revoke --all -q; of r/f
      users 61001 ada:x:61001: solo:x:62009:ada; chown 0:62009 r/f; "$0" request r/f --user ada --need r --yes -q; of r/f; "$0" revoke --all -q
      chown 0:0 r/f; chmod 604 r/f; "$0" request r/f --user ada --need w --yes -q; of r/f; "$0" revoke --all -q; of r/f
      mkdir r/d; cp r/f r/d/a; chmod 750 r/d; chown 0:62001 r/d; chmod 600 r/d/a; users 62001 team:x:62001:bob
      "$0" request r/d --recursive --user ada --need r --yes -q 2>&1 | grep -o 'others would get access, too'
      users 61001 ada:x:61001: duo:x:62002:ada,carl; sed -i '$ a carl:x:61003:61002::/:/bin/sh' /etc/passwd
      chown 61001:0 r/f; chmod 600 r/f; cp "$0" p 2>/dev/null; cp "${0%/*}"/*.so . 2>/dev/null
      setpriv --reuid 61001 --regid 61001 --init-groups ./p explain r/f --user carl --need r | grep chgrp
      setpriv --reuid 61001 --regid 61001 --clear-groups ./p explain r/f --user carl --need r | grep chgrp
      """)
    #expect(
      outcome.status == 0
        && outcome.output
          == "61001 640\n62001 600\n62009 640\n61001 664\n0 604\nothers would get access, too\n  chgrp duo ./r/f\n  su -c 'chgrp duo ./r/f'\n",
      "\(outcome)")
  }

  /// `check` and `list` look at the group, as they do at an entry.
  @Test func `What has ended or is gone is said`() throws {
    let outcome = try run(
      """
      users 61001 ada:x:61001:; touch r/e; cp r/f e; chmod 600 r/? e
      "$0" request r/f ./e --user ada --need r --for 1s --yes -q; sleep 1.1
      "$0" check r/f ./e --user ada | grep -o 'EXPIRED, still in place: .* '; "$0" revoke --all -q
      "$0" request r/f --user ada --need r --yes -q; chmod g-r r/f; "$0" list --grants | grep -o 'ended: somebody.*'
      rm r/f; touch r/f; "$0" list --grants | grep -o 'missing$'
      """)
    #expect(
      outcome.status == 0
        && outcome.output == """
          EXPIRED, still in place: /mnt/r/f   owning group ada, with mode bits 
          EXPIRED, still in place: /mnt/e   ACL entry 
          ended: somebody else removed the access
          missing

          """,
      "\(outcome)")
  }

  /// What could not be ended is said, the owner gains nothing, and an entry that nobody sees now is not forgotten.
  @Test func `What is still there is neither missing nor forgotten`() throws {
    let outcome = try run(
      """
      users 61001 ada:x:61001:bob,ghost duo:x:62005:ada,bob; chown 61002 r/f; ln -s r/f l
      "$0" request r/f --user ada --need r --for 1s --yes -q; of r/f; sleep 1.1; "$0" check ./l --user ada --need r | grep -o EXPIRED
      mount -o remount,ro r; "$0" revoke --all -q 2>/dev/null; "$0" list --grants | grep -o 'could not be ended'; mount -o remount,rw r; "$0" revoke --all -q; of r/f
      truncate -s 120M disk; mkfs.btrfs -q disk 2>/dev/null >/dev/null; mkdir b; mount -o loop disk b || exit 77
      echo x >b/f; chmod 600 b/f; "$0" request b/f --user ada --need r --yes -q; mount -o remount,noacl b
      "$0" revoke --all 2>&1 | grep -o 'mounted without ACLs now'; mount -o remount,acl b; "$0" revoke --all -q; getfacl -cp b/f | grep -c ada; umount b
      """)
    if outcome.status == 77 { return }
    #expect(
      outcome.output
        == "62005 640\nEXPIRED\ncould not be ended\n0 600\nmounted without ACLs now\n0\n",
      "\(outcome)")
  }

  /// A number without a name, or with a name that chgrp(1) takes for an option, is a group of the user as well.
  @Test func `A group without a usable name is known by its number`() throws {
    let outcome = try run(
      """
      users 61055; "$0" request r/f --user ada --need r --yes -q; of r/f; "$0" revoke r/f -q; of r/f
      for line in x -odd:x:61055:; do
        users 61055 $line; "$0" request r/f --user ada --need r --dry-run | grep '^  chgrp'
      done
      """)
    let line = "  chgrp 61055 /mnt/r/f && chmod g+r /mnt/r/f\n"
    #expect(
      outcome.status == 0 && outcome.output == "61055 640\n0 600\n\(line)\(line)", "\(outcome)")
  }

  /// The file, a folder above it, and a link are three names of what was given.
  @Test func `What was given is found by other names`() throws {
    let outcome = try run(
      """
      users 61001; cp /bin/true g; chmod 600 g; ln -s g l; "$0" request ./l --user ada --need r --yes -q
      "$0" revoke /mnt/g 2>o; echo $?; permcheck() { "$0" "$@"; }; eval "$(sed 's/.*to end it: //' o)" | sed 's/ .*//'
      "$0" request ./g --user ada --need r --yes -q
      cp -a g h; mv h g; "$0" list --grants | grep -c 'ended:.*'
      rm g; "$0" list --grants | grep -o 'ended:.*'; "$0" list --grants --json | jq -r '.grants[].stage'; "$0" revoke --all -q 2>/dev/null
      mkdir -m 700 d; echo x >d/f; chmod 644 d/f; "$0" request d/f --user ada --need r --for 1s --yes -q 2>/dev/null; sleep 1.1
      "$0" check d/f --user ada --need r | grep -o 'EXPIRED.*'
      chmod 755 d; setfacl -x u:ada d; "$0" check d/f --user ada --need r | grep -c EXPIRED; "$0" revoke --all -q 2>/dev/null
      cp /bin/true f; cp /bin/true h; chmod 600 f h; ln -s f t; "$0" request ./t --user ada --need r --yes -q
      "$0" request ./f --user bob --need r --yes -q
      ln -sfn h t; "$0" revoke /mnt/h 2>&1; "$0" revoke /mnt/f --user ada 2>&1 | sed 's/so it stays.*//'; "$0" revoke /mnt/f 2>&1 | sed 's/so it stays.*//'
      rm t; "$0" revoke /mnt/f 2>&1 | grep -c 'ada.*so it stays'; getfacl -cp f | grep '^user:[^:]'
      """)
    #expect(
      outcome.status == 0
        && outcome.output == """
          nothing to revoke in /var/lib/permcheck/grants.jsonl
          0
          revoked
          0
          ended: the file was deleted
          deleted
          EXPIRED, still in place: /mnt/d   ACL entry user:ada:--x
          0
          nothing to revoke in /var/lib/permcheck/grants.jsonl
          permcheck: warning: the access of ada to /mnt/f was asked for as /mnt/t, 
          nothing to revoke in /var/lib/permcheck/grants.jsonl
          permcheck: warning: the access of ada to /mnt/f was asked for as /mnt/t, 
          revoked  path   /mnt/f   ACL entry user:bob:r--
          1
          user:ada:r--

          """,
      "\(outcome)")
  }

  /// An ACL that is a grant as well goes first; then the group can be put back.
  @Test func `Grants of a group and of an entry end together`() throws {
    let outcome = try run(
      """
      truncate -s 120M disk; mkfs.btrfs -q disk 2>/dev/null >/dev/null; mkdir b; mount -o loop,noacl disk b || exit 77
      users 61001 ada:x:61001:; cp /bin/true b/a; chmod 700 b/a; "$0" request b/a --user ada --need r --yes -q
      mount -o remount,acl b; for user in ada bob; do "$0" request b/a --user $user --need rx --yes -q; done
      getfacl -ncp b/a | grep -c '^user:6100'; "$0" revoke --all -q; of b/a; getfacl -ncp b/a | grep -c '^user:6100'; umount b
      """)
    if outcome.status == 77 { return }
    #expect(outcome.output == "2\n0 700\n0\n", "\(outcome)")
  }
}
