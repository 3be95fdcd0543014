import Foundation
import TestSupport
import Testing

/// What a grant is worth: it gives what was asked, to one, and its undo takes out what was put in.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GrantWorthTests {
  /// The fix and the undo of `explain -v` are carried out.
  @Test func `W2: The printed undo leaves everything as it was`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; sudo() { "$@"; }
      dir() { rm -rf p; mkdir -m 700 p; ${1:-}; BEFORE=$(getfacl -cpn p; stat -c %a p); }
      undone() {
        is 1 $P explain $T/p --user games -v
        eval "$(grep -A1 '^smallest fix' $OUT.o | tail -1)"
        as 5 ls p >/dev/null || fail "no access: $(cat $OUT.o)"
        eval "$(tail -1 $OUT.o)"
        same "$(getfacl -cpn p; stat -c %a p)" "$BEFORE" "$(tail -1 $OUT.o)"
      }
      T=$1
      dir; undone
      for acl in '-d -m g:7:rwx' '-m u:7:r,g:8:rwx' '-m u:7:rwx,m::r' '-m u:7:rwx,m::-' '-m u:5:w'; do
        dir "setfacl -n $acl p"; undone
      done
      # What somebody else has put in since stays.
      dir "setfacl -m u:7:r p"
      is 1 $P explain $T/p --user games -v; eval "$(grep -A1 '^smallest fix' $OUT.o | tail -1)"
      setfacl -n -m u:9:r p; eval "$(tail -1 $OUT.o)"
      getfacl -cpn p | grep -q user:9:r || fail "the undo took out more: $(getfacl -cpn p)"
      """, [tree.root])
  }

  /// The owner of a folder puts a link in the place of what the command names.
  @Test func `Row 18: A printed command follows no link of the owner of a folder`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir -m 755 home; chown 7 home; mkdir -m 700 home/p secret
      is 1 $P explain $1/home/p --user games; FIX=$(tail -1 $OUT.o)
      rmdir home/p; ln -s $1/secret home/p
      eval "${FIX/sudo/}"
      [ "$(stat -c %a secret)" = 700 ] || fail "$FIX opened another folder"
      is 1 $P explain $1/secret --user games
      tail -1 $OUT.o | grep -q 'setfacl -n' || fail "no plain command for a folder of root's: $(cat $OUT.o)"
      """, [tree.root])
  }

  /// w on a folder does nothing without x, so x alone is given, and w is not handed on.
  @Test(arguments: [
    "chmod 776 d", "mkdir d/e; chmod -R 664 d", "chmod 772 d", "setfacl -n -m g:7:rw,m::rwx d",
  ])
  func `Row 17: A w without x is not made useful`(_ setup: String) throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir d; echo x >d/f; chmod 666 d/f; \(setup); chmod 666 d/f
      as() { setpriv --reuid 5 --regid 5 --groups 7 "$@"; }
      ! as sh -c ': >d/new' 2>/dev/null || fail "no case"
      HAD=no; ! as touch d 2>/dev/null || HAD=yes
      is 0 $P request $1/d/f --need r --uid 5 --gid 5 --groups 7 --yes
      as cat d/f >/dev/null || fail "no access"
      as touch d 2>/dev/null || [ "$HAD" != yes ] || grep -q "cannot set the times and user attributes of $1/d" $OUT.e || fail "a loss is unsaid: $(cat $OUT.e)"
      ! as sh -c ': >d/new' 2>/dev/null || fail "creates: $(getfacl -cpn d)"
      ! as rm -f d/f 2>/dev/null || fail "deletes: $(getfacl -cpn d)"
      is 0 $P revoke --all
      is 1 $P explain $1/d/f --uid 5 --gid 5 --groups 7
      eval "$(tail -1 $OUT.o | sed 's/sudo //')"; as cat d/f >/dev/null || fail "the fix gives no access"
      ! as sh -c ': >d/new' 2>/dev/null || fail "the fix lets create: $(getfacl -cpn d)"
      """, [tree.root])
  }

  /// An entry of the user's own that has w without x becomes useful; that is said.
  @Test func `Row 17: What becomes useful is said`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir -m 700 d; echo x >d/f; chmod 644 d/f; setfacl -m u:5:rw d
      is 0 $P request $1/d/f --need r --user games --yes
      if as 5 sh -c ': >d/new' 2>/dev/null; then
        grep -q "can then create, delete and replace every file in $1/d" $OUT.e || fail "nobody says so: $(cat $OUT.e)"
      fi
      """, [tree.root])
  }

  @Test func `W1: A recursive grant takes nothing away from its user`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; as() { setpriv --reuid 5 --regid 5 --groups 12 "$@"; }
      mkdir s; chgrp 12 s; chmod 2770 s; setfacl -d -m g:12:rwx s; echo x >s/old; setfacl -b s/old; chmod 600 s/old
      touch s/n1; as sh -c 'echo x >>s/n1' || fail "no case"
      BEFORE=$(getfacl -pn s)
      is 0 $P request photos=$1/s --need rx --recursive --uid 5 --gid 5 --groups 12 --yes
      touch s/n2; as sh -c 'echo x >>s/n2; cat s/old' || fail "lost: $(getfacl -cpn s s/n2)"
      is 0 $P revoke --all; same "$(getfacl -pn s)" "$BEFORE" "revoked"
      as sh -c 'echo x >>s/n2' || fail "lost at the end: $(getfacl -cpn s/n2)"
      # group:: of a folder without set-group-ID counts for nobody in particular: what is lost is said.
      rm -rf s; mkdir -m 700 s; setfacl -d -m g::rwx,g:7:rx s; mkdir -m 700 s/in
      is 0 $P request photos=$1/s --need rx --recursive --uid 5 --gid 5 --groups 12 --yes
      grep -q "games loses w on new files in $1/s and $1/s/in that belong to one of the user's groups" $OUT.e || fail "unsaid: $(cat $OUT.e)"
      """, [tree.root])
  }

  @Test func `W3: A path and a name are the same request`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1
      for name in "" photos=; do
        rm -rf p; mkdir -p p/s; chmod 750 p p/s; setfacl -d -m g:12:rwx p p/s
        is 0 $P request $name$1/p --need rx --recursive --user games --yes
        touch p/n p/s/n; as 5 cat p/n p/s/n || fail "$name: $(getfacl -pn p)"
        BOTH="${BOTH:-}$(getfacl -Rpn p | md5sum)"
        is 0 $P revoke --all; ! as 5 cat p/n 2>/dev/null || fail "left: $(getfacl -pn p/n)"
      done
      same "${BOTH:0:35}" "${BOTH:35}" "two requests"
      """, [tree.root])
  }

  @Test func `W5, W20: What a change opens is said, the worst first`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir -m 700 d; echo s >d/other; echo x >d/f; mkdir -m 1770 sticky; touch sticky/f
      has() { grep -qF "$1" $OUT.o $OUT.e || fail "$1: $(cat $OUT.o $OUT.e)"; }
      is 1 $P explain $1/d/f --user games; has "games can then reach what is below $1/d, as far as its own permissions allow"
      is 1 $P explain $1/d/f --to delete --user games; has "games can then create, delete and replace every file in $1/d; and reach"
      is 1 $P explain $1/sticky/new --to create --user games; has "games can then create files in $1/sticky"
      is 1 $P explain /etc/passwd --to delete --user games; has "games can then replace everything in /etc, and so become root"
      is 1 $P request /etc --need rwx --user games --dry-run; has "note: games can then replace everything in /etc, and so become root"
      is 1 $P request /etc/shadow --need r --user games --dry-run; has "read the password hashes of everybody"
      is 1 $P check $1/d/f --user games --json; has '"opens":"games can then reach what is below'
      # Nothing of it where nothing is opened.
      mkdir -m 755 o; echo x >o/f; chmod 600 o/f
      is 1 $P explain $1/o/f --user games; ! grep -q 'can then' $OUT.o || fail "$(cat $OUT.o)"
      is 1 $P request $1/d --need rwx --user games --dry-run; has "games can then create, delete and replace every file in $1/d"
      """, [tree.root])
  }

  @Test func `W6: All links inside of a folder are one file`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir -m 700 h h/s; echo x >h/a; ln h/a h/s/b; chmod 600 h/a; BEFORE=$(getfacl -Rpn h)
      for name in "" photos=; do
        is 0 $P request $name$1/h --need rx --recursive --user games --yes
        as 5 cat h/a h/s/b >/dev/null || fail "$(getfacl -Rpn h)"
        is 0 $P revoke --all; same "$(getfacl -Rpn h)" "$BEFORE" "revoked"
      done
      mkdir -m 755 else; ln h/a else/a
      is 1 $P explain $1/h/a --user games; grep -q "use the other hard links of $1/h/a, wherever they are" $OUT.o || fail "$(cat $OUT.o)"
      is 1 $P request $1/h/a --user games --dry-run; grep -q "use the other hard links of $1/h/a" $OUT.o || fail "$(cat $OUT.o)"
      is 1 $P request $1/h --need rx --recursive --user games --yes
      grep -q "$1/h/a has hard links elsewhere" $OUT.e || fail "$(cat $OUT.e)"
      ! as 5 cat else/a 2>/dev/null || fail "what is elsewhere was given"; as 5 ls h/s >/dev/null || fail "the rest was not done"
      # What the note advises: it gives the file by all its names.
      is 0 $P request $1/h/a --need r --user games --yes; as 5 cat else/a >/dev/null || fail "$(getfacl -cpn h/a)"
      """, [tree.root])
  }

  /// A file system without ACLs.
  @Test func `Why nothing was changed is said where others would gain`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir r; mount -t ramfs none r; chmod 755 r; echo x >r/f; chmod 600 r/f
      is 1 $P request $1/r/f --need r --user nobody --yes; cp $OUT.e $OUT.said
      is 0 $P request $1/r/f --need r --user nobody --yes --allow-others; as 65534 cat r/f >/dev/null || fail "no access"
      # What a check prints is what gives it.
      $P revoke --all >$OUT.o; ! as 65534 cat r/f 2>/dev/null || fail "not revoked"
      $P check $1/r/f --user nobody >$OUT.o || true; LINE=$(sed -n 's/^ *\\(.*permcheck.* request .*\\)/\\1/p' $OUT.o); eval "$LINE --yes" >$OUT.o 2>&1
      as 65534 cat r/f >/dev/null || fail "$LINE: $(cat $OUT.o)"
      umount -l r; mv $OUT.said $OUT.e
      grep -q "nothing is changed, because others would get access, too (.*); --allow-others makes the change anyway" $OUT.e || fail "$(cat $OUT.e)"
      """, [tree.root])
  }

  @Test func `W12: What others lose on new files is in the plan`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1; mkdir p; chown 0:9 p; chmod 750 p; touch p/f; chmod 600 p/f
      is 1 $P request photos=$1/p --recursive --need rx --user games --allow-others --dry-run
      grep -q "whatever the umask of their makers, new files in $1/p are -rw-r----- and new folders drwxr-x---" $OUT.o || fail "$(cat $OUT.o)"
      for d in 1 2 3 4 5 6; do mkdir p/$d; done
      is 0 $P request photos=$1/p --recursive --need rx --user games --allow-others --yes
      same "$(grep -c 'umask' $OUT.e)" 3 "lines about the umask: $(cat $OUT.e)"
      grep -q "also get access: everybody whom only the umask keeps out" $OUT.e || fail "$(cat $OUT.e)"
      """, [tree.root])
  }
}
