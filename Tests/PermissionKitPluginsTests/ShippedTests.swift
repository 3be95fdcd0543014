import Foundation
@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKitPlugins

/// The declarations that are compiled in, and the files of the same content.
@Suite(.blocking) struct ShippedTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Accessors")

  @Test func `The compiled declarations are those of the files`() throws {
    let shipped = AccessorDeclaration.shipped
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(files.sorted() == shipped.map { "\($0.name).toml" }.sorted())
    for declaration in shipped {
      let bytes = try Data(contentsOf: Self.folder.appending(path: "\(declaration.name).toml"))
      let reader = DeclarationReader(Array(bytes))
      #expect(reader.mistakes.isEmpty, "\(declaration.name): \(reader.mistakes)")
      #expect(reader.declaration == declaration)
    }
  }

  @Test func `The shipped declarations have no mistakes and no clashes`() {
    for declaration in AccessorDeclaration.shipped {
      #expect(declaration.mistakes.isEmpty, "\(declaration.name): \(declaration.mistakes)")
      #expect(AccessorRegistry.shipped.clashes(of: declaration).isEmpty)
    }
    let names = AccessorRegistry.shipped.entries.flatMap { [$0.name] + $0.aliases }
    #expect(Set(names).count == names.count)
  }

  @Test func `permcheck-helper serves serial alone`() {
    #expect(AccessorDeclaration.shipped.filter { $0.grant == .acl }.map(\.name) == ["serial"])
    let files = DeclarationFiles(ofRoot: LinuxSystem(), folders: [])
    let served = files.registry().registry.filter(\.isHelperGrantable)
    #expect(served.entries.map(\.name) == ["camera", "microphone", "serial"])
    let leads = ["docker", "kvm", "input", "usb", "tun", "hidraw", "uinput", "tpm"]
    for declaration in AccessorDeclaration.shipped where leads.contains(declaration.name) {
      #expect(declaration.risk != nil, "\(declaration.name) says where access leads")
    }
  }

  /// Every node that the declarations are about, with mode 0660 and a group of its own.
  static func machine(_ credentials: Credentials, mode: UInt16 = 0o660) -> FakeSystem {
    let system = FakeSystem(credentials: credentials)
    system.setEnvironment("HOME", "/home/ada")
    func node(_ name: String, _ major: UInt32, _ minor: UInt32, _ subsystem: String) {
      system.add(
        PathBytes("/dev/\(name)"),
        FakeNode(
          kind: .characterDevice, mode: mode, gid: 44, device: .init(major: major, minor: minor)))
      let entry = PathBytes("/sys/dev/char/\(major):\(minor)")
      system.add(
        entry.appending("uevent"), .file("MAJOR=\(major)\nMINOR=\(minor)\nDEVNAME=\(name)\n"))
      system.add(
        entry.appending("subsystem"),
        FakeNode(kind: .symbolicLink, target: PathBytes("../../../../class/\(subsystem)")))
    }
    node("ttyUSB0", 188, 0, "tty")
    node("dri/renderD128", 226, 128, "drm")
    node("kvm", 10, 232, "misc")
    node("bus/usb/001/002", 189, 1, "usb")
    node("input/event3", 13, 67, "input")
    node("i2c-1", 89, 1, "i2c-dev")
    node("spidev0.0", 153, 0, "spidev")
    node("gpiochip0", 254, 0, "gpio")
    node("net/tun", 10, 200, "misc")
    node("fuse", 10, 229, "misc")
    node("sg0", 21, 0, "scsi_generic")
    node("usb/lp0", 180, 0, "usbmisc")
    node("dvb/adapter0/frontend0", 212, 3, "dvb")
    node("kfd", 242, 0, "kfd")
    node("dma_heap/system", 241, 0, "dma_heap")
    node("hidraw0", 240, 0, "hidraw")
    node("uinput", 10, 223, "misc")
    node("tpmrm0", 239, 65536, "tpmrm")
    node("rtc0", 250, 0, "rtc")
    node("vsock", 10, 121, "misc")
    addUnlisted(to: system, mode)
    system.add("/run/udev/data/c21:0", .file("E:libsane_matched=yes\n"))
    system.add("/run/udev/data/c13:67", .file("E:ID_INPUT_JOYSTICK=1\n"))
    system.add("/run/udev/data/c189:1", .file("E:ID_PERSIST=0\n"))
    system.add("/sys/dev/char/1:3", FakeNode(kind: .directory))
    system.add("/run/pcscd/pcscd.comm", FakeNode(kind: .socket, mode: mode, gid: 44))
    system.add("/run/docker.sock", FakeNode(kind: .socket, mode: mode, gid: 44))
    let search = (mode & 0o444) >> 2
    for name in ["Downloads", "Documents", "Music", "Videos"] {
      system.add(
        PathBytes("/home/ada/\(name)"), FakeNode(kind: .directory, mode: mode | search, gid: 44))
    }
    return system
  }

  /// Adds what has no entry in /sys/dev/char: the driver of NVIDIA lists nothing, a disk is a block device.
  private static func addUnlisted(to system: FakeSystem, _ mode: UInt16) {
    system.add(
      "/proc/devices",
      .file("Character devices:\n195 nvidia\n238 nvidia-uvm\n\nBlock devices:\n 11 sr\n"))
    system.add(
      "/proc/driver/nvidia/gpus/0000:01:00.0/information",
      .file("Model: \t X\nDevice Minor: \t 0\n"))
    for (name, major, minor) in [
      ("nvidia0", 195, 0), ("nvidiactl", 195, 255), ("nvidia-uvm", 238, 0),
    ] as [(String, UInt32, UInt32)] {
      system.add(
        PathBytes("/dev/\(name)"),
        FakeNode(
          kind: .characterDevice, mode: mode, gid: 44, device: .init(major: major, minor: minor)))
    }
    system.add(
      "/dev/sr0",
      FakeNode(kind: .blockDevice, mode: mode, gid: 44, device: .init(major: 11, minor: 0)))
    system.add("/sys/dev/block/11:0/uevent", .file("MAJOR=11\nMINOR=0\nDEVNAME=sr0\n"))
    system.add(
      "/sys/dev/block/11:0/subsystem",
      FakeNode(kind: .symbolicLink, target: "../../../../class/block"))
  }

  @Test(arguments: AccessorDeclaration.shipped.map(\.name))
  func `Each shipped accessor follows the permission bits`(_ name: String) throws {
    let entry = try #require(AccessorRegistry.shipped[name])
    func report(_ credentials: Credentials, _ mode: UInt16) -> AccessReport {
      let system = Self.machine(credentials, mode: mode)
      if name == "home" {
        let search = (mode & 0o444) >> 2
        system.add("/home/ada", FakeNode(kind: .directory, mode: mode | search, gid: 44))
      }
      return entry.make(AccessContext(system: system), .discard).checkAccess()
    }
    if name == "bluetooth" {
      #expect(report(.init(uid: 1000, gid: 1000, groups: []), 0o666).status == .unavailable)
      return
    }
    let (member, other) = (
      Credentials(uid: 1000, gid: 1000, groups: [44]),
      Credentials(uid: 1000, gid: 1000, groups: [])
    )
    // What only a capability makes useful.
    let granted: AuthorizationStatus =
      entry.declaration?.uses == nil ? .authorized : .restricted
    #expect(report(member, 0o660).status == granted)
    #expect(report(other, 0o660).status == .denied)
    #expect(report(other, 0o666).status == granted)
    #expect(report(member, 0o600).status == .denied)
  }

  @Test(arguments: AccessorDeclaration.shipped.map(\.name))
  func `Each shipped accessor keeps the contract`(_ name: String) throws {
    let entry = try #require(AccessorRegistry.shipped[name])
    let stale = Self.machine(.init(uid: 1000, gid: 1000, groups: [44]))
    var socket = FakeNode(kind: .socket, mode: 0o660, gid: 44)
    socket.hasListener = false
    stale.add("/run/docker.sock", socket)
    let machines = [
      stale, FakeSystem(), Self.machine(.init(uid: 1000, gid: 1000, groups: [])),
      Self.machine(.init(uid: 1000, gid: 1000, groups: [44])),
    ]
    for system in machines {
      let violations = AccessorContract.violations {
        entry.make(AccessContext(system: system), $0)
      }
      #expect(violations.isEmpty, "\(violations)")
    }
    let violations = AccessorContract.violations { entry.make(AccessContext(probe: .access), $0) }
    #expect(violations.isEmpty, "on this machine: \(violations)")
  }

  @Test func `A controller without a node is not determined`()
    throws
  {
    let system = FakeSystem()
    system.add("/sys/class/bluetooth/hci0/uevent", .file("DEVTYPE=host\n"))
    let entry = try #require(AccessorRegistry.shipped["bluetooth"])
    let report = entry.make(AccessContext(system: system), .discard).checkAccess()
    #expect(report.status == .notDetermined)
    #expect(report.mainReason?.message.contains("no device node") == true)
    #expect(!report.isRequestable)
  }

  @Test func `A codec is a memory-to-memory node`() throws {
    let entry = try #require(AccessorRegistry.shipped["codec"])
    func report(_ nodes: [(name: String, caps: UInt32)], mode: UInt16 = 0o666) -> AccessReport {
      let system = FakeSystem(credentials: .init(uid: 1000, gid: 1000, groups: []))
      for (index, node) in nodes.enumerated() {
        let path = PathBytes("/dev/video\(index)")
        system.add(
          path,
          FakeNode(
            kind: .characterDevice, mode: mode, gid: 44,
            device: .init(major: 81, minor: UInt32(index))))
        system.setCard(
          VideoCapability(deviceCaps: node.caps, card: PathBytes(node.name)), of: path)
        system.add(
          PathBytes("/sys/class/video4linux/video\(index)/dev"), .file("81:\(index)\n"))
        system.add(
          PathBytes("/sys/class/video4linux/video\(index)/name"), .file("\(node.name)\n"))
        system.add(PathBytes("/sys/class/video4linux/video\(index)/index"), .file("0\n"))
        system.add(PathBytes("/run/udev/data/c81:\(index)"), .file("E:ID_V4L_CAPABILITIES=:\n"))
      }
      return entry.make(AccessContext(system: system), .discard).checkAccess()
    }
    // V4L2_CAP_VIDEO_M2M_MPLANE, V4L2_CAP_META_CAPTURE.
    let both = report([("Webcam: meta", 0x80_0000), ("vicodec", 0x4000)])
    #expect(both.status == .authorized)
    #expect(both.resources.map(\.path) == ["/dev/video1"])
    // Where the node may not be opened, its name tells.
    let closed = report(
      [("Webcam: meta", 0x80_0000), ("bcm2835-codec-decode", 0x4000)], mode: 0o600)
    #expect(closed.status == .denied)
    #expect(closed.resources.map(\.path) == ["/dev/video1"])
    #expect(report([("Webcam: meta", 0x80_0000)]).status == .unavailable)
  }

  @Test func `A port is never opened`() throws {
    let system = Self.machine(.init(uid: 1000, gid: 1000, groups: [44]))
    // What an open other than with O_PATH would answer.
    system.force("openat", .EIO, on: "/dev/ttyUSB0")
    let entry = try #require(AccessorRegistry.shipped["serial"])
    let report = entry.make(AccessContext(system: system), .discard).checkAccess()
    #expect(report.resources.first?.probe == Probe(method: .access, errno: nil))
  }

  @Test func `A node of another device is left out`() throws {
    let entry = try #require(AccessorRegistry.shipped["tty"])
    func status(_ change: (FakeSystem) -> Void) -> AuthorizationStatus {
      let system = FakeSystem(credentials: .init(uid: 0, gid: 0, groups: []))
      change(system)
      return entry.make(AccessContext(system: system), .discard).checkAccess().status
    }
    func node(_ major: UInt32, _ minor: UInt32) -> FakeNode {
      FakeNode(kind: .characterDevice, mode: 0o666, device: .init(major: major, minor: minor))
    }
    #expect(status { $0.add("/dev/ttyUSB0", node(188, 0)) } == .authorized)
    // A file, a directory, the memory of the machine, a console, and a port of another subsystem.
    #expect(status { $0.add("/dev/ttyUSB0", .file("")) } == .unavailable)
    #expect(status { $0.add("/dev/ttyUSB0", FakeNode(kind: .directory)) } == .unavailable)
    #expect(status { $0.add("/dev/ttyUSB0", node(1, 1)) } == .unavailable)
    #expect(status { $0.add("/dev/ttyUSB0", node(4, 1)) } == .unavailable)
    #expect(
      status {
        $0.add("/dev/ttyUSB0", node(188, 0))
        $0.add("/sys/dev/char/188:0/uevent", .file("DEVNAME=ttyUSB0\n"))
        $0.add("/sys/class/tty/ttyUSB0/dev", .file("188:7\n"))
        $0.add(
          "/sys/dev/char/188:0/subsystem",
          FakeNode(kind: .symbolicLink, target: "../../../../class/usbmisc"))
      } == .unavailable)
    #expect(status { $0.add("/dev/USB0", node(188, 0)) } == .unavailable)
    #expect(status { $0.add("/dev/ttyS0", node(4, 64)) } == .authorized)
    #expect(status { $0.add("/dev/ttyACM12", node(166, 12)) } == .authorized)
  }
}
