import Foundation
import TestSupport
import Testing

/// Attacks on what root does in person, and on commands that run with a grant.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct AttackRunTests {
  func album() throws -> Tree {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    return tree
  }

  /// Every signal that can be caught goes to the command; then the grant is taken back.
  @Test(
    arguments: Effort.some(
      [1, 2, 3, 10, 12, 13, 14, 15, 16, 23, 24, 25, 26, 27, 29, 30, 34, 50, 64],
      of: "AttackRunTests Row on", atLeast: 4))
  func `Row 11: Every signal is passed on`(_ signal: Int) throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1 SIGNAL=$2; own $A; CLEAN=$(state $A)
      cat >$OUT.py <<'END'
      import os, signal, sys, time
      number = int(sys.argv[1])
      signal.signal(number, lambda *_: os._exit(42))
      open(sys.argv[2], "w").write("ready")
      # Not pause(2): the signal may come just before it.
      while True:
          time.sleep(0.05)
      END
      chmod 755 $OUT.py; touch $OUT.ready; chmod 666 $OUT.ready
      $G env --default-signal $P run photos=$A --request --yes -- \
        /usr/bin/python3 $OUT.py $SIGNAL $OUT.ready 2>$OUT.e & RUN=$!
      becomes grep -q ready $OUT.ready
      kill -$SIGNAL $RUN
      STATUS=0; wait $RUN || STATUS=$?
      rm $OUT.py $OUT.ready
      same $STATUS 42 "$(cat $OUT.e)"
      same "$(state $A)" "$CLEAN" "taken back"
      """, [tree.path("album"), "\(signal)"])
  }

  /// A parent that ignores SIGCHLD, or blocks signals, does not make it hang.
  @Test func `Row 11: An ignored SIGCHLD`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1; own $A; CLEAN=$(state $A)
      is 7 timeout 60 $G python3 -c 'import os, signal, sys
      signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
      os.execv(sys.argv[1], sys.argv[1:])' $P run photos=$A --request --yes -- sh -c 'exit 7'
      same "$(state $A)" "$CLEAN" "taken back"
      """, [tree.path("album")])
  }

  /// A link in the place of what root reads never makes root open something else.
  @Test func `Row 15: A flipped link`() throws {
    let tree = try Tree()
    try tree.folder("home/.config", mode: 0o755, uid: 5, gid: 5)
    try tree.folder("home", mode: 0o755, uid: 5, gid: 5)
    try PrivateJournal().expect(
      """
      private_etc
      sed -i "s#^games:.*#games:x:5:5::$1/home:/bin/sh#" /etc/passwd
      cd $1/home/.config; echo 'XDG_PICTURES_DIR="$HOME/x"' >plain; mkfifo trap; chown 5:5 plain trap
      cat >$OUT.py <<'END'
      import os, time
      end, opened = time.monotonic() + 60, 0
      while time.monotonic() < end and not os.path.exists("stop"):
          for target in ("plain", "trap"):
              os.symlink(target, "new"); os.rename("new", "user-dirs.dirs")
              try:
                  os.close(os.open("trap", os.O_WRONLY | os.O_NONBLOCK)); opened += 1
              except OSError:
                  pass
      open("opened", "w").write(str(opened))
      END
      python3 $OUT.py >/dev/null 2>&1 & RACER=$!
      becomes test -L user-dirs.dirs
      for i in $(seq 150); do $P photos --user games --log none >/dev/null 2>&1 || true; done
      touch stop; wait $RACER; rm $OUT.py
      same "$(cat opened)" 0 "times that root opened the trap"
      """, [tree.root])
  }

  /// Root's analytics log is in root's place, and follows no link.
  @Test func `Row 16: Roots log`() throws {
    let tree = try Tree()
    try tree.folder("home/.local/state/permcheck", uid: 5, gid: 5)
    try PrivateJournal().expect(
      """
      ln -s $1/nologin $1/home/.local/state/permcheck/analytics.jsonl
      for home in HOME=$1/home XDG_STATE_HOME=$1/home/.local/state; do
        STATUS=0; env -u PERMCHECK_LOG -u XDG_STATE_HOME $home $P photos=$1 >$OUT.o 2>$OUT.e || STATUS=$?
        [ ! -e $1/nologin ] || fail "$home: a file was created through a link"
      done
      [ -s /var/lib/permcheck/analytics.jsonl ] || fail "there is no log of root"
      PERMCHECK_LOG=$1/home/.local/state/permcheck/analytics.jsonl $P photos=$1 >$OUT.o 2>$OUT.e || true
      [ ! -e $1/nologin ] || fail "a link was followed"
      """, [tree.root])
  }

  /// A large folder at a small limit is granted, or the message names the limit.
  @Test(.full("wants more folders than a process may open, twice"))
  func `Row 19: Many folders`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      cd $1; for i in $(seq 1500); do mkdir $i; done; chmod 700 . [0-9]*
      CLEAN=$(state . 1 1500)
      is 0 bash -c "ulimit -Sn 1024; $P request photos=$1 --user games --recursive --yes"
      as 5 test -w $1/1500 || fail "no access"
      is 0 $P revoke photos
      same "$(state . 1 1500)" "$CLEAN" "revoked"
      is 1 bash -c "ulimit -n 1024; $P request photos=$1 --user games --recursive --yes"
      grep -q "ulimit -n" $OUT.e || fail "$(cat $OUT.e)"
      same "$(state . 1 1500)" "$CLEAN" "refused"
      """, [tree.path("album")])
  }

  /// A command is never started for somebody else: the lines to type are printed, and they work.
  @Test func `Row 20: No command of another user`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700, uid: 7, gid: 7)
    try PrivateJournal().expect(
      """
      A=$1/album
      for who in "--user games" "--user=5" "--uid 5 --gid 60" "--uid 5 --gid 60 --groups 44,29" \
        "--user games --env TERM" "--env TERM" "--user root" "--user nobody-of-this-name"; do
        for more in "" "--request --yes"; do
          is 64 $P run photos=$A $who $more -- touch $A/ran
          head -n 1 $OUT.e | grep -q "^permcheck: run starts the command as who calls it" || fail "$(cat $OUT.e)"
          [ ! -s $OUT.o ] && [ ! -e $A/ran ] && [ ! -e $J ] || fail "$who $more: $(cat $OUT.o)"
        done
      done
      # What is printed works as it is typed: with access, and as that user.
      typed() {
        is 64 $P run photos=$A --need rx "$@" --request --yes -- sh -c "id -u; ls '$A' && echo seen" sh "$LAST"
        same "$(wc -l <$OUT.e)" 3 "$(cat $OUT.e)"
        first=$(sed -n 2p $OUT.e) second=$(sed -n 3p $OUT.e)
        (export PATH=${P%/*}:$PATH; eval "$first") >$OUT.o 2>&1 || fail "$first: $(cat $OUT.o)"
        grep -q -- " --for 1h --yes$" <<<"$first" || fail "$first"
        same "$(eval "$second" | tr '\\n' ' ')" "5 seen " "$second"
        is 0 $P revoke --all
      }
      LAST=x; typed --user games; typed --user 5; typed --uid 5 --gid 60
      # A last word that ends with a newline, which a file can be called.
      LAST=$'x\n'; typed --user games; typed --user=5
      mount --bind /dev/null $(command -v runuser); typed --user games
      """, [tree.root])
  }

  /// A folder that is reached only by its owner is not opened by giving access to what is in it.
  @Test func `Row 20: A home is not opened`() throws {
    let tree = try Tree()
    try tree.folder("home/album", mode: 0o700, uid: 7, gid: 7)
    try tree.folder("home", mode: 0o700, uid: 7, gid: 7)
    try PrivateJournal().expect(
      """
      is 1 $P request photos=$1/home/album --user games --dry-run
      grep -q "reach what is below .*home, as far as its own permissions allow" $OUT.o || fail "$(cat $OUT.o)"
      """, [tree.root])
  }
}
