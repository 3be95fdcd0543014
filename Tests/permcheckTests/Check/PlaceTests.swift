import Foundation
import TestSupport
import Testing

/// Containers and sandboxes by the markers they leave: the flag or file to change, and nothing
/// where there is no wall.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct PlaceTests {
  struct Place: CustomTestStringConvertible {
    let name: String
    var files: [String: String] = [:]
    var environment: [String: String?] = [:]
    var ask = "camera"
    /// Nil: no place must be named.
    let code: String?
    var message = ""
    /// What some remedy's command and line say.
    var remedy: String?
    var testDescription: String { "\(name), \(ask)" }
  }

  static let yaml = """
    name: cam
    confinement: strict
    plugs:
      audio-record:
    apps:
      cam:
        command: bin/cam
        plugs: [home, camera]
    description: takes audio-playback pictures

    """
  static func snap(_ yaml: String?) -> ([String: String], [String: String?]) {
    (
      yaml.map { ["snap/cam/x1/meta/snap.yaml": $0] } ?? [:],
      ["SNAP": "/snap/cam/x1", "SNAP_NAME": "cam", "SNAP_INSTANCE_NAME": "cam"]
    )
  }

  static let places: [Place] = [
    Place(name: "none", code: nil),
    Place(
      name: "Docker", files: [".dockerenv": ""], code: "container", message: "Docker",
      remedy: "docker run --device=/dev/video0 IMAGE"),
    Place(
      name: "Docker", files: [".dockerenv": ""], ask: "mic", code: "container", message: "Docker",
      remedy: "docker run --device=/dev/snd IMAGE"),
    Place(
      name: "Podman", files: ["run/.containerenv": "engine=\"podman-5.4\"\nrootless=0\n"],
      code: "container", message: "a Podman container", remedy: "podman run --device="),
    Place(
      name: "rootless Podman", files: ["run/.containerenv": "engine=\"podman-5.4\"\nrootless=1\n"],
      code: "container", message: "rootless Podman", remedy: "--group-add=keep-groups"),
    Place(
      name: "nspawn", files: ["run/systemd/container": "systemd-nspawn\n"], code: "container",
      message: "systemd-nspawn", remedy: "systemd-nspawn --bind=/dev/video0"),
    Place(
      name: "Flatpak", files: [".flatpak-info": "[Application]\nname=org.x.Cam\n"], code: "sandbox",
      message: "org.x.Cam", remedy: "flatpak override --user --device=all org.x.Cam"),
    Place(
      name: "Flatpak", files: [".flatpak-info": "[Application]\nname=org.x.Cam\n"], ask: "mic",
      code: "sandbox", message: "PipeWire", remedy: "--socket=pulseaudio"),
    Place(
      name: "snap, declared", files: snap(yaml).0, environment: snap(yaml).1, code: "sandbox",
      message: "not connected", remedy: "snap connect cam:camera"),
    Place(
      name: "snap, declared in the map", files: snap(yaml).0, environment: snap(yaml).1, ask: "mic",
      code: "sandbox", message: "not connected", remedy: "snap connect cam:audio-record"),
    Place(
      name: "snap, not declared",
      files: snap("name: cam\napps:\n  cam:\n    plugs:\n    - home\n").0,
      environment: snap("").1, code: "sandbox", message: "does not declare the plug camera",
      remedy: "plugs: [camera]"),
    Place(
      name: "snap, classic", files: snap("name: cam\nconfinement: classic\n").0,
      environment: snap("").1, code: nil),
    Place(
      name: "snap, unreadable", environment: snap("").1, code: "sandbox", message: "snap cam",
      remedy: "snap connect cam:camera"),
    Place(
      name: "WSL", files: ["proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"],
      code: "container", message: "WSL", remedy: "usbipd attach --wsl"),
    Place(name: "Debian", files: ["proc/sys/kernel/osrelease": "6.1.0-41-amd64\n"], code: nil),
  ]

  @Test(arguments: Effort.some(places, of: "PlaceTests places"))
  func `The missing flag of a container is named`(_ place: Place) throws {
    let tree = try Tree()
    try tree.folder("dev")
    for (name, text) in place.files { try tree.file(name, text) }
    var environment: [String: String?] = ["SNAP": nil, "SNAP_NAME": nil, "SNAP_INSTANCE_NAME": nil]
    environment.merge(place.environment) { $1 }
    let outcome = try Command.permcheck(
      [place.ask, "--json", "--root", tree.root], environment: environment, as: stranger)
    let report = try outcome.report()
    #expect(outcome.status == 3)
    let named = report.resources.flatMap(\.reasons).filter {
      ["container", "sandbox"].contains($0.code)
    }
    #expect(named.first?.code == place.code, "\(outcome.output)")
    #expect(named.allSatisfy { $0.message.contains(place.message) && !$0.evidence.isEmpty })
    let remedies = report.resources.flatMap(\.remedies)
    if let wanted = place.remedy {
      #expect(remedies.contains { $0.text.contains(wanted) }, "\(outcome.output)")
    } else {
      #expect(remedies.isEmpty)
    }
    #expect(
      !remedies.contains { $0.text.contains("--privileged") || $0.text.contains("chmod 666") })
    if place.name.contains("unreadable") {
      #expect(named[0].evidence.contains { $0.hasPrefix("not visible: ") })
    }
  }

  /// Where a device is there and granted, no wall is named, whatever markers lie about.
  @Test func `A container is not named if access is granted`() throws {
    let tree = try Tree()
    try tree.file(".dockerenv")
    try tree.camera(0, mode: 0o666)
    let report = try Command.permcheck(["camera", "--json", "--root", tree.root], as: stranger)
      .report()
    #expect(report.status == "authorized" && report.codes.isEmpty)
  }

  // MARK: - What cannot be seen is listed

  /// Another user's process is not shown to have the device; one's own is, with what it is.
  @Test(arguments: [false, true])
  func `The holder is named or said to be hidden`(_ mine: Bool) throws {
    let (outcome, report) = try ReasonTests.run(
      ReasonTests.terminal(exclusive: true, mine: mine))
    let busy = try #require(report.resources.first?.reasons.first { $0.code == "busy" })
    #expect(report.status == "restricted" && !report.requestable && outcome.status == 1)
    let text = ([busy.message] + busy.evidence).joined(separator: "\n")
    #expect(text.contains(mine ? "holder (pid " : "not visible"), "\(text)")
    #expect(text.contains("running since 2") == mine, "\(text)")
    #expect(!text.contains("permcheck"))
  }

  /// PipeWire has it for another program, and that is what it is called.
  @Test func `A server of the desktop is described as one`() throws {
    let (_, report) = try ReasonTests.run(
      ReasonTests.terminal(exclusive: true, mine: true, program: "pipewire"))
    let busy = try #require(report.resources.first?.reasons.first { $0.code == "busy" })
    #expect(busy.message.contains("pipewire, the media server of the desktop"), "\(busy.message)")
  }

  /// The groups that a rootless container drops are not to be told apart, and the flag is named.
  @Test func `The flag that keeps dropped groups is named`() throws {
    let (outcome, report) = try ReasonTests.run(
      ReasonTests.Scene(
        "mount -t tmpfs -o mode=755 none /run; echo rootless=1 >/run/.containerenv; "
          + ": >file; chmod 640 file; chgrp 54400 file", drop: ReasonTests.space,
        ask: "explain $T/file --need r --probe none"))
    #expect(Set(report.codes) == ["userns-unmapped", "container"], "\(outcome.output)")
    #expect(
      report.resources.flatMap(\.remedies).map(\.text).contains {
        $0 == "podman run --group-add=keep-groups IMAGE"
      })
  }

  /// The number of the node's group, which the image may know by another name or not at all.
  @Test func `The group of the machine is added by number`()
    throws
  {
    let tree = try Tree()
    try tree.file(".dockerenv")
    try tree.camera(0, mode: 0o660)
    let changed = try Command.run(["chgrp", "54499", tree.path("dev/video0")])
    try #require(changed.status == 0)
    let report = try Command.permcheck(["camera", "--json", "--root", tree.root], as: stranger)
      .report()
    #expect(report.codes == ["not-in-group", "foreign-gid"] && report.requestableBy == "root")
    #expect(
      report.resources.flatMap(\.remedies).contains {
        $0.text == "docker run --group-add=54499 IMAGE"
      })
  }

  /// Behind /proc that hides others, what is above is not known, and that is said.
  @Test func `Hidden ancestors are listed`() throws {
    var scene = ReasonTests.login(member: "guest", groups: "--clear-groups")
    scene.setup += "mount -t proc -o hidepid=2 none /proc; "
    scene.drop += " sh -c '\"$@\"; exit $?' -"
    let (_, report) = try ReasonTests.run(scene)
    let stale = try #require(report.resources.first?.reasons.first { $0.code == "stale-groups" })
    #expect(stale.evidence.contains { $0.contains("sh (pid ") })
    #expect(stale.evidence.contains { $0.contains("not visible") }, "\(stale.evidence)")
  }

  /// The whole way to the topmost process without the group, and what to do about that one.
  @Test(arguments: [
    ("tmux: server", "tmux kill-server"), ("systemd", "systemctl restart user@54321.service"),
    ("bash", "log out and in again"),
  ]) func `The process to restart is named`(_ name: String, _ remedy: String) throws {
    var scene = ReasonTests.login(member: "guest", groups: "--clear-groups")
    // PR_SET_NAME, and a child between; Python may be root's alone, and drops the privileges itself.
    scene.setup +=
      "printf 'import ctypes, os, subprocess, sys\\nctypes.CDLL(None).prctl(15, b\"\(name)\")\\n"
      + "os.setgroups([]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3)\\n"
      + "sys.exit(subprocess.run(sys.argv[1:]).returncode)\\n' >session.py; "
    scene.drop = "python3 $T/session.py sh -c '\"$@\"; exit $?' -"
    let (_, report) = try ReasonTests.run(scene)
    let resource = try #require(report.resources.first)
    let stale = try #require(resource.reasons.first)
    #expect(stale.code == "stale-groups" && stale.certainty == "proven")
    #expect(stale.message.contains("\(name) (pid "), "\(stale.message)")
    #expect(stale.message.contains(remedy), "\(stale.message)")
    #expect(resource.remedies.map(\.text) == ["newgrp pictures"])
    #expect(resource.remedies[0].outcome == "granted" && !resource.remedies[0].needsRoot)
  }
}
