extension DeviceCatalog {
  /// Returns the card and device number of a capture PCM, `pcmC0D1c`; nil for any other name.
  private static func capturePCM(_ name: String) -> (card: Int, device: Int)? {
    guard name.hasPrefix("pcmC"), name.hasSuffix("c") else { return nil }
    let parts = name.dropFirst(4).dropLast().split(
      separator: "D", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let card = Int(parts[0]), let device = Int(parts[1])
    else { return nil }
    return (card, device)
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

  /// Parses /proc/asound/pcm: `00-01: ALC257 Analog : ALC257 Analog : playback 1 : capture 1`.
  private func soundPCMs() -> [PCM] {
    guard let bytes = try? system.contents(of: root.appending("proc/asound/pcm")) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = PathBytes(Array(line)).description.parts(by: ": ").map {
        $0.drop { $0 == " " }
      }
      let numbers = (fields.first ?? "").split(separator: "-").compactMap { Int($0) }
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
