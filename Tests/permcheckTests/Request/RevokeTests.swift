import TestSupport
import Testing

/// `revoke` ends what it names, and an undo line ends its own request.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct RevokeTests {
  /// A folder that only root may search, with three folders in it that only root may read.
  private func albums() throws -> Tree {
    let tree = try Tree()
    try tree.folder("closed", mode: 0o700)
    for name in ["a", "b", "c"] { try tree.folder("closed/\(name)", mode: 0o700) }
    return tree
  }

  /// `undo N` carries out the line that the request of folder N printed.
  private static let requests = """
    cd $1/closed; CLEAN=$(state . a b c)
    for n in a b c; do
      is 0 $P request photos=$PWD/$n --user games --yes
      grep -A1 '^undo:$' $OUT.o | tail -n1 >$OUT.undo.$n
      [ -s $OUT.undo.$n ] || fail "no undo line: $(cat $OUT.o)"
    done
    trap 'rm -f $OUT $OUT.*' EXIT
    undo() { is 0 bash -c "$(cat $OUT.undo.$1)"; }
    has() { as 5 test -w $1 || fail "the access to $1 has ended"; }
    hasnt() { ! as 5 test -x $1 || fail "there is access to $1"; }
    has a; has b; has c

    """

  @Test(
    arguments: Effort.some(
      ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"], of: "RevokeTests Each order",
      atLeast: 2))
  func `Each of three requests ends by its own undo line, in any order`(_ order: String) throws {
    let tree = try albums()
    try PrivateJournal().expect(
      Self.requests
        + """
        set -- $2
        undo $1; hasnt $1; has $2; has $3
        undo $2; hasnt $2; has $3
        undo $3; same "$(state . a b c)" "$CLEAN" "the folders"
        is 0 bash -c "$(cat $OUT.undo.$1)"
        grep -q '^nothing to revoke' $OUT.o || fail "$(cat $OUT.o)"
        """, [tree.root, order])
  }

  @Test func `revoke with a path ends the grants for that path`() throws {
    let tree = try albums()
    try PrivateJournal().expect(
      Self.requests
        + """
        is 0 $P revoke photos=/totally/other
        grep -q '^nothing to revoke' $OUT.o || fail "$(cat $OUT.o)"
        is 0 $P revoke photos=$PWD --user games
        is 0 $P revoke photos=$PWD/b --user daemon
        has a; has b; has c
        is 0 $P revoke photos=$PWD/b --user games --dry-run
        has b
        is 0 $P revoke photos=$PWD//./b/ --user games
        has a; hasnt b; has c
        $P list --grants >$OUT.o
        grep -q "^photos  *games  *$PWD/a " $OUT.o && grep -q "^photos=$PWD/a  *games  *$PWD " $OUT.o || fail "$(cat $OUT.o)"
        ! grep -q "$PWD/b" $OUT.o || fail "$(cat $OUT.o)"
        is 0 $P revoke photos
        same "$(state . a b c)" "$CLEAN" "the folders"
        """, [tree.root])
  }

  /// The second request makes access last that the first one would end.
  @Test func `An undo line leaves an older grant of the same folder`() throws {
    let tree = try albums()
    try PrivateJournal().expect(
      """
      cd $1/closed; CLEAN=$(state . a)
      is 0 $P request photos=$PWD/a --user games --yes --for 1d
      is 0 $P request photos=$PWD/a --user games --yes
      UNDO=$(grep -A1 '^undo:$' $OUT.o | tail -n1)
      is 0 bash -c "$UNDO"
      as 5 test -w a || fail "the older grant has ended"
      grep -q '"request"' <($P list --grants --json) || fail "no request"
      is 0 $P revoke --request "$($P list --grants --json | grep -o '"request":"[^"]*"' | head -n1 | cut -d'"' -f4)"
      same "$(state . a)" "$CLEAN" "the folders"
      is 64 $P revoke --request x photos
      for id in x 2026 2026-11-24T14:26:45.408913Z 2026-11-24T14:26:45.408913Z-x; do
        is 64 $P revoke --request $id; grep -q "$id is no request" $OUT.e || fail "$(cat $OUT.e)"
      done
      is 0 $P revoke --request 2026-11-24T14:26:45.408913Z-30520
      """, [tree.root])
  }

  @Test func `JSON has the undo line`() throws {
    let tree = try albums()
    try PrivateJournal().expect(
      """
      cd $1/closed; CLEAN=$(state . a)
      is 0 $P request photos=$PWD/a --user games --yes --json
      UNDO=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["undo"][0])' <$OUT.o)
      is 0 bash -c "$UNDO"
      same "$(state . a)" "$CLEAN" "the folders"
      is 1 $P request photos=$PWD/a --user games --dry-run --json
      ! grep -q '"undo"' $OUT.o || fail "nothing was given"
      """, [tree.root])
  }

  @Test func `A grant whose process was killed is listed as ended`() throws {
    let tree = try albums()
    try PrivateJournal().expect(
      """
      cd $1/closed; chmod 755 .; own a; CLEAN=$(state . a)
      $G $P run photos=$PWD/a --request --yes -- sh -c 'echo $$ >$0; exec sleep 1000' $OUT.pid &
      RUN=$!; trap 'rm -rf $OUT $OUT.*' EXIT
      runs() { $G $P list --grants | grep -q "until process $RUN ends"; }
      becomes runs
      becomes [ -s $OUT.pid ]
      kill -9 $RUN $(cat $OUT.pid); wait $RUN 2>/dev/null || :
      is 0 $G $P list --grants
      grep -q 'EXPIRED, still in place' $OUT.o || fail "$(cat $OUT.o)"
      ! grep -q 'until process' $OUT.o || fail "$(cat $OUT.o)"
      is 0 $G $P list --grants --json
      ! grep -q '"expired":false' $OUT.o || fail "$(cat $OUT.o)"
      is 0 $G $P revoke --expired --dry-run
      grep -q "would revoke  photos   $PWD/a " $OUT.o || fail "$(cat $OUT.o)"
      is 0 $G $P revoke --expired
      same "$(state . a)" "$CLEAN" "the folders"
      is 0 $P request photos=$PWD/b --user games --for 1h --yes
      sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
      is 0 $P check photos=$PWD/b --user games
      grep -q 'EXPIRED, still in place' $OUT.o || fail "$(cat $OUT.o)"
      """, [tree.root])
  }
}
