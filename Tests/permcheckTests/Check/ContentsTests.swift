import Foundation
import TestSupport
import Testing

/// Everything in a folder: `--recursive` of check, request, run and verify.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct ContentsTests {
  /// Random folders: root's check and the user's own are compared with the kernel, and what is missing is given.
  @Test func `A folder's contents are judged as the kernel does`() throws {
    try Command.expectNoneWrong("contents.py", Effort.of(200, atLeast: 4))
  }

  /// Scene 4: one folder of the library and one file are refused to immich.
  private func run(_ script: String) throws -> Outcome {
    try Command.run([
      "unshare", "--mount", "sh", "-uc",
      Command.privateEtc + """
        mount -t tmpfs -o mode=755 none /mnt; mount -t tmpfs -o mode=755 none /var/lib; cd /mnt
        private_etc; printf '%s\\n' ada:x:52000:52000::/:/bin/sh immich:x:52002:52002::/:/bin/sh >>/etc/passwd
        printf '%s\\n' ada:x:52000: immich:x:52002: >>/etc/group
        cp "$1" permcheck; chmod 755 permcheck; export PATH="/mnt:$PATH" PERMCHECK_LOG=none
        printf '#!/bin/sh\\nexec "$@"\\n' >sudo; chmod 755 sudo
        mkdir -p photos/100CANON photos/101 photos/102SSCAM
        for d in photos/*; do touch $d/a.jpg $d/b.jpg; done
        ln -s /etc/shadow photos/101/link; mkfifo -m 600 photos/101/fifo
        chown -Rh ada:ada photos; chmod 700 photos/102SSCAM; chmod 600 photos/101/b.jpg
        as() { setpriv --reuid $1 --regid $1 --clear-groups sh -c "$2"; }
        ask="photos=/mnt/photos --need rx --user immich"
        \(script)
        """, "sh", Command.permcheck,
    ])
  }

  private static let limited = """
    ◐ photos  limited  /mnt/photos    6 of 10 files and folders
                3 below 102SSCAM: this folder is closed to others
                1 in 101: no permission for others
                fix (2 changes; lasts until the next boot; nobody else gets access):
                  /mnt/permcheck request photos=/mnt/photos --need rx --recursive --user immich

    """

  @Test func `A folder with refused parts is limited`() throws {
    let outcome = try run(
      """
      permcheck check $ask --recursive; echo $?
      permcheck check $ask; echo $?
      permcheck check $ask -v | grep itself
      """)
    #expect(
      outcome.output == Self.limited + """
        1
        ✔ photos  authorized  /mnt/photos    other r-x
        0
                    the folder itself was checked; --recursive also checks everything in it

        """, "\(outcome)")
  }

  @Test func `A request gives the refused parts, and revoke removes them`() throws {
    let outcome = try run(
      """
      permcheck request $ask --recursive --dry-run | sed -n 2,3p
      as immich 'cat photos/*/*.jpg' 2>/dev/null && echo read before
      permcheck request $ask --recursive --yes | sed '/undo/,$d'
      as immich 'cat photos/*/*.jpg' && echo read
      getfacl -cpR photos | grep -c immich
      permcheck check $ask --recursive; echo $?
      permcheck revoke photos --user immich | grep -c revoked
      permcheck check $ask --recursive
      """)
    #expect(
      outcome.output == """
          /mnt/photos/102SSCAM   ACL entry user:immich:r-x
          /mnt/photos/101/b.jpg   ACL entry user:immich:r--
        ✔ photos  authorized  /mnt/photos    all 10 files and folders
        read
        2
        ✔ photos  authorized  /mnt/photos    all 10 files and folders
        0
        2

        """ + Self.limited, "\(outcome)")
  }

  @Test func `This process asks the kernel, and says what it cannot list`() throws {
    let outcome = try run(
      """
      as immich 'permcheck check photos=/mnt/photos --need rx --recursive'; echo $?
      as ada 'permcheck check photos=/mnt/photos --need rx --recursive'; echo $?
      chmod 711 photos
      as immich 'permcheck check photos=/mnt/photos --need x --recursive'; echo $?
      """)
    #expect(
      outcome.output == """
        ◐ photos  limited  /mnt/photos    6 of 8 files and folders
                    1 in 101: no permission for others
                    1 below 102SSCAM: this folder is closed to others
                    1 folder cannot be listed, so what is below was not checked
                    fix (2 changes; lasts until the next boot; nobody else gets access):
                      sudo /mnt/permcheck request photos=/mnt/photos --need rx --recursive --user immich
        1
        ✔ photos  authorized  /mnt/photos    all 10 files and folders
        0
        ? photos  notDetermined  /mnt/photos
                    1 folder cannot be listed, so what is below was not checked
        2

        """, "\(outcome)")
  }

  @Test func `run with --recursive requires access to everything`() throws {
    let outcome = try run(
      """
      as 52002 'permcheck run photos=/mnt/photos --need rx -- echo ran'
      as 52002 'permcheck run photos=/mnt/photos --need rx --recursive -q -- echo too early; echo $?'
      chmod 000 photos/101/b.jpg; mkdir ada; chown ada ada; export XDG_STATE_HOME=/mnt/ada
      as 52000 'permcheck run photos=/mnt/photos --need rx --recursive --request --yes -- sh -c "cat photos/*/*.jpg && echo read"'
      stat -c %a photos/101/b.jpg
      """)
    #expect(outcome.output.replacing("\r", with: "") == "ran\n126\nread\n0\n", "\(outcome)")
  }

  @Test func `verify with recursive requires access to everything`() throws {
    let outcome = try run(
      """
      expect() { printf '[[expect]]\\npath = "/mnt/%s"\\nuser = "immich"\\nneed = "rx"\\n%s\\n' "$1" "$2" >t.toml
        permcheck verify t.toml -q; echo $?; }
      expect photos 'is = "granted"'
      expect photos 'recursive = true
      is = "granted"'
      expect photos 'recursive = true
      is = "limited"
      reason = "folder-contents"'
      expect photos 'recursive = true
      is = "refused"'
      expect photos/102SSCAM 'recursive = true
      is = "refused"'
      chmod 711 photos/100CANON
      expect photos/100CANON 'is = "refused"'
      expect photos/100CANON 'recursive = true
      is = "refused"'
      expect photos 'recursive = true
      wait = "1s"
      is = "granted"' 2>&1
      expect photos 'reason = "folder-contents"
      is = "limited"' 2>&1
      """)
    #expect(
      outcome.output == """
        0
        1
        0
        1
        0
        0
        1
        permcheck: t.toml:6:8: wait and recursive cannot be combined; see permcheck verify --help
        64
        permcheck: t.toml:5:10: the reason folder-contents requires recursive = true; see permcheck verify --help
        64

        """, "\(outcome)")
  }

  @Test func `Other file systems and unchangeable files are left out`() throws {
    let outcome = try run(
      """
      mkdir photos/other lower upper work; mount -t tmpfs -o mode=700 none photos/other; touch photos/other/x
      permcheck check $ask --recursive | head -1
      touch lower/low; chmod 600 lower/low; mkdir over
      mount -t tmpfs none upper; mkdir upper/u upper/w
      mount -t overlay -o lowerdir=lower,upperdir=upper/u,workdir=upper/w none over
      permcheck check photos=/mnt/over --need r --user immich --recursive | head -1
      permcheck request photos=/mnt/over --need r --user immich --recursive --yes | head -1
      chmod 644 photos/101/b.jpg; chmod 755 photos/102SSCAM
      chattr +i photos/101/a.jpg && permcheck check photos=/mnt/photos --need r --user immich --recursive | head -1
      permcheck request photos=/mnt/photos --need rw --user ada --recursive --yes 2>&1; echo $?
      chattr -i photos/101/a.jpg
      """)
    #expect(
      outcome.output == """
        ◐ photos  limited  /mnt/photos    6 of 10 files and folders
        ◐ photos  limited  /mnt/over    1 of 2 files and folders
        ✔ photos  authorized  /mnt/over    all 2 files and folders
        ✔ photos  authorized  /mnt/photos    all 10 files and folders
        permcheck: warning: no change of permissions gives access to everything in photos
        ◐ photos  limited  /mnt/photos    9 of 10 files and folders
                    1 in 101: immutable (chattr +i)
        1

        """, "\(outcome)")
  }
}
