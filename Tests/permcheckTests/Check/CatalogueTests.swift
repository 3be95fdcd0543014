import Foundation
import Glibc
import TestSupport
import Testing

/// Which nodes are cameras, and what is said where there is none.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct CameraCatalogueTests {
  func report(_ tree: Tree, _ more: [String] = []) throws -> Document.Report {
    let outcome = try Command.permcheck(
      ["camera", "--json", "--root", tree.root] + more, as: stranger)
    #expect(outcome.errors.isEmpty)
    return try outcome.report()
  }

  /// What udev's v4l_id writes for nodes that take no pictures, though open to everybody.
  @Test(
    arguments: Effort.some(
      [":", ":video_output:", ":video_overlay:", ":tuner:radio:", ":audio:", ""],
      of: "CatalogueTests Other cameras", atLeast: 2))
  func `Other nodes are no cameras`(_ capabilities: String) throws {
    let tree = try Tree()
    try tree.camera(0, name: "Not a camera", capabilities: capabilities)
    #expect(try Kernel.open(tree.path("dev/video0"), O_RDWR, as: stranger) == 0)
    for more in [[], ["--all"], ["--probe", "none"], ["--user", "root"]] {
      let report = try report(tree, more)
      #expect(report.status == "unavailable")
      #expect(["no-capture-node", "no-device"].contains(report.codes.first))
    }
  }

  @Test func `Only capture nodes count`() throws {
    let tree = try Tree()
    try tree.camera(0)
    try tree.camera(1, capabilities: ":", index: 1, mode: 0o600)
    try tree.camera(2, capabilities: ":video_output:", index: 2, mode: 0o600)
    try tree.camera(3, capabilities: ":", index: 3, mode: 0o666)
    let report = try report(tree, ["--all"])
    #expect(report.status == "authorized")
    #expect(report.paths == [tree.path("dev/video0")])
    try tree.mode("dev/video0", 0o600)
    #expect(try self.report(tree).status == "denied")
  }

  /// Without udev's word the index in sysfs decides: the first node of a camera takes pictures.
  @Test(arguments: [(0, "authorized"), (1, "unavailable"), (3, "unavailable")])
  func `The index in sysfs decides without udev`(_ index: Int, _ status: String) throws {
    let tree = try Tree()
    try tree.camera(0, capabilities: nil, index: index)
    #expect(try report(tree).status == status)
  }

  @Test func `Udev comes before the index`() throws {
    let tree = try Tree()
    try tree.camera(0, capabilities: ":", index: 0)
    try tree.camera(1, capabilities: ":capture:", index: 1)
    #expect(try report(tree).paths == [tree.path("dev/video1")])
  }

  /// udev's file goes by the number of the device, not by the name of the node.
  @Test func `Udev file is found by number`() throws {
    let tree = try Tree()
    try tree.camera(0, capabilities: nil)
    try tree.file("sys/class/video4linux/video0/dev", "81:9\n")
    try tree.file("run/udev/data/c81:0", "E:ID_V4L_CAPABILITIES=:capture:\n")
    try tree.file("run/udev/data/c81:9", "E:ID_V4L_CAPABILITIES=:\n")
    #expect(try report(tree).status == "unavailable")
  }

  @Test func `Odd nodes are no cameras`() throws {
    let tree = try Tree()
    for name in ["vbi0", "radio0", "v4l-touch0", "video", "videox", "video-1", "video1x"] {
      try tree.device("dev/\(name)", mode: 0o666)
    }
    #expect(try report(tree).status == "unavailable")
    try tree.file("dev/video0", mode: 0o666)
    try tree.folder("dev/video1", mode: 0o777)
    try tree.link("dev/video2", to: "nowhere")
    try tree.link("dev/video3", to: "video3")
    #expect(try report(tree).status == "unavailable")
  }

  @Test func `Nodes come in order of number`() throws {
    let tree = try Tree()
    for number in [10, 2, 0, 100, 33] { try tree.camera(number) }
    #expect(
      try report(tree).paths == [0, 2, 10, 33, 100].map { tree.path("dev/video\($0)") })
  }

  /// A camera that is known but has no node, a node without driver, no camera at all.
  @Test func `Different absences have different reasons`() throws {
    let (none, nodeless, driverless) = (try Tree(), try Tree(), try Tree())
    try none.folder("dev")
    try nodeless.camera(0, name: "Known camera", mode: nil)
    try nodeless.folder("dev")
    try driverless.device("dev/video0", 81, 219, mode: 0o666)
    try driverless.camera(0, index: nil, mode: nil)
    let node = driverless.path("dev/video0")
    #expect(try Kernel.open(node, O_RDWR, as: stranger) == ENXIO)
    let reports = try [none, nodeless, driverless].map { try report($0) }
    for report in reports { #expect(report.status == "unavailable") }
    #expect(reports[0].codes == ["no-device"])
    #expect(reports[2].codes == ["no-driver"])
    #expect(Set(reports.map(\.codes)).count == 3, "each has a reason of its own")
    let human = try Command.permcheck(["camera", "--root", nodeless.root], as: stranger)
    #expect(human.output.contains("Known camera"))
  }

  /// Two cameras in every combination, each judged by the kernel, and the set by its members.
  @Test(arguments: [0o666, 0o664, 0o600] as [UInt32], [0o666, 0o662, 0o060] as [UInt32])
  func `Two cameras are found`(_ first: UInt32, _ second: UInt32) throws {
    let tree = try Tree()
    try tree.camera(0, name: "One", mode: first)
    try tree.camera(7, name: "Two", mode: second)
    let open = try ["dev/video0", "dev/video7"].map {
      try Kernel.open(tree.path($0), O_RDWR, as: stranger) == 0
    }
    let report = try report(tree)
    #expect(report.resources.map { $0.status == "authorized" } == open)
    #expect(report.resources.map(\.label) == ["One", "Two"])
    #expect(
      report.status
        == (open == [true, true] ? "authorized" : open.contains(true) ? "limited" : "denied"))
  }

  /// `--root` moves /dev, so a path in it is one below that folder.
  @Test func `Named node lies below the root`() throws {
    let tree = try Tree()
    try tree.camera(5)
    try tree.camera(6, mode: 0o600)
    for (number, status) in [(5, "authorized"), (6, "denied"), (77, "unavailable")] {
      let arguments = ["camera=/dev/video\(number)", "--json", "--root", tree.root]
      let report = try Command.permcheck(arguments, as: stranger).report()
      #expect(report.status == status)
      #expect(report.paths == [tree.path("dev/video\(number)")])
    }
  }

  /// An absolute link is followed from the root that is meant, as chroot(2) has it.
  @Test(arguments: ["real", "../dev/real", "../../../../../../dev/real", "/dev/real"])
  func `Linked node is judged by its target`(_ target: String) throws {
    let tree = try Tree()
    try tree.device("dev/real", mode: 0o600)
    try tree.link("dev/video0", to: target)
    let refused = try report(tree)
    #expect(refused.status == "denied")
    try tree.mode("dev/real", 0o666)
    #expect(try report(tree).status == "authorized")
    try tree.device("dev/other", mode: 0o600)
    let kernel = try ["real", "other"].map {
      try Kernel.open(tree.path("dev/\($0)"), O_RDWR, as: stranger)
    }
    #expect(kernel == [0, EACCES])
  }

  /// The same path outside leads nowhere below the root.
  @Test func `A link out of the root finds nothing`() throws {
    let tree = try Tree()
    try tree.device("dev/real", mode: 0o666)
    try tree.link("dev/video0", to: tree.path("dev/real"))
    #expect(try Kernel.open(tree.path("dev/video0"), O_RDWR, as: stranger) == 0)
    #expect(try report(tree).status == "unavailable")
  }
}

/// Which nodes are microphones, and what recording wants besides the PCM.
@Suite(
  .blocking, .enabled(if: Kernel.canAsk, "making device nodes and taking on other ids wants root"))
struct MicrophoneCatalogueTests {
  func report(_ tree: Tree) throws -> Document.Report {
    let outcome = try Command.permcheck(["mic", "--json", "--root", tree.root], as: stranger)
    #expect(outcome.errors.isEmpty)
    return try outcome.report()
  }

  /// PCM and control node in every combination; both must open, or nothing is recorded.
  @Test(
    arguments: [0o666, 0o664, 0o600, nil] as [UInt32?], [0o666, 0o662, 0o600, nil] as [UInt32?])
  func `Both nodes must open`(_ pcm: UInt32?, _ control: UInt32?) throws {
    let tree = try Tree()
    try tree.microphone(pcm: pcm, control: control)
    let answers = try ["dev/snd/pcmC0D0c", "dev/snd/controlC0"].map {
      try Kernel.open(tree.path($0), O_RDWR, as: stranger)
    }
    let report = try report(tree)
    var allowed: Set<String> = []
    if answers == [0, 0] { allowed = ["authorized"] }
    if answers.contains(EACCES) { allowed.insert("denied") }
    if answers.contains(ENOENT) { allowed.insert("unavailable") }
    #expect(allowed.contains(report.status), "kernel: \(answers)")
    #expect(report.status == "authorized" || !report.codes.isEmpty)
  }

  @Test func `Different absences have different reasons`() throws {
    let (none, nodeless) = (try Tree(), try Tree())
    try none.folder("dev")
    try nodeless.folder("dev")
    try nodeless.sound()
    let reports = try [none, nodeless].map { try report($0) }
    for report in reports { #expect(report.status == "unavailable") }
    #expect(reports[0].codes == ["no-device"])
    #expect(reports[0].codes != reports[1].codes, "a card that is known has a reason of its own")
  }

  @Test func `An empty /dev/snd has no microphone`() throws {
    let tree = try Tree()
    try tree.folder("dev/snd")
    #expect(try report(tree).status == "unavailable")
  }

  @Test func `Playback only card is no microphone`() throws {
    let tree = try Tree()
    try tree.sound(
      pcm: "00-00: HDMI 0 : HDMI 0 : playback 1\n00-03: HDMI 1 : HDMI 1 : playback 1\n")
    for name in ["pcmC0D0p", "pcmC0D3p", "controlC0", "seq", "timer", "hwC0D0"] {
      try tree.device("dev/snd/\(name)", mode: 0o666)
    }
    let report = try report(tree)
    #expect(report.status == "unavailable")
    #expect(["no-capture-node", "no-device"].contains(report.codes.first))
  }

  /// The nodes alone are enough: /proc/asound only lends the names.
  @Test(arguments: [0o666, 0o600] as [UInt32]) func `Nodes are found without /proc`(
    _ mode: UInt32
  ) throws {
    let tree = try Tree()
    try tree.device("dev/snd/pcmC0D0c", mode: mode)
    try tree.device("dev/snd/controlC0", mode: mode)
    #expect(try report(tree).status == (mode == 0o666 ? "authorized" : "denied"))
  }

  @Test(
    arguments: Effort.some(
      ["", "\u{0}\u{1}", "--- no soundcards ---\n", "garbage : : :\n99-99\n", "00-00"],
      of: "CatalogueTests A harm", atLeast: 2))
  func `A garbled /proc does no harm`(_ text: String) throws {
    let tree = try Tree()
    try tree.microphone(pcm: 0o600)
    try tree.sound(cards: text, pcm: text)
    #expect(try report(tree).status == "denied")
  }

  @Test func `Several cards are found`() throws {
    let tree = try Tree()
    try tree.sound(
      cards: " 0 [HDMI           ]: HDA-Intel - HDMI\n  HDMI at irq 1\n"
        + " 1 [Headset        ]: USB-Audio - USB Headset\n  A Headset\n"
        + "12 [Webcam         ]: USB-Audio - HD Webcam\n  A Webcam\n",
      pcm: "00-03: HDMI 0 : HDMI 0 : playback 1\n01-00: USB Audio : USB Audio : playback 1 :"
        + " capture 1\n12-10: USB Audio : USB Audio : capture 1\n")
    for name in ["pcmC0D3p", "controlC0", "pcmC1D0p", "pcmC1D0c", "controlC1"] {
      try tree.device("dev/snd/\(name)", mode: 0o666)
    }
    for name in ["pcmC12D10c", "controlC12"] { try tree.device("dev/snd/\(name)", mode: 0o600) }
    let report = try report(tree)
    #expect(report.status == "limited")
    #expect(
      report.paths
        == ["pcmC1D0c", "controlC1", "pcmC12D10c", "controlC12"].map { tree.path("dev/snd/\($0)") })
    #expect(report.resources.map(\.status) == ["authorized", "authorized", "denied", "denied"])
    #expect(report.resources[0].label.contains("USB Headset"))
    #expect(report.resources[2].label.contains("HD Webcam"))
  }

  /// A control node of another card does not help.
  @Test func `Control is of the same card`() throws {
    let tree = try Tree()
    try tree.device("dev/snd/pcmC1D0c", mode: 0o666)
    try tree.device("dev/snd/controlC0", mode: 0o666)
    try tree.device("dev/snd/controlC11", mode: 0o666)
    let report = try report(tree)
    #expect(report.status == "unavailable")
  }
}
