import Foundation
import TestSupport
import Testing

/// The granted user owns a folder on the way to what was granted, and wants the access to stay.
///
/// The rows are those of SECURITY.md.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal, mounts and servers want root"))
struct AttackPathTests {
  static let server = Checkout.path("Tests/permcheckTests/Storage/server.py")

  /// `album` begins with $ROOT/way/mid/album, which is root's below folders of uid 5; `serve MOUNTPOINT UID
  /// ANSWERS OPTION…` mounts a server; `clean` says whether the inode of the album has no entry of uid 5.
  private static let ground = """
    cd $ROOT
    album() { mkdir -p way/mid/album; chown 5 way way/mid; chmod 755 . way way/mid; chmod 700 way/mid/album
      exec 9<way/mid/album; }
    clean() { ! getfacl -cpn /proc/self/fd/9 2>/dev/null | grep -q user:5; }
    serve() { rm -f $ROOT/served; /usr/bin/python3 $SERVER "$@" >$ROOT/served 2>&1 & SERVED=$!; becomes grep -qs mounted $ROOT/served; }

    """

  /// Runs a script in mounts and processes of its own, so that no server outlives it.
  @discardableResult
  private func expect(
    _ script: String, _ environment: [String: String] = [:], limit: Int = 60
  ) throws -> String {
    let tree = try Tree()
    var variables = environment.mapValues(Optional.some)
    variables["ROOT"] = tree.root
    variables["SERVER"] = Self.server
    return try PrivateJournal(environment: variables, limit: limit).expect(Self.ground + script)
  }

  /// After how many answers a server stops.
  private static let answers = Effort.isFull ? "0 1 2 3 4 5 6 8 13" : "0 4"

  /// What the owner of `mid` may put in its place.
  static let ways = [
    "mv way/mid way/.mid; ln -s mid way/mid",
    "mv way/mid way/.mid; ln -s $(printf 'x%.0s' {1..300}) way/mid",
    "mv way/mid way/.mid; touch way/mid",
    "serve way/mid 5 all",
    "serve way/mid 5 all; kill -9 $SERVED; becomes eval '! ls way/mid'",
    "serve way/mid 5 0 allow_other",
  ]

  @Test(
    arguments: Effort.some(ways, of: "AttackPathTests ways"),
    Effort.isFull ? ["tmpfs", "ext4"] : ["ext4"])
  func `Row 21: What stands on the path keeps no access`(_ way: String, _ type: String) throws {
    try expect(
      """
      case $TYPE in tmpfs) mount -t tmpfs -o mode=755 tmpfs $ROOT;;
        *) truncate -s 64M image; mkfs.$TYPE -q image; mount -o loop image $ROOT;; esac
      cd $ROOT
      for how in revoke expired; do
        rm -rf way; album
        is 0 $P request photos=$ROOT/way/mid/album --user games --for 1h --yes
        clean && fail "nothing was granted"
        \(way)
        case $how in
          revoke) is 0 $P revoke photos;;
          expired) sed -i 's/"expires":[0-9]*/"expires":1000000/' $J; is 0 $P revoke --expired;;
        esac
        clean || fail "$how: the entry is left: $(cat $OUT.o $OUT.e)"
        [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
        exec 9<&-
        umount -l way/mid 2>/dev/null || :
      done
      """, ["TYPE": type])
  }

  /// A change copies the inode up, and the copy is another one: with another birth, perhaps another number.
  @Test(arguments: Effort.isFull ? ["tmpfs", "ext4"] : ["ext4"])
  func `Row 35: What is in a lower layer of an overlay`(_ type: String) throws {
    try expect(
      """
      case $TYPE in tmpfs) mkdir low;; *) truncate -s 64M image; mkfs.$TYPE -q image; mkdir low; mount -o loop image low;; esac
      mkdir -p low/d/e up work all
      echo text >low/d/e/f; chmod 700 low/d; chmod 600 low/d/e/f
      mount -t overlay -o lowerdir=low,upperdir=up,workdir=work overlay all
      BEFORE=$(state all/d all/d/e all/d/e/f)
      is 1 $P request all/d/e/f --user games --dry-run
      grep -q "copied up" $OUT.o $OUT.e || fail "the copy is not told: $(cat $OUT.o $OUT.e)"
      same "$(find up -mindepth 1)" "" "a plan copied something"
      is 0 $P request all/d/e/f --user games --yes
      as 5 cat all/d/e/f >/dev/null || fail "there is no access"
      is 0 $P request all/d --recursive --user games --yes
      is 0 $P request all/d --recursive --user daemon --need rx --yes
      same "$($P list --grants --format plain | grep -c missing || :)" 0 missing
      is 0 $P revoke --all
      same "$(state all/d all/d/e all/d/e/f)" "$BEFORE" revoked
      """, ["TYPE": type])
  }

  /// The file system itself is mounted below what the attacker owns.
  @Test(
    arguments: [
      "serve way 5 all", "serve way 5 0 allow_other", "mount -t tmpfs tmpfs way",
      "serve way/mid 5 0 allow_other", "mount -t tmpfs tmpfs way/mid; serve way 5 all",
    ], Effort.isFull ? ["tmpfs", "ext4", "xfs", "btrfs"] : ["ext4"])
  func `Row 21: Another mount keeps no access`(_ cover: String, _ type: String) throws {
    try expect(
      """
      mkdir -p way/mid; chown 5 way way/mid; chmod 755 . way
      case $TYPE in tmpfs) mount -t tmpfs -o mode=755 tmpfs way/mid;;
        *) truncate -s 512M image; mkfs.$TYPE -q image; mount -o loop image way/mid; chmod 755 way/mid;; esac
      mkdir -m 700 way/mid/album; exec 9<way/mid/album
      is 0 $P request photos=$ROOT/way/mid/album --user games --for 1h --yes
      clean && fail "nothing was granted"
      MOUNTS=$(cat /proc/self/mountinfo | wc -l)
      \(cover)
      sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
      is 0 $P revoke --expired
      clean || fail "the entry is left: $(cat $OUT.o $OUT.e)"
      [ -z "$($P list --grants --format plain)" ] || fail "something is listed"
      [ $(cat /proc/self/mountinfo | wc -l) -gt $MOUNTS ] || fail "a mount is gone"
      """, ["TYPE": type])
  }

  /// Whoever has the journal's lock waits for no server: other leases end at their time.
  @Test(.full("it waits for a server that stops"))
  func `Row 23: A server on the path holds up no lease`() throws {
    try expect(
      """
      chmod 755 .; mkdir -m 700 other; exec 8<other
      free() { ! getfacl -cpn /proc/self/fd/8 | grep -q user:5; }
      for answers in \(Self.answers); do
        for what in "request photos=X --user games --yes" "request photos=X --user games --recursive --yes" \\
          "revoke photos" "run photos=X --request --yes -- true"; do
          rm -rf way $J; album
          is 0 $P request photos=$ROOT/way/mid/album --user games --for 1h --yes
          is 0 $P request photos=$ROOT/other --user games --for 1 --yes
          serve way/mid 5 $answers allow_other
          timeout -k 1 20 $P ${what//X/$ROOT/way/mid/album} >$OUT.1 2>$OUT.2 & REQUEST=$!
          sleep 1
          start=$(date +%s)
          is 0 timeout -k 1 20 $P revoke --expired
          took=$(($(date +%s) - start))
          free || fail "$answers answers: $what: the other lease is left: $(cat $OUT.o $OUT.e)"
          [ $took -lt 8 ] || fail "$answers answers: $what: the other lease ended after $took s"
          got=0; wait $REQUEST || got=$?
          case $got in 124|137) false;; esac || fail "$answers answers: $what hung: $(cat $OUT.1 $OUT.2)"
          echo "$answers $what: $got $took s"
          exec 9<&-; kill -9 $SERVED; wait $SERVED 2>/dev/null || :; umount -l way/mid
        done
      done
      """, limit: 600)
  }

  /// The path is covered while root is asked: the plan is made anew under the lock.
  @Test func `Row 23: A server that comes later holds up no lease`() throws {
    try expect(
      """
      chmod 755 .; mkdir -m 700 other; exec 8<other
      free() { ! getfacl -cpn /proc/self/fd/8 | grep -q user:5; }
      for answers in \(Self.answers); do
        rm -rf way $J asked; album
        is 0 $P request photos=$ROOT/other --user games --for 1 --yes
        mkfifo asked; exec 7<>asked
        timeout -k 1 30 script -qec "$P request photos=$ROOT/way/mid/album --user games" /dev/null <asked >$OUT.1 2>&1 & REQUEST=$!
        becomes grep -q 'Do it?' $OUT.1
        serve way/mid 5 $answers allow_other
        echo y >&7
        sleep 1.2
        start=$(date +%s)
        is 0 timeout -k 1 20 $P revoke --expired
        took=$(($(date +%s) - start))
        free || fail "$answers answers: the other lease is left: $(cat $OUT.o $OUT.e)"
        [ $took -lt 8 ] || fail "$answers answers: the other lease ended after $took s"
        got=0; wait $REQUEST || got=$?
        case $got in 124|137) fail "$answers answers: hung: $(cat $OUT.1)";; esac
        clean || fail "$answers answers: it was granted"
        echo "$answers: $got $took s $(tail -n 3 $OUT.1)"
        exec 9<&- 7<&-; kill -9 $SERVED; wait $SERVED 2>/dev/null || :; umount -l way/mid
      done
      """, limit: 600)
  }

  /// A server answers some requests, and then no more: nobody waits for it, and nothing is taken for granted.
  @Test(.full("it waits for a server that stops"), arguments: ["as 5", ""])
  func `Row 24: A server that stops`(_ who: String) throws {
    try expect(
      """
      chmod 755 .; mkdir -m 700 home; chown 5 home
      for answers in \(Self.answers); do
        for what in "check photos=X" "explain photos=X" "check photos=X --probe none" "photos=X --pid $$" \\
          "request photos=X --user games --dry-run" "audit $ROOT --user nobody" \\
          "audit X" "audit X --user games --deep" "audit X --who"; do
          mkdir server; serve server 5 $answers allow_other
          got=0; start=$(date +%s)
          HOME=$ROOT/home \(who) timeout -k 1 15 $P ${what//X/$ROOT/server/album} >$OUT.o 2>$OUT.e || got=$?
          took=$(($(date +%s) - start))
          case $got in 124|137) false;; esac || fail "$answers answers: $what hung: $(cat $OUT.o $OUT.e)"
          [ $took -lt 12 ] || fail "$answers answers: $what took $took s"
          case $what in
            audit*X*) grep -q stopped served && [ $got = 0 ] && fail "$answers answers: $what knows all";;
            audit*) ;;
            *) if grep -q stopped served; then
              [ $got = 2 ] || fail "$answers answers: $what ended with $got: $(cat $OUT.o $OUT.e)"
              grep -q 'did not answer within 1 s' $OUT.o || fail "$answers answers: $what: $(cat $OUT.o $OUT.e)"
            fi;;
          esac
          echo "$answers $what: $got $took s $(tail -n 1 served)"
          kill -9 $SERVED; wait $SERVED 2>/dev/null || :; umount -l server; rmdir server
        done
      done
      """, limit: 600)
  }

  /// Where handles lead to nothing, the lease is missing, and ends as soon as its path leads there again.
  @Test func `Row 21: Missing without a handle`() throws {
    try expect(
      """
      mkdir lower upper work way; chmod 755 . upper way; mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay way
      mkdir -m 700 -p way/mid/album; chown 5 way/mid; chmod 755 way/mid; exec 9<way/mid/album
      is 0 $P request photos=$ROOT/way/mid/album --user games --for 1h --yes
      mv way/mid way/.mid; ln -s mid way/mid
      sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
      is 2 $P revoke --expired
      grep -q 'may still be there' $OUT.e || fail "not told: $(cat $OUT.o $OUT.e)"
      $P list --grants --format plain | grep -q missing || fail "not listed"
      rm way/mid; mv way/.mid way/mid
      is 0 $P revoke --expired
      clean || fail "the entry is left: $(cat $OUT.o $OUT.e)"
      """)
  }

  /// `many.py FOLDER N each|stack`: so many mounts in a folder, or on top of each other.
  private static let many = """
    import ctypes, os, sys, time
    folder, count, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    libc = ctypes.CDLL(None, use_errno=True)
    def mount(source, target, kind, flags):
        if libc.mount(source.encode(), target.encode(), kind, flags, None): sys.exit(os.strerror(ctypes.get_errno()))
    mount("many", folder, b"tmpfs", 0)
    os.mkdir(folder + "/x")
    for number in range(count):
        place = folder + "/x" if kind == "stack" else f"{folder}/{number}"
        if kind != "stack": os.mkdir(place)
        mount(folder + "/x", place, None, 4096)
    print("mounted", flush=True)
    if kind == "stack": time.sleep(60)
    """

  /// The file system of a lease is looked for while the journal is locked.
  @Test func `Row 52: Many mounts take linear time`() throws {
    let (few, most) = Effort.isFull ? (2000, 16_000) : (1000, 4000)
    try expect(
      """
      mkdir disk few most
      took() { local start=$(date +%s%N); "$@" >$OUT.o 2>$OUT.e || :; echo $((($(date +%s%N) - start) / 1000000)); }
      lost() {
        mount -t tmpfs disk disk; mkdir -m 700 disk/album
        is 0 $P request photos=$ROOT/disk/album --user games --yes
        umount -l disk; /usr/bin/python3 -c "$MANY" $ROOT/$1 $2 each >$OUT.m
        grep -q mounted $OUT.m || fail "no mounts"
        took $P revoke --all
        grep -q 'may still be there' $OUT.e || fail "not told: $(cat $OUT.o $OUT.e)"
        $P revoke --all --forget >/dev/null 2>&1
      }
      few=$(lost few \(few)); most=$(lost most \(most - few)); echo "mounts: $few ms, \(most / few) times as many: $most ms"
      [ $most -lt $((few * \(most / few) * 2 + 1000)) ] || fail "$few ms, then $most ms"
      """, ["MANY": Self.many], limit: 300)
  }

  /// For each of the mounts that a user stacks, the kernel climbs over all below it.
  @Test(.full("makes 25,000 mounts"))
  func `Row 52: Stacked mounts of a process hold up nobody`() throws {
    try expect(
      """
      mkdir -m 755 many; chmod 755 .
      setpriv --reuid 5 --regid 5 --clear-groups unshare -Urm /usr/bin/python3 -c "$MANY" $ROOT/many 25000 stack >$OUT.m & INSIDE=$!
      becomes grep -q mounted $OUT.m
      for what in "check camera mic photos" "explain $ROOT/many" "watch camera --for 1" "explain $ROOT/many --future"; do
        start=$(date +%s%N); timeout -k 1 30 $P $what --pid $INSIDE >$OUT.o 2>$OUT.e </dev/null || :
        took=$((($(date +%s%N) - start) / 1000000)); echo "$took ms: $what"
        [ $took -lt 4000 ] || fail "$what took $took ms"
      done
      kill $INSIDE
      """, ["MANY": Self.many], limit: 200)
  }
}
