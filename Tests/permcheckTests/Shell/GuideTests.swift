import Foundation
import TestSupport
import Testing

/// What README and the guide tell to type, as they have it.
///
/// `Scripts/check-docs` compiles their Swift, `Scripts/check-library` their C and Python, RecipeTests runs
/// what uses jq in json.md, and the lab's scenarios `readme` and `sound` run what wants devices.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "root's journal and its private mount want root"))
struct GuideTests {
  struct Block {
    let file: String
    let language: String
    let text: String
    /// The command that prints it: what the sentence above it has in parentheses.
    let command: String?
  }

  /// Blocks that are not run here, with the reason.
  static let exempt = [
    "README.md sh": "Scripts/full builds, installs and removes a release",
    "README.md console": "the gate begins with these two commands",
    "containers.md sh":
      "it wants Docker and devices; the lab's scenario docker has containers with both",
    "installing.md sh": "Tests/Package/run installs the packages",
    "json.md sh": "RecipeTests",
  ]

  static func blocks(_ language: String) throws -> [Block] {
    let guide = Checkout.file("Documentation/guide")
    let names = try FileManager.default.contentsOfDirectory(atPath: guide.path).sorted()
    let files =
      [Checkout.file("README.md")] + names.map { guide.appending(path: $0) }
    return try files.flatMap { file in
      let text = try String(contentsOf: file, encoding: .utf8)
      // Of the parts between fences, each second one is a block, which begins with its language.
      let parts = ("\n" + text).components(separatedBy: "\n```")
      return parts.indices.filter { $0 % 2 == 1 }.compactMap { index -> Block? in
        let lines = parts[index].split(
          separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard lines[0] == language, lines.count == 2 else { return nil }
        return Block(
          file: file.lastPathComponent, language: language, text: String(lines[1]) + "\n",
          command: parts[index - 1].firstMatch(of: #/\(`(permcheck [^`]+)`\):\s*$/#)
            .map { String($0.1) })
      }
    }
  }

  static func isExempt(_ block: Block) -> Bool {
    exempt["\(block.file) \(block.language)"] != nil
  }

  /// The users whom the documents name, in an /etc of the script's own; a folder of photos.
  private static let machine = """
    private_etc
    printf '%s\\n' root:x:0:0::/root:/bin/sh daemon:x:1:1::/:/bin/sh www-data:x:33:33::/:/bin/sh \\
      ada:x:1000:1000::/home/ada:/bin/sh bob:x:1001:1001::/home/bob:/bin/sh >/etc/passwd
    printf '%s\\n' root:x:0: daemon:x:1: www-data:x:33: ada:x:1000: bob:x:1001: family:x:2000:ada,bob >/etc/group
    mount -t tmpfs -o mode=755 tmpfs /srv
    bin=$(mktemp -d) home=$(mktemp -d); trap 'rm -rf $bin $home $OUT*' EXIT
    ln -s $P $bin/permcheck; printf '#!/bin/sh\\nexec "$@"\\n' >$bin/sudo; chmod 755 $bin/sudo
    export PATH=$bin:$PATH HOME=$home; cd $home

    """

  @Test func `Every line for the shell works`() throws {
    let blocks = try Self.blocks("sh").filter { !Self.isExempt($0) }
    for block in Effort.some(blocks, of: "GuideTests blocks") {
      try PrivateJournal(environment: ["BLOCK": block.text]).expect(
        Self.machine
          + """
          mkdir -p /srv/photos
          echo tester:x:1002:1002::/:/bin/sh >>/etc/passwd
          while IFS= read -r line; do
            case $line in *watch*) limit=2;; *) limit=60;; esac
            got=0; timeout -k 1 $limit bash -c "$line" >$OUT.o 2>$OUT.e </dev/null || got=$?
            # What watches goes on.
            case "$got $line" in [013]\\ *|77\\ *|124*watch*) ;; *) fail "$line ended with $got: $(cat $OUT.e)";; esac
            ! grep -q '^permcheck:' $OUT.e || fail "$line: $(cat $OUT.e)"
          done <<<"$BLOCK"
          """)
    }
  }

  /// The commands between backticks in README and the guide, and the examples of every help.
  static func commandsInText() throws -> [String] {
    let guide = Checkout.file("Documentation/guide")
    let names = try FileManager.default.contentsOfDirectory(atPath: guide.path)
    var texts = try ([Checkout.file("README.md")] + names.map { guide.appending(path: $0) })
      .map { try String(contentsOf: $0, encoding: .utf8) }
    texts.append(try Command.run([Command.permcheck, "--help"]).output)
    for name in texts[texts.count - 1].matches(of: #/\n  ([a-z]+) /#) {
      texts.append(try Command.run([Command.permcheck, "help", String(name.1)]).output)
    }
    var commands: [String] = []
    for text in texts {
      commands += text.matches(of: #/`((?:sudo )?permcheck [^`\n]+)`/#).map { String($0.1) }
      commands += text.matches(of: #/\n  ((?:sudo )?permcheck [a-z/-].*)/#).map { match in
        match.1.components(separatedBy: "   ")[0]
      }
    }
    return commands
  }

  /// What stands in running text is typed, too.
  @Test func `Every command in running text works`() throws {
    let commands = try Self.commandsInText()
      // A word in capitals stands for something else, and an ellipsis for options.
      .filter { !$0.contains(#/[A-Z]{2,}|…/#) }
    #expect(commands.count > 60)
    let chosen = Effort.some(commands, of: "GuideTests commands")
    try PrivateJournal(environment: ["COMMANDS": chosen.joined(separator: "\n")]).expect(
      Self.machine
        + """
        echo tester:x:1002:1002::/:/bin/sh >>/etc/passwd
        echo immich:x:2002:2002::/:/bin/sh >>/etc/passwd
        mkdir -p /srv/photos/2024 /srv/scans .config/permcheck/accessors.d upload Pictures
        touch /srv/photos/a.jpg /srv/photos/2024/a.jpg
        printf 'name = "scans"\\nsummary = "scans"\\ndirectory = "/srv/scans"\\n' >.config/permcheck/accessors.d/scans.toml
        mkdir /srv/bin; export PATH=/srv/bin:$PATH
        for name in guvcview v4l2-ctl rsync; do ln -s /bin/true $bin/$name; done
        printf "#!/bin/sh\\necho '%s'\\n" '{"version": 1, "status": "denied", "message": "it is shut", "requestable": false}' >/srv/bin/permcheck-accessor-vpn
        chmod 755 /srv/bin/permcheck-accessor-vpn
        export PERMCHECK_LOG=$home/log.jsonl
        permcheck verify --init camera mic photos >access.toml || :
        permcheck explain camera --json >facts.json || :
        cp facts.json other.json
        while IFS= read -r line; do
          got=0 line=${line/4242/$$} line=${line//\\/var\\/log\\/permcheck.jsonl/$home/log.jsonl}
          case $line in *watch*|*--wait*) limit=2;; *) limit=60;; esac
          timeout -k 1 $limit bash -c "$line" >$OUT.o 2>$OUT.e </dev/null || got=$?
          # What watches goes on; without a camera nothing is run; a command may be named alone.
          case "$got $line" in
            [013]\\ *|77\\ *) ;;
            124\\ *watch*|124\\ *--wait*|126\\ *run\\ camera*) ;;
            "64 permcheck "*) grep -q 'xpected argument\\|name the file' $OUT.e && is 0 permcheck help ${line#permcheck } || fail "$line: $(cat $OUT.e)";;
            *) fail "$line ended with $got: $(cat $OUT.e)";;
          esac
        done <<<"$COMMANDS"
        """)
  }

  @Test func `Every file in TOML is read`() throws {
    let blocks = try Self.blocks("toml")
    #expect(blocks.map(\.file) == ["README.md", "accessors.md", "ci.md"])
    for block in blocks {
      let use =
        block.text.contains("[[expect]]")
        ? """
        printf '%s' "$BLOCK" >access.toml; grep -q '"nobody"' access.toml && echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd
        mkdir -p /srv/photos
        is 1 $P verify access.toml
        """
        : """
        mkdir -p .config/permcheck/accessors.d /srv/scans
        printf '%s' "$BLOCK" >.config/permcheck/accessors.d/scans.toml
        is 0 $P list; grep -q 'scans.*(paper).*the scans of the office' $OUT.o || fail "$(cat $OUT.o $OUT.e)"
        is 0 $P scans; grep -q '/srv/scans' $OUT.o || fail "$(cat $OUT.o)"
        is 0 $P paper --user ada
        chmod 700 /srv/scans
        is 1 $P paper --user ada
        """
      try PrivateJournal(environment: ["BLOCK": block.text]).expect(Self.machine + use)
    }
  }

  /// The first line is what a program reads, the second what it may answer.
  @Test func `The program's question and answer are real`() throws {
    let block = try #require(try Self.blocks("json").first)
    let lines = block.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 2)
    try PrivateJournal(environment: ["QUESTION": lines[0], "ANSWER": lines[1]]).expect(
      Self.machine
        + """
        bin=/srv/bin; mkdir $bin; export PATH=$bin:$PATH
        printf '#!/bin/sh\\ncat >%s\\nprintf "%%s\\\\n" "%s"\\n' "$home/asked" "$(printf '%s' "$ANSWER" | sed 's/"/\\\\"/g')" \\
          >$bin/permcheck-accessor-vpn
        chmod 755 $bin/permcheck-accessor-vpn
        is 1 $P check vpn
        grep -q 'vpn *denied *the tunnel is for members of vpn' $OUT.o || fail "$(cat $OUT.o $OUT.e)"
        python3 - asked <<'END' || fail "another question: $(cat asked)"
        import json, os, sys
        shape = lambda v: {k: shape(x) for k, x in v.items()} if isinstance(v, dict) else type(v).__name__
        sys.exit(shape(json.loads(os.environ["QUESTION"])) != shape(json.load(open(sys.argv[1]))))
        END
        """)
  }

  @Test func `The action has the inputs of the example`() throws {
    for block in try Self.blocks("yaml") {
      let outcome = try Command.run(
        [
          "/usr/bin/python3", "-c",
          """
          import sys, yaml
          step, action = yaml.safe_load(sys.stdin)[0], yaml.safe_load(open(sys.argv[1]))
          assert step["uses"].startswith("OWNER/PermissionKit@"), step
          unknown = set(step["with"]) - set(action["inputs"])
          sys.exit(f"the action has no {unknown}" if unknown else 0)
          """, Checkout.path("action.yml"),
        ], input: block.text)
      #expect(outcome.status == 0, "\(outcome)")
    }
  }

  @Test func `An audit prints what the guide has`() throws {
    let blocks = try Self.blocks("").filter { $0.file == "audit.md" }
    #expect(blocks.count == 2)
    for block in blocks {
      let lines = block.text.split(separator: "\n", maxSplits: 1).map(String.init)
      try PrivateJournal(environment: ["LINE": String(lines[0].dropFirst(2)), "WANTED": lines[1]])
        .expect(
          Self.machine
            + """
            mkdir -p /srv/photos/2019 /srv/photos/2020; cd /srv/photos
            touch 2019/{1..1203} 2020/a.jpg 2020/b.jpg 2020/c.jpg
            chgrp -R family .; chmod 750 2019; chmod 640 2020/*.jpg; chmod 755 . 2020; chmod 644 2019/*
            bash -c "$LINE" >$OUT.o 2>&1 || :
            diff <(printf '%s' "$WANTED") $OUT.o || fail "another output"
            """)
    }
  }

  @Test func `A check prints what the guide has`() throws {
    let blocks = try Self.blocks("").filter { $0.file == "check.md" && $0.command != nil }
    #expect(blocks.count == 4)
    for block in blocks {
      let command = try #require(block.command)
      try PrivateJournal(environment: ["LINE": command, "WANTED": block.text]).expect(
        Self.machine
          + """
          echo immich:x:2002:2002::/:/bin/sh >>/etc/passwd
          printf '%s\\n' games:x:60: immich:x:2002: >>/etc/group
          truncate -s 4M $home/disk; mkfs.ext4 -q $home/disk; mount -o loop $home/disk /srv
          mkdir /srv/photos; cd /srv/photos
          case $LINE in
            *--future*) sed -i s/:1000:1000:/:1000:2000:/ /etc/passwd; chown ada .;;
            *--recursive*)
              mkdir 100CANON 101 102SSCAM; touch {100CANON,101,102SSCAM}/{a,b}.jpg
              chmod 700 102SSCAM; chmod 600 101/b.jpg;;
            *--to*)
              printf '%s\\n' ada:x:1000: bob:x:1001: >>/etc/group
              mkdir -m 1777 /srv/spool; touch /srv/spool/job7; chown bob:1001 /srv/spool/job7;;
            *) mkdir 2024; touch 2024/a.jpg; chgrp games .; chmod 750 .;;
          esac
          # Who reads the guide types sudo.
          SUDO_USER=ada bash -c "$LINE" >$OUT.o 2>&1 || :
          # This build is in no folder that sudo knows, so the fix names it by its path.
          diff <(printf '%s' "$WANTED") <(sed "s|$P|permcheck|" $OUT.o) || fail "another output"
          """)
    }
  }

  /// The table of languages promises what its tests show.
  @Test func `Every cell of the table of languages has a test`() throws {
    func text(_ path: String) throws -> String {
      try String(contentsOf: Checkout.file(path), encoding: .utf8)
    }
    func cells(_ line: Substring) -> [String] {
      line.components(separatedBy: " | ").map { $0.trimmingCharacters(in: ["|", " "]) }
    }
    let table = try text("Documentation/guide/c-python.md").split(separator: "\n")
      .drop { !$0.hasPrefix("| what | Swift |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
    let named = try text("Tests/Library/capabilities.txt").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { cells($0) }
    #expect(named.map { $0[0] } == table.map { cells($0)[0] })
    let places = [
      "CapabilityTests": "Tests/Bridges/Tests/BridgesTests/CapabilityTests.swift",
      "OperationTests": "Tests/permcheckTests/Check/OperationTests.swift",
    ]
    let c = try text("Tests/Library/library.c") + text("Tests/Library/lifecycle.c")
    let python =
      try text("Bindings/python/tests/test_permissionkit.py")
      + text("Bindings/python/tests/test_lifecycle.py")
    for row in named {
      let suite = row[1].prefix { $0 != " " }
      let swift = try text(try #require(places[String(suite)], "\(row)"))
      #expect(swift.contains("@Test func `\(row[1].dropFirst(suite.count + 1))`()"), "\(row)")
      #expect(c.contains("static void \(row[2])(void) {"), "\(row)")
      #expect(c.contains("\n  \(row[2])();") || c.contains(" \(row[2])();"), "\(row)")
      #expect(python.contains("  def \(row[3])(self):"), "\(row)")
    }
  }
}
