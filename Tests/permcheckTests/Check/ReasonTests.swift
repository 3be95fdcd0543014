import Foundation
import TestSupport
import Testing

/// Every reason code: a scene in which its cause is real, and one beside it in which it is not.
///
/// A scene is made by a shell in a mount namespace of its own, on a tmpfs at $T that goes with it.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "mounting and taking on other ids wants root"))
struct ReasonTests {
  struct Scene {
    /// What root does first, in the folder $T.
    var setup: String
    /// What runs permcheck; the default is an unprivileged user of group 54400.
    var drop = Self.stranger
    var ask: String

    static let stranger = Self.unprivileged("--groups 54400")

    static func unprivileged(_ groups: String) -> String {
      "setpriv --reuid 54321 --regid 54321 \(groups) --inh-caps=-all"
    }

    init(_ setup: String, drop: String = Self.stranger, ask: String = "$T/dev/node") {
      self.setup = setup
      self.drop = drop
      self.ask = ask
    }
  }

  /// What makes the cause real.
  enum Proof {
    /// The running kernel, with its mounts, cgroups and namespaces.
    case kernel
    /// A marker that only a container or application sandbox leaves, below --root.
    case marker
    /// What systemd-logind or a device driver would leave; the lab's scenario has the real one.
    case lab(String)
  }

  struct Row: CustomTestStringConvertible {
    let code: String
    let proof: Proof
    let scene: Scene
    let beside: Scene
    var testDescription: String { code }

    init(_ code: String, _ proof: Proof, _ scene: Scene, beside: Scene) {
      self.code = code
      self.proof = proof
      self.scene = scene
      self.beside = beside
    }
  }

  /// A node of the null device with this mode, owner and group, and what else is done with it.
  static func node(_ mode: String, _ owner: String = "0:0", _ more: String = "") -> Scene {
    Scene(made(mode, owner) + more)
  }

  static func made(_ mode: String, _ owner: String = "0:0", _ device: String = "c 1 3") -> String {
    "mknod -m \(mode) dev/node \(device); chown \(owner) dev/node; "
  }

  static func file(_ more: String, need: String, drop: String = Scene.stranger) -> Scene {
    Scene(
      "mkdir m; mount -t tmpfs -o mode=777 none m; : >m/file; chown 54321 m/file; chmod 755 m/file; "
        + more,
      drop: drop, ask: "explain $T/m/file --need \(need)")
  }

  /// A file of everybody in a snapshot.
  static func subvolume(_ isReadOnly: String) -> Scene {
    Scene(
      "truncate -s 128M image; mkfs.btrfs -q image >/dev/null; mkdir m; mount -o loop image m; chmod 755 m; "
        + "btrfs -q subvolume create m/one; : >m/one/file; chmod 666 m/one/file; chmod 755 m/one; "
        + "btrfs -q subvolume snapshot m/one m/two; btrfs property set m/two ro \(isReadOnly); "
        + "chmod \(isReadOnly == "true" ? "755" : "700") m; ",
      ask: "explain $T/m/two/file --need w")
  }

  /// A folder on a file system with so many inodes, of which one is its root and two are files.
  static func inodes(_ count: Int) -> Scene {
    Scene(
      "mkdir m; mount -t tmpfs -o mode=777,nr_inodes=\(count) none m; : >m/1; : >m/2; ",
      ask: "explain $T/m/new/ --to mkdir")
  }

  /// What another process is asked about that was started by a command.
  static func asleep(_ start: String) -> Scene {
    Scene(
      made("666")
        + "\(start) sleep 50 >/dev/null 2>&1 & other=$!; trap 'kill $other' EXIT; sleep 0.3; ",
      drop: "", ask: "$T/dev/node --pid $other")
  }

  /// What somebody else will make in a folder.
  static func future(_ words: String, mode: String = "755") -> Scene {
    Scene("mkdir -m \(mode) dev/folder; ", ask: "explain $T/dev/folder --future \(words)")
  }

  /// A folder with a file of root's.
  static func contents(mode: String) -> Scene {
    Scene(
      "mkdir -m 755 dev/folder; : >dev/folder/file; chmod \(mode) dev/folder/file; ",
      ask: "check --recursive $T/dev/folder")
  }

  static func pictures(_ directories: String) -> Scene {
    Scene(
      "mkdir -p home/.config home/Pictures; printf '%s\\n' '\(directories)' >home/.config/user-dirs.dirs; "
        + "chown -R 54321 home; export HOME=$T/home; unset XDG_CONFIG_HOME; ", ask: "photos")
  }

  static let walls = Checkout.path("Tests/KernelConformanceTests/Oracle/walls.py")

  /// Below a wall that walls.py puts up; it drops the privileges itself.
  static func wall(_ name: String, device: String = "1:5", ask node: String = "c 1 5") -> Scene {
    Scene(
      made("666", "0:0", node),
      drop: "python3 '\(walls)' --below $T --device \(device) \(name) --",
      ask: "$T/dev/node")
  }

  /// A pseudo-terminal that somebody has for himself (TIOCEXCL), see tty_open() in
  /// drivers/tty/tty_io.c; `mine`: the one who asks.
  static func terminal(exclusive: Bool, mine: Bool, program: String = "holder") -> Scene {
    // Python may be root's alone: it drops the privileges itself, and shows what it has open again.
    let python =
      "import ctypes, fcntl, os, pty, sys, termios, time\\n"
      + "_, s = pty.openpty(); os.fchmod(s, 0o666)\\n"
      + (exclusive ? "fcntl.ioctl(s, termios.TIOCEXCL)\\n" : "")
      + (mine
        ? "os.setgroups([54400]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3)\\n"
          + "ctypes.CDLL(None).prctl(4, 1)\\n" : "")
      + "ctypes.CDLL(None).prctl(15, b'\(program)')\\n"
      + "print(os.ttyname(s), flush=True); time.sleep(20)\\n"
    return Scene(
      "printf \"\(python)\" >holder.py; python3 holder.py >name 2>/dev/null & holder=$!; "
        + "trap 'kill $holder' EXIT; "
        + "for i in $(seq 500); do [ ! -s name ] || break; sleep 0.02; done; ",
      ask: "$(cat name)")
  }

  /// A file whose facts were saved and then edited, as if the file lay on another file system.
  static func saved(_ edit: String, _ make: String = ":") -> Scene {
    Scene(
      "mount -t tmpfs -o mode=777 none dev; : >dev/file; chmod 644 dev/file; \(make); "
        + "\(Scene.stranger) \(Command.permcheck) explain $T/dev/file --probe none --json >facts; "
        + "sed -i -E '\(edit)' facts",
      ask: "evaluate $T/facts")
  }

  static func type(_ name: String, _ options: String = "rw") -> String {
    "s/\"fileSystem\": ?\"tmpfs\"/\"fileSystem\":\"\(name)\"/g; "
      + "s/\"superblockOptions\": ?\"[^\"]*\"/\"superblockOptions\":\"\(options)\"/g"
  }

  /// A FUSE mount whose daemon never reads a request.
  static func silent(_ isMounted: Bool) -> Scene {
    Scene(
      "mkdir there; mknod fuse c 10 229; exec 9<>fuse; "
        + (isMounted
          ? "mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0,allow_other none there"
          : "mount -t tmpfs -o mode=777 none there"),
      ask: "photos=$T/there")
  }

  /// The socket of a sound server, on which nobody listens.
  static func sound(_ isThere: Bool) -> Scene {
    Scene(
      "mkdir -p run/pulse; unset PULSE_SERVER PULSE_RUNTIME_PATH PIPEWIRE_RUNTIME_DIR PIPEWIRE_REMOTE; "
        + "export XDG_RUNTIME_DIR=$T/run; "
        + (isThere
          ? "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"run/pulse/native\")'"
          : ":"),
      ask: "mic --through server")
  }

  /// A declared socket, on which somebody listens or nobody does.
  static func daemon(listens: Bool) -> Scene {
    let python = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(\"s\")"
    let lasting =
      "python3 -c '\(python); s.listen(); open(\"up\", \"w\"); time.sleep(20)' & holder=$!; "
      + "trap 'kill $holder' EXIT; for i in $(seq 500); do [ ! -e up ] || break; sleep 0.02; done; "
    let toml = #"name = "daemon"\nsummary = "d"\nsocket = "%s/s"\n"#
    return Scene(
      "mkdir -p permcheck/accessors.d; printf '\(toml)' $T >permcheck/accessors.d/daemon.toml; "
        + "export XDG_CONFIG_HOME=$T; " + (listens ? lasting : "python3 -c '\(python)'; ")
        + "chmod 666 s; ",
      ask: "daemon")
  }

  static let passwd =
    "private_etc; sed '/:54321:/d' /etc/passwd >p; echo 'guest:x:54321:54321::/tmp:/bin/sh' >>p; "
    + "grep -v ':54400:' /etc/group >g; echo 'pictures:x:54400:\\(member)' >>g; "
    + "chmod 644 p g; cp p /etc/passwd; cp g /etc/group; "

  static func login(member: String, groups: String) -> Scene {
    Scene(
      passwd.replacing("\\(member)", with: member) + made("660", "0:54400"),
      drop: Scene.unprivileged(groups))
  }

  static func seat(tagged: Bool) -> Scene {
    Scene(
      "mount -t tmpfs -o mode=755 none /run; mkdir -p /run/udev/tags/uaccess /run/systemd/seats; "
        + "echo ACTIVE_UID=0 >/run/systemd/seats/seat0; "
        + (tagged ? ": >/run/udev/tags/uaccess/c1:3; " : "") + made("660"))
  }

  /// A camera as the kernel makes its node, on a /dev and a /run of their own.
  static func machine(_ udev: String) -> Scene {
    Scene(
      "mount -t tmpfs -o mode=755 none /dev; mknod -m 666 /dev/null c 1 3; "
        + "mknod -m 600 /dev/video0 c 81 0; mount -t tmpfs -o mode=755 none /run; "
        + "mkdir /run/udev; " + udev,
      ask: "/dev/video0")
  }

  static func fuse(others: Bool) -> Scene {
    let mount =
      others
      ? "mount -t tmpfs -o mode=755 none there; "
      : "mknod fuse c 10 229; exec 9<>fuse; "
        + "mount -i -t fuse -o fd=9,rootmode=40000,user_id=12345,group_id=12345 none there; "
    return Scene("mkdir there; " + mount, ask: "photos=$T/there")
  }

  static let space = "\(Scene.stranger) unshare --user --map-root-user"

  static let table: [Row] = [
    Row("owner-bits", .kernel, node("066", "54321:0"), beside: node("660", "54321:0")),
    Row("group-bits", .kernel, node("606", "0:54400"), beside: node("066", "54321:54400")),
    Row("other-bits", .kernel, node("600"), beside: node("660", "0:44")),
    Row(
      "acl-entry", .kernel, node("666", "0:0", "setfacl -m u:54321:- dev/node"),
      beside: node("600", "0:0", "setfacl -m u:9:rw dev/node")),
    Row(
      "acl-mask", .kernel, node("660", "0:0", "setfacl -m u:54321:rw,m::r dev/node"),
      beside: node("660", "0:0", "setfacl -m u:54321:r,m::rw dev/node")),
    Row("not-in-group", .kernel, node("660", "0:44"), beside: node("606", "0:54400")),
    Row(
      "foreign-gid", .marker,
      Scene(
        ": >.dockerenv; mknod -m 660 dev/video0 c 81 0; chgrp 54499 dev/video0; ",
        ask: "camera --root $T"),
      beside: Scene(
        "mknod -m 660 dev/video0 c 81 0; chgrp 54499 dev/video0; ", ask: "camera --root $T")),
    Row("no-udev", .kernel, machine(""), beside: machine(": >/run/udev/control")),
    Row(
      "stale-groups", .kernel, login(member: "guest", groups: "--clear-groups"),
      beside: login(member: "", groups: "--clear-groups")),
    Row(
      "parent-search", .kernel, node("666", "0:0", "chmod 700 dev"),
      beside: node("600", "0:0", "chmod 711 dev")),
    Row(
      "read-only-mount", .kernel, file("mount -o remount,bind,ro m", need: "w"),
      beside: file("chmod 555 m/file", need: "w")),
    Row("read-only-subvolume", .kernel, subvolume("true"), beside: subvolume("false")),
    Row("no-space", .kernel, inodes(3), beside: inodes(4)),
    Row(
      "nodev-mount", .kernel,
      Scene(
        "mount -t tmpfs -o nodev,mode=755 none dev; " + made("666")), beside: node("600")),
    Row(
      "noexec-mount", .kernel, file("mount -o remount,bind,noexec m", need: "x"),
      beside: file("chmod 655 m/file", need: "x")),
    Row(
      "immutable", .kernel, file("chattr +i m/file", need: "w"),
      beside: file("chattr +a m/file", need: "w")),
    Row(
      "append-only", .kernel, file("chattr +a m/file", need: "w"),
      beside: file("chattr +a m/file", need: "r")),
    Row("device-cgroup", .kernel, wall("cgroup"), beside: wall("cgroup", device: "1:7")),
    Row(
      "future-files", .kernel, future("--creator root --umask 077"),
      beside: future("--creator root --umask 022")),
    Row("folder-contents", .kernel, contents(mode: "600"), beside: contents(mode: "644")),
    Row(
      "unknown-umask", .kernel, future("--creator root"),
      beside: future("--creator root --umask 022")),
    Row(
      "cannot-create", .kernel, future("--creator daemon --umask 022"),
      beside: future("--creator daemon --umask 022", mode: "1777")),
    Row("landlock-or-lsm", .kernel, wall("landlock"), beside: wall("seccomp")),
    Row(
      "landlock-unseen", .kernel,
      asleep("setpriv --no-new-privs python3 '\(walls)' --below $T --device 1:5 landlock --"),
      beside: asleep("")),
    Row("seccomp", .kernel, wall("seccomp"), beside: wall("landlock")),
    Row(
      "driver", .kernel,
      // /dev/kmsg where dmesg_restrict is set, and /dev/port: check_syslog_permissions(), open_port().
      Scene(
        "if grep -q 1 /proc/sys/kernel/dmesg_restrict; then n='c 1 11'; else n='c 1 4'; fi; "
          + "mknod -m 666 dev/node $n; "),
      beside: wall("cgroup")),
    Row(
      "busy", .kernel, terminal(exclusive: true, mine: false),
      beside: terminal(exclusive: false, mine: false)),
    Row("no-driver", .kernel, Scene(made("666", "0:0", "c 81 7")), beside: node("666")),
    Row("no-device", .kernel, Scene(""), beside: node("600")),
    Row(
      "no-capture-node", .lab("devices"),
      Scene(
        "mknod -m 666 dev/video0 c 1 3; mkdir -p run/udev/data sys/class/video4linux/video0; "
          + "echo 81:0 >sys/class/video4linux/video0/dev; echo meta >sys/class/video4linux/video0/name; "
          + "echo 'E:ID_V4L_CAPABILITIES=:' >run/udev/data/c81:0; ", ask: "camera --root $T"),
      beside: Scene("", ask: "camera --root $T")),
    Row(
      "not-configured", .kernel, pictures(#"XDG_PICTURES_DIR="$HOME""#),
      beside: pictures(#"XDG_PICTURES_DIR="$HOME/None""#)),
    Row(
      "dangling-symlink", .kernel, Scene("ln -s none dev/node"),
      beside: Scene("ln -s real dev/node; mknod -m 600 dev/real c 1 3")),
    Row(
      "userns-unmapped", .kernel,
      Scene(
        ": >file; chmod 640 file; chgrp 54400 file", drop: space,
        ask: "explain $T/file --need r --probe none"),
      beside: Scene(
        ": >file; chmod 640 file; chgrp 54400 file", ask: "explain $T/file --need r --probe none")),
    Row("network-fs", .kernel, fuse(others: false), beside: fuse(others: true)),
    Row(
      "server-decides", .lab("cifs"), saved(type("9p")), beside: saved(type("ext4"))),
    Row(
      "acl-not-honoured", .lab("fuse"),
      saved(type("9p"), "chmod 600 dev/file; setfacl -m u:54321:rw dev/file"),
      beside: saved(type("9p", "rw,posixacl"), "chmod 600 dev/file; setfacl -m u:54321:rw dev/file")
    ),
    Row("automount", .lab("automount"), saved(type("autofs", "rw,direct")), beside: saved("")),
    Row(
      "locked", .lab("disks"), saved("s/(\"isImmutable\": ?false)/\\1,\"isLocked\":true/g"),
      beside: saved("")),
    Row("not-answering", .kernel, silent(true), beside: silent(false)),
    Row("no-seat-acl", .lab("seat"), seat(tagged: true), beside: seat(tagged: false)),
    Row(
      "container", .marker, Scene(": >.dockerenv", ask: "camera --root $T"),
      beside: Scene("", ask: "camera --root $T")),
    Row(
      "sandbox", .marker,
      Scene("printf '[Application]\\nname=org.x.App\\n' >.flatpak-info", ask: "camera --root $T"),
      beside: Scene(": >.dockerenv", ask: "camera --root $T")),
    Row("media-server", .kernel, sound(true), beside: sound(false)),
    Row("no-listener", .kernel, daemon(listens: false), beside: daemon(listens: true)),
    Row(
      "root-without-capability", .kernel,
      Scene(
        made("600", "54321:0"),
        drop: "setpriv --bounding-set=-dac_override --inh-caps=-dac_override"),
      beside: node("600")),
    Row(
      "unreadable-facts", .kernel,
      Scene(made("666") + "chmod 700 dev; chown 9 dev", ask: "$T/dev/node --uid 9 --gid 9"),
      beside: Scene(
        made("666") + "chmod 700 dev; chown 9 dev", drop: "",
        ask: "$T/dev/node --uid 9 --gid 9")),
  ]

  static func run(_ scene: Scene) throws -> (Outcome, Document.Report) {
    let tree = try Tree()
    let script = """
      mount -t tmpfs -o mode=755 none "$T"; cd "$T"; mkdir dev
      \(scene.setup)
      status=0; set +e
      \(scene.drop) \(Command.permcheck) \(scene.ask) --json; exit $?
      """
    let outcome = try Command.run(
      ["timeout", "60", "unshare", "--mount", "sh", "-ec", Command.privateEtc + script],
      environment: [
        "T": tree.root, "CI": nil, "GITHUB_ACTIONS": nil, "PYTHONDONTWRITEBYTECODE": "1",
      ])
    do {
      let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
      return (outcome, try #require(document.reports.first))
    } catch {
      Issue.record("\(scene.setup): \(outcome.status) \(outcome.output) \(outcome.errors)")
      throw error
    }
  }

  @Test(arguments: Effort.some(table, of: "ReasonTests Each code", atLeast: 8))
  func `Each cause is named with its code`(_ row: Row) throws {
    let (outcome, report) = try Self.run(row.scene)
    #expect(report.codes.contains(row.code), "\(outcome.output)")
    // Each says something, whatever it may not see, and none calls it usable.
    #expect([1, 2, 3].contains(outcome.status), "\(outcome.output)")
    #expect(outcome.errors.isEmpty)
    let reasons = report.resources.flatMap(\.reasons)
    #expect(
      reasons.allSatisfy { !$0.message.isEmpty && ["proven", "suspected"].contains($0.certainty) })
  }

  @Test(arguments: Effort.some(table, of: "ReasonTests Without appear", atLeast: 8))
  func `Without the cause the code does not appear`(
    _ row: Row
  ) throws {
    let (outcome, report) = try Self.run(row.beside)
    #expect(!report.codes.contains(row.code), "\(outcome.output)")
  }

  /// The codes of the schema are those of the table: a new code wants a row.
  @Test func `Every code has a row`() throws {
    struct Schema: Decodable {
      struct Definitions: Decodable { let reason: Reason }
      struct Reason: Decodable { let properties: Properties }
      struct Properties: Decodable { let code: Codes }
      struct Codes: Decodable { let `enum`: [String] }
      let defs: Definitions
      enum CodingKeys: String, CodingKey { case defs = "$defs" }
    }
    let text = try Command.permcheck(["schema"]).output
    let codes = try JSONDecoder().decode(Schema.self, from: Data(text.utf8)).defs.reason.properties
      .code.enum
    // Services and logins of systemd, and sound cards.
    let ofLab = [
      "service-sandbox": "units", "login-policy": "user-login", "sound-default": "devices",
    ]
    // Programs of others give these, see ProgramAccessorTests.
    let ofPrograms = ["by-accessor", "accessor-failed"]
    // Only operations and programs' own rules have these, see OperationTests and ProgramRuleTests.
    let ofOperations = [
      "program-rule", "parent-write", "sticky", "not-owner", "protected-hardlink", "protected-file",
      "not-possible",
    ]
    #expect(
      codes.sorted() == (Self.table.map(\.code) + ofLab.keys + ofPrograms + ofOperations).sorted())
    let lab = Checkout.file("Tests/Lab/scenarios")
    var proofs = ofLab
    for row in Self.table {
      if case .lab(let name) = row.proof { proofs[row.code] = name }
    }
    for (code, name) in proofs {
      let scenario = try String(contentsOf: lab.appending(path: "\(name).sh"), encoding: .utf8)
      #expect(scenario.contains(code), "\(name).sh does not look for \(code)")
    }
  }
}
