import Foundation
import TestSupport
import Testing

/// What `permcheck --json` prints, as a program would read it.
struct Document: Decodable {
  struct Subject: Decodable {
    let source: String
    let uid: UInt32
    let gid: UInt32
    let groups: [UInt32]
  }
  struct Decision: Decodable {
    let verdict: String
    let errno: String?
    let rule: String
    let component: String
  }
  struct Probe: Decodable {
    let method: String
    let errno: String?
  }
  struct Reason: Decodable {
    let code: String
    let certainty: String
    let message: String
    let evidence: [String]
  }
  struct Remedy: Decodable {
    let kind: String
    let command: [String]
    let needsRoot: Bool
    let persistence: String
    let othersAffected: [String]
    let outcome: String
    let line: String?
    let note: String?
    /// The command and the line as one text.
    var text: String { (command + [line].compactMap { $0 }).joined(separator: " ") }
  }
  struct Resource: Decodable {
    let path: String
    let label: String
    let need: String
    let status: String
    let decision: Decision?
    let probe: Probe?
    let reasons: [Reason]
    let remedies: [Remedy]
  }
  struct Report: Decodable {
    let accessor: String
    let status: String
    let requestable: Bool
    let requestableBy: String?
    let resources: [Resource]
    var codes: [String] { resources.flatMap { $0.reasons.map(\.code) } }
    var paths: [String] { resources.map(\.path) }
  }
  let schemaVersion: Int
  let subject: Subject
  let reports: [Report]
  let exitStatus: Int32
}

extension Outcome {
  /// The one JSON document on standard output.
  func document() throws -> Document {
    let document = try JSONDecoder().decode(Document.self, from: Data(output.utf8))
    #expect(document.schemaVersion == 1)
    #expect(document.exitStatus == status)
    return document
  }

  /// The only report of a document that has one.
  func report() throws -> Document.Report {
    let reports = try document().reports
    try #require(reports.count == 1)
    return reports[0]
  }

  /// Whether standard output says `authorized`, as a word of its own.
  var saysAuthorized: Bool { output.firstRange(of: /\bauthorized\b/) != nil }

  /// Holds what a bad question must get: a documented exit status, one line of error or a status,
  /// and never `authorized`.
  func expectRefusal(
    _ allowed: Set<Int32>, _ location: SourceLocation = #_sourceLocation
  ) {
    let seen = Comment(rawValue: "status \(status)\n\(output.prefix(2000))\(errors.prefix(2000))")
    #expect(allowed.contains(status), seen, sourceLocation: location)
    #expect(!saysAuthorized, seen, sourceLocation: location)
    if status == 64 || status == 70 {
      let isForPrograms = output.hasPrefix("{\"error\":") && isOneLine(output)
      #expect(output.isEmpty || isForPrograms, seen, sourceLocation: location)
      #expect(isOneLine(errors), seen, sourceLocation: location)
      #expect(errors.hasPrefix("permcheck: "), seen, sourceLocation: location)
    } else {
      #expect(!output.isEmpty, seen, sourceLocation: location)
      #expect(errors.isEmpty, seen, sourceLocation: location)
    }
  }
}

/// Whether the text is one line, ended, with nothing in it that a terminal would obey.
func isOneLine(_ text: String) -> Bool {
  text.count > 1 && text.hasSuffix("\n")
    && text.unicodeScalars.dropLast().allSatisfy { $0.properties.generalCategory != .control }
}

/// An unprivileged account that no user data base knows.
let stranger = Account(uid: 54_321, gid: 54_321, groups: [54_400])

extension Tree {
  /// Makes /dev/videoN, the null device, with what sysfs and udev say of it.
  ///
  /// Without `capabilities` there is no file of udev's, without `index` no folder in sysfs, without
  /// `mode` no node.
  func camera(
    _ number: Int, name: String = "Camera", capabilities: String? = ":capture:", index: Int? = 0,
    mode: UInt32? = 0o666, product: String? = nil
  ) throws {
    if let mode { try device("dev/video\(number)", mode: mode) }
    if let index {
      let folder = "sys/class/video4linux/video\(number)"
      try file("\(folder)/name", "\(name)\n")
      try file("\(folder)/index", "\(index)\n")
      try file("\(folder)/dev", "81:\(number)\n")
    }
    if let capabilities {
      var lines = "E:ID_V4L_VERSION=2\n"
      if let product { lines += "E:ID_V4L_PRODUCT=\(product)\n" }
      lines += "E:ID_V4L_CAPABILITIES=\(capabilities)\n"
      try file("run/udev/data/c81:\(number)", lines)
    }
  }

  /// Writes what ALSA says of its cards and PCMs.
  func sound(
    cards: String = " 0 [PCH            ]: HDA-Intel - HDA Intel PCH\n"
      + "                      HDA Intel PCH at 0xf7f10000 irq 31\n",
    pcm: String = "00-00: ALC257 Analog : ALC257 Analog : playback 1 : capture 1\n"
  ) throws {
    try file("proc/asound/cards", cards)
    try file("proc/asound/pcm", pcm)
  }

  /// Makes card 0 with a capture PCM, null devices with these modes; nil leaves a node out.
  func microphone(pcm: UInt32? = 0o666, control: UInt32? = 0o666) throws {
    try sound()
    try folder("dev/snd")
    if let pcm { try device("dev/snd/pcmC0D0c", mode: pcm) }
    if let control { try device("dev/snd/controlC0", mode: control) }
  }

  /// Makes a home with these user-dirs.dirs and an own, writable Pictures.
  func home(_ directories: String? = nil, of account: Account = stranger) throws {
    let (uid, gid) = (account.uid, account.gid)
    try folder("home", uid: uid, gid: gid)
    try folder("home/.config", uid: uid, gid: gid)
    try folder("home/Pictures", uid: uid, gid: gid)
    guard let directories else { return }
    try file("home/.config/user-dirs.dirs", directories, uid: uid, gid: gid)
  }

  /// What makes a process take `home` for its home.
  var homeEnvironment: [String: String?] {
    [
      "HOME": path("home"), "XDG_CONFIG_HOME": nil, "XDG_STATE_HOME": nil,
      "XDG_PICTURES_DIR": nil,
    ]
  }
}
