/// Makes names harmless: a device or a file may be called anything.
package enum Sanitizer: Sendable {
  /// Control characters, and those that turn the direction of writing, escaped.
  package static func clean(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    return text.unicodeScalars.map { isHarmful($0) ? escaped($0) : String($0) }.joined()
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    case .format:
      (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": return "\\n"
    case "\t": return "\\t"
    case "\r": return "\\r"
    default: return "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
}

/// Asks the person at the terminal whether a plan is to be carried out.
public struct TerminalConsent: Sendable {
  private let system: any System

  /// Asks on standard error, and reads the answer from standard input.
  public init(system: any System = LinuxSystem()) { self.system = system }

  /// Shows the plan and asks; the answer is no unless somebody says yes.
  ///
  /// - Returns: False where standard input or standard error is no terminal: nobody is there to ask.
  public func ask(_ plan: GrantPlan) -> Bool {
    ask(
      "\(Sanitizer.clean(plan.subject.displayName)) is to get access to \(plan.accessor):\n\(plan)")
  }

  /// Asks whether to do what the text says.
  package func ask(_ text: String) -> Bool {
    let (input, output) = (Descriptor(rawValue: 0), Descriptor(rawValue: 2))
    guard system.isatty(input), system.isatty(output) else { return false }
    guard (try? system.writeAll(output, Array("\(text)Do it? [y/N] ".utf8))) != nil else {
      return false
    }
    let line = (try? system.read(input, 4096)) ?? []
    let answer = String(decoding: line, as: UTF8.self).lowercased().filter { !$0.isWhitespace }
    return answer == "y" || answer == "yes"
  }
}
