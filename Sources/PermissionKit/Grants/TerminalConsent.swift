/// Asks the person at the terminal whether to carry out a plan.
public struct TerminalConsent: Sendable {
  private let system: any System

  /// Creates a question that is printed on standard error and answered on standard input.
  ///
  /// - Parameter system: The system that has the terminal.
  public init(system: any System = Systems.running) { self.system = system }

  /// Shows the plan and asks whether to carry it out.
  ///
  /// - Parameter plan: The plan to show.
  /// - Returns: True if the answer is yes; false if standard input or error is not a terminal.
  public func ask(_ plan: GrantPlan) -> Bool {
    let purpose = plan.purpose.map { Sanitizer.clean($0) + "\n" } ?? ""
    return ask(
      "\(purpose)Give \(Sanitizer.clean(plan.subject.displayName)) access to \(plan.title):\n\(plan)"
    ) && confirm(plan.obstacles(despite: []))
  }

  /// Asks once more, if programs will refuse a file.
  package func confirm(_ obstacles: [ProgramObjection]) -> Bool {
    obstacles.isEmpty
      || ask(obstacles.map { "\(Sanitizer.clean($0.message))\n" }.joined())
  }

  /// Whether standard input and standard error are a terminal.
  public var canAsk: Bool {
    system.isatty(.standardInput) && system.isatty(.standardError)
  }

  /// Returns false if the request is taken back before there is an answer.
  private func waitForAnswer(_ input: Descriptor) -> Bool {
    guard let withdrawn = Withdrawal.current?.request(system) else { return true }
    while true {
      do throws(Errno) {
        let ready = try system.poll([withdrawn, PollRequest(input, .readable)], timeout: nil)
        return ready[0].isEmpty
      } catch {
        if error != .EINTR { return true }
      }
    }
  }

  /// Prints the text, and returns whether the person agrees.
  package func ask(_ text: String) -> Bool {
    let (input, output) = (Descriptor.standardInput, Descriptor.standardError)
    guard canAsk else { return false }
    guard (try? system.writeAll(output, Array("\(text)Do it? [y/N] ".utf8))) != nil else {
      return false
    }
    let isAnswered = waitForAnswer(input)
    guard isAnswered else {
      _ = try? system.writeAll(output, Array("\nno longer asked\n".utf8))
      return false
    }
    let line = (try? system.read(input, 4096)) ?? []
    let answer = String(decoding: line, as: UTF8.self).lowercased().filter { !$0.isWhitespace }
    return answer == "y" || answer == "yes"
  }
}
