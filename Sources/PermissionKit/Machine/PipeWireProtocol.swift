/// The native protocol of PipeWire: as much as is needed to list the nodes that capture.
///
/// - SeeAlso: src/modules/module-protocol-native and spa/include/spa/pod of PipeWire
enum PipeWireProtocol {
  /// The objects of the connection, each with the methods and events that are used.
  private enum ID {
    static let core: UInt32 = 0
    static let client: UInt32 = 1
    static let registry: UInt32 = 2
  }
  /// The version of the core and of its registry.
  private static let version: UInt32 = 3
  /// The number that the server repeats when it has answered everything.
  private static let end: UInt32 = 3

  /// Returns the nodes of a media class, such as `Audio/Source` or `Video/Source`.
  ///
  /// - Throws: EACCES if the server refuses; EIO if its answer is not of the protocol; the errno of
  ///   `ServerLine`.
  static func nodes(
    ofClass mediaClass: String, _ line: inout ServerLine
  ) throws(Errno) -> [OfferedDevice] {
    let name = Pod.text("application.name") + Pod.text("permcheck")
    var greeting: [UInt8] = []
    // Hello, UpdateProperties, GetRegistry, Sync.
    greeting += message(0, ID.core, 1, Pod.number(version))
    greeting += message(1, ID.client, 2, Pod.structure(Pod.number(1) + name))
    greeting += message(2, ID.core, 5, Pod.number(version) + Pod.number(ID.registry))
    greeting += message(3, ID.core, 2, Pod.number(ID.core) + Pod.number(end))
    try line.send(greeting)
    var nodes: [OfferedDevice] = []
    while true {
      let head = try line.receive(16)
      let size = Pod.word(head[...], at: 4)
      let content = try line.receive(Int(size & 0xFF_FFFF))
      guard let body = Pod.content(of: content[...], type: Pod.Kind.structure) else { continue }
      switch (Pod.word(head[...], at: 0), size >> 24) {
      // Done; with another object than that of Sync, it is about the properties of this client.
      case (ID.core, 1) where Pod.numbers(of: body) == [ID.core, end]: return nodes
      case (ID.core, 3): throw .EACCES  // Error
      case (ID.registry, 0):
        guard let node = node(body, ofClass: mediaClass) else { throw .EIO }
        if let node { nodes.append(node) }
      default: continue
      }
    }
  }

  /// Parses Registry::Global; nil in the result for an object of another class, nil if it is malformed.
  static func node(_ body: ArraySlice<UInt8>, ofClass mediaClass: String) -> OfferedDevice?? {
    // Id, permissions, type, version, properties.
    guard let values = Pod.elements(of: body), values.count >= 5,
      let properties = Pod.content(of: values[4], type: Pod.Kind.structure),
      let pairs = Pod.elements(of: properties)
    else { return nil }
    var named: [String: String] = [:]
    for index in stride(from: 1, to: pairs.count - 1, by: 2) {
      guard let key = Pod.string(pairs[index]) else { return nil }
      named[key] = Pod.string(pairs[index + 1]) ?? ""
    }
    guard let own = named["media.class"],
      own == mediaClass || own.hasPrefix("\(mediaClass)/")
    else { return .some(nil) }
    let name = named["node.name"] ?? ""
    return .some(
      OfferedDevice(
        name: name, label: named["node.description"] ?? named["node.nick"] ?? name,
        isEmpty: name == "auto_null"))
  }

  private static func message(
    _ sequence: UInt32, _ object: UInt32, _ method: UInt32, _ content: [UInt8]
  ) -> [UInt8] {
    let body = Pod.structure(content)
    return Pod.bytes(object) + Pod.bytes(method << 24 | UInt32(body.count)) + Pod.bytes(sequence)
      + Pod.bytes(0) + body
  }
}

/// Values in PipeWire's form: size, type, content, padding to 8 bytes; little-endian, as the machines are.
private enum Pod {
  enum Kind {
    static let number: UInt32 = 4
    static let text: UInt32 = 8
    static let structure: UInt32 = 14
  }

  static func bytes(_ value: UInt32) -> [UInt8] {
    let value = value.littleEndian
    return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func value(_ type: UInt32, _ content: [UInt8]) -> [UInt8] {
    let padding = (8 - content.count % 8) % 8
    return bytes(UInt32(content.count)) + bytes(type) + content
      + [UInt8](repeating: 0, count: padding)
  }

  static func number(_ number: UInt32) -> [UInt8] { value(Kind.number, bytes(number)) }
  static func text(_ text: String) -> [UInt8] { value(Kind.text, Array(text.utf8) + [0]) }
  static func structure(_ content: [UInt8]) -> [UInt8] { value(Kind.structure, content) }

  static func word(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Returns the content of one value; nil if it is of another type or cut off.
  static func content(of value: ArraySlice<UInt8>, type: UInt32) -> ArraySlice<UInt8>? {
    guard value.count >= 8, word(value, at: 4) == type else { return nil }
    let size = Int(word(value, at: 0))
    guard value.count - 8 >= size else { return nil }
    return value.dropFirst(8).prefix(size)
  }

  /// Returns the values one after the other; nil if the last is cut off.
  static func elements(of content: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
    var (rest, values) = (content, [ArraySlice<UInt8>]())
    while rest.count >= 8 {
      let size = 8 + Int(word(rest, at: 0))
      guard rest.count >= size else { return nil }
      values.append(rest.prefix(size))
      rest = rest.dropFirst((size + 7) / 8 * 8)
    }
    return values
  }

  /// Returns a sequence of numbers; nil if anything else is in it.
  static func numbers(of content: ArraySlice<UInt8>) -> [UInt32]? {
    guard let values = elements(of: content) else { return nil }
    let numbers = values.compactMap {
      Self.content(of: $0, type: Kind.number).map { word($0, at: 0) }
    }
    return numbers.count == values.count ? numbers : nil
  }

  /// Returns a text without the NUL at its end; nil for another type.
  static func string(_ value: ArraySlice<UInt8>) -> String? {
    content(of: value, type: Kind.text).map {
      String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
