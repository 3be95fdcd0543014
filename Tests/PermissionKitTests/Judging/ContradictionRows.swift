import PermissionKit
import PermissionKitTesting
import Testing

/// The kernel refuses what mode and ACL grant: other system calls, and other files, tell by what.
@Suite struct ContradictionRows {
  static let rows: [DiagnosisRow] = cgroup + filters + modules + profiles

  private static let null: PathBytes = "/dev/null"
  private static let comm: PathBytes = "/proc/self/comm"
  private static let fuse: PathBytes = "/dev/fuse"

  private static func filtered(_ fake: FakeSystem, _ seccomp: Int) {
    let status = Scene.status("permcheck", 1000, seccomp: seccomp)
    fake.add("/proc/self/status", .file(status))
  }

  private static func other(_ fake: FakeSystem) {
    Scene.device(fake, fuse, DeviceNumber(major: 10, minor: 229), mode: 0o666)
  }

  private static let cgroup: [DiagnosisRow] = [
    DiagnosisRow(
      name: "the device cgroup", code: .deviceCgroup, question: .camera, status: .restricted,
      evidence: [
        "open: EPERM", "faccessat2: EPERM", "openat2: EPERM", "the same open of /dev/null: granted",
        "Seccomp: 0", "NoNewPrivs: 0", "cgroup 0::/user.slice",
      ], mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        Scene.refuseDevice($0, Scene.camera)
      },
      beside: {
        Scene.camera($0, 0o666)
        Scene.refuse($0, .EPERM, Scene.camera)
      }),
    DiagnosisRow(
      name: "asked by faccessat2 alone", code: .deviceCgroup, question: .camera.probed(.access),
      status: .restricted, evidence: ["access: EPERM", "faccessat2: EPERM"],
      mentions: ["/dev/video0"],
      scene: {
        Scene.camera($0, 0o666)
        Scene.refuseDevice($0, Scene.camera)
      },
      beside: {
        Scene.camera($0, 0o666)
        Scene.refuse($0, .EPERM, Scene.camera)
      }),
    DiagnosisRow(
      name: "faccessat2 refuses everywhere", code: .deviceCgroup, question: .camera,
      status: .restricted, certainty: .suspected, evidence: ["faccessat2: EPERM"],
      mentions: ["/dev/video0"], omits: ["/dev/null"],
      scene: {
        Scene.camera($0, 0o666)
        Scene.refuseDevice($0, Scene.camera)
        $0.force("faccessat2", .EPERM)
      }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a file has no device cgroup", code: .landlockOrLSM, question: .path("/srv/file"),
      status: .restricted, certainty: .suspected, evidence: ["open: EPERM", "faccessat2: EPERM"],
      mentions: ["/srv/file"],
      scene: {
        $0.add("/srv/file")
        Scene.refuseDevice($0, "/srv/file")
      }, beside: { $0.add("/srv/file") }),
  ]

  private static let filters: [DiagnosisRow] = [
    DiagnosisRow(
      name: "a filter that knows no openat2", code: .seccomp, question: .camera,
      status: .restricted, evidence: ["open: EPERM", "openat2: granted"],
      mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        $0.force("openat", .EPERM, on: Scene.camera)
      },
      beside: {
        Scene.camera($0, 0o666)
        Scene.refuse($0, .EPERM, Scene.camera)
      }),
    DiagnosisRow(
      name: "a filter of every open for writing", code: .seccomp, question: .camera,
      status: .restricted,
      evidence: [
        "Seccomp: 2", "the same open of /dev/null: EPERM",
        "the same open of /proc/self/comm: EPERM",
      ], mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        filtered($0, 2)
        Scene.refuse($0, .EPERM, Scene.camera, null, comm)
      },
      beside: {
        Scene.camera($0, 0o666)
        filtered($0, 2)
        Scene.refuse($0, .EPERM, Scene.camera, null)
      }),
    DiagnosisRow(
      name: "a filter, where /proc/self/status is hidden", code: .seccomp, question: .camera,
      status: .restricted, certainty: .suspected, evidence: ["not visible: /proc/self/status"],
      mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        $0.remove("/proc/self/status")
        Scene.refuse($0, .EPERM, Scene.camera, null, comm)
      },
      beside: {
        Scene.camera($0, 0o666)
        filtered($0, 0)
        Scene.refuse($0, .EPERM, Scene.camera, null, comm)
      }),
    DiagnosisRow(
      name: "a filter that answers EACCES, as Landlock does", code: .seccomp, question: .camera,
      status: .restricted, certainty: .suspected, evidence: ["Seccomp: 2", "open: EACCES"],
      mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        filtered($0, 2)
        Scene.refuse($0, .EACCES, Scene.camera, null, comm)
      },
      beside: {
        Scene.camera($0, 0o666)
        filtered($0, 0)
        Scene.refuse($0, .EACCES, Scene.camera, null, comm)
      }),
    DiagnosisRow(
      name: "a filter, and a folder", code: .seccomp, question: .photos, status: .restricted,
      evidence: ["openat2: granted"], mentions: ["/home/anna/Pictures"],
      otherStatus: .restricted,
      scene: {
        Scene.pictures($0, 0o700)
        $0.force("openat", .EPERM, on: "/home/anna/Pictures")
      },
      beside: {
        Scene.pictures($0, 0o700)
        Scene.refuse($0, .EPERM, "/home/anna/Pictures")
      }),
  ]

  private static let modules: [DiagnosisRow] = [
    DiagnosisRow(
      name: "Landlock", code: .landlockOrLSM, question: .camera, status: .restricted,
      evidence: [
        "open: EACCES", "faccessat2: granted", "openat2: EACCES", "security modules: ",
        "security label: none",
      ], mentions: ["/dev/video0"], otherStatus: .restricted,
      scene: {
        Scene.camera($0, 0o666)
        Scene.refuse($0, .EACCES, Scene.camera)
      },
      beside: {
        Scene.camera($0, 0o666)
        $0.force("openat", .EACCES, on: Scene.camera)
      }),
    DiagnosisRow(
      name: "Landlock, and a folder", code: .landlockOrLSM, question: .photos,
      status: .restricted, evidence: ["open: EACCES", "the same open of /: granted"],
      mentions: ["/home/anna/Pictures"],
      scene: {
        Scene.pictures($0, 0o700)
        Scene.refuse($0, .EACCES, "/home/anna/Pictures")
      }, beside: { Scene.pictures($0, 0o700) }),
    DiagnosisRow(
      name: "perhaps a filter", code: .landlockOrLSM, question: .camera, status: .restricted,
      certainty: .suspected, evidence: ["Seccomp: 2"], mentions: ["/dev/video0"],
      scene: {
        Scene.camera($0, 0o666)
        filtered($0, 2)
        Scene.refuse($0, .EACCES, Scene.camera)
      }, beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "perhaps a driver that is not known", code: .landlockOrLSM, question: .path(fuse),
      status: .restricted, certainty: .suspected, evidence: ["open: EACCES"],
      mentions: ["/dev/fuse"],
      scene: {
        other($0)
        Scene.refuse($0, .EACCES, fuse)
      }, beside: { other($0) }),
    DiagnosisRow(
      name: "a module that faccessat2 asks as well", code: .landlockOrLSM, question: .camera,
      status: .restricted, certainty: .suspected, evidence: ["faccessat2: EACCES"],
      mentions: ["/dev/video0"],
      scene: {
        Scene.camera($0, 0o666)
        Scene.refuse($0, .EACCES, Scene.camera)
        $0.force("faccessat2", .EACCES, on: Scene.camera)
      }, beside: { Scene.camera($0, 0o666) }),
  ]

  /// A refusal where the modules and the label of this process are these.
  private static func labelled(_ fake: FakeSystem, _ label: String, _ modules: String) {
    Scene.camera(fake, 0o666)
    Scene.refuse(fake, .EACCES, Scene.camera)
    fake.force("lsm_list_modules", .ENOSYS)
    fake.add("/sys/kernel/security/lsm", .file(modules + "\n"))
    fake.add("/proc/self/attr/current", .file(label + "\n"))
  }

  private static let profiles: [DiagnosisRow] = [
    DiagnosisRow(
      name: "an AppArmor profile", code: .landlockOrLSM, question: .camera, status: .restricted,
      evidence: ["security modules: capability, apparmor", "cam-app (enforce)"],
      mentions: ["cam-app"],
      remedies: [
        Wanted(
          kind: .sandbox, command: ["aa-logprof"], needsRoot: true, others: ["cam-app"],
          line: "/dev/video0 rw,")
      ], scene: { labelled($0, "cam-app (enforce)", "capability,apparmor") },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "no AppArmor profile", code: .landlockOrLSM, question: .camera, status: .restricted,
      evidence: ["security modules: capability, apparmor", "unconfined"],
      mentions: ["/dev/video0"], scene: { labelled($0, "unconfined", "capability,apparmor") },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "a container under SELinux", code: .landlockOrLSM, question: .camera,
      status: .restricted, evidence: ["security modules: capability, selinux", ":container_t:"],
      mentions: ["container_t"],
      remedies: [
        Wanted(
          kind: .sandbox, command: ["setsebool", "-P", "container_use_devices", "1"],
          needsRoot: true, others: ["container"])
      ],
      scene: { labelled($0, "system_u:system_r:container_t:s0:c1,c2", "capability,selinux") },
      beside: { Scene.camera($0, 0o666) }),
    DiagnosisRow(
      name: "another domain of SELinux", code: .landlockOrLSM, question: .camera,
      status: .restricted, evidence: ["httpd_t"], mentions: ["httpd_t"],
      scene: { labelled($0, "system_u:system_r:httpd_t:s0", "capability,selinux") },
      beside: { Scene.camera($0, 0o666) }),
  ]

  @Test(arguments: rows) func `The facts lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkScene()
  }
  @Test(arguments: rows) func `Other facts do not lead to the reason`(_ row: DiagnosisRow) throws {
    try row.checkBeside()
  }
}
