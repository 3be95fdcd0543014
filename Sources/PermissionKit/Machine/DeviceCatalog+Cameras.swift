extension DeviceCatalog {
  /// V4L2_CAP_… bits, see include/uapi/linux/videodev2.h.
  private static let videoCapture: UInt32 = 0x1 | 0x1000
  private static let memoryToMemory: UInt32 = 0x8000 | 0x4000

  /// Returns whether this is the name of a video node: `video0`.
  private static func isVideo(_ name: PathBytes) -> Bool {
    name.hasPrefix("video") && DeviceFamily.camera.hasNode(named: name)
  }

  /// What a video node is for.
  private enum VideoRole {
    case capture
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
    if hasNode, let status = try? system.status(of: path) {
      guard status.kind == .characterDevice else { return (.other, "not a character device") }
      if DeviceFamily.camera.mayHave(status.device) {
        number = "\(status.device.major):\(status.device.minor)"
      }
    }
    var told: (VideoRole, String)?
    if let properties = udev(number ?? line("sys/class/video4linux/\(name)/dev")),
      let capabilities = properties["ID_V4L_CAPABILITIES"]
    {
      label = properties["ID_V4L_PRODUCT"] ?? label
      let evidence = "udev ID_V4L_CAPABILITIES=\(capabilities)"
      let captures = capabilities.split(separator: ":").contains { $0 == "capture" }
      told = (captures ? .capture : .other, evidence)
    }
    // udev tells codecs from no other node.
    if let told, told.0 == .capture || wanted == .capture { return told }
    // Below another root, its owner chose where the name leads.
    if hasNode, mayOpen, root == "/" || number != nil && !system.isRoot {
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
      return told ?? (.capture, "its name alone")
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
    return told ?? (index == "0" ? .capture : .other, "sysfs index \(index)")
  }

  private func queryCapability(_ path: PathBytes) throws(Errno) -> VideoCapability {
    let descriptor = try system.openat(
      .currentDirectory, path, [.readOnly, .nonBlocking, .noControllingTerminal], mode: 0)
    defer { system.close(descriptor) }
    return try system.querycap(descriptor)
  }

  /// Returns the properties of a character device in udev's data base, see udev(7) and sd-device.
  private func udev(_ number: String?) -> [String: String]? {
    guard let number,
      let bytes = try? system.contents(of: root.appending(PathBytes("run/udev/data/c\(number)")))
    else { return nil }
    return Self.udevProperties(bytes)
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
