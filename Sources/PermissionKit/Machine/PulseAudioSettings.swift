/// The settings of a client of PulseAudio: its servers, and the cookies that prove who it is.
///
/// - SeeAlso: pulse-client.conf(5); src/pulse/client-conf.c of PulseAudio
struct PulseAudioSettings {
  /// The servers, as PULSE_SERVER or client.conf names them; nil if neither does.
  private(set) var servers: PathBytes?
  /// Whether the environment names the servers.
  private(set) var isVariable = false
  /// The files that may contain the cookie, in their order.
  private(set) var cookies: [PathBytes] = []

  /// The length of a cookie, in bytes.
  private static let cookieSize = 256

  private let system: any System

  /// Reads the environment of this process, and the configuration of its user or of the machine, through the door.
  init(_ system: any System) {
    self.system = system
    func variable(_ name: String) -> PathBytes? {
      system.getenv(name).flatMap { $0.isEmpty ? nil : $0 }
    }
    let home = variable("HOME")
    let folder =
      (variable("XDG_CONFIG_HOME") ?? home?.appending(".config"))?.appending("pulse")
    // Programs look for the file in other folders than for the cookie: pa_open_config_file() of core-util.c.
    let folders =
      variable("PULSE_CONFIG_PATH").map { [$0] }
      ?? home.map { [$0.appending(".pulse"), $0.appending(".config/pulse")] } ?? []
    let users = folders.map { $0.appending("client.conf") }
    // The file of a user replaces that of the machine.
    let files = (variable("PULSE_CLIENTCONFIG").map { [$0] } ?? users) + ["/etc/pulse/client.conf"]
    let file = files.first { (try? system.examiner(of: $0)?.status(of: $0)) != nil }
    if let file { read(file) }
    if let named = system.getenv("PULSE_SERVER") { (servers, isVariable) = (named, true) }
    let named = variable("PULSE_COOKIE")
    cookies =
      [named, cookies.first].compactMap { $0 }.compactMap {
        $0.isAbsolute ? $0 : folder?.appending($0)
      } + [folder?.appending("cookie"), home?.appending(".pulse-cookie")].compactMap { $0 }
  }

  /// Reads a file and its folder of additions, in which later settings count.
  private mutating func read(_ file: PathBytes) {
    let more = PathBytes(file.bytes + Array(".d".utf8))
    let names = ((try? system.door(toOwn: more).names(in: more)) ?? []).filter {
      $0.bytes.suffix(5).elementsEqual(".conf".utf8)
    }
    for file in [file]
      + names.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) })
      .map(more.appending)
    {
      let text = try? system.door(toOwn: file).contents(of: file, limit: 1 << 16)
      // Clients read on with the next file where a line is wrong.
      for line in (text ?? []).split(separator: UInt8(ascii: "\n")) {
        guard set(line) else { break }
      }
    }
  }

  /// Takes over `default-server = unix:/path`; what follows `;` or `#` is a comment.
  ///
  /// - Returns: Whether clients read on after the line: parse_line() of src/pulsecore/conf-parser.c.
  private mutating func set(_ line: ArraySlice<UInt8>) -> Bool {
    func trimmed(_ part: some BidirectionalCollection<UInt8>) -> [UInt8] {
      let isBlank = { (byte: UInt8) in [9, 13, 32].contains(byte) }
      return Array(part.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
    let text = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "#") }
    if trimmed(text).isEmpty { return true }
    let parts = text.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return false }
    let value = trimmed(parts[1])
    switch String(decoding: trimmed(parts[0]), as: UTF8.self) {
    case "default-server": servers = value.isEmpty ? nil : PathBytes(value)
    case "cookie-file": cookies = value.isEmpty ? [] : [PathBytes(value)]
    case let name: return Self.keys.contains(name)
    }
    return true
  }

  /// The other settings of client.conf, which say nothing about servers and cookies.
  private static let keys: Set = [
    "daemon-binary", "extra-arguments", "default-sink", "default-source", "default-dbus-server",
    "autospawn", "disable-shm", "enable-shm", "enable-memfd", "shm-size-bytes",
    "auto-connect-localhost", "auto-connect-display",
  ]

  /// Returns the cookie; nil if there is none.
  func cookie() -> [UInt8]? {
    for path in cookies {
      guard let bytes = try? system.door(toOwn: path).contents(of: path, limit: 1 << 12),
        bytes.count >= Self.cookieSize
      else { continue }
      return Array(bytes.prefix(Self.cookieSize))
    }
    return nil
  }

  /// The sockets of this machine among the servers, in their order; nil if no servers are named.
  var sockets: [PathBytes]? {
    servers.map { list in
      words(list).compactMap { $0.first == UInt8(ascii: "/") ? PathBytes(Array($0)) : nil }
    }
  }

  /// Whether some server is another machine's, or what is no path.
  var hasOthers: Bool {
    servers.map { list in
      words(list).contains { !$0.isEmpty && $0.first != UInt8(ascii: "/") }
    } ?? false
  }

  /// Returns the servers that a client on this machine tries, without `unix:`: a machine id in braces before one restricts
  /// it to that machine, see pa_parse_address() of src/pulsecore/parseaddr.c.
  private func words(_ list: PathBytes) -> [ArraySlice<UInt8>] {
    list.bytes.split(whereSeparator: { $0 == 32 || $0 == 9 || $0 == 10 }).compactMap { word in
      var word = word
      if word.first == UInt8(ascii: "{"), let end = word.firstIndex(of: UInt8(ascii: "}")) {
        guard word[(word.startIndex + 1)..<end].elementsEqual(machine?.bytes ?? []) else {
          return nil
        }
        word = word[(end + 1)...]
      }
      return word.starts(with: "unix:".utf8) ? word.dropFirst(5) : word
    }
  }

  /// The name of this machine, see pa_machine_id() of src/pulsecore/core-util.c.
  private var machine: PathBytes? {
    (try? system.line(of: "/etc/machine-id")) ?? (try? system.line(of: "/var/lib/dbus/machine-id"))
      ?? (try? system.line(of: "/proc/sys/kernel/hostname"))
  }
}
