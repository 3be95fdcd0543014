/// Finds the devices below a root that can capture, and opens no more than the caller allows.
package struct DeviceCatalog: Sendable {
  /// One device: the nodes that are needed together.
  package struct Device: Hashable, Sendable {
    /// The name of the capture node: `video0`, `pcmC0D0c`.
    package var name: String
    /// The name for people: `Integrated Camera`.
    package var label: String
    /// The nodes that must all be usable; the first is the capture node.
    package var nodes: [PathBytes]
    /// Whether the capture node exists; false only if its folder was listed and does not contain
    /// it.
    package var hasNode: Bool
    /// The evidence that the device captures.
    package var evidence: String
  }

  /// The devices that were found.
  package struct Findings: Hashable, Sendable {
    /// The devices that capture, in order of their numbers.
    package var devices: [Device] = []
    /// The nodes of the same kind that do not capture, each with the evidence.
    package var others: [String] = []
    /// The folders that could not be read, so that devices may be missing.
    package var unreadable: [(PathBytes, Errno)] = []
    /// Files that could not be read, each of which shows whether a node captures.
    package var unseen: [Unseen] = []

    /// Compares the devices and the unreadable folders, but not the errnos of the folders.
    package static func == (left: Findings, right: Findings) -> Bool {
      left.devices == right.devices && left.others == right.others
        && left.unreadable.map(\.0) == right.unreadable.map(\.0) && left.unseen == right.unseen
    }

    /// Hashes only the devices.
    package func hash(into hasher: inout Hasher) { hasher.combine(devices) }
  }

  /// The system to read.
  package let system: any System
  /// The folder that contains /dev, /sys, /proc and /run.
  package let root: PathBytes
  let mayOpen: Bool

  /// Creates a catalogue, without reading anything yet.
  ///
  /// - Parameters:
  ///   - system: The system to read.
  ///   - root: The folder that contains /dev, /sys, /proc and /run.
  ///   - mayOpen: Whether video nodes may be opened to ask their driver (VIDIOC_QUERYCAP).
  package init(_ system: any System, root: PathBytes = "/", mayOpen: Bool) {
    self.system = system.machine(below: root)
    self.root = root
    self.mayOpen = mayOpen
  }

  /// Returns the names in a folder that a condition selects; empty if the folder is missing; records any
  /// other failure.
  func names(
    _ folder: String, _ findings: inout Findings,
    where isWanted: (PathBytes) -> Bool = { _ in true }
  ) -> [String] {
    let path = root.appending(folder)
    do throws(Errno) {
      return try system.names(in: path, where: isWanted).map(\.description)
    } catch .ENOENT {
    } catch .ENOTDIR {
    } catch {
      findings.unreadable.append((path, error))
    }
    return []
  }

  func line(_ path: String) -> String? {
    guard let line = try? system.line(of: root.appending(path)), !line.isEmpty else { return nil }
    return line.description
  }

  /// Returns the unsigned numbers in a device's name, for sorting: `pcmC1D10c` gives 1, 10.
  package static func numbers(_ name: String) -> [Int] {
    name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
  }

  /// Returns the names in the order of the numbers in them.
  package static func inOrder(_ names: some Sequence<String>) -> [String] {
    Set(names).map { ($0, numbers($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }
}

extension DeviceCatalog {
  /// V4L2_CAP_… bits, see include/uapi/linux/videodev2.h.
  private static let videoCapture: UInt32 = 0x1 | 0x1000
  private static let memoryToMemory: UInt32 = 0x8000 | 0x4000
  private static let videoOutput: UInt32 = 0x2 | 0x2000

  /// Returns whether this is the name of a video node: `video0`.
  private static func isVideo(_ name: PathBytes) -> Bool {
    name.hasPrefix("video") && DeviceFamily.camera.hasNode(named: name)
  }

  /// The purpose of a video node.
  private enum VideoRole: Equatable {
    case capture
    /// Only this file would show it.
    case unknown(Unseen)
    /// Memory to memory: a codec, or another unit that converts images.
    case codec
    case other
  }

  /// Returns the video nodes that capture, and lists the output, metadata and codec nodes apart.
  package func cameras() -> Findings { videoNodes(.capture) }

  /// Returns the nodes of codecs, which encode, decode or convert from memory to memory.
  package func codecs() -> Findings { videoNodes(.codec) }

  private func videoNodes(_ wanted: VideoRole) -> Findings {
    var findings = Findings()
    let nodes = Set(names("dev", &findings, where: Self.isVideo))
    let known = names("sys/class/video4linux", &findings, where: Self.isVideo)
    for name in Self.inOrder(nodes.union(known)) {
      let path = root.appending(PathBytes("dev/\(name)"))
      var label = line("sys/class/video4linux/\(name)/name")
      let (role, evidence) = videoRole(
        name, path, hasNode: nodes.contains(name), wanted, &label)
      if role == wanted {
        findings.devices.append(
          Device(
            name: name, label: label ?? name, nodes: [path],
            hasNode: nodes.contains(name) || !findings.unreadable.isEmpty,
            evidence: evidence))
      } else if case .unknown(let unseen) = role {
        findings.unseen.append(unseen)
      } else {
        findings.others.append("/dev/\(name): \(evidence)")
      }
    }
    return findings
  }

  /// Returns what the node is for, and the evidence for the answer.
  private func videoRole(
    _ name: String, _ path: PathBytes, hasNode: Bool, _ wanted: VideoRole, _ label: inout String?
  ) -> (VideoRole, String) {
    var number: String?
    var known: String?
    var isCovered = false
    if hasNode, let status = try? system.status(of: path) {
      if DeviceFamily.camera.mayHave(status.device) {
        number = "\(status.device.major):\(status.device.minor)"
      } else {
        // A sandbox mounts something else over the node of a device that sysfs knows.
        known = line("sys/class/video4linux/\(name)/dev")
        isCovered = known != nil && root == "/"
      }
      guard isCovered || status.kind == .characterDevice else {
        return (.other, "not a character device")
      }
    }
    var told: (VideoRole, String)?
    let properties = udev(number ?? known ?? line("sys/class/video4linux/\(name)/dev"))
    if let properties = properties.value, let capabilities = properties["ID_V4L_CAPABILITIES"] {
      label = properties["ID_V4L_PRODUCT"] ?? label
      let evidence = "udev ID_V4L_CAPABILITIES=\(capabilities)"
      let captures = capabilities.parts(by: ":").contains { $0 == "capture" }
      told = (captures ? .capture : .other, evidence)
    }
    // udev tells codecs from no other node.
    if let told, told.0 == .capture || wanted == .capture { return told }
    // Below another root, its owner chose where the name leads.
    if hasNode, !isCovered, mayOpen, root == "/" || number != nil && !system.isRoot {
      do throws(Errno) {
        let capability = try queryCapability(path)
        if !capability.card.isEmpty { label = capability.card.description }
        let caps = capability.deviceCaps
        let role: VideoRole =
          caps & Self.memoryToMemory != 0
          ? .codec : caps & Self.videoCapture != 0 ? .capture : .other
        return (role, "VIDIOC_QUERYCAP device_caps 0x\(String(caps, radix: 16))")
      } catch .ENOTTY where root == "/" {
        return (.other, "VIDIOC_QUERYCAP: not a V4L2 device")
      } catch {
        // The node may not be opened, or is no device below another root: sysfs may still tell.
      }
    }
    guard let index = line("sys/class/video4linux/\(name)/index") else {
      return told ?? (properties.unseen.map { .unknown($0) } ?? .capture, "only its name")
    }
    let lowered = (label ?? "").lowercased()
    func named(_ words: [StaticString]) -> StaticString? { words.first { lowered.has($0) } }
    func evidence(_ word: StaticString) -> String {
      "sysfs name \"\(label ?? "")\" has \"\(word.description)\""
    }
    if let word = named(["codec", "decode", "encode", "-dec", "-enc", "vim2m"]) {
      return (.codec, evidence(word))
    }
    if let word = named(["meta", "output", "vbi", "isp"]) { return (.other, evidence(word)) }
    // udev may know better than an index other than 0.
    let other = properties.unseen.map { VideoRole.unknown($0) } ?? .other
    return told ?? (index == "0" ? .capture : other, "sysfs index \(index)")
  }

  /// Returns what a video node is that captures no pictures, as udev or the driver itself reports it.
  ///
  /// - Parameters:
  ///   - name: The name that the driver has registered: `video1`.
  ///   - number: The number of the node.
  /// - Returns: `a video output`; nil if it captures, or if its kind is unknown.
  func otherVideoNode(
    _ name: PathBytes, _ number: DeviceNumber
  ) -> (noun: String, evidence: String)? {
    guard Self.isVideo(name) else { return nil }
    let properties = udev("\(number.major):\(number.minor)")
    if let capabilities = properties.value?["ID_V4L_CAPABILITIES"] {
      let words = capabilities.parts(by: ":")
      if words.contains("capture") { return nil }
      let noun =
        words.contains("video_output") ? "a video output" : "a video node that captures nothing"
      return (noun, "udev ID_V4L_CAPABILITIES=\(capabilities)")
    }
    guard mayOpen, root == "/", let found = try? queryCapability(PathBytes("/dev").appending(name))
    else { return nil }
    let caps = found.deviceCaps
    if caps & Self.videoCapture != 0, caps & Self.memoryToMemory == 0 { return nil }
    let noun =
      caps & Self.memoryToMemory != 0
      ? "a codec"
      : caps & Self.videoOutput != 0 ? "a video output" : "a video node that captures nothing"
    return (noun, "VIDIOC_QUERYCAP device_caps 0x\(String(caps, radix: 16))")
  }

  private func queryCapability(_ path: PathBytes) throws(Errno) -> VideoCapability {
    let descriptor = try system.openat(
      .currentDirectory, path, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
    defer { system.close(descriptor) }
    return try system.querycap(descriptor)
  }

  /// Returns the properties of a character device in udev's data base, see udev(7) and sd-device.
  private func udev(_ number: String?) -> Look<[String: String]> {
    guard let number else { return .absent }
    let path = root.appending(PathBytes("run/udev/data/c\(number)"))
    return system.look(at: path).part(of: path, Self.udevProperties)
  }

  /// Parses the `E:KEY=value` lines of a file of /run/udev/data.
  package static func udevProperties(_ bytes: [UInt8]) -> [String: String] {
    var properties: [String: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "E:".utf8) {
      let text = line.dropFirst(2)
      guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { continue }
      properties[PathBytes(Array(text[..<equals])).description] =
        PathBytes(Array(text[(equals + 1)...])).description
    }
    return properties
  }
}

extension DeviceCatalog {
  /// Returns the card and device number of a capture PCM, `pcmC0D1c`; nil for any other name.
  private static func capturePCM(_ name: String) -> (card: Int, device: Int)? {
    guard name.hasPrefix("pcmC"), name.hasSuffix("c") else { return nil }
    let parts = name.dropFirst(4).dropLast().parts(
      by: "D", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let card = Int(parts[0]), let device = Int(parts[1])
    else { return nil }
    return (card, device)
  }

  /// Returns whether this is the name of a card's control node, which records nothing by itself.
  static func isControl(_ name: PathBytes) -> Bool { name.hasPrefix("controlC") }

  /// Returns the control node of the card of a PCM, which alsa-lib opens first.
  ///
  /// - Parameters:
  ///   - path: The node, or a link below /dev to it.
  ///   - root: The folder that contains /dev.
  ///   - system: The system to read.
  /// - Returns: The node; nil if the name is not that of a capture PCM.
  package static func control(
    ofPCM path: PathBytes, below root: PathBytes, _ system: any System
  ) -> PathBytes? {
    if let (card, _) = capturePCM(path.lastComponent.description) {
      return path.parent.appending(PathBytes("controlC\(card)"))
    }
    guard path.isBelow(root.appending("dev")),
      let target = system.machine(below: root).destination(ofLink: path),
      let (card, _) = capturePCM(target.lastComponent.description)
    else { return nil }
    return root.appending(PathBytes("dev/snd/controlC\(card)"))
  }

  /// Returns the capture PCMs, each with the control node of its card, which alsa-lib opens first.
  package func microphones() -> Findings {
    var findings = Findings()
    let nodes = names("dev/snd", &findings)
    let pcms = soundPCMs()
    let capturing = pcms.filter(\.captures).map(\.node)
    let known = names("sys/class/sound", &findings) + capturing
    let all = Self.inOrder((nodes + known).filter { Self.capturePCM($0) != nil })
    let cards = soundCards()
    for name in all {
      guard let (card, _) = Self.capturePCM(name) else { continue }
      let siblings = all.filter { Self.capturePCM($0)?.card == card }.count
      let cardName = cards[card] ?? line("sys/class/sound/card\(card)/id") ?? "card \(card)"
      let pcm = pcms.first { $0.node == name }
      findings.devices.append(
        Device(
          name: name,
          label: siblings > 1 ? "\(cardName), \(pcm?.label ?? name)" : cardName,
          nodes: [
            root.appending(PathBytes("dev/snd/\(name)")),
            root.appending(PathBytes("dev/snd/controlC\(card)")),
          ],
          hasNode: nodes.contains(name) || !findings.unreadable.isEmpty,
          evidence: pcm == nil ? "only its name" : "/proc/asound/pcm"))
    }
    for pcm in pcms where !pcm.captures {
      findings.others.append("\(pcm.node): playback only")
    }
    return findings
  }

  /// Whether a capture PCM is the node that ALSA's default opens.
  func isDefault(_ sound: SoundDefault, _ device: Device) -> Bool {
    guard case .hardware(let card, let number) = sound, let found = Self.capturePCM(device.name)
    else {
      return false
    }
    // The card is what a user has written.
    guard !card.utf8.contains(UInt8(ascii: "/")) else { return false }
    // /proc/asound has a link by each card's id.
    let link = system.destination(ofLink: root.appending(PathBytes("proc/asound/\(card)")))
    let index = Int(card) ?? link.flatMap { Self.numbers($0.lastComponent.description).first }
    return found.card == index && found.device == number ?? 0
  }

  private struct PCM {
    var node: String
    var label: String
    var captures: Bool
  }

  /// Parses /proc/asound/pcm: `00-01: ALC257 Analog : ALC257 Analog : playback 1 : capture 1`.
  private func soundPCMs() -> [PCM] {
    guard let bytes = try? system.contents(of: root.appending("proc/asound/pcm")) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = PathBytes(Array(line)).description.parts(by: ": ").map {
        $0.drop { $0 == " " }
      }
      let numbers = (fields.first ?? "").parts(by: "-").compactMap { Int($0) }
      guard numbers.count == 2, fields.count >= 2 else { return nil }
      return PCM(
        node: "pcmC\(numbers[0])D\(numbers[1])c", label: Self.trimmed(fields[1]),
        captures: fields.dropFirst().contains { $0.hasPrefix("capture") })
    }
  }

  /// Returns the names of the cards: ` 0 [PCH            ]: HDA-Intel - HDA Intel PCH`.
  private func soundCards() -> [Int: String] {
    guard let bytes = try? system.contents(of: root.appending("proc/asound/cards")) else {
      return [:]
    }
    var cards: [Int: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = PathBytes(Array(line)).description
      guard let bracket = text.firstIndex(of: "["), let colon = text.firstIndex(of: "]"),
        let card = Int(Self.trimmed(text[..<bracket]))
      else { continue }
      let rest = text[colon...]
      if let dash = rest.range(of: " - ") { cards[card] = Self.trimmed(rest[dash.upperBound...]) }
    }
    return cards
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
