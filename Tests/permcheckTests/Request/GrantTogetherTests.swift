import Foundation
import TestSupport
import Testing

/// Several requests at once, for the same folder.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GrantTogetherTests {
  @Test(arguments: [2, Effort.of(20, atLeast: 4)]) func `No grant of concurrent requests is lost`(
    _ count: Int
  ) throws {
    let tree = try Tree()
    try tree.folder("shut/album", mode: 0o750)
    try tree.folder("shut", mode: 0o700)
    try tree.setfacl(["-m", "u:7:rwx,g:7:rw,m:r"], "shut/album")
    let output = try PrivateJournal().expect(
      """
      S=$1/shut A=$1/shut/album COUNT=$2
      CLEAN=$(state $S $A)
      may() { as $1 sh -c 'test -r "$1" && test -w "$1" && test -x "$1"' sh $A; }
      seq 61001 $((61000 + COUNT)) >$OUT.uids
      pids=
      for uid in $(cat $OUT.uids); do
        ! may $uid || fail "$uid has access already"
        $P request photos=$A --uid $uid --gid $uid --yes --quiet 2>>$OUT & pids="$pids $!"
      done
      for pid in $pids; do wait $pid || fail "a request failed: $(cat $OUT)"; done
      for uid in $(cat $OUT.uids); do may $uid || fail "$uid has no access"; done
      # A folder above that one entry has opened is still shut for the next: two changes for each.
      same "$($P list --grants --format plain | cut -f2 | sort | uniq -c | awk '$1 != 2' | wc -l)" 0 "listed"
      same "$($P list --grants --format plain | cut -f2 | sort -u | wc -l)" $COUNT "listed"
      shuf $OUT.uids >$OUT.order
      LEFT=$COUNT
      for uid in $(cat $OUT.order); do
        $P revoke photos --user $uid --quiet 2>>$OUT || fail "revoke $uid: $(cat $OUT)"
        ! may $uid || fail "$uid still has access"
        LEFT=$((LEFT - 1))
        tail -n $LEFT $OUT.order | while read other; do
          [ $LEFT = 0 ] || may $other || fail "$other lost its access with $uid"
        done
        same "$($P list --grants --format plain | cut -f2 | sort -u | wc -l)" $LEFT "listed"
      done
      same "$(state $S $A)" "$CLEAN" "in the end"
      rm -f $OUT.uids $OUT.order
      echo "together: $COUNT requests at once, $COUNT with access, 0 lost"
      """, [tree.root, "\(count)"])
    print(output, terminator: "")
  }

  /// Requests and revocations at once leave a journal that says what is.
  @Test(.full("it starts permcheck hundreds of times"))
  func `Concurrent requests and revocations end right`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    try PrivateJournal().expect(
      """
      A=$1
      CLEAN=$(state $A)
      pids=
      for uid in 1 2 3 4 5 6; do
        (for i in 1 2 3; do
          $P request photos=$A --user $uid --yes --quiet && $P revoke photos --user $uid --quiet || exit 1
        done; $P request photos=$A --user $uid --yes --quiet) 2>>$OUT & pids="$pids $!"
      done
      for pid in $pids; do wait $pid || fail "$(cat $OUT)"; done
      for uid in 1 2 3 4 5 6; do as $uid test -w $A || fail "$uid has no access"; done
      same "$($P list --grants --format plain | wc -l)" 6 "listed"
      is 0 $P revoke --all
      same "$(state $A)" "$CLEAN" "in the end"
      """, [tree.path("album")])
  }

  /// Whose entry somebody else removed keeps what the group gives, whoever revokes next.
  @Test func `A removed entry does not come back empty`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o750, gid: 100)
    try PrivateJournal().expect(
      """
      A=$1
      CLEAN=$(state $A)
      reads() { setpriv --reuid 61003 --regid 61003 --groups 100 --inh-caps=-all ls $A; }
      reads || fail "the group gives nothing"
      for uid in 61001 61002 61003; do is 0 $P request photos=$A --uid $uid --gid $uid --yes; done
      setfacl -x u:61003 $A
      reads || fail "the group gave access"
      is 0 $P revoke photos --user 61002
      reads || fail "after the first revocation: $(state $A)"
      is 0 $P revoke photos --user 61001
      ! getfacl -cpn $A | grep '^user:61003' || fail "there is an entry: $(state $A)"
      reads || fail "after the second revocation: $(state $A)"
      is 0 $P revoke photos --user 61003
      same "$(state $A)" "$CLEAN" "in the end"
      """, [tree.path("album")])
  }
}
