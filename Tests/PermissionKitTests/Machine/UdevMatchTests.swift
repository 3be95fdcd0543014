import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKit

/// What a udev rule says of a device; the lab has udev itself, and USB devices that are plugged in again.
@Suite struct UdevMatchTests {
  /// A machine, to which devices are added.
  private final class Machine {
    let system = FakeSystem(credentials: .init(uid: 0, gid: 0, groups: []))
    private let usb = "/sys/devices/pci0000:00/0000:00:14.0/usb1"

    func file(_ path: String, _ text: String) {
      system.add(PathBytes(path), .file(text + "\n"))
    }

    func link(_ path: String, _ target: String) {
      system.add(PathBytes(path), FakeNode(kind: .symbolicLink, target: PathBytes(target)))
    }

    /// A USB device at a port.
    func plug(_ port: String, product: String, serial: String? = nil) -> String {
      let folder = "\(usb)/\(port)"
      link("\(folder)/subsystem", "../../../../../bus/usb")
      file("\(folder)/idVendor", "0403")
      file("\(folder)/idProduct", product)
      if let serial { file("\(folder)/serial", serial) }
      link("/sys/devices/pci0000:00/0000:00:14.0/subsystem", "../../../bus/pci")
      return folder
    }

    /// A node of a class, below a device.
    func node(
      _ parent: String, _ subsystem: String, _ name: String, _ number: String,
      attributes: [String: String] = [:]
    ) {
      let folder = "\(parent)/\(subsystem)/\(name)"
      link("\(folder)/subsystem", "../../../../class/\(subsystem)")
      file("\(folder)/dev", number)
      file("\(folder)/uevent", "DEVNAME=\(name)")
      for (key, value) in attributes { file("\(folder)/\(key)", value) }
      let path = folder.dropFirst("/sys".count)
      link("/sys/dev/char/\(number)", "../..\(path)")
      link("/sys/class/\(subsystem)/\(name)", "../..\(path)")
    }

    func match(_ number: String, _ name: String, _ subsystem: String) -> UdevMatch {
      let parts = number.split(separator: ":").compactMap { UInt32($0) }
      return UdevMatch(
        DeviceNumber(major: parts[0], minor: parts[1]), named: name, subsystem: subsystem, system)
    }
  }

  @Test func `A serial number identifies the device`() throws {
    let machine = Machine()
    let first = machine.plug("1-1", product: "6001", serial: "A \"1$")
    let second = machine.plug("1-2", product: "6001", serial: "B2")
    machine.node("\(first)/1-1:1.0/ttyUSB0", "tty", "ttyUSB0", "188:0")
    machine.node("\(second)/1-2:1.0/ttyUSB1", "tty", "ttyUSB1", "188:1")
    let match = machine.match("188:0", "ttyUSB0", "tty")
    #expect(match.identity == .device)
    #expect(
      match.text
        == #"SUBSYSTEM=="tty", KERNEL=="ttyUSB[0-9]*", DEVPATH=="*:1.0/*", SUBSYSTEMS=="usb", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="A ?1?""#
    )
    // Plugged in again after the other one: another name, and another port.
    let later = Machine()
    let other = later.plug("1-1", product: "6001", serial: "B2")
    let same = later.plug("1-4.2", product: "6001", serial: "A \"1$")
    later.node("\(other)/1-1:1.0/ttyUSB0", "tty", "ttyUSB0", "188:0")
    later.node("\(same)/1-4.2:1.0/ttyUSB1", "tty", "ttyUSB1", "188:1")
    let rule =
      "\(match.text), ACTION!=\"remove\", RUN+=\"/usr/bin/setfacl -n -m u:5:rw- $env{DEVNAME}\""
    #expect(
      try #require(UdevMatch(rule: rule)).nodes(later.system).map(\.path) == ["/dev/ttyUSB1"])
  }

  @Test func `Without a serial number the port identifies it`() throws {
    for serial in [nil, "0001"] as [String?] {
      let machine = Machine()
      let ports = ["1-1", "1-2"].map { machine.plug($0, product: "7523", serial: serial) }
      machine.node("\(ports[0])/1-1:1.0/ttyUSB0", "tty", "ttyUSB0", "188:0")
      machine.node("\(ports[1])/1-2:1.0/ttyUSB1", "tty", "ttyUSB1", "188:1")
      let match = machine.match("188:1", "ttyUSB1", "tty")
      #expect(match.identity == .port("1-2"))
      #expect(match.text.contains("KERNELS==\"1-2\""))
      #expect(match.nodes(machine.system).map(\.path) == ["/dev/ttyUSB1"])
    }
  }

  @Test func `Interface and index distinguish the nodes of one device`() {
    let machine = Machine()
    let adapter = machine.plug("1-1", product: "6011", serial: "F")
    for port in 0..<4 {
      machine.node("\(adapter)/1-1:1.\(port)/ttyUSB\(port)", "tty", "ttyUSB\(port)", "188:\(port)")
    }
    let camera = machine.plug("1-2", product: "0825", serial: "C")
    for index in 0..<2 {
      machine.node(
        "\(camera)/1-2:1.0", "video4linux", "video\(index)", "81:\(index)",
        attributes: ["index": "\(index)"])
    }
    #expect(
      machine.match("188:2", "ttyUSB2", "tty").nodes(machine.system).map(\.path) == ["/dev/ttyUSB2"]
    )
    let match = machine.match("81:0", "video0", "video4linux")
    #expect(match.identity == .device)
    #expect(match.text.contains("ATTR{index}==\"0\""))
    #expect(match.nodes(machine.system).map(\.path) == ["/dev/video0"])
  }

  @Test func `A place on a board identifies the device`() {
    let machine = Machine()
    let board = "/sys/devices/platform/snd_dummy.0"
    machine.link("\(board)/subsystem", "../../../bus/platform")
    for (name, minor) in [("pcmC0D0c", 24), ("pcmC0D1c", 25), ("controlC0", 0)] {
      machine.node("\(board)/sound/card0", "sound", name, "116:\(minor)")
    }
    let match = machine.match("116:24", "pcmC0D0c", "sound")
    #expect(match.identity == .device)
    #expect(
      match.text
        == #"SUBSYSTEM=="sound", KERNEL=="pcmC[0-9]*D0c", SUBSYSTEMS=="platform", KERNELS=="snd?dummy.0""#
        || match.text.contains("KERNELS==\"snd_dummy.0\""))
    #expect(machine.match("116:0", "controlC0", "sound").text.contains("controlC[0-9]*"))
    // Serial ports of one controller keep their names.
    machine.link("/sys/devices/platform/serial8250/subsystem", "../../../bus/platform")
    for port in 0..<2 {
      machine.node("/sys/devices/platform/serial8250", "tty", "ttyS\(port)", "4:\(64 + port)")
    }
    #expect(machine.match("4:65", "ttyS1", "tty").text.contains("KERNEL==\"ttyS1\""))
  }

  @Test func `A virtual device is identified by its name`() {
    let machine = Machine()
    machine.node("/sys/devices/virtual", "misc", "kvm", "10:232")
    let match = machine.match("10:232", "kvm", "misc")
    #expect(match.identity == .name)
    #expect(match.text == #"SUBSYSTEM=="misc", KERNEL=="kvm""#)
    #expect(machine.match("81:9", "video9", "video4linux").identity == .name)
  }

  @Test func `A whole USB device is none of its interfaces`() {
    let machine = Machine()
    for (port, serial) in [("1-1", "S"), ("1-2", "T")] {
      let folder = machine.plug(port, product: "8613", serial: serial)
      machine.link("\(folder)/\(port):1.0/subsystem", "../../../../../../bus/usb")
      machine.file("\(folder)/dev", "189:\(port.suffix(1))")
      machine.file("\(folder)/uevent", "DEVNAME=bus/usb/001/00\(port.suffix(1))")
      let path = folder.dropFirst("/sys".count)
      machine.link("/sys/dev/char/189:\(port.suffix(1))", "../..\(path)")
      machine.link("/sys/bus/usb/devices/\(port)", "../../..\(path)")
      machine.link("/sys/bus/usb/devices/\(port):1.0", "../../..\(path)/\(port):1.0")
    }
    let match = machine.match("189:2", "002", "usb")
    #expect(match.identity == .device)
    #expect(match.nodes(machine.system).map(\.path) == ["/dev/bus/usb/001/002"])
  }
}
