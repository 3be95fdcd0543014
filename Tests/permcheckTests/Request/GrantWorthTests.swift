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
}
