import TestSupport
import Testing

/// What somebody else changes under a lease, and what becomes of it: the table of
/// Documentation/decisions/leases.md.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct LeaseTests {
  /// One row of the table; folders have the mode 750 of root, users are 5, 1, 7 and 8.
  struct Row: CustomTestStringConvertible {
    let name: String
    /// What is done before the first request, to `$A`.
    var before = ":"
    /// The first request.
    var request = "--user games --need rx"
    /// What somebody else does.
    let change: String
    /// A further call, after which the ACL is `during`.
    var look = "is 0 $P request photos=$A --user daemon --need r --yes"
    var during: String?
    /// The ACL once everything is revoked.
    let after: String
    var testDescription: String { name }
  }

  static let rows = [
    Row(
      name: "chmod g-x: the mask is theirs, the lease gives r", change: "chmod g-x $A",
      during: "u::rwx,u:1:r--,u:5:r--,g::r-x,m::r--,o::---", after: "u::rwx,g::r--,o::---"),
    Row(
      name: "chmod g-x, a look, chmod g+x: the group has what it had", change: "chmod g-x $A",
      look: "is 0 $P request photos=$A --user daemon --need r --yes; chmod g+x $A",
      during: "u::rwx,u:1:r--,u:5:r--,g::r-x,m::r-x,o::---", after: "u::rwx,g::r-x,o::---"),
    Row(
      name: "setfacl -m u:lp:rw: lp keeps it, nothing hidden comes out",
      before: "setfacl -n -m u:8:rwx,m::r-x $A", request: "--user games --need rwx",
      change: "setfacl -m u:7:rw $A",
      during: "u::rwx,u:1:r--,u:5:rwx,u:7:rw-,u:8:r-x,g::r-x,m::rwx,o::---",
      after: "u::rwx,u:7:rw-,u:8:r-x,g::r-x,m::rwx,o::---"),
    Row(
      name: "setfacl -m of the lease's user: the lease keeps r, the entry stays",
      change: "setfacl -n -m u:5:r $A",
      during: "u::rwx,u:1:r--,u:5:r--,g::r-x,m::r-x,o::---",
      after: "u::rwx,u:5:r--,g::r-x,m::r-x,o::---"),
    Row(
      name: "setfacl -x of the lease's user: the lease has ended", change: "setfacl -x u:5 $A",
      during: "u::rwx,u:1:r--,g::r-x,m::r-x,o::---", after: "u::rwx,g::r-x,o::---"),
    Row(
      name: "setfacl -b: the lease has ended, what was left out stays out",
      before: "setfacl -n -m u:8:rwx,m::--- $A", change: "setfacl -b $A; chmod 700 $A",
      during: "u::rwx,u:1:r--,g::---,m::r--,o::---", after: "u::rwx,g::---,o::---"),
    Row(
      name: "setfacl -m to what permcheck wrote: ends with the lease",
      change: "setfacl -m u:5:rx $A", during: "u::rwx,u:1:r--,u:5:r-x,g::r-x,m::r-x,o::---",
      after: "u::rwx,g::r-x,o::---"),
    Row(
      name: "setfacl -m g::rwx repeats the mask: the group keeps w",
      request: "--user games --need rwx", change: "setfacl -m g::rwx $A",
      during: "u::rwx,u:1:r--,u:5:rwx,g::rwx,m::rwx,o::---", after: "u::rwx,g::rwx,o::---"),
    Row(
      name: "An empty mask: what was left out comes back where the mask is still empty",
      before: "setfacl -n -m u:8:rwx,m::--- $A; chmod o=r $A", change: ":",
      look: "is 0 $P request photos=$A --user daemon --need w --yes",
      during: "u::rwx,u:1:rwx,u:5:r-x,g::---,m::rwx,o::r--",
      after: "u::rwx,u:8:rwx,g::r-x,m::---,o::r--"),
    Row(
      name: "chmod 775 over an empty mask: what was left out does not come back",
      before: "setfacl -n -m u:8:---,m::--- $A", change: "chmod 775 $A",
      look: "is 0 $P revoke --expired", after: "u::rwx,g::---,m::rwx,o::r-x"),
    Row(
      name: "setfacl -m u:news:--- on a 0704 folder: news does not read", before: "chmod 704 $A",
      request: "--user games --need rx", change: "setfacl -m u:8:--- $A",
      look: "! as 8 test -r $A || fail 'news reads'", after: "u::rwx,u:8:---,g::---,m::r-x,o::r--"),
    Row(
      name: "chown under a lease by the owner's bits: they are theirs",
      before: "chown 5 $A; chmod 050 $A", change: "chown 7 $A",
      look: "is 0 $P revoke --expired", after: "u::r-x,g::r-x,o::---"),
    Row(
      name: "A set-group-ID bit stays", change: "chmod g+s $A",
      during: "u::rwx,u:1:r--,u:5:r-x,g::r-x,m::r-x,o::---",
      after: "u::rwx,g::r-x,o::---,2750"),
    Row(
      name: "Two leases of one user: the other one stays",
      change: "is 0 $P request photos=$A --user games --need w --yes; "
        + "is 0 $P revoke --request $(sed -n 's/.*\"request\":\"\\([^\"]*\\)\".*/\\1/p' $J | head -1)",
      look: ":", during: "u::rwx,u:5:-wx,g::r-x,m::rwx,o::---", after: "u::rwx,g::r-x,o::---"),
    Row(
      name: "One expires under the other", request: "--user games --need rx --for 1h",
      change: "is 0 $P request photos=$A --user daemon --need r --yes;"
        + " sed -i 's/\"expires\":[0-9]*/\"expires\":1000000/' $J",
      look: "is 0 $P revoke --expired", during: "u::rwx,u:1:r--,g::r-x,m::r-x,o::---",
      after: "u::rwx,g::r-x,o::---"),
    Row(
      name: "A user whose entry was there before keeps it", before: "setfacl -m u:5:r $A",
      change: ":", during: "u::rwx,u:1:r--,u:5:r-x,g::r-x,m::r-x,o::---",
      after: "u::rwx,u:5:r--,g::r-x,m::r-x,o::---"),
  ]

  @Test(arguments: Effort.some(rows, of: "LeaseTests Changes stay", atLeast: 4))
  func `Changes of somebody else stay`(_ row: Row) throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o750)
    try PrivateJournal().expect(
      """
      A=$1
      acl() { getfacl -cpn $A | sed -n 's/^user:/u:/p; s/^group:/g:/p; s/^mask:/m:/p; s/^other:/o:/p' \\
        | sed 's/[[:space:]]*#.*//' | paste -sd,; }
      \(row.before)
      is 0 $P request photos=$A \(row.request) --yes
      \(row.change)
      \(row.look)
      [ -z "$2" ] || same "$(acl)" "$2" "during"
      is 0 $P revoke --all
      MODE=$(stat -c %a $A)
      same "$(acl)$(case $3 in *,$MODE) echo ,$MODE ;; esac)" "$3" "after"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.path("album"), row.during ?? "", row.after])
  }

  @Test func `Removed access is listed as ended, and ends with the next change`()
    throws
  {
    let tree = try Tree()
    try tree.folder("album", mode: 0o750)
    try PrivateJournal().expect(
      """
      A=$1
      is 0 $P request photos=$A --user games --need rx --yes
      setfacl -b $A
      is 0 $P list --grants
      grep -q "ended: somebody else removed the access" $OUT.o || fail "$(cat $OUT.o)"
      $P list --grants --json | grep -q '"stage": *"ended"' || fail "JSON"
      is 1 $P request photos=$A --user daemon --need r --dry-run
      grep -q "removed the access of games to $A" $OUT.o || fail "$(cat $OUT.o $OUT.e)"
      is 0 $P request photos=$A --user daemon --need r --yes
      same "$($P list --grants --format plain | wc -l)" 1 "listed"
      is 0 $P revoke --all
      same "$(stat -c %a $A)" 750 "in the end"
      """, [tree.path("album")])
  }

  /// A folder's default ACL is merged like the other one.
  @Test func `A lease on a default ACL ends exactly`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o750)
    try PrivateJournal().expect(
      """
      A=$1
      defaults() { getfacl -dcpn $A | grep . | paste -sd,; }
      give() { is 0 $P request photos=$A --user games --recursive --allow-others --yes; }
      give; is 0 $P revoke --all
      same "$(defaults)" "" "there was none"
      give; setfacl -d -m u:7:r $A; is 0 $P revoke --all
      same "$(defaults)" "user::rwx,user:7:r--,group::r-x,mask::r-x,other::---" "lp keeps its entry"
      setfacl -k $A; give; setfacl -k $A; is 0 $P revoke --all
      same "$(defaults)" "" "removed meanwhile"
      setfacl -d -m u:7:rwx,m::r $A; CLEAN=$(defaults)
      give; is 0 $P revoke --all
      same "$(defaults)" "$CLEAN" "as before"
      """, [tree.path("album")])
  }
}
