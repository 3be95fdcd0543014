@_spi(SystemCalls) internal import PermissionKit

// A machine in a few lines: a camera, group video, user ada.
extension FakeSystem {
  /// Creates the machine of one user, who runs the calling process.
  ///
  /// The user has uid 1000 and a home directory; `root` is root, with every capability. `addUser` adds
  /// others.
  ///
  /// - Parameters:
  ///   - name: The name of the user, and of the user's own group.
  ///   - groups: The names of further groups that the user is in: video has gid 44, audio 29, others are
  ///     numbered from 2000.
  public convenience init(user name: String, groups: [String] = []) {
    self.init(credentials: Credentials(uid: 1000, gid: 1000, groups: []))
    for (group, gid) in [("root", 0), ("audio", 29), ("video", 44)] as [(String, UInt32)] {
      addGroup(gid, group)
    }
    let root = UserRecord(name: "root", uid: 0, gid: 0, home: "/root")
    addUser(root, groups: name == root.name ? groups.map(gid) : [])
    add("/root", FakeNode(kind: .directory, mode: 0o700))
    mount("/dev", "devtmpfs")
    add("/proc/self/cgroup", .file("0::/user.slice\n"))
    become(name == root.name ? root : added(name, groups))
  }

  /// Adds a camera as its driver and udev would: it belongs to root and group video.
  ///
  /// - Parameters:
  ///   - number: The number of the node: 2 for `/dev/video2`.
  ///   - name: The name of the camera.
  ///   - mode: The permission bits of the node.
  public func addCamera(_ number: UInt32 = 0, name: String = "Webcam", mode: UInt16 = 0o660) {
    let node = "video\(number)"
    add(
      PathBytes("/dev/\(node)"),
      FakeNode(
        kind: .characterDevice, mode: mode, gid: 44,
        device: DeviceNumber(major: 81, minor: number)))
    add(PathBytes("/sys/dev/char/81:\(number)/uevent"), .file("DEVNAME=\(node)\n"))
    add(PathBytes("/sys/class/video4linux/\(node)/dev"), .file("81:\(number)\n"))
    add(PathBytes("/sys/class/video4linux/\(node)/name"), .file("\(name)\n"))
    add(PathBytes("/run/udev/data/c81:\(number)"), .file("E:ID_V4L_CAPABILITIES=:capture:\n"))
    add(PathBytes("/run/udev/tags/uaccess/c81:\(number)"))
    giveToSeat()
  }

  /// Adds the first sound card, with a microphone, as its driver and udev would: it belongs to root
  /// and group audio.
  ///
  /// - Parameters:
  ///   - name: The name of the card.
  ///   - mode: The permission bits of both nodes.
  public func addMicrophone(name: String = "Mic", mode: UInt16 = 0o660) {
    for (node, minor) in [("pcmC0D0c", 24), ("controlC0", 0)] as [(String, UInt32)] {
      add(
        PathBytes("/dev/snd/\(node)"),
        FakeNode(
          kind: .characterDevice, mode: mode, gid: 29,
          device: DeviceNumber(major: 116, minor: minor)))
      add(
        PathBytes("/sys/dev/char/116:\(minor)/uevent"),
        .file("MAJOR=116\nDEVNAME=snd/\(node)\n"))
      add(PathBytes("/sys/class/sound/\(node)/dev"), .file("116:\(minor)\n"))
      add(PathBytes("/run/udev/tags/uaccess/c116:\(minor)"))
    }
    giveToSeat()
    add("/proc/asound/pcm", .file("00-00: \(name) : \(name) : capture 1\n"))
    add("/proc/asound/cards", .file(" 0 [\(name)            ]: USB-Audio - \(name)\n"))
  }

  /// Adds the user's picture folder.
  ///
  /// - Parameter mode: The permission bits of the folder.
  public func addPictures(mode: UInt16 = 0o755) {
    guard let home = getenv("HOME"), let owner = try? credentials().user.real else { return }
    add(
      home.appending("Pictures"),
      FakeNode(kind: .directory, mode: mode, uid: owner, gid: owner))
  }
}
