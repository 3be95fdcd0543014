import TestSupport
import Testing

/// Every command takes a path of any type, and says and does what the kernel then answers.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct PathTests {
  /// Asks the kernel, as whoever runs it, for what a path is usually opened for; ends with 0 or 1.
  private static let judge = """
    import os, socket, stat, sys
    path = os.fsencode(sys.argv[1])
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)
        if kind == stat.S_IFSOCK:
            socket.socket(socket.AF_UNIX).connect(path)
        elif kind == stat.S_IFDIR:
            os.listdir(path)
            os.stat(path + b"/.")
        else:
            os.close(os.open(path, os.O_RDWR if kind == stat.S_IFCHR else os.O_RDONLY))
    except PermissionError:
        sys.exit(1)
    """

  /// A closed folder with one of each type, and `each`, which calls a function for each path.
  ///
  /// `kernel PATH` ends as permcheck must.
  private static let machine = """
    cd $1; mkdir -m 700 closed; cd closed
    echo text >file; mkdir folder; mknod node c 1 5; ln -s file link; echo >plain
    echo text >$' two words \\n\\e[31m\\\\x41 "$(x)\\''; mkdir $'\\xff\\xfe'
    python3 -c 'import socket, time
    s = socket.socket(socket.AF_UNIX); s.bind("socket"); s.listen(64); time.sleep(600)' &
    trap "kill $!; rm -f $OUT $OUT.*" EXIT
    becomes [ -S socket ]
    chmod 700 folder $'\\xff\\xfe'; chmod 600 file node socket *words*
    ln -s $PWD/file ../way
    kernel() { as 5 /usr/bin/python3 -c "$JUDGE" "$1"; }
    answers() { local want=0; kernel "$1" || want=$?; is $want $P check "$1" --user games; }
    all() { find . .. -maxdepth 1 ! -name ... -print0 | sort -z | xargs -0 stat -c '%n %a %u %g %s %Y %i'; getfacl -R .; }
    each() { for path in \(paths); do "$1" "$path"; done; }

    """

  /// Each type, each kind of name.
  private static let paths =
    Effort.isFull
    ? #"./file ./folder ./node ./socket ./link ./plain ../way ./*words* $'./\xff\xfe' ."#
    : #"./folder ./socket ./*words*"#

  private func run(_ script: String) throws {
    let tree = try Tree()
    try PrivateJournal(environment: ["JUDGE": Self.judge]).expect(
      Self.machine + script, [tree.root])
  }

  @Test func `check, request, watch, run and revoke take any path, and leave nothing`() throws {
    try run(
      """
      CLEAN=$(all)
      one() {
        answers "$1"; answers "$PWD/$1"
        is 1 $P check "$1" --user games
        is 126 $G $P run "$1" -- true
        is 0 $P run "$1" --request --yes -- /usr/bin/python3 -c "$JUDGE" "$1"
        same "$(all)" "$CLEAN" "run $1"
        is 1 $P watch "$1" --user games --for 0
        is 0 $P request "$1" --user games --yes --json
        UNDO=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["undo"][0])' <$OUT.o)
        kernel "$1" || fail "request $1"
        answers "$1"
        is 0 $P watch "$1" --user games --for 0
        is 0 $P request "$1" --user games --yes
        is 0 bash -c "$UNDO"
        same "$(all)" "$CLEAN" "undo of $1"
        answers "$1"
        is 0 $P request "$PWD/$1" --user games --yes
        is 0 $P revoke "./$1"
        same "$(all)" "$CLEAN" "revoke $1"
        is 0 $P request "$1" --user games --yes --for 1h
        kernel "$1" || fail "request $1 --for"
        sed -i 's/"expires":[0-9]*/"expires":1000000/' $J
        is 0 $P revoke --expired
        same "$(all)" "$CLEAN" "expired $1"
      }
      each one
      """)
  }

  @Test func `Three paths are granted and revoked one by one`() throws {
    try run(
      """
      CLEAN=$(all)
      for path in ./file ./folder ./socket; do is 0 $P request $path --user games --yes; done
      is 0 $P revoke ./folder
      kernel file && kernel socket || fail "the others have ended"
      ! kernel folder || fail "folder"
      is 0 $P revoke photos
      is 0 $P revoke /no/such/path
      is 0 $P revoke photos=$PWD/file
      kernel file && kernel socket || fail "what was not named has ended"
      is 0 $P revoke ./file; is 0 $P revoke ./socket
      same "$(all)" "$CLEAN" "revoked"
      """)
  }

  @Test func `What explain advises is what request does`() throws {
    try run(
      """
      one() {
        $P explain "$1" --user games --json >$OUT.e || :
        $P request "$1" --user games --dry-run --json >$OUT.r || :
        python3 - $OUT.e $OUT.r <<'END' || fail "$1: $(cat $OUT.e $OUT.r)"
      import json, sys
      advice, plan = (json.load(open(name)) for name in sys.argv[1:])
      wanted = [r["command"] for r in advice["reports"][0]["resources"][0]["remedies"]]
      made = [s["command"] for p in plan["plans"] for s in p["steps"]]
      # A request names each file from the root directory.
      last = lambda c: c[:-1] + [c[-1].removeprefix("/").split("/")[-1]]
      sys.exit(0 if made and list(map(last, wanted)) == list(map(last, made)) else 1)
      END
      }
      cd /; for path in $OLDPWD/file $OLDPWD/folder $OLDPWD/node $OLDPWD/socket $OLDPWD/*words*; do one "$path"; done
      """)
  }

  @Test func `A folder is requested with everything in it`() throws {
    try run(
      """
      mkdir folder/deep; echo x >folder/deep/x; chmod 700 folder/deep; chmod 600 folder/deep/x
      CLEAN=$(all)
      is 0 $P request ./folder --recursive --need r --user games --yes
      as 5 cat folder/deep/x >$OUT.x || fail "not included"
      is 0 $P revoke ./folder
      same "$(all)" "$CLEAN" "revoked"
      """)
  }

  @Test func `An existing file is found by its bare name`() throws {
    let tree = try Tree()
    try tree.file("au", "")
    for command in ["audit", "explain", "check", "request", "revoke", "watch"] {
      let outcome = try Command.run(["env", "-C", tree.root, Command.permcheck, command, "au"])
      #expect(outcome.status == 64 && outcome.errors.contains("did you mean ./au?"), "\(outcome)")
    }
    let other = try Command.permcheck(["explain", "no-such-file"])
    #expect(other.status == 64 && !other.errors.contains("./"), "\(other)")
  }

  /// A relative path begins where the process is, and its type is that of the file there.
  @Test func `A relative path begins in the working directory of the process`() throws {
    try run(
      """
      mkdir -m 755 here there; mkdir -m 750 there/pl; echo >here/pl; chmod 644 here/pl; chmod 755 .
      (cd there; exec setpriv --reuid 5 --regid 5 --clear-groups --inh-caps=-all sleep 600) & N=$!
      trap "kill $N %1; rm -f $OUT $OUT.*" EXIT
      becomes grep -q "^Uid:.5" /proc/$N/status
      cd here
      for command in check explain "watch --for 0"; do
        is 3 $P $command ./none --pid $N
        grep -q "there is no ./none in $1/closed/there, the working directory of process $N" $OUT.o ||
          fail "$(cat $OUT.o)"
        is 1 $P $command ./pl --pid $N
      done
      is 1 $P check ./pl --pid $N --json
      grep -q '"need":"rx"' $OUT.o || fail "$(cat $OUT.o)"
      is 3 $P check /none --pid $N
      ! grep -q "working directory" $OUT.o || fail "$(cat $OUT.o)"
      """)
  }
}
