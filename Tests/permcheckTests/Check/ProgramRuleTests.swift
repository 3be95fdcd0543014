import Foundation
import PermissionKit
import TestSupport
import Testing

/// Rules of programs on owners and modes: `explain --as-used-by`, and plans after which a program refuses a file.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct ProgramRuleTests {
  /// ssh-keygen and Python, and of sshd, logrotate and git those that are there.
  @Test func `Programs do what their rules say`() throws {
    try Command.expectNoneWrong("programs.py", Effort.of(40, atLeast: 8))
  }

  /// A key that ssh uses now: the plan says that it will not, and --yes alone changes nothing.
  @Test func `A request that breaks a program is refused until the program is named`() throws {
    let tree = try Tree()
    func run(_ script: String) throws -> Outcome {
      try Command.run(
        [
          "unshare", "--mount", "sh", "-uc",
          """
          mount -t tmpfs -o mode=755 none /srv; cd /srv; export PERMCHECK_LOG=none COLUMNS=400
          ssh-keygen -q -t ed25519 -N '' -f key; B="--uid 61004 --gid 61004"
          \(script)
          """, Command.permcheck,
        ], environment: tree.homeEnvironment)
    }
    let warning =
      "ssh then does not use the key (/srv/key: its group may read, mode 0640, where ACL entries count as the group); instead: a copy that belongs to the other user"
    let shown = try run("\"$0\" request /srv/key --need r $B --dry-run")
    #expect(shown.output.contains("  but: \(warning)\n"), "\(shown)")
    let fix = try run("\"$0\" explain /srv/key --need r $B")
    #expect(fix.output.contains("; nobody else gets access; but \(warning); "), "\(fix)")
    let refused = try run(
      "\"$0\" request /srv/key --need r $B --yes; echo $?; getfacl -cp key; ssh-keygen -y -f key >/dev/null; echo $?"
    )
    #expect(refused.output.contains("\n1\n") && refused.output.hasSuffix("\n0\n"), "\(refused)")
    #expect(!refused.output.contains("user:61004"), "\(refused)")
    #expect(
      refused.errors.contains(
        "nothing is changed, because \(warning); --despite ssh makes the change anyway"),
      "\(refused)")
    let made = try run(
      "\"$0\" request /srv/key --need r $B --yes --despite ssh; echo $?; ssh-keygen -y -f key; echo $?"
    )
    #expect(made.output.contains("\n0\n") && made.output.hasSuffix("\n255\n"), "\(made)")
    // Two questions at a terminal: the plan, and the program.
    for (answers, entries) in [("y\\ny\\n", 1), ("y\\nn\\n", 0), ("n\\n", 0)] {
      let asked = try run(
        "printf '\(answers)' | script -qec \"$0 request /srv/key --need r $B\" /dev/null >/dev/null; getfacl -cp key | grep -c user:61004"
      )
      #expect(asked.output == "\(entries)\n", "\(asked)")
    }
    let json = try run("\"$0\" request /srv/key --need r $B --dry-run --json")
    #expect(json.output.contains(#""objections":[{"instead":"#), "\(json)")
  }

  /// Links, relative paths, folders, settings, files that no rule is about, and who the user is.
  @Test func `A rule is found by the name, and is about the right user`() throws {
    let outcome = try Command.run([
      "unshare", "-pfm", "--kill-child", "--mount-proc", "--propagation", "private", "sh", "-uc",
      Command.privateEtc + """
        export PERMCHECK_LOG=none LC_ALL=C.UTF-8 HOME=/mnt
        mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /var/lib; cp "$1" /mnt/pc; cd /mnt
        private_etc; mkdir -p /etc/ssh/sshd_config.d /var/spool/cron; : >/etc/ssh/sshd_config
        printf 'rula:x:61001:61001::/mnt/a:/bin/sh\nrulb:x:61002:61002::/:/bin/sh\n' >>/etc/passwd
        printf 'rula:x:61001:\nrulb:x:61002:\n' >>/etc/group
        A="setpriv --reuid 61001 --regid 61001 --clear-groups"
        answers() { want=$1; shift; "$@" >/mnt/o 2>&1; got=$?; [ $got = $want ] || { echo "FAIL $got instead of $want: $*"; cat /mnt/o; exit 9; }; }
        says() { grep -qF -e "$1" /mnt/o || { echo "no $1:"; cat /mnt/o; exit 8; }; }
        # A link on the way, and a path from the working directory.
        mkdir -p a/dot/ssh; echo key >a/dot/ssh/authorized_keys; ln -s dot/ssh a/.ssh; echo x >a/dot/netrc; ln -s dot/netrc a/.netrc
        chmod 600 a/dot/netrc; chown -hR 61001:100 a
        answers 1 ./pc request /mnt/a/.ssh/authorized_keys --need rw --user rulb --yes; says "--despite sshd makes the change anyway"
        answers 1 ./pc request /mnt/a/.netrc --user rulb --yes; says "--despite netrc makes the change anyway"
        mkdir -p b/.ssh; echo key >b/.ssh/authorized_keys; chown -R 61001:100 b
        (cd b/.ssh; answers 1 /mnt/pc explain ./authorized_keys --need rw --user rulb; says "but sshd then") || exit
        (cd b/.ssh; chmod 777 /mnt/b; answers 1 /mnt/pc explain ./authorized_keys --as-used-by sshd) || exit
        chmod 755 a a/dot; answers 0 ./pc explain /mnt/a --as-used-by sshd; says "/mnt/a/.ssh/authorized_keys   accepted by sshd for rula"
        # What has no rule is not judged by another one's.
        for file in /etc/passwd /mnt/a/.ssh/id_x.pub; do : >>$file; answers 64 ./pc explain $file --as-used-by ssh; done
        answers 64 ./pc explain /etc/passwd --as-used-by cron; ln -s /dev/null a/.pgpass; answers 64 ./pc explain /mnt/a/.pgpass --as-used-by psql
        # git is started by whoever asks, from a folder below.
        git init -q r 2>/dev/null && { mkdir r/sub; chown -R 61002 r; answers 1 $A ./pc explain /mnt/r/sub --as-used-by git
          says "git config --global --add safe.directory /mnt/r"; printf '[safe]\n directory = *\n' >a/.gitconfig; answers 2 ./pc explain /mnt/r --as-used-by git --user rula; rm a/.gitconfig; }
        # cron reads as root, and a crontab is of the user whose name it has.
        mkdir -p /var/spool/cron/crontabs; mount -t tmpfs -o mode=1730 none /var/spool/cron/crontabs; cd /var/spool/cron/crontabs
        for n in rula rulb; do echo x >$n; chmod 600 $n; chown 61001 $n; done
        answers 0 /mnt/pc explain /var/spool/cron/crontabs/rula --as-used-by cron; answers 1 /mnt/pc explain /var/spool/cron/crontabs/rulb --as-used-by cron
        # Settings that may lift the rule, and groups that cannot be looked up.
        chmod 757 /mnt/a; answers 1 /mnt/pc explain /mnt/a --as-used-by sshd; echo 'StrictModes  no' >/etc/ssh/sshd_config.d/x.conf
        answers 2 /mnt/pc explain /mnt/a --as-used-by sshd; rm /etc/ssh/sshd_config.d/x.conf; chmod 775 /mnt/a; chown -R 61001:61001 /mnt/a
        [ ! -e /etc/debian_version ] || { answers 0 $A /mnt/pc explain /mnt/a --as-used-by sshd; chmod 600 /etc/group; answers 2 $A /mnt/pc explain /mnt/a --as-used-by sshd; }
        """, "sh", Command.permcheck,
    ])
    #expect(outcome.status == 0, "\(outcome)")
  }

  /// fstab(5) has other options than the mount: they stay what they are.
  @Test func `A remount keeps the other options of the mount`() throws {
    let outcome = try Command.run([
      "unshare", "-pfm", "--kill-child", "--mount-proc", "--propagation", "private", "sh", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /mnt; cp "$1" /mnt/pc; cd /mnt; private_etc; export PERMCHECK_LOG=none
        echo "none /mnt/m tmpfs defaults 0 0" >>/etc/fstab; mkdir m; mount -t tmpfs -o mode=777,nosuid,nodev,noexec none m
        mount -o remount,bind,ro,nosuid,nodev,noexec m; options() { grep ' /mnt/m ' /proc/self/mountinfo | cut -d' ' -f6; }
        ./pc explain /mnt/m/new --to create --uid 61001 --gid 61001 -v >o; options
        grep '^  mount' o | head -1 | sh; options; grep '^  mount' o | tail -1 | sh; options
        """, "sh", Command.permcheck,
    ])
    #expect(
      outcome.output == """
        ro,nosuid,nodev,noexec,relatime
        rw,nosuid,nodev,noexec,relatime
        ro,nosuid,nodev,noexec,relatime

        """, "\(outcome)")
  }

  /// Documentation/programs.md is the table of the rules.
  @Test func `The page of programs is their table`() throws {
    var text = """
      # Programs with rules of their own

      Some programs refuse a file that the kernel lets them read, because others could change or read it.
      `permcheck explain FILE --as-used-by PROGRAM` says whether the program accepts the file, and the least `chmod`: for
      the owner of the file or home, for whoever asks (git), or for `--user`.
      An entry of an ACL shows as a permission of the group, see acl(5): a request after which a program refuses a file
      says so, and makes no change unless `--despite PROGRAM` accepts that. This page is made of `ProgramRules.all` by
      `ProgramRuleTests`; `Tests/permcheckTests/Runner/programs.py` asks ssh, sshd, logrotate, git and Python.

      | program | files | may not | owner | then it | source |
      |---|---|---|---|---|---|

      """
    text += ProgramRules.rows.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    let file = Checkout.file("Documentation/programs.md")
    if Variables.value("PERMCHECK_GOLDEN") == "write" { try Data(text.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }
}
