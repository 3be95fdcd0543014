internal import PermissionKit

// The folder Accessors of the repository has the same declarations as files, and a test compares them.
extension AccessorDeclaration {
  /// The declarations that are compiled into this library.
  public static var shipped: [AccessorDeclaration] {
    [serial] + graphics + buses + people + machine + network + paper + sockets + folders
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
      devices("kfd", "AMD processors for computing (ROCm)", ["/dev/kfd"]) {
        $0.subsystem = "kfd"
        // An open makes the process known to the driver.
        $0.probe = .none
        $0.hint = "load amdgpu; ROCm also needs the render nodes: permcheck gpu"
      },
      devices("nvidia", "NVIDIA processors", ["/dev/nvidia[0-9]*"]) {
        $0.numbers = ["195:0-253"]
        // The first open starts a processor that sleeps.
        $0.probe = .none
        $0.companions = ["/dev/nvidiactl", "/dev/nvidia-uvm"]
        $0.hint = "load nvidia and nvidia-uvm: nvidia-modprobe -u -c 0 makes the nodes"
      },
      devices("dma-heap", "shared memory of cameras and codecs", ["/dev/dma_heap/*"]) {
        $0.subsystem = "dma_heap"
      },
    ]
  }

  private static var people: [AccessorDeclaration] {
    [
      devices("joystick", "game controllers", ["/dev/input/event*", "/dev/input/js*"]) {
        $0.subsystem = "input"
        $0.property = "ID_INPUT_JOYSTICK=1"
        $0.need = .read
        $0.hint = "plug it in; vibration also needs w"
      },
      devices("hidraw", "keyboards, security keys and other HID devices", ["/dev/hidraw*"]) {
        $0.subsystem = "hidraw"
        // An open wakes a device that sleeps.
        $0.probe = .none
        $0.risk =
          "it shows every key of a keyboard, and can program keyboards, mice and security keys anew"
      },
      devices("uinput", "virtual keyboards and mice", ["/dev/uinput"]) {
        $0.subsystem = "misc"
        $0.numbers = ["10:223"]
        $0.hint = "load uinput"
        $0.risk = "it types and clicks in every session, also in a terminal of root"
      },
      devices("fingerprint", "fingerprint readers of libfprint", ["/dev/bus/usb/*/*"]) {
        $0.subsystem = "usb"
        $0.numbers = ["189:*"]
        // 60-autosuspend-libfprint-2.hwdb sets it for each reader that libfprint knows.
        $0.property = "ID_PERSIST=0"
        $0.probe = .none
        $0.hint = "programs usually ask fprintd over D-Bus: fprintd-list"
      },
    ]
  }

  private static var machine: [AccessorDeclaration] {
    [
      devices("tpm", "security chips (TPM 2.0)", ["/dev/tpmrm*"]) {
        $0.subsystem = "tpmrm"
        $0.probe = .none
        $0.hint = "switch it on in the firmware, and load tpm_tis or tpm_crb"
        $0.risk = "it can use up the chip's tries, after which its keys are locked for hours"
      },
      devices("rtc", "hardware clocks", ["/dev/rtc[0-9]*"]) {
        $0.subsystem = "rtc"
        $0.need = .read
        // Only one program at a time can open a clock.
        $0.probe = .none
      },
      devices("cdrom", "drives for CD, DVD and Blu-ray", ["/dev/sr*"]) {
        $0.subsystem = "block"
        $0.numbers = ["11:*"]
        $0.need = .read
        // An open locks the door, and may close it.
        $0.probe = .none
      },
      devices("vsock", "sockets between a machine and its virtual machines", ["/dev/vsock"]) {
        $0.subsystem = "misc"
        $0.need = .read
        $0.hint =
          "load vmw_vsock_virtio_transport, or vhost_vsock on the host; sockets need no node, which only tells the address"
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
    var smartcard = AccessorDeclaration(
      "smartcard", summary: "smart cards, by the daemon pcscd", .socket("/run/pcscd/pcscd.comm"))
    smartcard.aliases = ["pcscd"]
    smartcard.hint = "start it: systemctl start pcscd.socket"
    return [docker, smartcard]
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
