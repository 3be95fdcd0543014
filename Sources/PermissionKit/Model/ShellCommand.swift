/// Commands for sh(1), which bash(1), dash(1), ksh(1) and zsh(1) read alike.
package enum ShellCommand {
  /// Returns a line that runs a command with exactly these words.
  ///
  /// The line contains only characters that a terminal shows: other bytes become `"$(printf
  /// '\377')"`. A substitution loses newlines at its end, so a word that ends with one is first
  /// assigned to a variable, with an `x` after it.
  ///
  /// - Parameter words: The command and its arguments.
  /// - Returns: One line, safe for a terminal.
  package static func line(_ words: [PathBytes]) -> String {
    var start = ""
    var line: [String] = []
    for word in words {
      if word.bytes.last == UInt8(ascii: "\n") {
        let name = "x\(start.isEmpty ? "" : String(line.count))"
        start += "\(name)=$(printf '\(escaped(word.bytes))x'); "
        line.append("\"${\(name)%x}\"")
      } else {
        line.append(quoted(word))
      }
    }
    return start + line.joined(separator: " ")
  }

  /// Returns a word that does not end with a newline.
  private static func quoted(_ word: PathBytes) -> String {
    let text = word.description
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    // The description of what is no text has `\x`.
    guard text.utf8.elementsEqual(word.bytes), Sanitizer.clean(text) == text, !text.has("\n"),
      !text.has("\t")
    else {
      return "\"$(printf '\(escaped(word.bytes))')\""
    }
    return "'"
      + text.parts(by: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-+=:,./@%".utf8.contains(byte)
    }
  }

  /// Returns bytes as the format of printf(1), within single quotes.
  private static func escaped(_ bytes: [UInt8]) -> String {
    bytes.enumerated().map { index, byte in
      switch byte {
      // An option of printf(1) begins so.
      case UInt8(ascii: "-") where index == 0: octal(byte)
      case UInt8(ascii: "%"): "%%"
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): octal(byte)
      case 0x20..<0x7f: String(UnicodeScalar(byte))
      default: octal(byte)
      }
    }.joined()
  }

  private static func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
  }
}

extension Remedy {
  /// The line that a person types to make the change, as root where that is needed; nil if there is none.
  package var typed: String? { typed(command) }

  /// The line that a person types to make the change take effect; nil if there is none.
  package var typedAfter: String? { typed(after) }

  /// The line that a person types to undo the change; nil if there is none.
  package var typedUndo: String? { typed(undo) }

  private func typed(_ command: [PathBytes]) -> String? {
    command.isEmpty ? nil : (needsRoot ? rootWay : .none).line(command)
  }

  /// The command and the line to add, for a shell.
  public var shellCommand: String {
    let typed = command.isEmpty ? "" : ShellCommand.line(command)
    return ([typed] + (line.map { [$0] } ?? [])).filter { !$0.isEmpty }.joined(separator: "   ")
  }
}
