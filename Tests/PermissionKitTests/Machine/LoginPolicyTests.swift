import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// What the files of systemd and PAM say about logins to come.
@Suite struct LoginPolicyTests {
  private func groups(_ conf: String, pam: String = "auth optional pam_group.so") -> [String] {
    let fake = FakeSystem()
    fake.add("/etc/security/group.conf", .file(conf))
    fake.add("/etc/pam.d/login", .file("#%PAM-1.0\n\(pam)\n"))
    return LoginPolicy(system: fake, uid: 1002, name: .found("other")).groups.value?.map(\.name)
      ?? []
  }

  @Test func `pam_group's rule for the user names its groups`() {
    #expect(groups("su;*;other;Al0000-2400;video,audio\n") == ["video", "audio"])
    #expect(groups("# su;*;other;Al0000-2400;video\n") == [])
    #expect(groups("su;*;tester;Al0000-2400;video\n") == [])
    #expect(
      groups("xsh; ttyp* ;tester|oth*;Al0000-2400; floppy, video # more\n") == ["floppy", "video"])
    #expect(groups("su;*;\\\nother;Al;video\n") == ["video"])
    // Who is in a group or a netgroup, or is excluded, is not told.
    #expect(groups("su;*;%staff;Al;video\nsu;*;!root;Al;audio\n") == ["video", "audio"])
    #expect(groups("su;*;other;Al0000-2400;video\n", pam: "# auth optional pam_group.so") == [])
    #expect(groups("broken;line\n") == [])
  }

  @Test func `The device rules of slice and session are found`() {
    func rules(_ files: [String: String]) -> [String] {
      let fake = FakeSystem()
      fake.add("/run/systemd/system", FakeNode(kind: .directory, mode: 0o755))
      fake.add(
        "/proc/devices",
        .file("Character devices:\n 81 video4linux\n116 alsa\n\nBlock devices:\n 81 md\n"))
      for (path, text) in files { fake.add(PathBytes(path), .file(text)) }
      return LoginPolicy(system: fake, uid: 1002, name: .found("other"))
        .deviceRules(DeviceNumber(major: 81, minor: 0)).rules
    }
    #expect(rules([:]) == [])
    let closed = "[Slice]\nDevicePolicy=closed\n"
    for unit in ["user.slice", "user-.slice", "user-1002.slice", "session-.scope"] {
      #expect(rules(["/etc/systemd/system/\(unit).d/a.conf": closed]).count == 1, "\(unit)")
    }
    #expect(
      rules(["/etc/systemd/system.control/user-1002.slice.d/50-DevicePolicy.conf": closed]).count
        == 1)
    #expect(rules(["/etc/systemd/system/user-1001.slice.d/a.conf": closed]) == [])
    #expect(
      rules(["/etc/systemd/system/user-.slice.d/a.conf": "[Slice]\nDevicePolicy=auto\n"]) == [])
    // The file of the same name in /etc hides that in /run; a later name wins.
    #expect(
      rules([
        "/run/systemd/system/user-.slice.d/a.conf": closed,
        "/etc/systemd/system/user-.slice.d/a.conf": "[Slice]\n",
      ]) == [])
    #expect(
      rules([
        "/etc/systemd/system/user-.slice.d/a.conf": closed,
        "/etc/systemd/system/user-1002.slice.d/b.conf": "[Slice]\nDevicePolicy=auto\n",
      ]) == [])
    // What the list allows for reading and writing is not refused.
    for (line, isAllowed) in [
      ("char-video4linux rw", true), ("char-video* rwm", true), ("char-*", true),
      ("char-video4linux r", false), ("char-alsa rw", false), ("block-md rw", false),
      ("char-video4linux", true), ("video4linux rw", false),
    ] {
      let found = rules([
        "/etc/systemd/system/user-.slice.d/a.conf": closed + "DeviceAllow=\(line)\n"
      ])
      #expect(found.isEmpty == isAllowed, "\(line)")
    }
  }

  @Test func `The units around a process are found`() {
    func units(_ cgroups: String) -> [String] {
      SystemdUnit.units(cgroups).map { $0.isOfUser ? "user \($0.name)" : $0.name }
    }
    #expect(units("0::/system.slice/cam.service\n") == ["system.slice", "cam.service"])
    #expect(
      units("1:name=systemd:/cam.slice/cam-a.slice/cam.service/worker\n0::/\n")
        == ["cam.slice", "cam-a.slice", "cam.service"])
    #expect(
      units("0::/user.slice/user-1000.slice/user@1000.service/app.slice/cam.service\n")
        == [
          "user.slice", "user-1000.slice", "user@1000.service", "user app.slice",
          "user cam.service",
        ])
    #expect(
      units("0::/machine.slice/machine-box.scope/payload/system.slice/x.service\n")
        == ["machine.slice", "machine-box.scope"])
    #expect(
      units("0::/\n") == [] && units("") == [] && units("8:devices:/docker/1.service\n") == [])
  }
}
