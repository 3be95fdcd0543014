import Foundation
@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

/// Causes that are there at once: which one gives the status, which reasons stay, and which remedies are offered.
///
/// The table is Precedence/table.txt. After a change of the order that is meant,
/// `PERMCHECK_GOLDEN=write swift test --filter PrecedenceTests` writes it anew: read each line that differs.
@Suite struct PrecedenceTests {
  /// What a cause does to the machine and to the question.
  struct Scenery {
    var question: Question
    var mode: UInt16
    var uid: UInt32 = 0
    var gid: UInt32 = 0
    var kind: FileKind
    var driver: Errno?
    var isImmutable = false
    var isLocked = false
    /// The options and type of the mount that holds the node or folder.
    var (options, fileSystem): (String, String)
    /// What comes after everything else is there, in order.
    var last: [DiagnosisRow.Setting] = []
    var contents: ContentsReport?
  }

  /// A cause by its name in the table.
  struct Circumstance: Sendable {
    var name: String
    var change: @Sendable (inout Scenery) -> Void

    init(_ name: String, _ change: @escaping @Sendable (inout Scenery) -> Void) {
      (self.name, self.change) = (name, change)
    }
  }

  // MARK: - Causes of both kinds

  private static let ben = Subject(
    source: .user, credentials: Credentials(uid: 1001, gid: 1001, groups: []), name: "ben")

  private static func process(_ seccomp: Int) -> Circumstance {
    Circumstance("process") { scene in
      scene.question.subject = Subject(
        source: .process, credentials: Scene.anna(), name: "anna", process: 77)
      scene.question.probe = .none
      scene.last.append {
        $0.add("/proc/77/status", .file(Scene.status("app", 1000, seccomp: seccomp)))
        let mounts = (try? $0.contents(of: "/proc/thread-self/mountinfo")) ?? []
        $0.add("/proc/77/mountinfo", .file(String(decoding: mounts, as: UTF8.self)))
      }
    }
  }

  private static let stale = Circumstance("stale") { scene in
    (scene.mode, scene.uid, scene.gid) = (0o770, 0, 44)
    scene.last.append {
      let anna = UserRecord(name: "anna", uid: 1000, gid: 1000, home: "/home/anna")
      $0.addUser(anna, groups: [44])
      $0.add("/proc/4242/status", .file(Scene.status("permcheck", 1000, parent: 101)))
      $0.add("/proc/101/status", .file(Scene.status("bash", 1000)))
    }
  }

  /// The next login of ben may be in the group.
  private static let login = Circumstance("login") { scene in
    (scene.mode, scene.uid, scene.gid) = (0o770, 0, 44)
    scene.question.subject = ben
    scene.question.probe = .none
    scene.last.append {
      $0.add("/etc/pam.d/login", .file("auth optional pam_group.so\n"))
      $0.add("/etc/security/group.conf", .file("*;*;ben;Al0000-2400;video\n"))
    }
  }

  private static let docker = Circumstance("docker") { $0.last.append { $0.add("/.dockerenv") } }

  private static func service(_ name: String, _ setting: String) -> Circumstance {
    Circumstance(name) { scene in
      scene.last.append {
        for process in ["self", "77"] {
          let file = PathBytes("/proc/\(process)/cgroup")
          $0.add(file, .file("0::/system.slice/cam.service\n"))
        }
        $0.add("/etc/systemd/system/cam.service", .file("[Service]\n\(setting)\n"))
      }
    }
  }

  private static func refused(_ name: String, _ errno: Errno, _ path: PathBytes) -> Circumstance {
    Circumstance(name) { $0.last.append { Scene.refuse($0, errno, path) } }
  }

  private static let confined = Circumstance("confined") { scene in
    scene.question.probe = .access
    scene.last.append {
      let status = Scene.status("permcheck", 1000).replacing(
        "NoNewPrivs:\t0", with: "NoNewPrivs:\t1")
      $0.add("/proc/self/status", .file(status))
      $0.force("lsm_list_modules", .ENOSYS)
      $0.add("/sys/kernel/security/lsm", .file("capability,landlock\n"))
    }
  }

  // MARK: - A camera

  static let cameras: [Circumstance] = [
    Circumstance("mode") { $0.mode = 0o600 },
    stale, login,
    Circumstance("seat") { scene in
      (scene.mode, scene.gid) = (0o660, 44)
      scene.last.append {
        $0.add("/run/udev/tags/uaccess/c81:0")
        $0.add("/run/systemd/seats/seat0", .file("IS_SEAT0=1\nACTIVE_UID=1001\n"))
      }
    },
    Circumstance("udev") { scene in
      scene.mode = 0o600
      scene.last.append { $0.remove("/run/udev/control") }
    },
    Circumstance("closed") { $0.last.append { $0.chmod("/dev", 0o700) } },
    Circumstance("nodev") { $0.options = "rw,nodev" },
    Circumstance("cgroup") { $0.last.append { Scene.refuseDevice($0, Scene.camera) } },
    Circumstance("seccomp") { scene in
      scene.last.append {
        $0.add("/proc/self/status", .file(Scene.status("permcheck", 1000, seccomp: 2)))
        Scene.refuse($0, .EPERM, Scene.camera, "/proc/self/comm", "/dev/null")
      }
    },
    refused("landlock", .EACCES, Scene.camera), confined,
    Circumstance("busy") { $0.last.append { $0.force("reqbufs", .EBUSY) } },
    Circumstance("driver") { $0.driver = .ENXIO },
    Circumstance("kind") { $0.kind = .regular },
    Circumstance("cover") { $0.last.append { $0.mount(Scene.camera, "tmpfs") } },
    docker, service("unit", "DevicePolicy=closed"), service("filter", "SystemCallFilter=read"),
    Circumstance("dynamic") { scene in
      service("", "DynamicUser=yes").change(&scene)
      (scene.mode, scene.gid) = (0o660, 44)
      scene.last.append { $0.become(Credentials(uid: 61200, gid: 61200, groups: [])) }
    },
    Circumstance("login policy") { scene in
      scene.question.subject = ben
      scene.question.probe = .none
      scene.last.append {
        $0.add("/run/systemd/system/x")
        $0.add("/etc/systemd/system/user.slice", .file("[Slice]\nDevicePolicy=closed\n"))
      }
    },
    process(2),
  ]

  private static func build(_ scene: Scenery, camera fake: FakeSystem) {
    fake.mount("/dev", scene.fileSystem, options: scene.options)
    Scene.device(fake, "/dev/null", DeviceNumber(major: 1, minor: 3), mode: 0o666)
    Scene.camera(fake, scene.mode, uid: scene.uid, gid: scene.gid, driver: scene.driver)
    if scene.kind != .characterDevice { fake.add(Scene.camera, FakeNode(kind: scene.kind)) }
  }

  // MARK: - A folder of pictures

  private static let pictures: PathBytes = "/home/anna/Pictures"

  static let folders: [Circumstance] = [
    Circumstance("mode") { ($0.mode, $0.uid) = (0o700, 0) },
    Circumstance("less") { ($0.mode, $0.uid) = (0o755, 0) },
    stale, login,
    Circumstance("closed") { $0.last.append { $0.chmod("/home/anna", 0o600) } },
    Circumstance("read-only") { $0.options = "ro" },
    Circumstance("immutable") { $0.isImmutable = true },
    Circumstance("sshfs") { $0.fileSystem = "fuse.sshfs" },
    refused("landlock", .EACCES, pictures), confined,
    Circumstance("locked") { $0.isLocked = true },
    Circumstance("contents") { scene in
      var report = ContentsReport()
      (report.asked, report.refused) = (5, 2)
      report.paths = [pictures.appending("a"), pictures.appending("b")]
      report.causes = [
        .init(folder: pictures, isSearch: false, isBelow: true, rule: "owner-bits", count: 2)
      ]
      scene.contents = report
    },
    Circumstance("kind") { $0.kind = .regular },
    service("protected", "ProtectHome=read-only"),
    Circumstance("cover") { scene in
      service("", "InaccessiblePaths=\(pictures)").change(&scene)
      scene.last.append {
        $0.mount(pictures, "tmpfs")
        $0.chmod(pictures, 0)
      }
    },
    docker, process(2),
  ]

  private static func build(_ scene: Scenery, folder fake: FakeSystem) {
    fake.mount(
      "/home/anna", scene.fileSystem, options: scene.options,
      superblock: "rw,user_id=1000,group_id=1000")
    fake.add("/home/anna", FakeNode(kind: .directory, mode: 0o755, uid: 1000, gid: 1000))
    var folder = FakeNode(kind: scene.kind, mode: scene.mode, uid: scene.uid, gid: scene.gid)
    (folder.isImmutable, folder.isLocked) = (scene.isImmutable, scene.isLocked)
    fake.add(pictures, folder)
    // Of which the process asks whether there is room.
    fake.add("/proc/77/root", FakeNode(kind: .symbolicLink, target: "/"))
  }

  // MARK: - The table

  /// Returns the machine with these causes, and what is asked of it.
  static func scene(
    _ causes: [Circumstance], isCamera: Bool
  ) -> (fake: FakeSystem, question: Question, contents: ContentsReport?) {
    var scene = Scenery(
      question: isCamera ? .camera : Question(what: .folder(pictures)),
      mode: isCamera ? 0o666 : 0o755, uid: isCamera ? 0 : 1000,
      kind: isCamera ? .characterDevice : .directory,
      options: "rw", fileSystem: isCamera ? "devtmpfs" : "ext4")
    for cause in causes { cause.change(&scene) }
    let fake = Scene.system()
    if isCamera { build(scene, camera: fake) } else { build(scene, folder: fake) }
    for setting in scene.last { setting(fake) }
    return (fake, scene.question, scene.contents)
  }

  private static func line(_ causes: [Circumstance], isCamera: Bool) throws -> String {
    let (fake, question, contents) = scene(causes, isCamera: isCamera)
    let report = try question.report(fake, contents: contents)
    let resource = try #require(report.resources.first)
    #expect(resource.status == report.status)
    let names = causes.map(\.name).joined(separator: " + ")
    let codes = resource.reasons.map { "\($0.code.rawValue)\($0.certainty == .proven ? "" : "?")" }
    let forms = resource.remedies.map(\.form.rawValue)
    let subject = isCamera ? "camera" : "folder"
    let whose = resource.reasons.map { $0.whose?.rawValue ?? "nobody" }
    let texts = [codes, whose, forms].map { $0.isEmpty ? "-" : $0.joined(separator: ", ") }
    return "\(subject): \(names): \(([report.status.rawValue] + texts).joined(separator: " | "))"
  }

  static func combinations(_ causes: [Circumstance]) -> [[Circumstance]] {
    let singles = causes.map { [$0] }
    let pairs = causes.indices.flatMap { first in
      causes[(first + 1)...].map { [causes[first], $0] }
    }
    // Each third cause with its neighbours and with one that is far away.
    let triples = causes.indices.map { first in
      [first, (first + 2) % causes.count, (first + 7) % causes.count].sorted().map { causes[$0] }
    }
    return singles + pairs + triples
  }

  /// The lines of the table.
  static func table() throws -> [String] {
    try combinations(cameras).map { try line($0, isCamera: true) }
      + combinations(folders).map { try line($0, isCamera: false) }
  }

  @Test
  func `Each combination of causes has the status, the reasons and the remedies of the table`()
    throws
  {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "Precedence/table.txt")
    let seen = try Self.table()
    if Variables.value("PERMCHECK_GOLDEN") == "write" {
      try Data((seen.joined(separator: "\n") + "\n").utf8).write(to: file)
    }
    let known = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(
      String.init)
    #expect(known.count == seen.count)
    for (known, seen) in zip(known, seen) { #expect(known == seen) }
  }
}
