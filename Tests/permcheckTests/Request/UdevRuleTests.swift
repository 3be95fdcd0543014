import TestSupport
import Testing

/// What the strategy udev writes, and what is left of it, with a udev that only notes its calls.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct UdevRuleTests {
  /// A node with a driver, an /etc of its own, and a udevadm that ends with the status in `status`.
  private static let machine = """
    mount -t tmpfs -o mode=755 tmpfs /mnt; cd /mnt; mkdir dev etc etcwork bin binwork
    mount -t overlay -o lowerdir=/etc,upperdir=etc,workdir=etcwork overlay /etc
    mount -t overlay -o lowerdir=/usr/bin,upperdir=bin,workdir=binwork overlay /usr/bin
    mkdir -p /etc/udev/rules.d
    echo 'exit 0' >status
    printf '#!/bin/sh\\necho "$*" >>/mnt/calls\\n. /mnt/status\\n' >/usr/bin/udevadm; chmod 755 /usr/bin/udevadm
    N=/mnt/dev/fuse R=/etc/udev/rules.d/99-permcheck-5-fuse.rules
    node() { rm -f $N; mknod -m 600 $N c 10 229; }
    node; BEFORE=$(state $N)
    give() { is "$1" $P request fuse=$N --user games --strategy udev --yes; }
    says() { grep -q -- "$1" $OUT.o $OUT.e || fail "no '$1' in: $(cat $OUT.o $OUT.e)"; }
    clean() {
      same "$(state $N)" "$BEFORE" "$1: the node"; same "$(ls /etc/udev/rules.d)" "" "$1: the rules"
      same "$($P list --grants --format plain)" "" "$1: the grants"
    }

    """

  private func expect(_ script: String) throws {
    try PrivateJournal().expect(Self.machine + script)
  }

  @Test func `The rule repeats the grant, and udev is told of it and of its end`() throws {
    try expect(
      """
      is 1 $P request fuse=$N --user games --strategy udev --dry-run
      says 'lasts: until you undo it'; says "printf .* > $R"
      clean "a dry run"
      give 0
      same "$(grep -v '^#' $R)" 'SUBSYSTEM=="misc", KERNEL=="fuse", ACTION!="remove", RUN+="/usr/bin/setfacl -n -m u:5:rw-,m::rw- $env{DEVNAME}"' rule
      same "$(cat calls)" "control --reload" "calls of udevadm"
      as 5 test -r $N || fail "there is no access"
      is 0 $P list --grants; says "$R"
      is 0 $P revoke fuse=$N
      clean revoked
      same "$(cat calls | wc -l)" 2 "calls of udevadm"
      """)
  }

  /// What the rule gave to a node that was plugged in later, ends too.
  @Test func `A new node loses the entry`() throws {
    try expect(
      """
      give 0
      node; setfacl -n -m u:5:rw-,m::rw- $N
      is 0 $P revoke --all
      clean revoked
      give 0
      # Somebody gives other rights: they are not the rule's.
      node; setfacl -n -m u:5:r--,m::r-- $N; THEIRS=$(state $N)
      is 0 $P revoke --all
      same "$(state $N)" "$THEIRS" "what others gave"
      # The node is gone, or another device has its name.
      node; give 0; rm $N; is 0 $P revoke --all
      node; give 0; rm $N; mknod -m 600 $N c 1 8; setfacl -n -m u:5:rw-,m::rw- $N; THEIRS=$(state $N)
      is 0 $P revoke --all
      same "$(state $N)" "$THEIRS" "another device"
      """)
  }

  @Test(arguments: [
    ("exit 3", "udevadm control --reload failed with status 3"),
    ("kill -9 $$", "udevadm control --reload was ended by signal 9"),
  ])
  func `Nothing is left where udev does not take the rule`(_ how: String, _ says: String) throws {
    try expect(
      """
      echo '\(how)' >status
      give 70; says '\(says)'
      clean refused
      echo 'exit 0' >status; give 0; echo '\(how)' >status
      is 0 $P revoke --all; says 'removed, but udev did not reload its rules'
      clean revoked
      """)
  }

  @Test func `Without udevadm or a folder for rules nothing is left`() throws {
    try expect(
      """
      rm /usr/bin/udevadm; give 70; says 'udevadm is not installed'; clean "no udevadm"
      rm -r /etc/udev; give 70; says "$R cannot be written"
      same "$(state $N)" "$BEFORE" "the node"
      same "$($P list --grants --format plain)" "" "the grants"
      """)
  }

  @Test func `A rule of somebody else stays`() throws {
    try expect(
      """
      echo theirs >$R
      give 70; says "$R already exists"
      same "$(cat $R)" theirs "the rule"; same "$(state $N)" "$BEFORE" "the node"
      rm $R; give 0; echo more >>$R; WAS=$(cat $R)
      is 0 $P revoke --all; says "somebody else changed $R meanwhile, so it was not removed"
      same "$(cat $R)" "$WAS" "the rule"; same "$(state $N)" "$BEFORE" "the node"
      rm $R; give 0; rm $R; is 0 $P revoke --all; clean "removed by hand"
      """)
  }

  @Test func `Only devices get a rule`() throws {
    try expect(
      """
      mkdir -m 700 album
      is 1 $P request photos=/mnt/album --user games --strategy udev --yes
      says 'is not a device that udev sets up'
      """)
  }
}
