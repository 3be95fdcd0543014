internal import JSONSyntax

/// The devices that alsa-lib opens as `default` to record, according to the files of the user and
/// the machine.
///
/// Their language computes names, includes files and runs functions. This finds out only whether
/// the default is plainly a hardware node, perhaps behind a conversion (`plug`).
///
/// - SeeAlso: https://www.alsa-project.org/alsa-doc/alsa-lib/conf.html, pcm_plugins.html
enum SoundDefault: Hashable, Sendable {
  /// A node of a card, by the card's number or name; `device` is nil for the first.
  case hardware(card: String, device: Int?)
  /// Something else: `dsnoop`, `null`, or a definition that only alsa-lib can evaluate.
  case other(String)

  /// The most that such a file can have, in bytes; what is longer counts as computed.
  static let mostBytes = 1 << 15

  /// The files that alsa-lib reads after its own, in its order; see the hooks of alsa.conf.
  static func files(home: PathBytes?, root: PathBytes) -> [PathBytes] {
    let own = home.map { [$0.appending(".asoundrc"), $0.appending(".config/alsa/asoundrc")] } ?? []
    return [root.appending("etc/asound.conf")] + own
  }

  /// Parses the files in their order; nil if none of them defines the default.
  init?(_ texts: [String]) {
    var settings = Settings()
    for text in texts { settings.read(text) }
    guard settings.areAboutDefault else { return nil }
    self = settings.isComputed ? .other("computed") : settings.resolved("pcm.default", 8)
  }

  /// The name of the plug-in or device, for people.
  var name: String {
    switch self {
    case .hardware(let card, let device): "hw:\(card)\(device.map { ",\($0)" } ?? "")"
    case .other(let name): name
    }
  }
}

/// The plain assignments of a file: `pcm.!default { type hw card 1 }` is `pcm.default.type` and
/// `pcm.default.card`.
///
/// Whoever writes the file chooses how many there are and how deep: each is read once, and what is deeper than `deepest`
/// counts as computed.
private struct Settings {
  private var values: [ExactString: (text: String, order: Int)] = [:]
  /// Until which assignment a name and what is below it was thrown away by `!`.
  private var overridden: [ExactString: Int] = [:]
  private var order = 0
  private(set) var isComputed = false

  /// The most parts of a name, and the most braces in braces.
  private static let deepest = 8

  /// Parses a file, whose settings override those of the files before.
  mutating func read(_ text: String) {
    var prefixes: [String] = []
    var key: String?
    for token in Self.tokens(text) {
      switch token {
      case "{":
        guard prefixes.count < Self.deepest else { return isComputed = true }
        prefixes.append(key ?? "")
        key = nil
      case "}":
        _ = prefixes.popLast()
        key = nil
      default:
        // Functions, files that are included, and lists.
        if token.hasPrefix("@") || token.hasPrefix("<") || token.hasPrefix("[") {
          isComputed = true
        }
        order += 1
        if let name = key {
          values[ExactString(name)] = (token, order)
          key = nil
        } else {
          let parts = token.parts(by: ".", maxSplits: Self.deepest)
            .map { $0.drop { "!+-?".contains($0) } }
          let all = (prefixes.last.map { $0.parts(by: ".") } ?? []) + parts
          guard all.count <= Self.deepest else { return isComputed = true }
          let name = all.filter { !$0.isEmpty }.joined(separator: ".")
          // `!` takes the place of what was said before.
          if token.contains("!") { overridden[ExactString(name)] = order }
          key = name
        }
      }
    }
    // alsa-lib refuses a file that ends within braces.
    if !prefixes.isEmpty || key != nil { isComputed = true }
  }

  /// Returns the value of a name that no later `!` has thrown away.
  private func value(_ key: String) -> String? {
    guard let value = values[ExactString(key)] else { return nil }
    var name = ""
    for part in key.parts(by: ".") {
      name += name.isEmpty ? part : ".\(part)"
      if let end = overridden[ExactString(name)], end > value.order { return nil }
    }
    return value.text
  }

  /// Whether a setting defines the default, or may define it.
  var areAboutDefault: Bool {
    isComputed
      || values.keys.map(\.string).contains {
        ($0 == "pcm.default" || $0.hasPrefix("pcm.default.") || $0.hasPrefix("defaults.pcm."))
          && value($0) != nil
      }
  }

  /// The words, braces apart; without comments, separators and quotes.
  private static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var word = String.UnicodeScalarView()
    var quote: Unicode.Scalar?
    var isComment = false
    func isEnd(_ character: Unicode.Scalar) -> Bool {
      character == " " || character == "\t" || character == "\n" || character == "\r"
        || character == "=" || character == ";" || character == ","
    }
    func add() {
      if !word.isEmpty { tokens.append(String(word)) }
      word.removeAll()
    }
    for character in text.unicodeScalars {
      if isComment {
        isComment = character != "\n"
      } else if let open = quote {
        if character == open { quote = nil } else { word.append(character) }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "#" {
        add()
        isComment = true
      } else if character == "{" || character == "}" {
        add()
        tokens.append(String(character))
      } else if isEnd(character) {
        add()
      } else {
        word.append(character)
      }
    }
    add()
    return tokens
  }

  /// Resolves the definition at a key.
  func resolved(_ key: String, _ depth: Int) -> SoundDefault {
    guard depth > 0 else { return .other("computed") }
    if let name = value(key) { return named(name, depth - 1) }
    switch value("\(key).type") {
    case "hw":
      return .hardware(
        card: value("\(key).card") ?? "0", device: value("\(key).device").flatMap { Int($0) })
    case "plug": return resolved("\(key).slave.pcm", depth - 1)
    case "asym": return resolved("\(key).capture.pcm", depth - 1)
    case let type?: return .other(type)
    case nil:
      guard key == "pcm.default", let card = value("defaults.pcm.card") else {
        return .other("computed")
      }
      return .hardware(card: card, device: value("defaults.pcm.device").flatMap { Int($0) })
    }
  }

  /// Resolves a name: `hw:1,0`, `plug:mine`, `mine`.
  private func named(_ name: String, _ depth: Int) -> SoundDefault {
    let colon = name.firstIndex { $0 == ":" }
    let plugin = String(name[..<(colon ?? name.endIndex)])
    let rest = colon.map { String(name[name.index(after: $0)...]) }
    if let rest, plugin == "hw" || plugin == "plughw" {
      let fields = rest.parts(by: ",").map(String.init)
      guard let card = fields.first, !rest.contains("=") else { return .other(name) }
      return .hardware(card: card, device: fields.count > 1 ? Int(fields[1]) : nil)
    }
    if let rest, plugin == "plug" { return named(rest, depth) }
    guard rest == nil, value("pcm.\(name)") != nil || value("pcm.\(name).type") != nil else {
      return .other(plugin)
    }
    return resolved("pcm.\(name)", depth)
  }
}
