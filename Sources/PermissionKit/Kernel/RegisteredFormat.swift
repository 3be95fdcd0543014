/// A format that binfmt_misc loads by a program of its own, before the kernel looks at the file itself.
///
/// - SeeAlso: Documentation/admin-guide/binfmt-misc.rst and fs/binfmt_misc.c of Linux
package struct RegisteredFormat: Hashable, Sendable {
  /// The part of a file, or of its name, that the entry is for.
  private enum Mark: Hashable {
    /// The bytes at an offset of the first 256, of which those in the mask count.
    case magic([UInt8], offset: Int, mask: [UInt8])
    /// The end of the path, behind its last dot.
    case `extension`([UInt8])
  }

  private let mark: Mark
  /// The path of the program.
  let interpreter: PathBytes
  /// Whether the program was opened when the entry was made (flag F), so that nobody is asked for it.
  let isOpen: Bool

  /// Parses a file of /proc/sys/fs/binfmt_misc; nil if the entry is disabled, or is none.
  package init?(_ text: [UInt8]) {
    let lines = text.split(separator: UInt8(ascii: "\n"))
    func field(_ name: String) -> ArraySlice<UInt8>? {
      let start = Array("\(name) ".utf8)
      return lines.first { $0.starts(with: start) }?.dropFirst(start.count)
    }
    guard lines.first?.elementsEqual("enabled".utf8) == true,
      let interpreter = field("interpreter")
    else { return nil }
    self.interpreter = PathBytes(Array(interpreter))
    isOpen = field("flags:")?.contains(UInt8(ascii: "F")) ?? false
    if let name = field("extension") {
      mark = .extension(Array(name.dropFirst()))
      return
    }
    guard let magic = field("magic").flatMap(Self.bytes),
      let offset = field("offset").flatMap({ Int(String(decoding: $0, as: UTF8.self)) })
    else { return nil }
    let mask = field("mask").flatMap(Self.bytes) ?? [UInt8](repeating: 0xff, count: magic.count)
    guard mask.count == magic.count, offset >= 0,
      offset <= ProgramFormat.headLength - magic.count
    else { return nil }
    mark = .magic(magic, offset: offset, mask: mask)
  }

  private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    let text = Array(digits)
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: text.count, by: 2) {
      let pair = String(decoding: text[index...(index + 1)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Returns whether the entry is for a file; mirrors search_binfmt_handler().
  ///
  /// - Parameters:
  ///   - bytes: The beginning of the file.
  ///   - path: The path by which it is executed, as it was given.
  /// - Returns: Whether the kernel would load it so.
  package func matches(_ bytes: [UInt8], _ path: PathBytes) -> Bool {
    switch mark {
    case .extension(let name):
      guard let dot = path.bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
      return path.bytes[(dot + 1)...].elementsEqual(name)
    case .magic(let magic, let offset, let mask):
      // The kernel's buffer has zeros behind a shorter file.
      return magic.indices.allSatisfy { index in
        let byte = offset + index < bytes.count ? bytes[offset + index] : 0
        return (byte ^ magic[index]) & mask[index] == 0
      }
    }
  }
}
