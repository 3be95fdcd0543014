import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Which labels of another process leave it open whether it may: names say nothing, only modes and types.
@Suite struct SecurityLabelTests {
  struct Row {
    let label: String
    let modules: String
    var enforces = "1"
    let confines: Bool
  }

  static let rows = [
    // AppArmor: `deny` rules hold in complain mode, and a profile may have any name.
    Row(label: "unconfined", modules: "apparmor", confines: false),
    Row(label: "cam (enforce)", modules: "apparmor", confines: true),
    Row(label: "cam (complain)", modules: "apparmor", confines: true),
    Row(label: "cam (kill)", modules: "apparmor", confines: true),
    Row(label: "unconfined_cam (enforce)", modules: "apparmor", confines: true),
    Row(label: "firefox (unconfined)", modules: "apparmor", confines: false),
    Row(label: "/usr/bin/a b (enforce)", modules: "apparmor", confines: true),
    Row(label: "a//&:ns:unconfined (mixed)", modules: "apparmor", confines: true),
    // SELinux: the type alone.
    Row(
      label: "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", modules: "selinux",
      confines: false),
    Row(label: "unconfined_u:system_r:lab_t:s0", modules: "selinux", confines: true),
    Row(label: "unconfined_u:unconfined_r:thumb_t:s0", modules: "selinux", confines: true),
    Row(
      label: "unconfined_u:unconfined_r:thumb_t:s0", modules: "selinux", enforces: "0",
      confines: false),
    Row(label: "system_u:unconfined_t:lab_t:s0", modules: "selinux", confines: true),
    Row(label: "system_u:system_r:unconfined_service_t:s0", modules: "selinux", confines: false),
    // Smack.
    Row(label: "_", modules: "smack", confines: false),
    Row(label: "User::App", modules: "smack", confines: true),
    Row(label: "unconfined_app", modules: "smack", confines: true),
  ]

  @Test(arguments: rows) func `Only a label that the module calls unconfined is unconfined`(
    _ row: Row
  ) {
    let fake = FakeSystem(credentials: Credentials(uid: 0, gid: 0, groups: []))
    fake.force("lsm_list_modules", .ENOSYS)
    fake.add("/sys/kernel/security/lsm", .file("capability,\(row.modules)\n"))
    fake.add("/sys/fs/selinux/enforce", .file(row.enforces))
    fake.add("/proc/77/attr/current", .file(row.label + "\n"))
    let modules = SecurityModules(fake, process: 77)
    #expect(modules.confiningLabel == (row.confines ? row.label : nil), "\(row)")
  }
}
