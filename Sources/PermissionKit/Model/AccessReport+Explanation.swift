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
    let isOne = resources.count == 1 && resources[0].status == status
    for resource in resources {
      var name = resource.label
      if resource.decision != nil { name += " (\(resource.path))" }
      if !isOne {
        lines.append("  \(name): \(resource.status.rawValue)")
      } else if name != accessor {
        lines[0] += ", \(name)"
      }
      lines += resource.reasons.map { "    \($0.message)" }
      for remedy in resource.remedies {
        let others =
          remedy.othersAffected.isEmpty
          ? "nobody else gets access"
          : "also get access: \(remedy.othersAffected.joined(separator: "; "))"
        lines.append("    \(remedy.persistence.words), \(others):")
        lines += [remedy.typed, remedy.line].compactMap { $0 }.map { "      \($0)" }
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
