import Foundation
import TestSupport
import Testing

/// Attacks on the root side by somebody who may start permcheck-helper, or whom root serves.
///
/// The lab does the same with the real sudo and polkit.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's side and its private mount want root"))
struct AttackHelperTests {
  /// A camera of its own: the private /dev and /sys have a node of the family for the helper.
  static let camera = """
    mount -t tmpfs -o mode=755 tmpfs /sys; mkdir -p /sys/dev/char/1:3 /sys/dev/char/81:0
    mkdir -p /sys/class/video4linux/video0; echo 81:0 >/sys/class/video4linux/video0/dev
    echo Lens >/sys/class/video4linux/video0/name; echo 0 >/sys/class/video4linux/video0/index
    mount -t tmpfs -o mode=755 tmpfs /dev; mkdir /dev/shm
    mknod -m 666 /dev/null c 1 3; mknod -m 660 /dev/video0 c 81 0
    C=/dev/video0
    helper() { env -u SUDO_UID -u PKEXEC_UID SUDO_UID=5 $H "$@"; }

    """

  /// Nothing but cameras and microphones, by nothing but an ACL entry, in one grammar.
  @Test func `Rows 1 and 2: The helper accepts only its grammar`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        BEFORE=$(state $C)
        refused() { is 64 helper "$@"; same "$(wc -l <$OUT.o)" 1 "one line: $(cat $OUT.o)"
          same "$(state $C)" "$BEFORE" "$*"; [ ! -e $J ] || fail "$*: there is a journal"; }
        refused; refused grant; refused grant photos; refused grant photos=/etc; refused grant camera=$C
        refused grant camera --strategy group; refused grant --strategy group camera
        refused run photos=/ -- id; refused request photos --elevated --strategy group --yes
        refused grant camera --log /var/lib/log; refused check camera; refused revoke --all
        refused grant camera --need x; refused grant camera --need rwx; refused grant camera --need=rw
        refused grant camera --for 0; refused grant camera --for 1h; refused grant camera --for -1
        refused grant camera --for 99999999999; refused grant camera --for 01; refused grant camera --for
        refused grant camera --while 1 --for 5; refused grant camera --while 0; refused grant camera --for 5 --for 5
        refused grant camera ''; refused '' ; refused revoke camera --need rw; refused grant camera mic
        refused grant /dev/shm/private; refused -- grant camera; refused grant camera --
        [ ! -e /var/lib/log ] || fail "root wrote a log where it was told to"
        is 64 $P request photos --elevated --strategy group --yes
        is 0 helper grant camera
        as 5 test -w $C || fail "no access: $(cat $OUT.o)"
        ! as 1 test -r $C || fail "somebody else has access"
        is 0 helper revoke camera
        same "$(state $C)" "$BEFORE" "revoked"
        """)
  }

  /// Exactly one of SUDO_UID and PKEXEC_UID is believed, and only of root.
  @Test func `Rows 2 and 17: The caller is the user of sudo or pkexec`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        BEFORE=$(state $C)
        forged() { is 64 env -u SUDO_UID -u PKEXEC_UID "$@" $H grant camera
          same "$(state $C)" "$BEFORE" "$*"; [ ! -e $J ] || fail "$*: there is a journal"; }
        forged A=1; forged SUDO_UID=5 PKEXEC_UID=5; forged SUDO_UID=0; forged PKEXEC_UID=0
        for uid in -1 x "" 5x 4294967295 4294967296 "5 " " 5" +5 05 0x5 games; do
          forged SUDO_UID="$uid"; forged PKEXEC_UID="$uid"
        done
        for uid in 0 5; do
          is 64 env SUDO_UID=$uid setpriv --reuid 5 --regid 5 --clear-groups --inh-caps=-all $H grant camera
        done
        # A user whose name is somebody else's number.
        private_etc
        echo '5:x:54399:54399::/:/bin/sh' >>/etc/passwd
        is 0 helper grant camera
        getfacl -cpn $C | grep -q '^user:5:rw-' || fail "the name was believed: $(cat $OUT.o)"
        ! getfacl -cpn $C | grep -q '^user:54399' || fail "the user named 5 has access"
        """)
  }

  /// The seat changes hands between grants: nobody else's entry goes, and none comes back.
  @Test func `Row 3: The seat changes hands`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        mount -t tmpfs -o mode=755 tmpfs /run
        mkdir -p /run/systemd/seats /run/udev/tags/uaccess; : >/run/udev/tags/uaccess/c81:0
        sits() { echo "ACTIVE_UID=$1" >/run/systemd/seats/seat0; setfacl -x u:$2 $C; setfacl -m u:$1:rw $C; }
        setfacl -m u:7:rw $C; sits 7 8
        is 0 helper grant camera
        sits 9 7
        is 0 $P request camera --user daemon --yes
        sits 8 9
        is 0 helper revoke camera
        same "$(getfacl -cpn $C | grep ^user: | tr '\n' ' ')" "user::rw- user:1:rw- user:8:rw- " "entries"
        # Whom root gave access sits down: logind sets the same entry, and takes it away later.
        sits 1 8
        is 0 $P revoke camera
        as 1 test -w $C || fail "the user at the seat lost access"
        [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
        sits 8 1
        ! as 1 test -r $C || fail "daemon keeps access"
        # The same where logind finds the entry in place and leaves the node as it is.
        is 0 $P request camera --user daemon --yes
        sleep 0.05; echo ACTIVE_UID=1 >/run/systemd/seats/seat0
        is 0 $P revoke camera
        as 1 test -w $C || fail "who sat down later lost access"
        sits 8 1
        ! as 1 test -r $C || fail "daemon keeps what the seat gave"
        """)
  }

  /// Recording changes the times of a node: that is not the seat's doing, and the grant goes.
  @Test func `A user who leaves the seat keeps no access`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        mount -t tmpfs -o mode=755 tmpfs /run
        mkdir -p /run/systemd/seats /run/udev/tags/uaccess /run/udev/data
        : >/run/udev/tags/uaccess/c81:0; : >/run/udev/data/c81:0
        echo ACTIVE_UID=5 >/run/systemd/seats/seat0
        BEFORE=$(state $C); sleep 0.05
        is 0 helper grant camera
        as 5 test -w $C || fail "no access"
        touch $C
        is 0 helper revoke camera
        same "$(state $C)" "$BEFORE" "after use"
        is 0 helper grant camera
        sleep 0.05; setfacl -x u:5 $C; setfacl -m u:5:rw $C; : >/run/udev/data/c81:0
        is 0 helper revoke camera
        as 5 test -w $C || fail "udev's own entry is gone"
        # A device of another seat is never given to who sits at this one.
        setfacl -x u:5 $C; echo E:ID_SEAT=seat1 >/run/udev/data/c81:0; sleep 0.05
        is 0 helper grant camera
        sleep 0.05; touch $C; echo ACTIVE_UID=5 >/run/systemd/seats/seat0
        is 0 helper revoke camera
        ! as 5 test -r $C || fail "another seat's device was left"
        """)
  }

  /// `sudo permcheck request photos --user U` never follows U's own configuration to others' files.
  @Test func `Row 5: Another users configuration`() throws {
    let tree = try Tree()
    try tree.folder("home/.config", mode: 0o755, uid: 5, gid: 5)
    try tree.folder("home", mode: 0o755, uid: 5, gid: 5)
    try tree.folder("victim/.ssh", mode: 0o700, uid: 7, gid: 7)
    try tree.folder("victim", mode: 0o700, uid: 7, gid: 7)
    try PrivateJournal().expect(
      """
      private_etc
      sed -i "s#^games:.*#games:x:5:5::$1/home:/bin/sh#" /etc/passwd
      BEFORE=$(state $1/victim $1/victim/.ssh /etc)
      for target in $1/victim/.ssh /root; do
        echo "XDG_PICTURES_DIR=\\"$target\\"" >$1/home/.config/user-dirs.dirs
        for more in "--yes" "--dry-run"; do
          STATUS=0; $P request photos --user games $more >$OUT.o 2>$OUT.e || STATUS=$?
          [ $STATUS != 0 ] || fail "$target: $(cat $OUT.o)"
          grep -q "only the configuration of games names it" $OUT.e || fail "$(cat $OUT.e)"
        done
        same "$(state $1/victim $1/victim/.ssh /etc)" "$BEFORE" "$target"
      done
      # What games owns, games may name.
      echo 'XDG_PICTURES_DIR="$HOME/Pictures"' >$1/home/.config/user-dirs.dirs
      mkdir -m 000 $1/home/Pictures; chown 5:5 $1/home/Pictures
      is 0 $P request photos --user games --yes
      # And an administrator may name anything.
      is 0 $P request photos=$1/victim/.ssh --user games --yes
      """, [tree.root])
  }

  /// A requester who does not read, or stops, holds up nobody.
  @Test func `Row 7: A stopped reader holds up nobody`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        mkfifo /dev/full-pipe
        sleep 100 <>/dev/full-pipe >/dev/null 2>&1 & HOLDER=$!
        exec 8<>/dev/full-pipe
        dd if=/dev/zero of=/dev/full-pipe bs=4k count=16 oflag=nonblock 2>/dev/null || true
        env SUDO_UID=5 $H grant camera >&8 2>&8 & STUCK=$!
        becomes as 5 test -w $C
        # It waits for its reader now, or is gone; a locked journal would fail the next calls.
        is 0 env SUDO_UID=1 $H grant camera
        is 0 $P request camera --user daemon --yes
        kill $HOLDER; kill $STUCK 2>/dev/null || true; wait $STUCK || true
        # Terminal signals do not stop it, nor do the limits of the caller.
        for signal in TSTP TTIN TTOU HUP INT QUIT TERM PIPE USR1 ALRM; do
          is 0 helper revoke camera
          env SUDO_UID=5 $H grant camera >/dev/null & ONE=$!
          # Before it has begun, a signal may end or stop it; then nothing is locked.
          kill -$signal $ONE 2>/dev/null || true; kill -CONT $ONE 2>/dev/null || true
          wait $ONE || true
          is 0 env SUDO_UID=1 $H revoke camera
        done
        is 0 bash -c "ulimit -S -f 0; ulimit -S -n 16; SUDO_UID=5 $H grant camera"
        is 0 helper revoke camera
        """)
  }

  /// The lock has a limit, and its holder is named.
  @Test(.full("waits half a minute for a lock"))
  func `Row 7: The holder is named`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    try PrivateJournal().expect(
      """
      is 0 $P request photos=$1 --user games --yes
      python3 -c 'import fcntl, sys, time
      file = open(sys.argv[1]); fcntl.flock(file, fcntl.LOCK_EX); time.sleep(100)' $J >/dev/null 2>&1 & HOLDER=$!
      locked() { grep -q "FLOCK.* $HOLDER " /proc/locks; }
      becomes locked
      is 70 $P revoke photos
      grep -q "process $HOLDER (python3) has locked the journal" $OUT.e || fail "$(cat $OUT.e)"
      kill $HOLDER
      is 0 $P revoke photos
      """, [tree.path("album")])
  }

  /// One user's grants do not fill the disk or the process table.
  @Test(.full("it fills a journal")) func `Row 8: A beneficiary cannot fill the disk`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        for i in $(seq 70); do
          STATUS=0; helper grant camera --for $((i + 1000)) >$OUT.o || STATUS=$?
          [ $STATUS = 0 ] || break
        done
        same $STATUS 70 "$(cat $OUT.o)"
        grep -q "one user may have no more" $OUT.o || fail "$(cat $OUT.o)"
        is 0 helper revoke camera
        ! as 5 test -r $C || fail "still there"
        """)
  }

  /// The grant ends with its process, even if permcheck is killed; the user can read what was granted.
  @Test func `Leases end with their process`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        BEFORE=$(state $C)
        setpriv --reuid 5 --regid 5 --clear-groups sleep 100 >/dev/null 2>&1 & CHILD=$!
        becomes grep -q '^Uid:.5' /proc/$CHILD/status
        is 70 helper grant camera --while $$
        is 70 helper grant camera --while 4194304
        same "$(state $C)" "$BEFORE" "not his process"
        is 0 helper grant camera --while $CHILD
        as 5 test -w $C || fail "no access"
        as 5 env XDG_STATE_HOME=/nonexistent $P list --grants --format plain | grep -q video0 \
          || fail "the user cannot list what was granted"
        as 5 grep -q video0 /var/lib/permcheck-users/5/now/grants.jsonl || fail "the user cannot read what was granted"
        ! as 1 cat /var/lib/permcheck-users/5/now/grants.jsonl 2>/dev/null || fail "somebody else can read it"
        ! as 5 cat $J 2>/dev/null || fail "the journal can be read"
        ! as 5 sh -c ': >>/var/lib/permcheck-users/5/now/grants.jsonl' 2>/dev/null || fail "the user can write it"
        kill -9 $CHILD
        gone() { [ "$(state $C)" = "$BEFORE" ]; }
        becomes gone
        empty() { [ ! -e /var/lib/permcheck-users/5/now/grants.jsonl ]; }
        becomes empty
        is 0 helper grant camera --for 1
        becomes gone
        """)
  }

  @Test func `Row 34: Nobody sees that somebody else has a grant`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        umask 077
        U=/var/lib/permcheck-users
        seen() { as 1 stat -c '%n %s %Y %Z %h %a' $U/5 $U/7 2>&1 || :; as 1 find /var/lib 2>&1 | grep -v "$U/1/" || :; as 1 stat /var/lib/permcheck/* 2>&1 || :; }
        is 0 env -u PKEXEC_UID SUDO_UID=7 $H grant camera
        BEFORE=$(seen)
        grep -q "$U/5 " <<<"$BEFORE" && grep -q "$U/7 " <<<"$BEFORE" || fail "there is nothing to compare: $BEFORE"
        ! as 1 ls $U 2>/dev/null || fail "the users are listed"
        is 0 helper grant camera
        as 5 grep -q video0 $U/5/now/grants.jsonl || fail "the user cannot read it"
        for path in $U/5/now $U/5/now/grants.jsonl /var/lib/permcheck/grants.jsonl; do
          ! as 1 stat $path 2>/dev/null || fail "$path is seen"
        done
        same "$(seen)" "$BEFORE" "with a grant"
        is 0 helper revoke camera
        same "$(seen)" "$BEFORE" "revoked"
        # Whoever gets the uid of a user who is gone begins anew.
        private_etc
        is 0 env -u PKEXEC_UID SUDO_UID=7 $H revoke camera
        sed -i '/^lp:/d' /etc/passwd
        is 0 helper grant camera
        [ ! -e $U/7 ] && [ -e $U/5/now ] && [ -e $U/1/now ] || fail "the folders: $(ls $U)"
        is 0 helper revoke camera
        same "$(stat -c %a /var/lib/permcheck)" 700 "the journal's folder"
        # What an earlier version left goes.
        chmod 711 /var/lib/permcheck; echo x >/var/lib/permcheck/5.jsonl
        is 0 helper grant camera
        [ ! -e /var/lib/permcheck/5.jsonl ] || fail "the old file is left"
        same "$(stat -c %a /var/lib/permcheck)" 700 "the journal's folder"
        """)
  }

  /// One process of root ends all leases, and ends with the last one.
  @Test(.full("it waits for the ends of leases")) func `Row 22: One guardian serves all leases`()
    throws
  {
    try PrivateJournal(limit: 120).expect(
      Self.camera
        + """
        BEFORE=$(state $C)
        gone() { [ "$(state $C)" = "$BEFORE" ]; }
        guardians() { ls -l /proc/*/exe 2>/dev/null | grep -c 'permcheck-helper$' || :; }
        are() { [ "$(guardians)" = "$1" ]; }
        setpriv --reuid 5 --regid 5 --clear-groups sleep 100 >/dev/null 2>&1 & CHILD=$!
        becomes grep -q '^Uid:.5' /proc/$CHILD/status
        for i in $(seq 30); do
          is 0 helper grant camera --while $CHILD
          [ $((i % 3)) = 0 ] || is 0 helper revoke camera
        done
        is 0 helper grant camera --while $CHILD
        becomes are 1
        is 0 helper revoke camera
        becomes gone
        becomes are 0
        # Leases end at their times, also those that are made while the guardian sleeps.
        is 0 helper grant camera --while $CHILD
        is 0 helper grant camera --need r --for 1
        is 0 helper grant camera --need w --for 3000
        is 0 env SUDO_UID=1 $H grant camera --for 1
        becomes eval '! as 1 test -r $C'
        becomes eval '[ $(grep -c intent /var/lib/permcheck-users/5/now/grants.jsonl) = 2 ]'
        becomes are 1
        kill -9 $CHILD
        becomes eval '! as 5 test -r $C'
        as 5 test -w $C || fail "a lease ended too early"
        # A guardian that somebody killed is followed by that of the next lease.
        for one in /proc/[0-9]*; do
          case $(readlink $one/exe || :) in */permcheck-helper) kill -9 ${one#/proc/};; esac
        done
        becomes are 0
        # A process that ends has no program before it gives up its files.
        becomes flock -n /var/lib/permcheck/guardian true
        is 0 helper grant camera --need r --for 3000
        becomes are 1
        is 0 helper revoke camera
        becomes are 0
        becomes gone
        [ ! -e /var/lib/permcheck/guardian ] || fail "its lock is left"
        """)
  }

  /// A request that was killed before it changed anything gives nothing when somebody else makes one.
  @Test func `A killed request of another user gives nothing`() throws {
    try PrivateJournal().expect(
      Self.camera
        + """
        BEFORE=$(state $C)
        other() { env -u SUDO_UID -u PKEXEC_UID SUDO_UID=1 $H "$@"; }
        is 0 other grant camera
        head -2 $J >/var/lib/killed
        is 0 other revoke camera
        cat /var/lib/killed >>$J
        is 0 helper grant camera
        ! as 1 test -r $C || fail "he has access: $(state $C)"
        as 5 test -r $C || fail "the other has none"
        is 0 helper revoke camera
        same "$(state $C)" "$BEFORE" "the end"
        """)
  }
}
