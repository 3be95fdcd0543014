import Foundation
import TestSupport
import Testing

/// A journal of version 1, which had no birth times and handles, is read for ever.
///
/// It has three grants on one folder: for games, for daemon, who lost it again, and for uid 3.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct OldJournalTests {
  static let golden = Checkout.path("Tests/permcheckTests/Golden/grants-1.jsonl")

  static let setup = """
    A=/var/lib/golden/album
    mkdir -p $A /var/lib/permcheck; chmod 711 /var/lib/permcheck
    before() { setfacl --set u::rwx,u:7:rwx,g::---,m::r--,o::--- $A; }
    before; CLEAN=$(state $A)
    setfacl --set u::rwx,u:3:rwx,u:5:rwx,u:7:r--,g::---,m::rwx,o::--- $A
    journal() { sed "s/@MAJOR@/$(stat -c %Hd $A)/; s/@MINOR@/$1/; s/@INODE@/$(stat -c %i $A)/; \
      s/@MAJOR@/$(stat -c %Hd $A)/g; s/@MINOR@/$1/g; s/@INODE@/$(stat -c %i $A)/g" "$GOLDEN" >$J; chmod 600 $J; }

    """

  @Test func `The grants of an old journal become leases`() throws {
    try PrivateJournal(environment: ["GOLDEN": Self.golden]).expect(
      Self.setup + """
        journal $(stat -c %Ld $A)
        same "$($P list --grants --format plain | wc -l)" 2 "listed"
        is 0 $P revoke photos --user games
        ! as 5 test -r $A || fail "games keeps access"
        as 3 test -w $A || fail "uid 3 lost access"
        is 0 $P request photos=$A --user daemon --yes
        is 0 $P revoke photos --user 3
        as 1 test -w $A || fail "daemon lost access"
        is 0 $P revoke --all
        same "$(state $A)" "$CLEAN" "every byte"
        [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
        """)
  }

  /// What somebody took away since does not come back.
  @Test func `Only the difference is undone`() throws {
    try PrivateJournal(environment: ["GOLDEN": Self.golden]).expect(
      Self.setup + """
        journal $(stat -c %Ld $A)
        setfacl -x u:7 $A; setfacl -m u:8:r $A
        is 0 $P revoke --all
        same "$(getfacl -cpn $A | grep ^user: | tr '\\n' ' ')" "user::rwx user:8:r-- " "the entries"
        """)
  }

  @Test func `A grant without proof is missing`() throws {
    try PrivateJournal(environment: ["GOLDEN": Self.golden]).expect(
      Self.setup + """
        journal 4095
        BEFORE=$(state $A)
        is 2 $P revoke --all
        same "$(state $A)" "$BEFORE" "another file system"
        same "$($P list --grants --format plain | grep -c missing)" 2 "listed"
        is 2 $P revoke --expired
        is 0 $P revoke --all --forget
        same "$(state $A)" "$BEFORE" "forgotten, not changed"
        [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
        """)
  }

  /// A request of an old permcheck that was killed at any line is undone.
  @Test func `Unfinished grants of an old journal are undone`() throws {
    try PrivateJournal(environment: ["GOLDEN": Self.golden]).expect(
      Self.setup + """
        for lines in 1 2; do
          before; setfacl --set u::rwx,u:5:rwx,u:7:r--,g::---,m::rwx,o::--- $A
          journal $(stat -c %Ld $A); sed -i "$((lines + 1)),\\$d" $J
          is 0 $P revoke --expired
          same "$(state $A)" "$CLEAN" "after $lines lines"
        done
        """)
  }
}
