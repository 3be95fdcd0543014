import Foundation
import TestSupport
import Testing

/// Rows 44, 45 and 51 of SECURITY.md: names of users, groups, folders and expectations are bytes.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "another /etc and other ids want root"))
struct NameTests {
  /// Pairs that a person, a font or Swift's `==` may take for the same: canonically equivalent, folded, with CR and LF,
  /// like a NUL, or like what permcheck adds in words.
  private static let pairs = """
    import random, unicodedata
    def pairs(count, seed):
        rng = random.Random(seed)
        composed = [chr(n) for n in range(0xC0, 0x250) if unicodedata.normalize("NFD", chr(n)) != chr(n)]
        composed += ["\\u1e9b\\u0323", "\\u212b", "\\uac00", "\\u0344", "\\u2126"]
        others = [("ß", "ss"), ("İ", "i"), ("A", "a"), ("x\\r\\n", "x\\n"), ("x\\r", "x"), ("x", "x\\\\0"),
            ("x", "x and everything in it"), ("x", "x to y"), ("ﬁ", "fi"), ("x", "x\\u200b"), ("a\\u0301", "a\\u0341")]
        found = []
        while len(found) < count:
            if rng.random() < 0.7:
                one = "".join(rng.choice(composed) for _ in range(rng.randint(1, 3)))
                two = unicodedata.normalize(rng.choice(["NFD", "NFC"]), one)
            else:
                one, two = rng.choice(others)
                end = str(rng.randint(0, 9))
                one, two = end + one, end + two
            if one != two and "/" not in one + two: found.append((one, two) if rng.random() < 0.5 else (two, one))
        return found
    """

  /// For each pair of folders: one that games may read, one that he may not.
  private static let folders = """
    import json, os, subprocess, sys
    permcheck, root, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    wrong = 0
    def run(*words):
        return subprocess.run([permcheck, *words], capture_output=True, stdin=subprocess.DEVNULL)
    for number, (one, two) in enumerate(pairs(count, seed)):
        work = f"{root}/{number}"
        os.mkdir(work); os.chmod(work, 0o755)
        places = [f"{work}/{name}" for name in (one, two)]
        for place, mode in zip(places, (0o755, 0o700)):
            os.mkdir(place); os.chmod(place, mode)
        quoted = [json.dumps(place, ensure_ascii=False).replace("\\x7f", "\\\\u007f") for place in places]
        toml = "".join(f"[[expect]]\\npath = {text}\\nuser = 'games'\\nneed = 'rx'\\nis = 'granted'\\n" for text in quoted)
        file = f"{root}/{number}.toml"
        with open(file, "w", newline="") as out: out.write(toml)
        answer = json.loads(run("verify", file, "--json").stdout)
        outcomes = [item["outcome"] for item in answer["results"]]
        if outcomes != ["holds", "fails"]: wrong += 1; print("verify", repr((one, two)), outcomes)
        got = [run("check", place, "--need", "rx", "--user", "games", "-q").returncode for place in places]
        if got != [0, 1]: wrong += 1; print("check", repr((one, two)), got)
        if number % 10: continue
        # A lease on the second, and one on the first that only deepens it, are two leases.
        for place in places: run("request", place, "--need", "rwx", "--user", "games", "--yes")
        listed = json.loads(run("list", "--grants", "--json").stdout)["grants"]
        if len(listed) != 2: wrong += 1; print("list", repr((one, two)), len(listed))
        run("revoke", places[0], "--user", "games")
        left = [os.access(place, os.F_OK) and "user:5" in subprocess.run(["getfacl", "-cpn", place], capture_output=True, text=True).stdout for place in places]
        if left != [False, True]: wrong += 1; print("revoke", repr((one, two)), left)
        run("revoke", "--all")
    print(f"names: {count} pairs, {wrong} wrong")
    sys.exit(wrong != 0)
    """

  @Test func `Row 44: Folders whose names are equal as text are two folders`() throws {
    let tree = try Tree()
    let script = Self.pairs + "\n" + Self.folders
    let output = try PrivateJournal(environment: ["SCRIPT": script]).expect(
      """
      /usr/bin/python3 -c "$SCRIPT" $P "$1" "$2" 1 || fail "see above"
      """, [tree.root, "\(Effort.of(2_000, atLeast: 60))"])
    print(output.split(separator: "\n").last ?? "")
  }

  /// Two users and two groups of such names, one of whom owns a folder.
  @Test func `Row 44: Users whose names are equal as text are two users`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      private_etc
      one=$(printf 'e\\314\\201') two=$(printf '\\303\\251')
      printf '%s:x:51001:51001::/:/bin/sh\\n' $one >>/etc/passwd; printf '%s:x:51002:51002::/:/bin/sh\\n' $two >>/etc/passwd
      printf '%s:x:51001:\\n%s:x:51002:\\n%s-band:x:51003:%s\\n%s-band:x:51004:%s\\n' $one $two $one $one $two $two >>/etc/group
      mkdir -m 700 $1/own $1/band; chown 51002 $1/own; chown 0:51004 $1/band; chmod 750 $1/band
      is 1 $P check $1/own --user $one --need rx; is 0 $P check $1/own --user $two --need rx
      is 1 $P check $1/band --user $one --need rx; is 0 $P check $1/band --user $two --need rx
      $P check $1/own --need rx --user $one --user $two --json >$OUT.json || :
      same "$(python3 -c 'import json,sys; print([r["status"] for r in json.load(sys.stdin)["reports"]])' <$OUT.json)" "['denied', 'authorized']" "two users at once"
      printf '[[expect]]\\npath = "%s"\\nuser = ["%s", "%s"]\\nneed = "rx"\\nis = "refused"\\n' $1/own $one $two >$OUT.toml
      is 1 $P verify $OUT.toml
      same "$(grep -c "^✔" $OUT.o || :)" 1 "$(cat $OUT.o)"
      """, [tree.root])
  }

  /// A folder and everything in it, an operation, and a folder of such a name are different questions.
  @Test func `Row 44: Questions with the same words are two questions`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      mkdir -m 755 "$1/x" "$1/x and everything in it"; mkdir -m 700 "$1/x/closed"; chmod 700 "$1/x and everything in it"
      printf '[[expect]]\\npath = "%s"\\nuser = "games"\\nneed = "rx"\\nis = "refused"\\n' "$1/x and everything in it" >$OUT.toml
      printf '[[expect]]\\npath = "%s"\\nuser = "games"\\nneed = "rx"\\nis = "authorized"\\nrecursive = true\\n' "$1/x" >>$OUT.toml
      printf '[[expect]]\\npath = "%s"\\nuser = "games"\\nneed = "rx"\\nis = "authorized"\\n' "$1/x" >>$OUT.toml
      is 1 $P verify $OUT.toml --json
      same "$(python3 -c 'import json,sys; print([e["outcome"] for e in json.load(sys.stdin)["results"]])' <$OUT.o)" \\
        "['holds', 'fails', 'holds']" "$(cat $OUT.o)"
      """, [tree.root])
  }

  /// In Swift, CR LF is one Character, and so is a colon with a combining accent.
  @Test func `Row 51: Text is split at bytes`() throws {
    let tree = try Tree()
    try PrivateJournal().expect(
      """
      private_etc
      mkdir $1/new $1/band; chown 5:5 $1/new; chown 0:51004 $1/band; chmod 750 $1/band
      setpriv --reuid 5 --regid 5 --clear-groups /usr/bin/python3 -c 'import ctypes, os, time; os.umask(0o27); ctypes.CDLL(None).prctl(15, b"ev\\r"); print("named", flush=True); time.sleep(60)' >$OUT.log &
      becomes grep -q named $OUT.log
      is 0 $P explain $1/new --future --pid $!; kill $!
      grep -q 'umask 027' $OUT.o || fail "$(cat $OUT.o)"
      # The first member begins with U+0301.
      printf 'band:x:51004:\\314\\201a,games\\n' >>/etc/group
      groups=$(id -G games); [[ " $groups " = *" 51004 "* ]] || fail "glibc: $groups"
      is 0 $P check $1/band --user games --need rx
      """, [tree.root])
  }

  /// As many expectations, users of one and mounts as somebody likes: the time grows with the number, and no faster.
  @Test(.full("times of large inputs"))
  func `Row 45: Large files of expectations take linear time`() throws {
    try PrivateJournal(limit: 600).expect(
      """
      took() { local start=$(date +%s%N); "$@" >$OUT.o 2>$OUT.e || :; echo $((($(date +%s%N) - start) / 1000000)); }
      many() { python3 -c 'import sys; print("[[expect]]\\npath=\\"/etc\\"\\nis=\\"granted\\"\\n" * int(sys.argv[1]))' $1 >$OUT.toml; took $P verify $OUT.toml; }
      one=$(many 5000) ten=$(many 50000); echo "expectations: $one ms, ten times as many: $ten ms"
      [ $ten -lt $((one * 20 + 2000)) ] || fail "$one ms, then $ten ms"
      users() { python3 -c 'import sys; print("[[expect]]\\npath=\\"/etc\\"\\nis=\\"granted\\"\\nuser=[%s]\\n" % ",".join("\\"u%d\\"" % n for n in range(int(sys.argv[1]))))' $1 >$OUT.toml; took $P verify $OUT.toml; }
      one=$(users 3000) ten=$(users 30000); echo "users: $one ms, ten times as many: $ten ms"
      [ $ten -lt $((one * 20 + 2000)) ] || fail "$one ms, then $ten ms"
      """)
  }
}
