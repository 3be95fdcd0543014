import PermissionKit

// What stands below a line: sentences, which are wrapped, and commands, which never are.
extension HumanFormat {
  enum Detail: Hashable {
    /// A sentence.
    case text(String)
    /// A command to type, or a line to add to a file: alone on its line, and whole at any width.
    case command(String)
  }

  /// Returns the lines of the details.
  ///
  /// - Parameters:
  ///   - details: What to print, safe for a terminal.
  ///   - indent: The column at which sentences begin; commands begin two further on.
  /// - Returns: Lines, each with its newline.
  func lines(_ details: [Detail], indent: Int) -> String {
    let indent = min(indent, (style.columns ?? 80) / 4)
    let space = String(repeating: " ", count: indent)
    var lines = ""
    for detail in details {
      switch detail {
      case .text(let text):
        lines += space + style.wrapped(text, indent: indent, hanging: indent + 2) + "\n"
      case .command(let command): lines += space + "  " + command + "\n"
      }
    }
    return lines
  }

  /// Returns the one command that makes all the changes of an accessor, with their effect.
  func fix(_ command: String, _ remedies: [Remedy]) -> [Detail] {
    let count = Set(remedies.map(\.command)).count
    let changes = "\(count) change\(count == 1 ? "" : "s"), \(effect(remedies))"
    return [
      .text("fix (\(count == 0 ? "--dry-run shows the changes" : changes)):"),
      .command(Sanitizer.clean(command)),
    ]
  }

  /// Returns the changes by hand: those that belong together stand below one another, each other one is an
  /// alternative.
  ///
  /// - Parameters:
  ///   - resources: The reports on what one device or folder needs.
  ///   - explains: Whether to tell what the evaluator says of the facts after the change, and why usual
  ///     advice is worse.
  /// - Returns: The lines; empty if there is nothing to advise.
  func fixes(_ resources: [ResourceReport], explains: Bool = false) -> [Detail] {
    var remedies: [Remedy] = []
    for remedy in resources.flatMap(\.remedies) where !remedies.contains(remedy) {
      remedies.append(remedy)
    }
    if remedies.isEmpty {
      let advice = resources.flatMap(\.reasons).lazy.compactMap(\.advice).first
      return advice.map { [.text("fix: \($0)")] } ?? []
    }
    let steps = remedies.filter(\.isGrant)
    let ways = (steps.isEmpty ? [] : [steps]) + remedies.filter { !$0.isGrant }.map { [$0] }
    return ways.enumerated().flatMap { index, way in
      let isSimulated = explains && way[0].outcome != .undetermined
      let start = index > 0 ? "or" : isSimulated ? "least fix" : "fix"
      let count = way.count > 1 ? "\(way.count) steps, " : ""
      let outcome = isSimulated ? "; simulated: \(way[0].outcome.rawValue)" : ""
      var details: [Detail] = [.text("\(start) (\(count)\(effect(way))\(outcome)):")]
      for remedy in way { details += typed(remedy, notes: explains || isVerbose) }
      return details
    }
  }

  private func typed(_ remedy: Remedy, notes: Bool) -> [Detail] {
    var details: [Detail] = remedy.typed.map { [.command($0)] } ?? []
    if let line = remedy.line {
      details.append(.text(remedy.command.isEmpty ? "add this:" : "and add this there:"))
      details.append(.command(Sanitizer.clean(line)))
    }
    if notes, let note = remedy.note { details.append(.text(Sanitizer.clean(note))) }
    return details
  }

  /// Returns how long the changes last, and who else gains: `permanent, nobody else gains`.
  func effect(_ remedies: [Remedy]) -> String {
    let others = Set(remedies.flatMap(\.othersAffected)).sorted().map(Sanitizer.clean)
    let gains =
      others.isEmpty ? "nobody else gains" : "also gains: \(others.joined(separator: "; "))"
    return "\(Persistence.shortest(of: remedies.map(\.persistence)).words), \(gains)"
  }
}
