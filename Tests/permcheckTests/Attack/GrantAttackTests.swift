import Foundation
import TestSupport
import Testing

/// A journal that somebody has tampered with, forged invocations, and hostile names.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GrantAttackTests {
  /// What is done to the journal of a grant, and whether `list --grants` sees it as well.
  static let tampering = [
    "mv $J $J.old; ln -s $J.old $J", "chown 54333 $J", "chmod 666 $J", "chmod 620 $J",
    "ln $J $J.twin", "chmod 777 /var/lib/permcheck", "chmod 775 /var/lib/permcheck",
    "chown 54333 /var/lib/permcheck", "rm $J; mkfifo $J; chmod 600 $J", "rm $J; mkdir $J",
    "sed -i 's/\"v\":3/\"v\":4/' $J",
    "rm $J; mknod -m 600 $J c 1 3", "setfacl -m u:54333:rw $J",
  ]

  @Test(arguments: Effort.some(tampering, of: "GrantAttackTests tampering"))
  func `Journal is not trusted`(
    _ tampering: String
  ) throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    try PrivateJournal().expect(
      """
      A=$1
      is 0 $P request photos=$A --user games --yes
      BEFORE=$(state $A)
      (\(tampering))
      for words in "revoke photos" "revoke --expired" "request photos=$A --user daemon --yes" \
        "run photos=$A --request --yes -- true" "list --grants"; do
        is 70 $P $words
        [ "$(wc -l <$OUT.e)" = 1 ] || fail "$words: $(cat $OUT.e)"
        grep -q "^permcheck: .*journal of grants" $OUT.e || fail "$words: $(cat $OUT.e)"
        [ ! -s $OUT.o ] || fail "$words printed $(cat $OUT.o)"
        same "$(state $A)" "$BEFORE" "$words"
      done
      """, [tree.path("album")])
  }

  @Test func `A damaged line holds up its own grant alone`() throws {
    let tree = try Tree()
    for name in ["one", "two", "three"] { try tree.folder(name, mode: 0o700) }
    try PrivateJournal().expect(
      """
      cd $1
      for damage in 1d '1s/.*/garbage/' 5d '5s/.*/{}/' 6d; do
        for place in one two three; do is 0 $P request photos=$1/$place --user games --for 1h --yes; done
        sed -i "$damage" $J
        is 70 $P request photos=$1/one --user daemon --yes
        grep -q 'lines are missing' $OUT.e || fail "$damage: $(cat $OUT.e)"
        is 2 $P list --grants
        same "$(grep -c games $OUT.o)" 2 "$damage, listed: $(cat $OUT.o)"
        sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
        is 2 $P revoke --expired
        grep -q 'lines are missing.*may still be there' $OUT.e || fail "$damage: $(cat $OUT.o $OUT.e)"
        left=0; for place in one two three; do ! as 5 test -r $place || left=$((left + 1)); done
        same $left 1 "$damage: folders that are open"
        is 2 $P revoke --all
        rm -r /var/lib/permcheck; setfacl -b one two three; chmod 700 one two three
      done
      """, [tree.root])
  }

  /// A torn line, and lines of something else, cost nothing.
  @Test func `Torn lines are tolerated`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    try PrivateJournal().expect(
      """
      A=$1
      CLEAN=$(state $A)
      is 0 $P request photos=$A --user games --yes
      ONE=$(state $A)
      SIZE=$(stat -c %s $J)
      # Not one byte is written over, wherever the last line ends.
      cp -p $J $OUT.j
      for cut in $(seq 1 $2 $((SIZE - 1))) ; do
        cp -p $OUT.j $J; setfacl -b $A; chmod 700 $A; setfacl -m u:games:rwx $A
        same "$(state $A)" "$ONE" "the beginning"
        truncate -s $cut $J
        is 0 $P request photos=$A --user games --yes
        same "$(state $A)" "$ONE" "asked again after $cut bytes"
        is 0 $P revoke photos
        GONE=$(state $A)
        # What the journal never told of in full was not permcheck's: it stays.
        if [ $cut -ge $(head -2 $OUT.j | wc -c) ]; then same "$GONE" "$CLEAN" "$cut bytes"; fi
        $P list --grants | grep -q "no grants in " || fail "$cut bytes: something is left"
      done
      rm $OUT.j
      """, [tree.path("album"), Effort.isFull ? "61" : "401"])
  }

  /// Another process puts a compacted journal in its place while this one waits for it.
  @Test func `Journal replaced while waiting`() throws {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    try PrivateJournal().expect(
      """
      A=$1
      is 0 $P request photos=$A --user games --yes
      BEFORE=$(state $A)
      exec 9<$J; flock 9
      $P request photos=$A --user daemon --yes >$OUT.o 2>$OUT.e 9<&- & WAITER=$!
      until ls -l /proc/$WAITER/fd 2>/dev/null | grep -q $J; do sleep 0.01; done
      sleep 0.2
      same "$(state $A)" "$BEFORE" "the folder while the journal is locked"
      cp -p $J $J.new; mv $J.new $J
      exec 9<&-
      STATUS=0; wait $WAITER || STATUS=$?
      same $STATUS 0 "$(cat $OUT.e)"
      [ "$($P list --grants --format plain | wc -l)" = 2 ] || fail "$($P list --grants)"
      is 0 $P revoke --all
      """, [tree.path("album")])
  }

  /// Names may hold anything but a slash and a NUL.
  @Test(.full("it starts permcheck for each of many names")) func `Hostile names`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      cd $1
      for name in $'new\\nline' $'esc\\e[31m\\e]0;x\\a' $'bytes\\xff\\xfe' $'quote"\\'\\\\x41' $'tab\\tcr\\r' ' ' \
        $'\\xe2\\x80\\xaeturned' '$(touch pwned)' '-rf'; do
        A="$1/$name"; mkdir -m 700 -- "$A"; CLEAN=$(state "$A")
        is 1 $P request "photos=$A" --user games --dry-run
        is 0 $P request "photos=$A" --user games --yes
        cat $OUT.o $OUT.e >$OUT
        [ "$(state "$A")" != "$CLEAN" ] || fail "nothing was granted"
        for format in human plain json; do $P list --grants --format $format >>$OUT; done
        if LC_ALL=C grep -qP '[\\x00-\\x08\\x0b-\\x1f\\x7f]' $OUT; then fail "not clean: $(cat -v $OUT)"; fi
        iconv -f UTF-8 -t UTF-8 $OUT >/dev/null || fail "not UTF-8"
        python3 -c 'import json,sys; [json.loads(l) for l in open(sys.argv[1])]' $J
        same "$($P list --grants --format plain | wc -l)" 1 "lines listed"
        is 0 $P revoke photos
        same "$(state "$A")" "$CLEAN" "$name"
      done
      [ ! -e pwned ] || fail "a name was run"
      """, [tree.root])
  }

  /// What a folder's owner may have put into it is not granted with it.
  @Test func `Recursion stays inside`() throws {
    let tree = try Tree()
    try tree.folder("home", mode: 0o711, uid: 2, gid: 2)
    try tree.folder("vault/deep", mode: 0o700)
    try tree.file("vault/secret", "secret", mode: 0o600)
    try PrivateJournal().expect(
      """
      H=$1/home V=$1/vault
      as 2 mkdir -p $H/album/sub; as 2 touch $H/album/a $H/album/sub/b
      as 2 ln -s $V $H/album/dir; as 2 ln -s $V/secret $H/album/link; as 2 ln -s $V/deep $H/album/sub/deep
      as 2 mkfifo -m 600 $H/album/fifo; mknod -m 600 $H/album/null c 1 3; chmod 700 $H/album/sub $H/album
      chmod 600 $H/album/a $H/album/sub/b
      all() { state $V $V/deep $V/secret $H/album $H/album/a $H/album/sub $H/album/sub/b $H/album/fifo $H/album/null; }
      outside() { state $V $V/deep $V/secret $H/album/fifo $H/album/null; }
      CLEAN=$(all) OUTSIDE=$(outside)
      is 0 $P request photos=$H/album --user games --recursive --yes
      same "$(outside)" "$OUTSIDE" "what is not in the folder"
      as 5 test -r $H/album/sub/b || as 60 test -r $H/album/sub/b || fail "no access to what is in it"
      is 0 $P revoke photos
      same "$(all)" "$CLEAN" "after the revocation"
      ln $V/secret $H/album/twin
      # What is linked elsewhere is left out, and named; the rest is done.
      is 1 $P request photos=$H/album --user games --recursive --yes
      grep -q "$H/album/twin has hard links elsewhere" $OUT.e || fail "$(cat $OUT.e)"
      same "$(outside)" "$OUTSIDE" "with a hard link in it"
      ! as 5 test -r $H/album/twin || fail "a file with another name was granted"
      as 5 test -r $H/album/sub/b || fail "the rest was not granted"
      is 1 $P request photos=$H/album --user games --recursive --yes
      grep -q "$H/album/twin has hard links elsewhere" $OUT.e || fail "nobody knows why: $(cat $OUT.e)"
      is 0 $P revoke photos
      same "$(all)" "$CLEAN" "after the second revocation"
      """, [tree.root])
  }
}
