import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// What the files of systemd and PAM say about logins to come.
@Suite struct LoginPolicyTests {
  private static let other = UserRecord(name: "other", uid: 1002, gid: 1002, home: "/home/other")

  private func groups(_ conf: String, pam: String = "auth optional pam_group.so") -> [String] {
    let fake = FakeSystem()
    fake.add("/etc/security/group.conf", .file(conf))
    fake.add("/etc/pam.d/login", .file("#%PAM-1.0\n\(pam)\n"))
    return LoginPolicy(system: fake, user: Self.other).groups.map(\.name)
  }

  @Test func `Groups of a rule for the user`() {
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

  @Test func `Device rules of the slice and the session`() {
    func rules(_ files: [String: String]) -> [String] {
      let fake = FakeSystem()
      fake.add("/run/systemd/system", FakeNode(kind: .directory, mode: 0o755))
      for (path, text) in files { fake.add(PathBytes(path), .file(text)) }
      return LoginPolicy(system: fake, user: Self.other).deviceRules
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
  }
}
