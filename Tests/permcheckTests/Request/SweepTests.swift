import TestSupport
import Testing

/// What files that were made meanwhile inherited from a lease, and root cannot take back at once.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct SweepTests {
  /// A folder whose new files inherit, on a file system that has immutable files; games has access.
  private static let folder = """
    truncate -s 64M /var/lib/image; mkfs.ext4 -q /var/lib/image; mount -o loop /var/lib/image /mnt
    A=/mnt/album; mkdir -m 700 $A; setfacl -d -m u::rwx,g::-,o::- $A
    BEFORE=$(state $A)
    is 0 $P request photos=$A --user games --recursive --yes
    says() { grep -q -- "$1" $OUT.o $OUT.e || fail "no '$1' in: $(cat $OUT.o $OUT.e)"; }
    mkdir $A/deep; touch $A/one $A/deep/two $A/free
    holds() { getfacl -cp "$1" | grep -q "user:games"; }
    holds $A/one && holds $A/deep/two || fail "nothing was inherited: $(getfacl $A $A/one)"
    clean() {
      same "$(state $A)" "$BEFORE" folder; same "$(getfacl -Rcp $A | grep -c games || :)" 0 entries
      same "$($P list --grants --format plain)" "" grants
    }

    """

  @Test func `A file that cannot be changed is named, and the lease stays until it can`() throws {
    try PrivateJournal().expect(
      Self.folder
        + """
        chattr +i $A/one $A/deep/two
        is 2 $P revoke --all
        says "(EPERM) and 1 more could not be read or changed, so the access of games may still be there"
        holds $A/free && fail "the other file was left"
        chattr -i $A/deep/two
        is 2 $P revoke --all
        says "below $A, $A/one (EPERM) could not be read or changed, so"
        holds $A/deep/two && fail "the other file was left"
        is 0 $P list --grants; says "$A"
        chattr -i $A/one
        is 0 $P revoke --all
        clean
        """)
  }

  @Test func `Without the lock of sweeps nothing is taken for ended`() throws {
    try PrivateJournal().expect(
      Self.folder
        + """
        rm -rf $J.sweep; mkdir $J.sweep
        is 2 $P revoke --all
        says "inherited entries cannot be removed: $J.sweep cannot be locked (EISDIR)"
        holds $A/one || fail "an entry is gone"
        rmdir $J.sweep
        is 0 $P revoke --all
        clean
        """)
  }

  /// A second process goes on with the sweep; who only looks on the way does not wait for it.
  @Test func `A check does not wait for another process's sweep`() throws {
    try PrivateJournal(limit: 120).expect(
      Self.folder
        + """
        chattr +i $A/one; is 2 $P revoke --all; chattr -i $A/one
        exec 7>$J.sweep; flock 7
        is 0 $P request photos=$A --user daemon --yes
        holds $A/one || fail "swept without the lock"
        exec 7>&-
        is 0 $P revoke --all
        clean
        """)
  }

  /// What a file inherited is taken out of it below a lease of its own, and is nobody's change.
  @Test func `A lease of a file does not bring back what it had inherited`() throws {
    try PrivateJournal().expect(
      Self.folder
        + """
        is 0 $P request $A/one --user daemon --need r --yes
        is 0 $P revoke --all --user games
        holds $A/one && fail "the inherited entry is left: $(getfacl -c $A/one)"
        as 1 cat $A/one || fail "the other lease is gone"
        is 0 $P revoke --all
        ! grep -q 'somebody else' $OUT.o $OUT.e || fail "its own change is told: $(cat $OUT.o $OUT.e)"
        clean
        """)
  }

  @Test func `The plan says whether new files are included`() throws {
    try PrivateJournal().expect(
      Self.folder
        + """
        is 0 $P revoke --all; clean
        is 1 $P request photos=$A --user games --recursive --dry-run
        says 'new files: those that'
        ! grep -q 'new files there are not included' $OUT.o || fail "both are told: $(cat $OUT.o)"
        setfacl -Rk $A
        is 1 $P request photos=$A --user games --recursive --dry-run
        says 'new files there are not included'
        ! grep -q 'new files: those that' $OUT.o || fail "both are told: $(cat $OUT.o)"
        """)
  }
}
