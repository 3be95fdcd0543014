import Foundation
import TestSupport
import Testing

/// What request, revoke and run do and leave alone.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GrantBehaviourTests {
  /// Types an answer at a terminal; prints what is on the screen, and ends as the command does.
  static let typist = """
    import os, pty, sys
    answer, command = sys.argv[1], sys.argv[2:]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    screen = b""
    typed = False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        screen += part
        if not typed and b"[y/N]" in screen:
            os.write(terminal, answer.encode() + b"\\n")
            typed = True
    sys.stdout.write(screen.decode())
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """

  func album() throws -> Tree {
    let tree = try Tree()
    try tree.folder("album", mode: 0o700)
    return tree
  }

  @Test func `Nothing is changed unasked`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1
      BEFORE=$(state $A; ls -d --time-style=full-iso -lc $A)
      is 1 $P request photos=$A --user games --dry-run
      grep -q "setfacl" $OUT.o || fail "$(cat $OUT.o)"
      is 0 $P request photos=$A --dry-run --need r --user 0
      is 1 $P request photos=$A --user games
      grep -q "no terminal to ask at, so nothing was changed" $OUT.e || fail "$(cat $OUT.e)"
      is 1 $P request photos=$A --user games --json
      is 126 $G $P run photos=$A -- touch $A/ran
      is 126 $G $P run photos=$A --request -- touch $A/ran
      is 64 $P request photos=$A --user games --yes --dry-run
      is 64 $P run photos=$A --yes -- true
      same "$(state $A; ls -d --time-style=full-iso -lc $A)" "$BEFORE" "the folder"
      [ ! -e $J ] || fail "there is a journal"
      is 0 $P revoke photos
      """, [tree.path("album")])
  }

  @Test(arguments: Effort.some(["n", "", "y", "Y", "yes", "yy", "no", "j", " y "], of: "consent"))
  func `Terminal is asked`(_ answer: String) throws {
    let tree = try album()
    let isYes = ["y", "yes"].contains(answer.lowercased().trimmingCharacters(in: .whitespaces))
    try PrivateJournal(environment: ["TYPIST": Self.typist]).expect(
      """
      A=$1 BEFORE=$(state $1)
      is $3 python3 -c "$TYPIST" "$2" $P request photos=$A --user games
      grep -q "nobody else gets access" $OUT.o || fail "the plan was not shown: $(cat $OUT.o)"
      if [ $3 = 1 ]; then
        same "$(state $A)" "$BEFORE" "the folder"
      else
        as 5 test -w $A || fail "no access"
        is 0 $P revoke photos
        same "$(state $A)" "$BEFORE" "revoked"
      fi
      """, [tree.path("album"), answer, isYes ? "0" : "1"])
  }

  /// The way to what was shown is turned to something else while the question stands.
  @Test func `Only what was shown is changed`() throws {
    let tree = try album()
    try tree.folder("other", mode: 0o700)
    try tree.link("link", to: "album")
    let script = Self.typist.replacing(
      "os.write(terminal",
      with:
        "os.remove(os.environ['LINK']); os.symlink('other', os.environ['LINK']); os.write(terminal")
    try PrivateJournal(environment: ["TYPIST": script, "LINK": tree.path("link")]).expect(
      """
      BEFORE=$(state $1/album $1/other)
      is 70 python3 -c "$TYPIST" y $P request photos=$1/link --user games
      grep -q "changed since it was agreed to" $OUT.o || fail "$(cat $OUT.o)"
      same "$(state $1/album $1/other)" "$BEFORE" "the folders"
      """, [tree.root])
  }

  @Test func `Expired grants are revoked`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1 CLEAN=$(state $1)
      is 0 $P request photos=$A --user games --yes --for 1d
      is 0 $P revoke --expired
      as 5 test -w $A || fail "taken back too early"
      # The clock of the journal, not of the wall.
      expire() { sed -i 's/"expires":[0-9]*/"expires":1000000/' $J; }
      expire
      is 0 $P revoke --expired
      same "$(state $A)" "$CLEAN" "revoke --expired"
      is 0 $P request photos=$A --user games --yes --for 30m
      expire
      is 0 $P request photos=$A --user daemon --yes
      ! as 5 test -r $A || fail "the next request did not take it back"
      as 1 test -w $A || fail "the next request"
      is 0 $P revoke --all
      same "$(state $A)" "$CLEAN" "revoke --all"
      for text in 0 -1 x 1y 1.5h ""; do is 64 $P request photos=$A --user games --yes --for "$text"; done
      """, [tree.path("album")])
  }

  @Test func `run passes status and signals of the command`() throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1; own $A; CLEAN=$(state $A)
      R="$G $P run photos=$A --request --yes --"
      is 0 $R test -w $A
      is 7 $R sh -c 'exit 7'
      is 127 $R /nonexistent
      is 126 $R /etc/passwd
      for signal in 15 9 6; do is $((128 + signal)) sh -c "$R sh -c 'kill -$signal \\$\\$'; exit \\$?"; done
      same "$(state $A)" "$CLEAN" "after all of them"
      is 126 $G $P run photos=$A -- true
      is 127 $P run photos=$A -- /nonexistent
      is 7 $P run photos=$A -- sh -c 'exit 7'
      [ -z "$($G $P list --grants --format plain)" ] || fail "something is listed"
      """, [tree.path("album")])
  }

  /// A signal goes to the command, and what was given is taken back; SIGKILL is for the next run.
  @Test(
    arguments: Effort.some(
      [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL], of: "GrantBehaviourTests Run ended", atLeast: 2))
  func `Run is ended`(_ signal: Int32) throws {
    let tree = try album()
    try PrivateJournal().expect(
      """
      A=$1 SIGNAL=$2; own $A; CLEAN=$(state $A)
      # A background job of a script ignores SIGINT; env gives it back.
      $G env --default-signal $P run photos=$A --request --yes -- \
        sh -c 'echo $$ >'$OUT.pid'; exec sleep 100' >$OUT.o 2>$OUT.e & RUN=$!
      until [ -s $OUT.pid ]; do sleep 0.01; done
      CHILD=$(cat $OUT.pid); rm $OUT.pid
      as 5 test -w $A || fail "no access while it runs"
      kill -$SIGNAL $RUN
      STATUS=0; wait $RUN || STATUS=$?
      same $STATUS $((128 + SIGNAL)) "$(cat $OUT.o $OUT.e)"
      if [ $SIGNAL = 9 ]; then
        kill $CHILD
        as 5 test -w $A || fail "who has taken it back?"
        is 0 $G $P run photos=$A --request --yes -- true
      else
        ! kill -0 $CHILD 2>/dev/null || fail "the command runs on"
      fi
      same "$(state $A)" "$CLEAN" "afterwards"
      """, [tree.path("album"), "\(signal)"])
  }

  @Test func `Request is a document`() throws {
    let tree = try album()
    let journal = PrivateJournal()
    for words in ["--dry-run --json", "--yes --json", "--yes --json --need r"] {
      let outcome = try journal.run(
        "STATUS=0; $P request photos=$1 --user games $2 || STATUS=$?; $P revoke --all -q; exit $STATUS",
        [tree.path("album"), words])
      #expect(outcome.status == (words.contains("dry") ? 1 : 0), "\(outcome.errors)")
      let checked = try Validator.check(outcome.output)
      #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
      let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      let document = try #require(object as? [String: Any])
      #expect(document["applied"] as? Bool == !words.contains("dry"))
      #expect((document["plans"] as? [Any])?.count == 1)
    }
  }

  /// No root anywhere: one's own folder, one's own journal.
  @Test func `An ordinary user can grant access to own files`() throws {
    let tree = try Tree()
    try tree.folder("home/album", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    try tree.folder("home", mode: 0o711, uid: stranger.uid, gid: stranger.gid)
    try tree.folder("theirs", mode: 0o700)
    let environment: [String: String?] = ["XDG_STATE_HOME": tree.path("home/state")]
    func permcheck(_ words: String...) throws -> Outcome {
      try Command.permcheck(words, environment: environment, as: stranger)
    }
    let photos = "photos=\(tree.path("home/album"))"
    let games = Account(uid: 5, gid: 5)
    #expect(try permcheck("request", photos, "--user", "games", "--yes").status == 0)
    #expect(try Kernel.faccessat2(tree.path("home/album"), R_OK | W_OK | X_OK, as: games) == 0)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: tree.path("home/state/permcheck/grants.jsonl"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try permcheck("list", "--grants", "--format", "plain").output.contains("games"))
    let refused = try permcheck(
      "request", "photos=\(tree.path("theirs"))", "--user", "games", "--yes", "--via", "none")
    #expect(refused.status == 1)
    let last = try #require(refused.errors.split(separator: "\n").last)
    // The machine has sudo or not.
    #expect(last.hasPrefix("  sudo /") || last.hasPrefix("  su -c '/"), "\(refused.errors)")
    #expect(
      last.contains("/permcheck request photos=\(tree.path("theirs")) --user games"),
      "\(refused.errors)")
    #expect(try permcheck("revoke", "--all").status == 0)
    #expect(
      try Kernel.faccessat2(tree.path("home/album"), R_OK, as: games) == EACCES)
    var mode = stat()
    #expect(stat(tree.path("home/album"), &mode) == 0 && mode.st_mode & 0o7777 == 0o700)
  }
}
