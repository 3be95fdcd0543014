/// Finds the devices that can capture, below a root, without opening more than is allowed.
public struct DeviceCatalog: Sendable {
  /// One device: the nodes that are needed together, or why there are none.
  public struct Device: Hashable, Sendable {
    /// The name of its capture node: `video0`, `pcmC0D0c`.
    public var name: String
    /// For people: `Integrated Camera`.
    public var label: String
    /// The nodes that must all be usable; the first is the capture node.
    public var nodes: [PathBytes]
    /// Whether the capture node is there, as far as its folder can be listed.
    public var hasNode: Bool
    /// How it is known that it captures.
    public var evidence: String
  }

  /// What was found.
  public struct Findings: Hashable, Sendable {
    /// Devices that capture, in order of their numbers.
    public var devices: [Device] = []
    /// Nodes of the same family that do not, and how that is known.
    public var others: [String] = []
    /// Folders that could not be read, so that devices may be missing.
    public var unreadable: [(PathBytes, Errno)] = []

    /// Compares what was found, and which folders failed, but not by which errno.
    public static func == (left: Findings, right: Findings) -> Bool {
      left.devices == right.devices && left.others == right.others
        && left.unreadable.map(\.0) == right.unreadable.map(\.0)
    }

    /// Hashes the devices alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(devices) }
  }

  private let system: any System
  private let root: PathBytes
  private let mayOpen: Bool

  /// Makes a catalogue; nothing is looked at yet.
  ///
  /// - Parameters:
  ///   - system: What to look at.
  ///   - root: Where /dev, /sys, /proc and /run are looked for.
  ///   - mayOpen: Video nodes may be opened to ask their driver (VIDIOC_QUERYCAP).
  public init(_ system: any System, root: PathBytes = "/", mayOpen: Bool) {
    self.system = system
    self.root = root
    self.mayOpen = mayOpen
  }

  /// Names in a folder, none when it is missing; other failures are noted.
  private func names(_ folder: String, _ findings: inout Findings) -> [String] {
    let path = root.appending(folder)
    do throws(Errno) {
      return try system.names(in: path).map(\.description)
    } catch .ENOENT {
    } catch .ENOTDIR {
    } catch {
      findings.unreadable.append((path, error))
    }
    return []
  }

  private func line(_ path: String) -> String? {
    guard let line = try? system.line(of: root.appending(path)), !line.isEmpty else { return nil }
    return line.description
  }

  /// The unsigned numbers in a device's name, for ordering: `pcmC1D10c` gives 1, 10.
  private static func numbers(_ name: String) -> [Int] {
    name.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
  }

  private static func inOrder(_ names: some Sequence<String>) -> [String] {
    Set(names).map { ($0, numbers($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
  }
}

// MARK: - Video4Linux

extension DeviceCatalog {
  /// V4L2_CAP_… bits, see include/uapi/linux/videodev2.h.
  private static let videoCapture: UInt32 = 0x1 | 0x1000
  private static let memoryToMemory: UInt32 = 0x8000 | 0x4000

  /// Whether the name is that of a video node: `video0`.
  private static func isVideo(_ name: String) -> Bool {
    name.hasPrefix("video") && name.count > 5
      && name.dropFirst(5).allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// Video nodes that capture; output, metadata and codec nodes of the same family do not.
  public func cameras() -> Findings {
    var findings = Findings()
    let nodes = Set(names("dev", &findings).filter(Self.isVideo))
    let known = names("sys/class/video4linux", &findings).filter(Self.isVideo)
    for name in Self.inOrder(nodes.union(known)) {
      let path = root.appending(PathBytes("dev/\(name)"))
      var label = line("sys/class/video4linux/\(name)/name")
      let (captures, evidence) = videoRole(name, path, hasNode: nodes.contains(name), &label)
      if captures {
        findings.devices.append(
          Device(
            name: name, label: label ?? name, nodes: [path],
            hasNode: nodes.contains(name) || !findings.unreadable.isEmpty,
            evidence: evidence))
      } else {
        findings.others.append("/dev/\(name): \(evidence)")
      }
    }
    return findings
  }

  /// Whether the node captures, and how that is known.
  private func videoRole(
    _ name: String, _ path: PathBytes, hasNode: Bool, _ label: inout String?
  ) -> (Bool, String) {
    var number: String?
    if hasNode, let status = try? system.status(of: path) {
      guard status.kind == .characterDevice else { return (false, "not a character device") }
      if status.device.major == 81 { number = "81:\(status.device.minor)" }
    }
    if let properties = udev(number ?? line("sys/class/video4linux/\(name)/dev")),
      let capabilities = properties["ID_V4L_CAPABILITIES"]
    {
      label = properties["ID_V4L_PRODUCT"] ?? label
      let captures = capabilities.split(separator: ":").contains("capture")
      return (captures, "udev ID_V4L_CAPABILITIES=\(capabilities)")
    }
    if hasNode, mayOpen {
      do throws(Errno) {
        let capability = try queryCapability(path)
        if !capability.card.isEmpty { label = capability.card.description }
        let caps = capability.deviceCaps
        let captures = caps & Self.videoCapture != 0 && caps & Self.memoryToMemory == 0
        return (captures, "VIDIOC_QUERYCAP device_caps 0x\(String(caps, radix: 16))")
      } catch .ENOTTY where root == "/" {
        return (false, "VIDIOC_QUERYCAP: not a V4L2 device")
      } catch {
        // Not to be opened, or no real node below another root: sysfs may still tell.
      }
    }
    guard let index = line("sys/class/video4linux/\(name)/index") else {
      return (true, "its name alone")
    }
    let words = ["meta", "codec", "decode", "encode", "output", "-dec", "-enc", "vbi", "isp"]
    let lowered = (label ?? "").lowercased()
    if let word = words.first(where: lowered.contains) {
      return (false, "sysfs name \"\(label ?? "")\" has \"\(word)\"")
    }
    return (index == "0", "sysfs index \(index)")
  }

  private func queryCapability(_ path: PathBytes) throws(Errno) -> VideoCapability {
    let descriptor = try system.openat(
      .currentDirectory, path, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
    defer { system.close(descriptor) }
    return try system.querycap(descriptor)
  }

  /// The properties of a character device in udev's data base, see udev(7) and sd-device.
  private func udev(_ number: String?) -> [String: String]? {
    guard let number,
      let bytes = try? system.contents(of: root.appending(PathBytes("run/udev/data/c\(number)")))
    else { return nil }
    return Self.udevProperties(bytes)
  }

  /// Reads the `E:KEY=value` lines of a file of /run/udev/data.
  static func udevProperties(_ bytes: [UInt8]) -> [String: String] {
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

// MARK: - ALSA

extension DeviceCatalog {
  /// Card and device number of a capture PCM's name, `pcmC0D1c`; nil for any other name.
  private static func capturePCM(_ name: String) -> (card: Int, device: Int)? {
    guard name.hasPrefix("pcmC"), name.hasSuffix("c") else { return nil }
    let parts = name.dropFirst(4).dropLast().split(
      separator: "D", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let card = Int(parts[0]), let device = Int(parts[1])
    else { return nil }
    return (card, device)
  }

  /// Capture PCMs, each with the control node of its card, which alsa-lib opens first.
  public func microphones() -> Findings {
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
          evidence: pcm == nil ? "its name alone" : "/proc/asound/pcm"))
    }
    for pcm in pcms where !pcm.captures {
      findings.others.append("\(pcm.node): playback only")
    }
    return findings
  }

  private struct PCM {
    var node: String
    var label: String
    var captures: Bool
  }

  /// Lines of /proc/asound/pcm: `00-01: ALC257 Analog : ALC257 Analog : playback 1 : capture 1`.
  private func soundPCMs() -> [PCM] {
    guard let bytes = try? system.contents(of: root.appending("proc/asound/pcm")) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = PathBytes(Array(line)).description.split(separator: ": ").map {
        $0.drop { $0 == " " }
      }
      let numbers = (fields.first ?? "").split(separator: "-").compactMap { Int($0) }
      guard numbers.count == 2, fields.count >= 2 else { return nil }
      return PCM(
        node: "pcmC\(numbers[0])D\(numbers[1])c", label: Self.trimmed(fields[1]),
        captures: fields.dropFirst().contains { $0.hasPrefix("capture") })
    }
  }

  /// The names of the cards: ` 0 [PCH            ]: HDA-Intel - HDA Intel PCH`.
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
      let names = text[colon...].split(separator: " - ", maxSplits: 1)
      if names.count == 2 { cards[card] = Self.trimmed(names[1]) }
    }
    return cards
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
