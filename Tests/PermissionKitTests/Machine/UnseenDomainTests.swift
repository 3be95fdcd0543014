import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Where a process may have restricted itself by Landlock, which nothing shows.
@Suite struct UnseenDomainTests {
  private static let session = "/user.slice/user-1000.slice/session-2.scope"
  private static let identity = "         0          0 4294967295\n"

  /// Returns the codes for a process of uid 1000, unless `uid` says otherwise.
  private func doubts(
    _ cgroup: String, uid: UInt32 = 1000, map: String = identity, noNewPrivileges: Bool = false,
    modules: String = "capability,landlock"
  ) -> [Reason.Code] {
    let fake = FakeSystem()
    fake.force("lsm_list_modules", .ENOSYS)
    fake.add("/sys/kernel/security/lsm", .file(modules + "\n"))
    let flag = "NoNewPrivs:\t\(noNewPrivileges ? 1 : 0)"
    let status = Scene.status("sleep", uid).replacing("NoNewPrivs:\t0", with: flag)
    fake.add("/proc/77/status", .file(status))
    fake.add("/proc/77/cgroup", .file("0::\(cgroup)\n"))
    fake.add("/proc/77/uid_map", .file(map))
    fake.add("/proc/self/uid_map", .file(Self.identity))
    let layers = ProcessLayers(fake, 77)
    let codes = layers.doubts("/dev/null", .read, isDevice: false).map(\.code)
    #expect((layers.noSignOfLandlock == nil) == !modules.contains("landlock"))
    return codes
  }

  @Test func `Ordinary processes of a session have no sign of it`() {
    let manager = "/user.slice/user-1000.slice/user@1000.service"
    for cgroup in [
      Self.session, manager + "/init.scope", manager + "/app.slice/dbus.service",
      manager + "/app.slice/app-editor.scope", "/", "/lab", "/user.slice",
    ] {
      #expect(doubts(cgroup) == [], "\(cgroup)")
    }
  }

  @Test func `A service that is no longer root has one`() {
    for cgroup in [
      "/system.slice/cam.service", "/system.slice/system-cam.slice/cam@1.service/worker",
      "/cam.slice/cam.service", "/system.slice/docker-0123.scope", "/system.slice/ssh.service",
      "/machine.slice/machine-box.scope/payload/user.slice/user-1000.slice/session-1.scope",
    ] {
      #expect(doubts(cgroup) == [.landlockUnseen], "\(cgroup)")
      #expect(doubts(cgroup, uid: 0) == [], "\(cgroup), root")
      #expect(doubts(cgroup, modules: "capability,yama") == [], "\(cgroup), no Landlock")
    }
  }

  @Test func `So has whoever may restrict itself`() {
    #expect(doubts(Self.session, noNewPrivileges: true) == [.landlockUnseen])
    #expect(doubts(Self.session, uid: 0, noNewPrivileges: true) == [.landlockUnseen])
    #expect(doubts(Self.session, map: "         0       1000          1\n") == [.landlockUnseen])
  }
}
