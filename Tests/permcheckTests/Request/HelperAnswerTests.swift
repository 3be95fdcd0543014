import TestSupport
import Testing

/// What permcheck-helper answers reaches the person who asked.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's side and its private mount want root"))
struct HelperAnswerTests {
  /// A camera of its own; `games`, who asks by user id, so that the empty node is not opened; and a sudo
  /// that runs the helper for this user.
  private static let machine =
    AttackHelperTests.camera
      + """
      mount -t tmpfs -o mode=755 tmpfs /usr/sbin; export PATH=/usr/sbin:$PATH
      D=$(mktemp -d); chmod 755 $D; mkdir -m 777 $D/home; mkfifo -m 666 $D/ask $D/answer
      cat >/usr/sbin/sudo <<END
      #!/bin/sh
      while [ "\\$1" != -- ]; do shift; done
      shift 2; echo "\\$*" >$D/ask; cat $D/answer
      END
      chmod 755 /usr/sbin/sudo
      (while read -r line <$D/ask; do helper $line >$D/out || :; cat $D/out >$D/answer; done) \
        >/dev/null 2>&1 </dev/null &
      trap "kill $!; rm -rf $D; rm -f $OUT $OUT.o $OUT.e" EXIT
      games() { as 5 env HOME=$D/home XDG_STATE_HOME=$D/home "$@"; }
      printed() { grep -qE -- "$2" "$OUT.$1" || fail "no '$2' in: $(cat $OUT.o $OUT.e)"; }
      BEFORE=$(state $C)
      ends() { is 0 games $P revoke camera --via sudo; same "$(state $C)" "$BEFORE" "revoked"; }

      """

  @Test func `A request prints what root changed and until when`() throws {
    try PrivateJournal().expect(
      Self.machine
        + """
        is 0 games $P request camera --user 5 --yes --via sudo --for 1000s
        printed o '^root gave access to camera .authorized. until 20[0-9-]* [0-9:]* UTC; it then ends by itself:$'
        printed o '^  /dev/video0   .*rw'
        ! grep -q '^given until' $OUT.o || fail "the end is printed twice: $(cat $OUT.o)"
        ends
        is 0 games $P request camera --user 5 --yes --via sudo
        printed o '^root gave access to camera .authorized.:$'
        ends
        """)
  }

  @Test func `A request as JSON has the helper's answer`() throws {
    try PrivateJournal().expect(
      Self.machine
        + """
        is 0 games $P request camera --user 5 --yes --via sudo --for 1000s --json
        printed o '"helper":\\[\\{"accessor":"camera","changes":\\[\\{"change":"[^"]*rw[^"]*","place":"/dev/video0"\\}\\],"expires":"20[^"]*Z","notes":\\[\\],"outcome":"granted","status":"authorized"\\}\\]'
        ends
        is 0 $P request camera --user 5 --yes --json
        ! grep -q '"helper"' $OUT.o || fail "root asks no helper"
        """)
  }

  @Test func `run prints what root changed, unless it is quiet`() throws {
    try PrivateJournal().expect(
      Self.machine
        + """
        is 0 games $P run camera --probe none --request --yes --via sudo -- test -w $C
        printed e '^root gave access to camera .authorized. until the command ends:$'
        printed e '^  /dev/video0   .*rw'
        same "$(state $C)" "$BEFORE" "after run"
        is 0 games $P run camera --probe none --request --yes --quiet --via sudo -- test -w $C
        same "$(cat $OUT.e)" "" "quiet"
        """)
  }

  @Test func `An undo line ends one request by root's helper`() throws {
    try PrivateJournal().expect(
      Self.machine
        + """
        is 0 games $P request camera --user 5 --yes --via sudo --for 1000s
        ID=$(grep -oE -- '--request [^ ]+' $OUT.o | cut -d' ' -f2 | head -n 1)
        for wrong in "$ID/../x" "" "$(printf 'a%.0s' {1..65})" 'a b' "$ID;"; do
          got=0; SUDO_UID=5 $H revoke camera --request "$wrong" >$OUT.o 2>$OUT.e </dev/null || got=$?
          [ $got = 64 ] || fail "'$wrong': $got $(cat $OUT.o $OUT.e)"
        done
        as 5 test -w $C || fail "a wrong request ended the grant"
        SUDO_UID=5 $H revoke camera --request 2000-01-01T00:00:00.000000Z-1 >$OUT.o </dev/null
        as 5 test -w $C || fail "another request ended the grant"
        is 0 games $P revoke --request $ID --via sudo
        same "$(state $C)" "$BEFORE" "revoked"
        """)
  }
}
