import Foundation
import TestSupport
import Testing

/// Declared accessors in the tool: files, origins, and every command that takes a name.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "asking the kernel as other users wants root"))
struct DeclaredTests {
  /// A tree whose folder `config` is that of the user's declarations.
  private func tree(_ files: [String: String] = [:]) throws -> Tree {
    let tree = try Tree()
    for (name, text) in files {
      try tree.file("config/permcheck/accessors.d/\(name).toml", text)
    }
    return tree
  }

  private static let accessors = Checkout.file("Accessors")

  private func permcheck(
    _ tree: Tree, _ arguments: [String], as account: Account? = stranger
  ) throws -> Outcome {
    try Command.permcheck(
      arguments,
      environment: [
        "XDG_CONFIG_HOME": tree.path("config"), "HOME": tree.path("home"),
        "XDG_STATE_HOME": tree.path("state"),
      ], as: account)
  }

  private static func scans(_ tree: Tree) -> String {
    "name = \"scans\"\naliases = [\"paper\"]\nsummary = \"scans\"\ndirectory = \"\(tree.path("scans"))\"\n"
  }

  @Test func `A check of built-in names reads no file`() throws {
    let tree = try tree(["broken": "name = 3\n"])
    for names in [[], ["camera", "mic", "photos"], ["explain", "camera"], ["verify", "--init"]] {
      let outcome = try permcheck(tree, names)
      #expect(!outcome.errors.contains("broken.toml"), "\(names): \(outcome.errors)")
    }
    for names in [["serial"], ["list"], ["explain", "kvm"], ["fuse", "camera"], ["camra"]] {
      let outcome = try permcheck(tree, names)
      let place = "permcheck: \(tree.path("config"))/permcheck/accessors.d/broken.toml:1:8: "
      #expect(outcome.errors.contains(place), "\(names): \(outcome.errors)")
      #expect(outcome.errors.components(separatedBy: place).count == 2, "told once")
    }
  }

  @Test func `A broken file does not affect other files`() throws {
    let tree = try tree([
      "broken": "[[[", "photos": "name = \"photos\"\nsummary = \"s\"\nxdg = \"MUSIC\"",
    ])
    try tree.file("config/permcheck/accessors.d/scans.toml", Self.scans(tree))
    try tree.folder("scans", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    let made = try Command.run(
      ["mkfifo", tree.path("config/permcheck/accessors.d/fifo.toml")])
    #expect(made.status == 0)
    let outcome = try permcheck(tree, ["scans", "--json"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("fifo.toml: not a regular file"))
    #expect(outcome.errors.contains("photos.toml:1:8: name: \"photos\" is the built-in accessor"))
    let list = try permcheck(tree, ["list", "--format", "plain"]).output
    #expect(list.contains("photos\t\tthe user's picture folder (XDG)\tbuilt-in\n"))
    #expect(list.contains("serial\ttty\tserial ports\tshipped\n"))
    let file = tree.path("config/permcheck/accessors.d/scans.toml")
    #expect(list.contains("scans\tpaper\tscans\t\(file)\n"))
    let near = try permcheck(tree, ["scnas"])
    #expect(near.status == 64 && near.errors.contains("did you mean scans?"), "\(near.errors)")
    let names = try permcheck(tree, ["list", "--names"]).output.split(separator: "\n")
    #expect(names.contains("scans") && names.contains("paper") && names.contains("tty"))
  }

  @Test func `Every command accepts a declared name`() throws {
    let tree = try tree()
    try tree.file("config/permcheck/accessors.d/scans.toml", Self.scans(tree))
    try tree.folder("scans", mode: 0o500, uid: stranger.uid, gid: stranger.gid)
    try tree.file("scans/a", mode: 0o000, uid: stranger.uid, gid: stranger.gid)
    try tree.folder("state", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    try tree.folder("home", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    func expect(_ status: Int32, _ words: String..., says: String = "") throws {
      let outcome = try permcheck(tree, words)
      #expect(outcome.status == status, "\(words): \(outcome.output)\(outcome.errors)")
      #expect((outcome.output + outcome.errors).contains(says) || says.isEmpty, "\(words)")
    }
    try expect(0, "scans", says: "limited")
    try expect(0, "paper", says: "limited")
    try expect(1, "scans", "--all")
    try expect(1, "explain", "scans", "--all", says: "/scans")
    try expect(0, "run", "scans", "--", "true")
    try expect(0, "watch", "scans", "--for", "0", says: "scans")
    try expect(1, "audit", "scans", says: "a")
    try expect(0, "verify", "--init", "scans", says: "is = \"limited\"")
    try tree.file(
      "expect.toml", "[[expect]]\naccessor = \"scans\"\nis = \"limited\"\n")
    try expect(0, "verify", tree.path("expect.toml"))
    try expect(0, "scans", "--log", tree.path("state/log"))
    try expect(0, "log", "--accessor", "paper", "--log", tree.path("state/log"), says: "scans")
    // The owner's own request, without root.
    try expect(0, "request", "scans", "--all", "--yes", says: "scans")
    try expect(0, "scans", "--all", says: "authorized")
    // The grant outlives the declaration, and can be taken back without it.
    try FileManager.default.removeItem(
      atPath: tree.path("config/permcheck/accessors.d/scans.toml"))
    try expect(64, "scans")
    try expect(0, "revoke", "scans", says: "revoked")
    try expect(64, "revoke", "scans")
  }

  /// Nodes with random owners and modes below another root; the judge is faccessat2(2).
  @Test func `Nodes are judged as the kernel does`() throws {
    let tree = try tree()
    let modes: [mode_t] = [0o600, 0o660, 0o606, 0o640, 0o666, 0o060, 0o006, 0o000]
    for mode in modes {
      for gid in [stranger.gid, 20] {
        let place = try Tree()
        try place.device("dev/ttyUSB3", 188, 3, mode: mode, gid: gid)
        let node = place.path("dev/ttyUSB3")
        let truth = try Kernel.faccessat2(node, R_OK | W_OK, as: stranger)
        let outcome = try permcheck(tree, ["serial", "--root", place.root, "--json"])
        #expect(
          // Where no driver has the number, an open would fail.
          truth == 0 ? [0, 3].contains(outcome.status) : outcome.status == 1,
          "\(String(mode, radix: 8)): \(outcome.output)")
        #expect(outcome.output.contains("\"method\":\"access\""), "a port is never opened")
      }
    }
    let place = try Tree()
    try place.device("dev/ttyUSB0", 1, 3, mode: 0o666)
    try place.file("dev/ttyACM0", mode: 0o666)
    let outcome = try permcheck(tree, ["serial", "--root", place.root])
    #expect(outcome.status == 3, "no serial port: \(outcome.output)")
  }

  @Test(arguments: ["fuse", "tun", "kvm"])
  func `The real nodes of this machine are judged`(_ name: String) throws {
    let tree = try tree()
    let node = name == "tun" ? "/dev/net/tun" : "/dev/\(name)"
    guard FileManager.default.fileExists(atPath: node) else { return }
    let truth = try Kernel.open(node, O_RDWR, as: stranger)
    let outcome = try permcheck(tree, [name])
    #expect((outcome.status == 0) == (truth == 0), "\(truth): \(outcome.output)")
  }

  @Test func `Sockets are judged by what connect asks for`()
    throws
  {
    let tree = try tree()
    try tree.file(
      "config/permcheck/accessors.d/daemon.toml",
      "name = \"daemon\"\nsummary = \"d\"\nsocket = \"\(tree.path("s"))\"\nrisk = \"it is as much as root\"\n"
    )
    let missing = try permcheck(tree, ["daemon"])
    #expect(missing.status == 3)
    let server = try LiveCommand([
      "/usr/bin/python3", "-c",
      "import socket, sys, time\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\n"
        + "print('ready', flush=True)\ntime.sleep(600)", tree.path("s"),
    ])
    defer { withExtendedLifetime(server) {} }
    #expect(server.line() == "ready")
    for mode: mode_t in [0o602, 0o600, 0o666, 0o604] {
      chmod(tree.path("s"), mode)
      let truth = try Kernel.faccessat2(tree.path("s"), W_OK, as: stranger)
      let outcome = try permcheck(tree, ["daemon"])
      #expect(outcome.status == (truth == 0 ? 0 : 1), "\(mode): \(outcome.output)")
    }
    chmod(tree.path("s"), 0o600)
    try tree.folder("state", mode: 0o700, uid: stranger.uid, gid: stranger.gid)
    let request = try permcheck(tree, ["request", "daemon", "--dry-run"])
    #expect(request.status == 1)
    #expect(
      request.errors.contains(
        "only an administrator may give access to daemon (it is as much as root)"),
      "\(request.errors)")
    #expect(
      request.errors.contains("root accepts the declaration only in /etc/permcheck/accessors.d"))
  }

  /// Root in person grants what root's own file declares, and nothing that others can change.
  @Test func `Root uses only root's files`() throws {
    try PrivateJournal().expect(
      """
      private_etc; chmod 755 /var/lib /etc
      mkdir -p /var/lib/scans /etc/permcheck/accessors.d; chmod 700 /var/lib/scans
      export XDG_CONFIG_HOME=/var/lib/config HOME=/root
      D=/etc/permcheck/accessors.d
      printf 'name = "scans"\\nsummary = "s"\\ndirectory = "/var/lib/scans"\\n' >$D/scans.toml
      is 1 as 2 $P scans
      as 2 ls /var/lib/scans 2>/dev/null && fail "the folder is open already"
      BEFORE=$(state /var/lib/scans)
      refused() { is 1 $P request scans --user 2 --yes
        grep -q 'which users other than root can change' $OUT.e || fail "$1: $(cat $OUT.e)"
        same "$(state /var/lib/scans)" "$BEFORE" "$1"
        is 126 $P run scans --request --yes -- true; same "$(state /var/lib/scans)" "$BEFORE" "$1"; }
      chmod 646 $D/scans.toml; refused writable; chmod 664 $D/scans.toml; refused group; chmod 644 $D/scans.toml
      chown 2 $D/scans.toml; refused owner; chown 0 $D/scans.toml
      chmod 777 $D; refused folder; chmod 755 $D
      chown 2 /etc/permcheck; refused above; chown 0 /etc/permcheck
      setfacl -m u:2:rw $D/scans.toml; refused acl; setfacl -b $D/scans.toml
      mv $D/scans.toml /etc/real; ln -s /etc/real $D/scans.toml; refused link; rm $D/scans.toml; mv /etc/real $D/scans.toml
      is 0 $P request scans --user 2 --yes
      as 2 ls /var/lib/scans; as 2 touch /var/lib/scans/x
      is 0 $P revoke scans --user 2
      same "$(state /var/lib/scans)" "$BEFORE" revoked
      # The helper changes device nodes alone.
      is 64 env -u PKEXEC_UID SUDO_UID=2 $H grant scans
      is 64 env -u PKEXEC_UID SUDO_UID=2 $H grant docker
      is 64 env -u PKEXEC_UID SUDO_UID=2 $H grant kvm
      """)
  }

  /// Two serial ports and what looks like one, in a /dev and /sys of the test.
  private static let ports = """
    mount -t tmpfs -o mode=755 tmpfs /sys
    for N in ttyUSB0:188:0 ttyACM1:166:1; do
      IFS=: read -r NAME MAJOR MINOR <<<"$N"
      mkdir -p /sys/dev/char/$MAJOR:$MINOR /sys/class/tty/$NAME; echo $MAJOR:$MINOR >/sys/class/tty/$NAME/dev
      ln -s /sys/class/tty /sys/dev/char/$MAJOR:$MINOR/subsystem
    done
    mkdir -p /sys/dev/char/1:3 /sys/class/tty/tty1; echo 4:1 >/sys/class/tty/tty1/dev
    mount -t tmpfs -o mode=755 tmpfs /dev; mkdir /dev/shm; mknod -m 666 /dev/null c 1 3
    mknod -m 660 /dev/ttyUSB0 c 188 0; mknod -m 660 /dev/ttyACM1 c 166 1
    mknod -m 660 /dev/tty1 c 4 1; mknod -m 660 /dev/ttyS1 c 1 1
    chgrp 20 /dev/tty*
    helper() { env -u SUDO_UID -u PKEXEC_UID SUDO_UID=5 $H "$@"; }
    has() { getfacl -pn /dev/$1 | grep -q '^user:5:rw-'; }
    BEFORE=$(state /dev/tty*)

    """

  /// The helper gives serial ports, by an ACL entry.
  @Test func `The helper gives serial ports`() throws {
    try PrivateJournal().expect(
      Self.ports
        + """
        is 0 helper grant serial
        has ttyUSB0 || fail ttyUSB0
        has ttyACM1 || fail ttyACM1
        for OTHER in tty1 ttyS1; do ! getfacl -pn /dev/$OTHER | grep -q '^user:5' || fail $OTHER; done
        is 0 helper revoke serial
        same "$(state /dev/tty*)" "$BEFORE" revoked
        """)
  }

  /// Row 33 of SECURITY.md: what is typed into a terminal is somebody else's.
  @Test func `Row 33: The helper gives no terminal that somebody uses`() throws {
    try PrivateJournal(limit: 120).expect(
      Self.ports
        + """
        given() { is "$1" helper grant serial; case $1 in
          0) has ttyUSB0 || fail "$2: not given"; is 0 helper revoke serial;;
          *) grep -q "$3" $OUT.o || fail "$2: $(cat $OUT.o)"; esac
          same "$(state /dev/tty*)" "$BEFORE" "$2"; }
        rm /dev/ttyACM1 /dev/tty1 /dev/ttyS1; BEFORE=$(state /dev/tty*)
        given 0 "a port"
        # A console of the kernel.
        echo 'ttyUSB0              -W- (EC   a)  188:0' >$OUT.c
        mount --bind $OUT.c /proc/consoles; given 70 console console; umount /proc/consoles
        mkdir -p /sys/class/tty/console; echo tty0 ttyUSB0 >/sys/class/tty/console/active
        given 70 active console; echo tty0 >/sys/class/tty/console/active; given 0 "another console"
        # After a login.
        chown 7 /dev/ttyUSB0; BEFORE=$(state /dev/tty*); given 70 owner "belongs to a user"
        chown 0:5 /dev/ttyUSB0; chmod 600 /dev/ttyUSB0; BEFORE=$(state /dev/tty*); given 70 group "group tty"
        chgrp 20 /dev/ttyUSB0; BEFORE=$(state /dev/tty*); given 0 "as udev made it"
        """)
  }

  /// A session on a pseudo-terminal, whose number stands for that of a port.
  @Test func `Row 33: A session on a terminal is found`() throws {
    try PrivateJournal(limit: 120).expect(
      Self.ports + Self.declarations
        + """
        mount -t devpts -o newinstance,ptmxmode=666 devpts /mnt; ln -s /mnt/ptmx /dev/ptmx
        mkdir /dev/pts; mount --bind /mnt /dev/pts
        printf '%s\n' 'name = "modem"' 'summary = "s"' 'nodes = ["/dev/port*"]' 'subsystem = "tty"' \
          'numbers = ["136:*"]' 'grant = "acl"' >$D/modem.toml
        mkdir -p /sys/dev/char/136:0; ln -s /sys/class/tty /sys/dev/char/136:0/subsystem
        mknod -m 660 /dev/port0 c 136 0
        is 0 helper grant modem; is 0 helper revoke modem
        /usr/bin/python3 -c 'import pty, os, time
        pid, fd = pty.fork()
        time.sleep(100)' &
        becomes eval 'test -c /mnt/0'
        becomes eval 'grep -q " 34816 " /proc/[0-9]*/stat'
        is 70 helper grant modem
        grep -q "terminal of a session" $OUT.o || fail "$(cat $OUT.o)"
        """)
  }

  @Test func `Row 33: Ports of the mainboard want a declaration of roots own`() throws {
    try PrivateJournal().expect(
      Self.ports + Self.declarations
        + """
        echo 'tty0 -WU (EC) 4:2' >$OUT.c; mount --bind $OUT.c /proc/consoles
        rm /dev/tty*; mknod -m 660 /dev/ttyS0 c 4 64; chgrp 20 /dev/ttyS0; BEFORE=$(state /dev/tty*)
        mkdir -p /sys/dev/char/4:64 /sys/class/tty/ttyS0; echo 4:64 >/sys/class/tty/ttyS0/dev
        ln -s /sys/class/tty /sys/dev/char/4:64/subsystem
        is 70 helper grant serial
        grep -q "accessors.d" $OUT.o || fail "$(cat $OUT.o)"
        same "$(state /dev/tty*)" "$BEFORE" "a port of the mainboard"
        cp "$1" $D/serial.toml
        is 0 helper grant serial
        has ttyS0 || fail "not given: $(cat $OUT.o)"
        """, [Self.accessors.appending(path: "serial.toml").path])
  }

  /// A folder D for declarations of root, and what the helper does not give.
  private static let declarations = """
    private_etc; chmod 755 /var/lib /etc
    D=/etc/permcheck/accessors.d; mkdir -p $D
    refused() { is 64 helper grant "${2:-modem}"; same "$(state /dev/tty*)" "$BEFORE" "$1"; }

    """

  /// The helper gives what a file of root alone declares with grant = "acl", and honours no other file.
  @Test func `The helper gives what root declares`() throws {
    try PrivateJournal().expect(
      Self.ports + Self.declarations
        + """
        declare_modem() { printf '%s\n' 'name = "modem"' 'aliases = ["dial"]' 'summary = "modems"' \
          'nodes = ["/dev/ttyACM*"]' 'subsystem = "tty"' 'numbers = ["166:*"]' "$@" >$D/modem.toml; }
        refused "not declared"
        declare_modem; refused "without grant"
        declare_modem 'grant = "none"'; refused "grant none"
        declare_modem 'grant = "acl"'
        # Other files there are broken, one in a way that the reader of TOML itself does not expect.
        printf '[=' >$D/a.toml; printf 'name = ' >$D/z.toml; printf "%070000d" 0 >$D/large.toml
        is 0 helper grant modem
        has ttyACM1 || fail "no access: $(cat $OUT.o)"; ! has ttyUSB0 || fail "another port"
        grep -q '"uid":5\\b' $J || fail "$(cat $J)"
        is 0 helper revoke dial
        same "$(state /dev/tty*)" "$BEFORE" revoked
        # What others can change does not count, nor does what the environment names.
        chmod 646 $D/modem.toml; refused writable; chmod 644 $D/modem.toml
        chown 5 $D/modem.toml; refused owner; chown 0 $D/modem.toml
        chmod 777 $D; refused folder; chmod 755 $D
        # The declaration says how much is given at most.
        declare_modem 'grant = "acl"' 'need = "r"'
        is 70 helper grant modem --need rw; is 70 helper grant modem --need w
        same "$(state /dev/tty*)" "$BEFORE" "more than declared"
        is 0 helper grant modem
        getfacl -pn /dev/ttyACM1 | grep -q '^user:5:r--' || fail "not r"
        is 0 helper revoke modem; declare_modem 'grant = "acl"'
        mv $D/modem.toml /etc/real; ln -s /etc/real $D/modem.toml; refused link; rm $D/modem.toml
        mkdir -p /var/lib/config/permcheck/accessors.d; cp /etc/real /var/lib/config/permcheck/accessors.d/modem.toml
        export XDG_CONFIG_HOME=/var/lib/config HOME=/var/lib; refused environment
        mv /etc/real $D/modem.toml
        # The declaration may go before the grant does; no other name counts.
        is 0 helper grant modem
        rm $D/modem.toml
        is 64 helper revoke dial
        has ttyACM1 || fail "revoked by an alias that is gone"
        is 0 helper revoke modem
        same "$(state /dev/tty*)" "$BEFORE" "declaration is gone"
        is 64 helper revoke modem
        """)
  }

  /// Root takes the serial ports back from the helper, also by a file that is broken.
  @Test func `Root's file restricts a compiled declaration`() throws {
    try PrivateJournal().expect(
      Self.ports + Self.declarations
        + """
        # A name goes before an alias, also for the helper.
        printf '%s\n' 'name = "tty"' 'summary = "s"' 'directory = "/srv"' >$D/tty.toml; refused "alias" tty; rm $D/tty.toml
        # What root wrote to take something away does not give it when it is broken or out of place.
        printf 'grant = "none"' >$D/serial.toml; refused broken serial
        mv $D/serial.toml $D/50-serial.toml; refused "broken by another name" serial; rm $D/50-serial.toml
        sed -e 's/grant = "acl"/grant = "none"/' "$1" >/etc/real; ln -s /etc/real $D/serial.toml; refused linked serial
        rm $D/serial.toml; cp /etc/real $D/serial.toml; chmod 664 $D/serial.toml; refused "group may write" serial
        chown 5 $D/serial.toml; refused "another owner" serial; rm $D/serial.toml
        # Root takes the serial ports back from the helper, and says what they are.
        sed -e 's/grant = "acl"/grant = "none"/' "$1" >$D/serial.toml; refused "own serial" serial
        grep -q none $D/serial.toml || fail "not edited"
        sed -e 's/^nodes = .*/nodes = ["\\/dev\\/ttyUSB*"]/' "$1" >$D/serial.toml
        is 0 helper grant serial
        has ttyUSB0 || fail ttyUSB0; ! has ttyACM1 || fail "not in root's own declaration"
        is 0 helper revoke serial
        same "$(state /dev/tty*)" "$BEFORE" "own serial"
        """,
      [Self.accessors.appending(path: "serial.toml").path])
  }
}
