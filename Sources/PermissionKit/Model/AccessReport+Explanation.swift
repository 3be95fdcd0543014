extension AccessReport {
  /// Whether there is access: the status is `authorized`, or `limited`.
  public var isGranted: Bool { status.isAccess() }

  /// The changes that would give access, of every resource.
  public var remedies: [Remedy] { resources.flatMap(\.remedies) }

  /// The report in words: the status of each resource, its reasons, and the commands that help.
  ///
  /// Several lines, safe for a terminal; each command stands alone on its line.
  public var explanation: String {
    var lines = ["\(accessor): \(status.rawValue)"]
    for resource in resources {
      let name = resource.decision == nil ? "" : " (\(resource.path))"
      lines.append("  \(resource.label)\(name): \(resource.status.rawValue)")
      lines += resource.reasons.map { "    \($0.message)" }
      for remedy in resource.remedies {
        let others =
          remedy.othersAffected.isEmpty
          ? "nobody else gains" : "also gains: \(remedy.othersAffected.joined(separator: "; "))"
        lines.append("    \(remedy.persistence.words), \(others):")
        lines.append("      \(remedy.needsRoot ? "sudo " : "")\(remedy.shellCommand)")
      }
    }
    for other in alternatives {
      if let reason = other.reasons.first { lines.append("  or: \(reason.message)") }
    }
    return lines.map { Sanitizer.clean($0) + "\n" }.joined()
  }
}

extension Reason: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension Remedy {
  /// The command and the line to add, for a shell.
  public var shellCommand: String {
    let typed = command.map(\.shellQuoted).joined(separator: " ")
    return ([typed] + (line.map { [$0] } ?? [])).filter { !$0.isEmpty }.joined(separator: "   ")
  }
}

extension PathBytes {
  /// The bytes as one word of a shell, see sh(1); bytes that are not text, or that a terminal does not
  /// show, as in `$'\xff'` of bash(1).
  package var shellQuoted: String {
    let text = description
    let isPlain = text.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "_-+=:,./@%".utf8.contains($0)
      }
    }
    if isPlain, !text.isEmpty { return text }
    let hasBytes =
      bytes.contains { $0 < 0x20 || $0 == 0x7f } || text.has("\\x")
      || Sanitizer.clean(text) != text
    if hasBytes {
      let escaped = bytes.map { byte in
        (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
          ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      return "$'\(escaped.joined())'"
    }
    return "'"
      + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
