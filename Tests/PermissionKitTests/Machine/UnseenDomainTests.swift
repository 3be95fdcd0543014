import PermissionKitTesting
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Where a process may have restricted itself by Landlock, which nothing shows.
@Suite struct UnseenDomainTests {
  private static let session = "/user.slice/user-1000.slice/session-2.scope"
  private static let identity = "         0          0 4294967295\n"

  /// Returns the codes for a process of uid 1000, unless `uid` says otherwise.
  private func possibleRefusals(
    _ cgroup: String, uid: UInt32 = 1000, map: String = identity, noNewPrivileges: Bool = false,
    login: String = "4294967295", _ seen: (FakeSystem) -> any System = { $0 }
  ) -> [Reason.Code] {
    let fake = FakeSystem()
    fake.force("lsm_list_modules", .ENOSYS)
    fake.add("/sys/kernel/security/lsm", .file("capability,landlock\n"))
    let flag = "NoNewPrivs:\t\(noNewPrivileges ? 1 : 0)"
    let status = Scene.status("sleep", uid).replacing("NoNewPrivs:\t0", with: flag)
    fake.add("/proc/77/status", .file(status))
    fake.add("/proc/77/cgroup", .file("0::\(cgroup)\n"))
    fake.add("/proc/77/loginuid", .file(login))
    fake.add("/proc/77/uid_map", .file(map))
    fake.add("/proc/self/uid_map", .file(Self.identity))
    let system = seen(fake)
    let layers = ProcessLayers(system, 77)
    let codes = layers.possibleRefusals("/dev/null", .read, isDevice: false).map(\.code)
    let modules = SecurityModules(system, process: 77)
    let isGuessed = modules.mayBeLandlock && system.isRestrictedByLandlock(77) == nil
    #expect((layers.noSignOfLandlock != nil) == isGuessed)
    return codes
  }

  @Test func `An ordinary process of a session shows no sign of Landlock`() {
    let manager = "/user.slice/user-1000.slice/user@1000.service"
    for cgroup in [
      Self.session, manager + "/init.scope", manager + "/app.slice/dbus.service",
      manager + "/app.slice/app-editor.scope", "/", "/lab", "/user.slice",
    ] {
      #expect(possibleRefusals(cgroup) == [], "\(cgroup)")
    }
  }

  @Test func `A service that is no longer root shows a sign`() {
    for cgroup in [
      "/system.slice/cam.service", "/system.slice/system-cam.slice/cam@1.service/worker",
      "/cam.slice/cam.service", "/system.slice/docker-0123.scope", "/system.slice/ssh.service",
      "/machine.slice/machine-box.scope/payload/user.slice/user-1000.slice/session-1.scope",
    ] {
      #expect(possibleRefusals(cgroup) == [.landlockUnseen], "\(cgroup)")
      #expect(possibleRefusals(cgroup, uid: 0) == [], "\(cgroup), root")
      let without = possibleRefusals(cgroup) {
        $0.add("/sys/kernel/security/lsm", .file("capability,yama\n"))
        return $0
      }
      #expect(without == [], "\(cgroup), no Landlock")
    }
  }

  @Test func `A process that changed its user after the login shows a sign`() {
    for cgroup in [Self.session, "/"] {
      #expect(possibleRefusals(cgroup, login: "1000") == [], "\(cgroup)")
      for login in ["0", "1001"] {
        #expect(possibleRefusals(cgroup, login: login) == [.landlockUnseen], "\(cgroup), \(login)")
        #expect(possibleRefusals(cgroup, uid: 0, login: login) == [], "\(cgroup), \(login), root")
      }
    }
  }

  /// The system of a program that can see it.
  private struct Seeing: ForwardingSystem {
    let base: any System
    let isRestricted: Bool

    func isRestrictedByLandlock(_ process: Int32) -> Bool? { process == 77 ? isRestricted : nil }
  }

  @Test(arguments: [true, false])
  func `What is seen decides, and no sign`(_ isRestricted: Bool) {
    for (cgroup, uid) in [(Self.session, 1000), ("/system.slice/cam.service", 1000), ("/", 0)] {
      let codes = possibleRefusals(cgroup, uid: UInt32(uid)) {
        Seeing(base: $0, isRestricted: isRestricted)
      }
      #expect(codes == (isRestricted ? [.landlockUnseen] : []), "\(cgroup), \(uid)")
    }
  }

  @Test func `A process that may restrict itself shows a sign`() {
    #expect(possibleRefusals(Self.session, noNewPrivileges: true) == [.landlockUnseen])
    #expect(possibleRefusals(Self.session, uid: 0, noNewPrivileges: true) == [.landlockUnseen])
    #expect(
      possibleRefusals(Self.session, map: "         0       1000          1\n") == [.landlockUnseen]
    )
  }
}
