import Foundation
import TestSupport
import Testing

/// Microphones through a sound server: what the server answers counts, and who may be asked at all.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct SoundServerTests {
  /// A folder for sockets, and a server in it.
  final class Session {
    let tree: Tree
    let server: LiveCommand
    let environment: [String: String?]
    /// Whether the server answers at once, if it is let.
    private let isQuick: Bool

    init(_ manner: String, uid: UInt32 = stranger.uid, name: String = "pulseaudio") throws {
      tree = try Tree()
      isQuick = manner == "offers"
      try tree.folder("run/pulse", mode: 0o755, uid: uid, gid: uid)
      let script = Checkout.path("Tests/permcheckTests/Model/sound_server.py")
      server = try LiveCommand([
        "/usr/bin/python3", script, tree.path("run/pulse/native"), manner, "\(uid)", name,
      ])
      environment = [
        "XDG_RUNTIME_DIR": tree.path("run"), "PULSE_SERVER": nil, "PULSE_RUNTIME_PATH": nil,
        "PIPEWIRE_RUNTIME_DIR": nil, "PIPEWIRE_REMOTE": nil,
      ]
      #expect(server.line() == "ready")
    }

    deinit {
      server.send(SIGKILL)
      _ = try? server.finish()
    }

    /// Asks and returns the report, which is in the document and is that of the exit status.
    func ask(
      _ arguments: [String] = [], as account: Account? = stranger,
      more: [String: String?] = [:]
    ) throws -> (report: Document.Report, status: Int32) {
      // A server has 100 ms, which other work may take from it.
      for _ in 0..<30 {
        let outcome = try Command.permcheck(
          ["mic", "--json"] + (arguments.contains("--through") ? [] : ["--through", "server"])
            + arguments, environment: environment.merging(more) { $1 }, as: account)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        let report = try outcome.report()
        if isQuick, report.codes.contains("not-answering") { continue }
        return (report, outcome.status)
      }
      throw CocoaError(
        .executableLoad, userInfo: [NSLocalizedDescriptionKey: "the server never answered"])
    }

    /// Whether somebody has connected; ends the server.
    func wasAsked() throws -> Bool {
      server.send(SIGKILL)
      return try server.finish().output.contains("asked")
    }
  }

  struct Answer: CustomTestStringConvertible {
    var manner: String
    var status: String
    var says: String
    var isAsked = true
    var testDescription: String { manner }
  }

  static let answers = [
    Answer(manner: "offers", status: "authorized", says: "PulseAudio offers 'Lab microphone';"),
    Answer(manner: "two", status: "authorized", says: "'Lab microphone' and 1 other microphone;"),
    Answer(manner: "muted", status: "authorized", says: "'Lab microphone' (muted);"),
    Answer(manner: "escapes", status: "authorized", says: "red"),
    Answer(manner: "monitors", status: "unavailable", says: "offers no microphone"),
    Answer(manner: "nothing", status: "unavailable", says: "offers no microphone"),
    Answer(manner: "stand-in", status: "unavailable", says: "offers no microphone"),
    Answer(manner: "refuses", status: "denied", says: "and has not its cookie"),
    Answer(manner: "silent", status: "notDetermined", says: "did not answer within 100 ms"),
    Answer(manner: "drips", status: "notDetermined", says: "did not answer within 100 ms"),
    Answer(manner: "flood", status: "notDetermined", says: "more than 1 MB"),
    Answer(manner: "long", status: "notDetermined", says: "more than 1 MB"),
    Answer(manner: "half", status: "notDetermined", says: "cannot be read"),
    Answer(manner: "noise", status: "notDetermined", says: "cannot be read"),
    Answer(manner: "closes", status: "notDetermined", says: "cannot be read"),
    Answer(
      manner: "bound", status: "notDetermined", says: "no visible process listens",
      isAsked: false),
  ]

  @Test(arguments: Effort.some(answers, of: "SoundServerTests answers"))
  func `The answer of the server decides`(
    _ answer: Answer
  ) throws {
    let session = try Session(answer.manner)
    let (report, _) = try session.ask()
    let messages = report.resources.flatMap { $0.reasons.map(\.message) }
    #expect(report.status == answer.status, "\(messages)")
    #expect(messages.contains { $0.contains(answer.says) }, "\(messages)")
    #expect(report.resources.count == 1 && !report.requestable)
    #expect(try session.wasAsked() == answer.isAsked)
  }

  /// Rows 33 and 34: a real PulseAudio, asked from a cron job, and by a user without its cookie.
  @Test func `The environment and the cookie decide`() throws {
    let outcome = try Command.run([
      "unshare", "-pfmn", "--kill-child", "--mount-proc", "--propagation", "private", "timeout",
      "-k", "5", "60", "bash", "-uc",
      Command.privateEtc + """
        command -v pulseaudio >/dev/null && command -v pactl >/dev/null || { echo done; exit; }
        for f in /run /home /srv /var/lib; do mount -t tmpfs -o mode=755 none $f; done; cd /srv; private_etc
        for id in 61001:ada 61002:bob; do u=${id%:*} n=${id#*:}; echo $n:x:$u:$u::/home/$n:/bin/sh >>/etc/passwd; echo $n:x:$u: >>/etc/group
          mkdir -p /run/user/$u /home/$n; chown $u /run/user/$u /home/$n; done
        as() { u=$1; shift; setpriv --reuid $u --regid $u --clear-groups env -i PATH="$PATH" HOME=/home/$([ $u = 61001 ] && echo ada || echo bob) PERMCHECK_LOG=none LC_ALL=C.UTF-8 "$@"; }
        R=XDG_RUNTIME_DIR=/run/user S=/run/user/61001/pulse/native P=$1
        as 61001 $R/61001 pulseaudio --daemonize=no --exit-idle-time=-1 -n -L "module-null-sink" -L "module-remap-source master=auto_null.monitor source_name=mic" -L module-native-protocol-unix 2>/dev/null &
        for i in $(seq 50); do [ -S $S ] && break; sleep .1; done
        # says USER [VARIABLE=...]: what pactl and permcheck say.
        says() { as "$@" pactl info 2>&1 | sed -n 's/^Connection failure: //p; s/^Server String.*/works/p'; chmod 755 /run/user/61001/pulse; as "$@" $P mic --through server | sed 's/(pid [0-9]*, //; 1s/^[^ ]* *mic *//; s/   */ /g'; }
        says 61001 $R/61001; says 61001; says 61002 $R/61002 PULSE_SERVER=$S; says 61002; chmod 700 /run/user/61001/pulse
        # The cookie, and the files that clients read.
        chmod 755 /run/user/61001/pulse; cp /home/ada/.config/pulse/cookie .; chmod 644 cookie
        says 61002 PULSE_SERVER=$S PULSE_COOKIE=/srv/cookie; D=/home/bob/.config/pulse; mkdir -p $D/client.conf.d h/pulse; cp cookie h/pulse
        echo "; x" >$D/client.conf; echo " default-server = unix:$S # x" >$D/client.conf.d/a.conf; chown -R 61002 h /home/bob; C=XDG_CONFIG_HOME=/srv/h
        says 61002 $C PULSE_COOKIE=/srv/none; rm h/pulse/cookie; says 61002 $C; echo "cookie-file=/srv/cookie" >>$D/client.conf; says 61002 $C
        says 61002 $C PULSE_SERVER=; says 61002 $C "PULSE_SERVER={x}$S"; says 61002 "PULSE_SERVER={$(cat /etc/machine-id)}unix:$S"
        chmod 700 /run/user/61001/pulse; as 61002 PULSE_SERVER=$S $P mic --through server | sed 's/   */ /g'; as 61002 PULSE_SERVER=/run/no $P mic --through server | sed 's/   */ /g'
        echo done
        """, "bash", Command.permcheck,
    ])
    #expect(
      outcome.output == "done\n"
        || outcome.output == """
          works
          unavailable PulseAudio runs, but offers no microphone
          Connection refused
          unavailable XDG_RUNTIME_DIR is not set, as in cron jobs and services, so programs do not find the sound server at /run/user/61001/pulse/native
           fix: set XDG_RUNTIME_DIR=/run/user/61001 for them
          Access denied
          denied PulseAudio at /run/user/61001/pulse/native refuses bob, who is not ada and has not its cookie (~/.config/pulse/cookie of ada, PULSE_COOKIE)
          Connection refused
          unavailable there is no sound server for bob
          works
          unavailable PulseAudio runs, but offers no microphone
          works
          unavailable PulseAudio runs, but offers no microphone
          Access denied
          denied PulseAudio at /run/user/61001/pulse/native refuses bob, who is not ada and has not its cookie (~/.config/pulse/cookie of ada, PULSE_COOKIE)
          works
          unavailable PulseAudio runs, but offers no microphone
          Invalid server
          unavailable PULSE_SERVER is empty, so programs find no sound server
          Connection refused
          unavailable PULSE_SERVER names {x}/run/user/61001/pulse/native, which is no server for programs on this machine
          works
          unavailable PulseAudio runs, but offers no microphone
          ✘ mic denied PULSE_SERVER names /run/user/61001/pulse/native, which bob cannot reach (EACCES)
          – mic unavailable PULSE_SERVER names /run/no, which bob cannot reach (ENOENT)
          done

          """,
      "\(outcome)")
  }

  @Test func `The portal for cameras is no evidence for a microphone`() throws {
    let session = try Session("offers")
    let service = "/usr/share/dbus-1/services/org.freedesktop.portal.Desktop.service"
    for _ in 0..<30 {
      let outcome = try Command.run(
        [
          "unshare", "--mount", "sh", "-ec",
          """
          mount -t tmpfs -o mode=755 tmpfs /usr/share; mkdir -p /usr/share/dbus-1/services; : >\(service)
          exec setpriv --reuid \(stranger.uid) --regid \(stranger.gid) --clear-groups "$0" mic --through server --json
          """, Command.permcheck,
        ], environment: session.environment)
      let report = try outcome.report()
      if report.codes.contains("not-answering") { continue }
      #expect(
        report.status == "authorized" && !outcome.output.contains("portal"), "\(outcome.output)")
      return
    }
    Issue.record("the server never answered")
  }

  @Test func `No control character of a server is printed`() throws {
    let session = try Session("escapes")
    let outcome = try Command.permcheck(
      ["mic", "--through", "server"], environment: session.environment, as: stranger)
    #expect(outcome.output.contains("red") && !outcome.output.contains("\u{1b}["))
  }

  @Test(arguments: ["systemd", "init"]) func `No server is started`(
    _ starter: String
  ) throws {
    let session = try Session("offers", name: starter)
    let (report, status) = try session.ask()
    #expect(report.status == "notDetermined" && status == 2)
    #expect(report.resources.first?.reasons.first?.message.contains("would start it") == true)
    #expect(try !session.wasAsked())
  }

  @Test func `Root asks only its own server`() throws {
    let own = try Session("offers", uid: 0)
    #expect(try own.ask(as: nil).report.status == "authorized")
    // The environment of sudo -E, or one that somebody else chose.
    let other = try Session("offers")
    #expect(try other.ask(as: nil).report.status == "notDetermined")
    #expect(
      try other.ask(
        as: nil, more: ["PULSE_SERVER": "unix:\(other.tree.path("run/pulse/native"))"]
      ).report.status == "notDetermined")
    #expect(try !other.wasAsked())
    // A socket of root's on which another user's process listens.
    let given = try Session("offers")
    chown(given.tree.path("run/pulse/native"), 0, 0)
    #expect(try given.ask(as: nil).report.status == "notDetermined")
    #expect(try !given.wasAsked())
  }

  @Test func `Only the user of a server is told its devices`() throws {
    let session = try Session("offers")
    for subject in [
      ["--uid", "\(stranger.uid)", "--gid", "\(stranger.gid)"], ["--user", "nobody"],
      ["--pid", "\(session.server.pid)"],
    ] {
      let (report, status) = try session.ask(subject, as: nil)
      #expect(report.status != "authorized" && status != 0, "\(subject)")
      // What is not known of the server is not known of both.
      let (either, any) = try session.ask(subject + ["--through", "any"], as: nil)
      #expect(either.status == "notDetermined" && any == 2, "\(subject)")
    }
    #expect(try !session.wasAsked())
  }

  @Test func `The variables of PulseAudio are used`() throws {
    let session = try Session("offers")
    let socket = session.tree.path("run/pulse/native")
    for (variables, status) in [
      (["PULSE_SERVER": "{0123456789abcdef}unix:\(socket)"], "unavailable"),
      (["PULSE_SERVER": "{0123456789abcdef}unix:/x unix:\(socket)"], "authorized"),
      (["PULSE_SERVER": "unix:"], "unavailable"), (["PULSE_SERVER": ""], "unavailable"),
      (["PULSE_SERVER": socket, "XDG_RUNTIME_DIR": nil], "authorized"),
      (["PULSE_RUNTIME_PATH": session.tree.path("run/pulse")], "authorized"),
      (["PULSE_SERVER": "tcp:192.0.2.1"], "notDetermined"),
      (["PULSE_SERVER": "unix:\(socket)x"], "unavailable"),
      (["XDG_RUNTIME_DIR": session.tree.path("none")], "unavailable"),
    ] as [([String: String?], String)] {
      #expect(try session.ask(more: variables).report.status == status, "\(variables)")
    }
  }

  @Test func `--through any accepts either way`() throws {
    let session = try Session("offers")
    let (report, status) = try session.ask(["--through", "any"])
    #expect(report.status == "authorized" && status == 0)
    let silent = try Session("silent")
    let (doubtful, _) = try silent.ask(["--through", "any"])
    #expect(["authorized", "limited", "notDetermined"].contains(doubtful.status))
    // The nodes alone decide where nothing else is said; one very node is no server's.
    let direct = try session.ask(["--through", "alsa"]).report
    #expect(!direct.resources.contains { $0.path.hasSuffix("native") })
    for wrong in [["mic=/dev/null"], ["mic", "--root", "/tmp"]] {
      let outcome = try Command.permcheck(wrong + ["--through", "server"])
      #expect(outcome.status == 64 && outcome.errors.contains("--through"), "\(outcome.errors)")
    }
  }

  /// A line of /proc/net/unix that somebody else made by the name of a socket starts nothing, and
  /// nothing that it names is looked at.
  @Test func `A forged line of /proc/net/unix is ignored`() throws {
    let session = try Session("offers", name: "systemd")
    // The inode of a socket that a process of the user holds, behind a line break in a name.
    let forger = try LiveCommand([
      "/usr/bin/python3", "-c",
      "import os, socket, sys, time\n"
        + "os.setgroups([]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3)\n"
        + "mine = socket.socket(socket.AF_UNIX)\n"
        + "line = '0 0 0 00010000 0 0 %d %s' % (os.fstat(mine.fileno()).st_ino, sys.argv[1])\n"
        + "s = socket.socket(socket.AF_UNIX); s.bind('\\0\\n' + line); s.listen()\n"
        + "print('ready', flush=True); time.sleep(60)",
      session.tree.path("run/pulse/native"),
    ])
    defer {
      forger.send(SIGKILL)
      _ = try? forger.finish()
    }
    #expect(forger.line() == "ready")
    let (report, status) = try session.ask()
    #expect(report.status == "notDetermined" && status == 2)
    #expect(try !session.wasAsked())
  }

  /// A server that is always one byte ahead has 100 ms like every other.
  @Test func `A slow answer ends in time`() throws {
    let session = try Session("trickles")
    let (report, _) = try session.ask()
    #expect(report.status == "notDetermined")
  }
}
