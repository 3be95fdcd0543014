internal import PermissionKit

// The folder Accessors of the repository has the same declarations as files, and a test compares them.
extension AccessorDeclaration {
  /// The declarations that are compiled into this library.
  public static var shipped: [AccessorDeclaration] {
    [serial] + graphics + buses + network + paper + sockets + folders
  }

  private static func devices(
    _ name: String, _ summary: String, _ nodes: [String],
    _ more: (inout AccessorDeclaration) -> Void = { _ in }
  ) -> AccessorDeclaration {
    var declaration = AccessorDeclaration(name, summary: summary, .nodes(nodes))
    more(&declaration)
    return declaration
  }

  /// Serial ports; the one declared accessor that the root side serves.
  package static var serial: AccessorDeclaration {
    var serial = AccessorDeclaration(
      "serial", summary: "serial ports", .nodes(["/dev/ttyUSB*", "/dev/ttyACM*", "/dev/ttyS*"]))
    serial.aliases = ["tty"]
    serial.subsystem = "tty"
    // Documentation/admin-guide/devices.txt of Linux: ttyUSB, ttyACM and ttyS.
    serial.numbers = ["188:*", "166:*", "4:64-255"]
    // tty_port_open() raises DTR, which resets many boards.
    serial.probe = .none
    serial.grant = .acl
    serial.hint = "plug it in, and load its driver: cdc_acm, ftdi_sio, cp210x or ch341"
    return serial
  }

  private static var graphics: [AccessorDeclaration] {
    [
      devices("gpu", "graphics processors: render nodes", ["/dev/dri/renderD*"]) {
        $0.subsystem = "drm"
        $0.numbers = ["226:128-191"]
        // An open wakes a processor that sleeps.
        $0.probe = .none
      },
      devices("kvm", "virtual machines (KVM)", ["/dev/kvm"]) {
        $0.subsystem = "misc"
        $0.numbers = ["10:232"]
        $0.hint = "load kvm_intel or kvm_amd, and switch virtualization on in the firmware"
        $0.risk = "a mistake in the kernel's KVM gives the whole machine to whoever may use it"
      },
    ]
  }

  private static var buses: [AccessorDeclaration] {
    [
      devices("usb", "USB devices, all of them", ["/dev/bus/usb/*/*"]) {
        $0.subsystem = "usb"
        $0.numbers = ["189:*"]
        // An open wakes a device that sleeps.
        $0.probe = .none
        $0.risk = "keyboards, disks and security keys are USB devices too"
      },
      devices("input", "keyboards, mice and other input devices", ["/dev/input/event*"]) {
        $0.subsystem = "input"
        $0.need = .read
        $0.risk = "it shows every key that is pressed, passwords included"
      },
      devices("i2c", "I2C buses", ["/dev/i2c-*"]) {
        $0.subsystem = "i2c-dev"
        $0.numbers = ["89:*"]
        $0.hint = "load i2c-dev"
        $0.risk = "a wrong write can destroy the configuration of memory and other chips"
      },
      devices("spi", "SPI devices", ["/dev/spidev*"]) {
        $0.subsystem = "spidev"
        $0.numbers = ["153:*"]
      },
      devices("gpio", "GPIO chips", ["/dev/gpiochip*"]) { $0.subsystem = "gpio" },
    ]
  }

  private static var network: [AccessorDeclaration] {
    var bluetooth = AccessorDeclaration(
      "bluetooth", summary: "Bluetooth controllers", .deviceClass("bluetooth"))
    bluetooth.hint = "programs usually ask bluetoothd over D-Bus: bluetoothctl show"
    return [
      devices("tun", "virtual network interfaces", ["/dev/net/tun"]) {
        $0.subsystem = "misc"
        $0.numbers = ["10:200"]
        $0.hint = "load tun"
        $0.risk =
          "an interface also needs CAP_NET_ADMIN, and then reaches the network of the machine"
      },
      bluetooth,
      devices("fuse", "file systems of programs (FUSE)", ["/dev/fuse"]) {
        $0.subsystem = "misc"
        $0.numbers = ["10:229"]
        $0.hint = "load fuse"
      },
    ]
  }

  private static var paper: [AccessorDeclaration] {
    [
      devices("scanner", "scanners that SANE knows", ["/dev/bus/usb/*/*", "/dev/sg*"]) {
        $0.property = "libsane_matched=yes"
        $0.probe = .none
        $0.hint = "plug it in; scanners of the network need no device"
      },
      devices("printer", "printers without a spooler", ["/dev/usb/lp*", "/dev/lp*"]) {
        // Only one program at a time can open a printer.
        $0.need = .write
        $0.probe = .none
        $0.hint = "printers of CUPS need no device: lpstat -p"
      },
      devices("dvb", "television receivers (DVB)", ["/dev/dvb/adapter*/frontend*"]) {
        $0.subsystem = "dvb"
        $0.numbers = ["212:*"]
        // Only one program at a time can open a receiver for writing.
        $0.probe = .none
      },
    ]
  }

  private static var sockets: [AccessorDeclaration] {
    var docker = AccessorDeclaration(
      "docker", summary: "the daemon of Docker", .socket("/run/docker.sock"))
    docker.hint = "start it: systemctl start docker.socket"
    docker.risk = "it is as much as root, since a container can be given every file of the machine"
    return [docker]
  }

  private static var folders: [AccessorDeclaration] {
    [
      ("downloads", "DOWNLOAD", "download"), ("documents", "DOCUMENTS", "document"),
      ("music", "MUSIC", "music"), ("videos", "VIDEOS", "video"),
    ].map { name, key, word in
      AccessorDeclaration(name, summary: "the user's \(word) folder (XDG)", .userFolder(key))
    } + [AccessorDeclaration("home", summary: "the user's home directory", .directory("~"))]
  }
}
