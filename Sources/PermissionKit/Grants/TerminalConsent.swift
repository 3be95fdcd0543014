/// Asks the person at the terminal whether a plan is to be carried out.
public struct TerminalConsent: Sendable {
  private let system: any System

  /// Asks on standard error, and reads the answer from standard input.
  public init(system: any System = Systems.running) { self.system = system }

  /// Shows the plan and asks; the answer is no unless somebody says yes.
  ///
  /// - Returns: False where standard input or standard error is no terminal: nobody is there to ask.
  public func ask(_ plan: GrantPlan) -> Bool {
    ask(
      "Give \(Sanitizer.clean(plan.subject.displayName)) access to \(plan.accessor):\n\(plan)")
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
