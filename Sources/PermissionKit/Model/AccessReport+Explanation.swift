extension AccessReport {
  /// Whether there is access, as the accessor of the report decides it.
  ///
  /// True for `authorized`, and for `limited` if `acceptsLimited` is set. If everything in a folder
  /// was checked, `limited` is never access. Exit status, JSON, batches, gates, C and Python agree.
  public var isGranted: Bool {
    status.isAccess(acceptsLimited: acceptsLimited && !includesContents)
  }

  /// The changes that would give access, of every resource.
  public var remedies: [Remedy] { resources.flatMap(\.remedies) }

  /// The report in words: the status of each resource, its reasons, and the commands that help.
  ///
  /// Several lines, safe for a terminal; each command has a line of its own.
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
        let added = remedy.line?.parts(by: "\n").map(String.init) ?? []
        let typed = [remedy.typed].compactMap { $0 } + added + [remedy.typedAfter].compactMap { $0 }
        lines += typed.map { "      \($0)" }
      }
    }
    for other in alternatives {
      if let reason = other.reasons.first { lines.append("  or: \(reason.message)") }
    }
    return lines.map { Sanitizer.clean($0) + "\n" }.joined()
  }
}

extension AccessReport: CustomStringConvertible {
  /// The report in one line, safe for a terminal: `camera: denied, ada is not in group video`.
  public var description: String {
    let reason = isGranted ? nil : mainReason?.message
    return Sanitizer.clean("\(accessor): \(status.rawValue)" + (reason.map { ", \($0)" } ?? ""))
  }
}

extension ResourceReport: CustomStringConvertible {
  /// The report in one line, safe for a terminal: `/dev/video0: denied, ada is not in group video`.
  public var description: String {
    let reason = status == .authorized ? nil : reasons.first?.message
    return Sanitizer.clean("\(path): \(status.rawValue)" + (reason.map { ", \($0)" } ?? ""))
  }
}

extension Reason: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
