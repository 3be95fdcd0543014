/// The native protocol of PulseAudio, version 12: as much as is needed to list the sources.
///
/// pipewire-pulse answers it too. No stream is opened.
///
/// - SeeAlso: src/pulsecore/pstream.c and tagstruct.c of PulseAudio
enum PulseAudioProtocol {
  private enum Command {
    static let error: UInt32 = 0
    static let reply: UInt32 = 2
    static let auth: UInt32 = 8
    static let setClientName: UInt32 = 9
    static let getSourceInfoList: UInt32 = 24
  }

  /// Returns the sources of the server, monitors among them.
  ///
  /// - Parameters:
  ///   - line: A new connection.
  ///   - cookie: 256 bytes that the server knows, too; by default nothing that any server has.
  /// - Returns: Each source, with its name and label.
  /// - Throws: EACCES if the server refuses; EIO if its answer is not of the protocol; the errno of
  ///   `ServerLine`.
  static func sources(
    _ line: inout ServerLine, _ cookie: [UInt8] = .init(repeating: 0, count: 256)
  ) throws(Errno) -> [OfferedDevice] {
    var hello: [UInt8] = number(12)
    hello += [UInt8(ascii: "x")] + bytes(UInt32(cookie.count)) + cookie
    _ = try call(&line, Command.auth, tag: 0, hello)
    _ = try call(
      &line, Command.setClientName, tag: 1,
      [UInt8(ascii: "t")] + Array("permcheck".utf8) + [0])
    let list = try call(&line, Command.getSourceInfoList, tag: 2, [])
    guard let sources = sources(list) else { throw .EIO }
    return sources
  }

  private static func number(_ value: UInt32) -> [UInt8] { [UInt8(ascii: "L")] + bytes(value) }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }

  private static func call(
    _ line: inout ServerLine, _ command: UInt32, tag: UInt32, _ body: [UInt8]
  ) throws(Errno) -> ArraySlice<UInt8> {
    let content = number(command) + number(tag) + body
    // The descriptor: length, channel, offset (two words), flags.
    try line.send(
      bytes(UInt32(content.count)) + bytes(.max) + bytes(0) + bytes(0) + bytes(0) + content)
    while true {
      let head = TaggedValues(try line.receive(20)[...])
      let answer = try line.receive(Int(head.word(at: 0)))
      // Anything else than a control packet carries sound.
      guard head.word(at: 4) == .max else { continue }
      var values = TaggedValues(answer[...])
      guard let kind = values.number(), let number = values.number() else { throw .EIO }
      guard number == tag else { continue }
      switch kind {
      case Command.reply: return values.rest
      // PA_ERR_ACCESS and what else keeps this process out.
      case Command.error: throw .EACCES
      default: throw .EIO
      }
    }
  }

  /// Parses the answer to PA_COMMAND_GET_SOURCE_INFO_LIST; nil if it is malformed.
  static func sources(_ answer: ArraySlice<UInt8>) -> [OfferedDevice]? {
    var values = TaggedValues(answer)
    var sources: [OfferedDevice] = []
    while !values.rest.isEmpty {
      guard values.number() != nil, let name = values.text(), let description = values.text(),
        values.skip("a", 6), values.skipList("m", 1), values.number() != nil,
        values.skipList("v", 4), let isMuted = values.boolean(), let monitored = values.number(),
        values.text() != nil, values.skip("U", 8), let driver = values.text(),
        values.number() != nil
      else { return nil }
      let own = name ?? ""
      sources.append(
        OfferedDevice(
          name: own, label: description ?? own, isMuted: isMuted,
          isEmpty: monitored != .max || own == "auto_null" || driver == "module-null-source.c"))
    }
    return sources
  }
}

/// Values in PulseAudio's tagged form, each behind a letter for its type.
private struct TaggedValues {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Returns a big-endian word at an offset, without a tag.
  func word(at offset: Int) -> UInt32 {
    rest.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Drops a tag and `count` bytes; false if they are not there.
  mutating func skip(_ tag: Unicode.Scalar, _ count: Int) -> Bool {
    guard rest.first == UInt8(ascii: tag), rest.count > count else { return false }
    rest = rest.dropFirst(count + 1)
    return true
  }

  /// Drops a tag, a count of one byte, and as many elements.
  mutating func skipList(_ tag: Unicode.Scalar, _ size: Int) -> Bool {
    guard let count = rest.dropFirst().first else { return false }
    return skip(tag, 1 + Int(count) * size)
  }

  mutating func number() -> UInt32? {
    let value = Self(rest.dropFirst()).word(at: 0)
    return skip("L", 4) ? value : nil
  }

  mutating func boolean() -> Bool? { skip("1", 0) ? true : skip("0", 0) ? false : nil }

  /// Returns a text, which may be absent; nil if there is neither.
  mutating func text() -> String?? {
    if skip("N", 0) { return .some(nil) }
    guard rest.first == UInt8(ascii: "t"), let end = rest.firstIndex(of: 0) else { return nil }
    defer { rest = rest[(end + 1)...] }
    return .some(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self))
  }
}
