/// A kind of device: where the kernel lists devices, how nodes are named, what an open does.
///
/// All code that depends on the kind of a device uses this value. To add a kind of device, create a
/// value.
public final class DeviceFamily: Hashable, Sendable {
  /// A range of device numbers: one major and a range of minors.
  package struct Numbers: Hashable, Sendable {
    let major: UInt32
    let minors: ClosedRange<UInt32>

    /// Creates a range of numbers; by default all minors of the major.
    package init(major: UInt32, minors: ClosedRange<UInt32> = 0...UInt32.max) {
      self.major = major
      self.minors = minors
    }

    func contains(_ number: DeviceNumber) -> Bool {
      number.major == major && minors.contains(number.minor)
    }
  }

  /// The effect of an open(2) of a node on the device.
  public enum Opening: Hashable, Sendable {
    /// An open has no visible effect: the library may ask the kernel by an open.
    case harmless
    /// An open changes the device, as an open of a serial port raises DTR: nodes are never opened.
    case disturbs
  }

  /// The test that shows that another process uses the device.
  package enum BusyTest: Hashable, Sendable {
    /// There is no test.
    case none
    /// VIDIOC_REQBUFS of an open V4L2 node answers EBUSY.
    case videoBuffers
    /// /proc/asound names the owner of each substream of an ALSA node.
    case soundSubstreams
  }

  /// A driver that owns a whole major and itself answers for a node without a device.
  package struct Dispatcher: Hashable, Sendable {
    /// A directory that exists while the driver is loaded.
    let marker: PathBytes
    /// The errno of its open(2) for a node without a device.
    let errno: Errno
  }

  /// A permission that flatpak-override(1) can give.
  package struct Flatpak: Hashable, Sendable {
    /// The option of flatpak-override(1): `--device=all`.
    let permission: String
    /// A note about the permission, for people.
    var note: String?
    /// How programs in the sandbox reach such devices; nil if they open the nodes.
    var way: String?
  }

  /// A kernel module.
  package struct Module: Hashable, Sendable {
    /// The name, as modprobe(8) takes it.
    let name: String
    /// A description of the module, for people; nil if its name is enough.
    var note: String?
  }

  /// The word for one such device, for people: `camera`.
  package let noun: String
  /// The name of the folder below /sys/class that lists the devices.
  ///
  /// For a family with `paths`: the subsystem in sysfs, and empty for any.
  package let subsystem: String
  /// The folder of the nodes, below the root: `dev`.
  package let folder: PathBytes
  /// The names of nodes; `#` stands for a decimal number.
  package let nodePatterns: [String]
  /// The whole paths of nodes, as patterns of `Glob`; empty if `folder` and `nodePatterns` are
  /// enough.
  package let paths: [PathBytes]
  /// The numbers that nodes can have; empty if any number is possible.
  package let numbers: [Numbers]
  /// The effect of an open(2) of a node on the device.
  package let opening: Opening
  /// The test that shows that another process uses the device.
  package let busyTest: BusyTest
  /// The driver that answers for nodes without a device; nil if there is no such driver (ENXIO).
  package let dispatcher: Dispatcher?
  /// The kernel module that drives most of these devices; nil if there is none.
  package let driver: Module?
  /// The kernel module that creates a device without hardware, for tests.
  package let testDriver: String?
  /// The argument of `docker run --device=`; nil if it is the node itself.
  package let containerDevice: PathBytes?
  /// The permission that flatpak-override(1) can give; nil if none helps.
  package let flatpak: Flatpak?
  /// The plug of a snap's snapcraft.yaml.
  package let snapPlug: String?
  /// The name of the device group in DeviceAllow= of systemd.resource-control(5).
  package let deviceAllow: String?
  /// Whether usbipd(1) of Windows can attach such a device to WSL.
  package let isAttachedByUSB: Bool
  /// The media class of such devices in PipeWire; nil if no server of a session offers any.
  package let mediaClass: String?

  /// Creates a kind of device.
  ///
  /// - Parameters:
  ///   - noun: The word for one such device, for people: `serial port`.
  ///   - subsystem: The folder below /sys/class that lists the devices: `tty`.
  ///   - folder: The folder of the nodes, below the root.
  ///   - nodePatterns: The names of nodes; `#` stands for a decimal number: `ttyUSB#`.
  ///   - paths: The whole paths of nodes, as patterns.
  ///   - numbers: The numbers that nodes can have; empty if any number is possible.
  ///   - opening: What an open does to the device.
  ///   - busyTest: The test that shows that another process uses the device.
  ///   - dispatcher: The driver that answers for nodes without a device.
  ///   - driver: The kernel module that drives most of these devices.
  ///   - testDriver: The kernel module that creates a device without hardware, for tests.
  ///   - containerDevice: The argument of `docker run --device=`, if that is not the node itself.
  ///   - flatpak: The permission that flatpak-override(1) can give.
  ///   - snapPlug: The plug of a snap's snapcraft.yaml.
  ///   - deviceAllow: The name of the device group in DeviceAllow= of a systemd unit.
  ///   - isAttachedByUSB: Whether usbipd(1) of Windows can attach such a device to WSL.
  ///   - mediaClass: The media class of such devices in PipeWire: `Audio/Source`.
  package init(
    noun: String, subsystem: String, folder: PathBytes = "dev", nodePatterns: [String],
    paths: [PathBytes] = [], numbers: [Numbers], opening: Opening, busyTest: BusyTest,
    dispatcher: Dispatcher? = nil, driver: Module? = nil,
    testDriver: String? = nil, containerDevice: PathBytes? = nil,
    flatpak: Flatpak? = nil, snapPlug: String? = nil,
    deviceAllow: String? = nil, isAttachedByUSB: Bool = false, mediaClass: String? = nil
  ) {
    self.noun = noun
    self.subsystem = subsystem
    self.folder = folder
    self.nodePatterns = nodePatterns
    self.paths = paths
    self.numbers = numbers
    self.opening = opening
    self.busyTest = busyTest
    self.dispatcher = dispatcher
    self.driver = driver
    self.testDriver = testDriver
    self.containerDevice = containerDevice
    self.flatpak = flatpak
    self.snapPlug = snapPlug
    self.deviceAllow = deviceAllow
    self.isAttachedByUSB = isAttachedByUSB
    self.mediaClass = mediaClass
  }

  /// Creates a kind of device whose nodes are used alone.
  ///
  /// - Parameters:
  ///   - noun: The word for one such device, for people: `serial port`.
  ///   - subsystem: The folder below /sys/class that lists the devices: `tty`.
  ///   - folder: The folder of the nodes, below the root.
  ///   - nodePatterns: The names of nodes; `#` stands for a decimal number: `ttyUSB#`.
  ///   - majors: The major numbers that nodes can have; empty if any is possible.
  ///   - opening: What an open does to the device.
  public convenience init(
    noun: String, subsystem: String, folder: PathBytes = "dev", nodePatterns: [String],
    majors: [UInt32] = [], opening: Opening
  ) {
    self.init(
      noun: noun, subsystem: subsystem, folder: folder, nodePatterns: nodePatterns,
      numbers: majors.map { Numbers(major: $0) }, opening: opening, busyTest: .none)
  }

  /// Two families are the same if they list nodes of the same names in the same subsystem.
  public static func == (left: DeviceFamily, right: DeviceFamily) -> Bool {
    left === right
      || left.subsystem == right.subsystem && left.nodePatterns == right.nodePatterns
        && left.paths == right.paths
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(subsystem)
    hasher.combine(nodePatterns)
  }
}

// MARK: - The families of this library

extension DeviceFamily {
  /// Cameras: capture nodes of Video4Linux, see drivers/media/v4l2-core/v4l2-dev.c.
  public static let camera = DeviceFamily(
    noun: "camera", subsystem: "video4linux", nodePatterns: ["video#"],
    numbers: [Numbers(major: 81)], opening: .harmless, busyTest: .videoBuffers,
    driver: Module(name: "uvcvideo", note: "the driver of USB cameras"), testDriver: "vivid",
    flatpak: Flatpak(
      permission: "--device=all",
      note: "this gives every device; a program that uses the camera portal does not need it"),
    snapPlug: "camera", deviceAllow: "char-video4linux", isAttachedByUSB: true,
    mediaClass: "Video/Source")

  /// Microphones: capture PCMs of ALSA and the control node of their card, see sound/core/sound.c.
  public static let microphone = DeviceFamily(
    noun: "microphone", subsystem: "sound", folder: "dev/snd",
    nodePatterns: ["pcmC#D#c", "controlC#"], numbers: [Numbers(major: 116)], opening: .harmless,
    busyTest: .soundSubstreams,
    // snd_open() in sound/core/sound.c serves all of major 116.
    dispatcher: Dispatcher(marker: "/proc/asound", errno: .ENODEV),
    driver: Module(name: "snd-usb-audio"), testDriver: "snd-aloop", containerDevice: "/dev/snd",
    flatpak: Flatpak(
      permission: "--socket=pulseaudio",
      way: "programs there record through PulseAudio or PipeWire, not through device nodes"),
    snapPlug: "audio-record", deviceAllow: "char-alsa", mediaClass: "Audio/Source")

  /// The kinds of device that this library knows.
  public static let builtIn: [DeviceFamily] = [.camera, .microphone]
}

// MARK: - Names and numbers

extension DeviceFamily {
  /// Returns whether nodes can have this number.
  package func mayHave(_ number: DeviceNumber) -> Bool {
    for range in numbers where range.contains(number) { return true }
    return numbers.isEmpty
  }

  /// The path of a node that such a device usually has: `/dev/video0`.
  package var exampleNode: PathBytes {
    PathBytes("/").appending(Glob.example(folder))
      .appending(Glob.example(PathBytes(nodePatterns.first ?? "")))
  }

  /// Returns whether a node of this name can belong to the family.
  package func hasNode(named name: PathBytes) -> Bool {
    nodePatterns.contains { Glob.matches(name.bytes[...], Array($0.utf8)[...]) }
  }
}
