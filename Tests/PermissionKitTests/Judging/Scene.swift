import PermissionKit
import PermissionKitTesting

/// A machine in memory with what every machine has: /dev, /proc, users and groups.
///
/// The calling process is anna's.
enum Scene {
  static let camera: PathBytes = "/dev/video0"
  static let microphone: PathBytes = "/dev/snd/pcmC0D0c"
  static let control: PathBytes = "/dev/snd/controlC0"

  /// Returns the machine, without any camera or microphone.
  static func system() -> FakeSystem {
    let fake = FakeSystem(credentials: anna())
    for (name, id) in [("root", 0), ("anna", 1000), ("ben", 1001)] as [(String, UInt32)] {
      let home = id == 0 ? "/root" : PathBytes("/home/\(name)")
      fake.addUser(UserRecord(name: name, uid: id, gid: id, home: home))
      fake.addGroup(id, name)
    }
    fake.addGroup(29, "audio")
    fake.addGroup(44, "video")
    fake.mount("/dev", "devtmpfs")
    device(fake, "/dev/null", DeviceNumber(major: 1, minor: 3), mode: 0o666)
    fake.add("/proc/self/comm", FakeNode(mode: 0o666, contents: "permcheck\n"))
    fake.add("/proc/self/status", .file(status("permcheck", 1000)))
    fake.add("/proc/self/cgroup", .file("0::/user.slice\n"))
    fake.add("/home/anna", FakeNode(kind: .directory, mode: 0o755, uid: 1000, gid: 1000))
    fake.setEnvironment("HOME", "/home/anna")
    return fake
  }

  /// Returns the credentials of anna's processes.
  static func anna(groups: [UInt32] = []) -> Credentials {
    Credentials(uid: 1000, gid: 1000, groups: groups)
  }

  /// Returns a file like /proc/PID/status.
  static func status(
    _ name: String, _ uid: UInt32, groups: [UInt32] = [], parent: Int32 = 1, seccomp: Int = 0
  ) -> String {
    let ids = "\(uid)\t\(uid)\t\(uid)\t\(uid)"
    let capabilities = uid == 0 ? "000001ffffffffff" : "0000000000000000"
    return """
      Name:\t\(name)
      PPid:\t\(parent)
      Uid:\t\(ids)
      Gid:\t\(ids)
      Groups:\t\(groups.map(String.init).joined(separator: " ")) 
      CapPrm:\t\(capabilities)
      CapEff:\t\(capabilities)
      CapBnd:\t000001ffffdfffff
      NoNewPrivs:\t0
      Seccomp:\t\(seccomp)

      """
  }

  /// Adds a node and the driver's entry in sysfs.
  static func device(
    _ fake: FakeSystem, _ path: PathBytes, _ number: DeviceNumber, mode: UInt16
  ) {
    fake.add(path, FakeNode(kind: .characterDevice, mode: mode, device: number))
    fake.add(PathBytes("/sys/dev/char/\(number.major):\(number.minor)/uevent"))
  }

  /// Adds a camera as its driver and udev make it.
  static func camera(
    _ fake: FakeSystem, _ mode: UInt16, uid: UInt32 = 0, gid: UInt32 = 0,
    acl: AccessControlList? = nil, driver: Errno? = nil
  ) {
    fake.add(
      camera,
      FakeNode(
        kind: .characterDevice, mode: mode, uid: uid, gid: gid, acl: acl,
        device: DeviceNumber(major: 81, minor: 0), driver: driver))
    fake.add("/sys/dev/char/81:0/uevent", .file("DEVNAME=video0\n"))
    fake.add("/sys/class/video4linux/video0/dev", .file("81:0\n"))
    fake.add("/sys/class/video4linux/video0/name", .file("Webcam\n"))
    fake.add("/run/udev/data/c81:0", .file("E:ID_V4L_CAPABILITIES=:capture:\n"))
  }

  /// Adds a microphone: the PCM with these permissions, and a control node that all may use.
  static func microphone(_ fake: FakeSystem, _ mode: UInt16, driver: Errno? = nil) {
    for (path, minor) in [(microphone, 24), (control, 0)] as [(PathBytes, UInt32)] {
      let isPCM = path == microphone
      fake.add(
        path,
        FakeNode(
          kind: .characterDevice, mode: isPCM ? mode : 0o666, gid: 29,
          device: DeviceNumber(major: 116, minor: minor), driver: isPCM ? driver : nil))
      let name = path.lastComponent
      fake.add(
        PathBytes("/sys/dev/char/116:\(minor)/uevent"), .file("MAJOR=116\nDEVNAME=snd/\(name)\n"))
      fake.add(PathBytes("/sys/class/sound/\(name)/dev"), .file("116:\(minor)\n"))
    }
    fake.add("/proc/asound/pcm", .file("00-00: USB Audio : USB Audio : capture 1\n"))
    fake.add("/proc/asound/cards", .file(" 0 [Mic            ]: USB-Audio - Mic\n"))
  }

  /// Adds a file of anna's on a mount of its own, at /mnt.
  static func mounted(
    _ fake: FakeSystem, _ fileSystem: String = "ext4", _ options: String = "rw",
    superblock: String = "rw", mode: UInt16 = 0o755
  ) {
    fake.mount("/mnt", fileSystem, options: options, superblock: superblock)
    fake.add("/mnt/file", FakeNode(mode: mode, uid: 1000, gid: 1000))
  }

  /// Adds anna's folder of pictures.
  static func pictures(_ fake: FakeSystem, _ mode: UInt16, uid: UInt32 = 1000) {
    fake.add("/home/anna/Pictures", FakeNode(kind: .directory, mode: mode, uid: uid))
  }

  /// Makes every open of what is there fail, whichever call opens.
  static func refuse(_ fake: FakeSystem, _ errno: Errno, _ paths: PathBytes...) {
    for path in paths {
      fake.force("openat", errno, on: path)
      fake.force("openat2", errno, on: path)
    }
  }

  /// Makes what is there fail as a device cgroup does.
  static func refuseDevice(_ fake: FakeSystem, _ path: PathBytes) {
    refuse(fake, .EPERM, path)
    fake.force("faccessat2", .EPERM, on: path)
  }

  /// Returns an ACL; `owner` is read and write.
  static func acl(
    user: (UInt32, Permissions)? = nil, group: Permissions = [],
    named: (UInt32, Permissions)? = nil, mask: Permissions = [.read, .write],
    other: Permissions = []
  ) -> AccessControlList {
    var entries: [AccessControlList.Entry] = [.init(.owner, [.read, .write])]
    if let user { entries.append(.init(.user, id: user.0, user.1)) }
    entries.append(.init(.owningGroup, group))
    if let named { entries.append(.init(.group, id: named.0, named.1)) }
    return AccessControlList(entries + [.init(.mask, mask), .init(.other, other)])
  }
}
