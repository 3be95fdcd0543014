import PermissionKit

/// Returns an argument quoted for a shell.
func shellQuoted(_ argument: PathBytes) -> String {
  let text = argument.description
  let isPlain = text.utf8.allSatisfy {
    switch $0 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-+=:,./@%".utf8.contains($0)
    }
  }
  if isPlain, !text.isEmpty { return text }
  let hasBytes = argument.bytes.contains { $0 < 0x20 || $0 == 0x7f } || text.contains("\\x")
  if hasBytes {
    let escaped = argument.bytes.map { byte in
      (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
        ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "$'\(escaped.joined())'"
  }
  return "'"
    + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}
