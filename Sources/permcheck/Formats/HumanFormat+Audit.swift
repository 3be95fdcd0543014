import PermissionKit

// Audits: a line for each finding, then the totals.
extension HumanFormat {
  func text(_ entry: AuditEntry) -> String {
    let mark = entry.errno == nil ? style.mark(.unknown) : style.mark(.no)
    var text = "\(mark) \(Sanitizer.clean(entry.path.description))  \(reason(entry))"
    if entry.place == .itself, let inode = entry.inode { text += "  \(style.dim(inode.modeText))" }
    return text + "\n"
  }

  private func reason(_ entry: AuditEntry) -> String {
    switch entry.place {
    case .itself: entry.ruleName
    case .folder: search(entry.folder, entry.ruleName)
    case .ancestor(let folder): search(folder, entry.ruleName)
    case .target: "target of the link (\(entry.ruleName))"
    }
  }

  /// Returns `search on 2019 (other-bits)`.
  private func search(_ folder: PathBytes, _ rule: String) -> String {
    let name = folder.lastComponent.isEmpty ? folder : folder.lastComponent
    return "search on \(Sanitizer.clean(name.description)) (\(rule))"
  }

  func text(_ result: AuditResult) -> String {
    let counts = result.counts
    var text = heading(result)
    let causes = result.causes.prefix(isVerbose ? .max : 10)
    let width = causes.first.map { $0.count.grouped.count } ?? 0
    for (cause, count) in causes {
      let number = count.grouped
      text += "  \(String(repeating: " ", count: width - number.count))\(number) "
      let folder = Sanitizer.clean(cause.folder.description)
      if cause.isSearch {
        text += "below \(folder) by one folder: \(search(cause.folder, cause.rule))\n"
      } else {
        text += "\(cause.isBelow ? "below" : "in") \(folder): \(cause.rule)\n"
      }
    }
    if result.causes.count > causes.count {
      text += rules(result)
      let rest = result.causes.dropFirst(causes.count)
      let sum = rest.reduce(0) { $0 + $1.count }
      text += "  \(sum.grouped) by \(rest.count.grouped) more; -v shows all\n"
    }
    if counts.undetermined > 0 {
      text += "\(style.mark(.unknown)) \(counts.undetermined.grouped) cannot be determined\n"
    }
    if counts.unlisted > 0 {
      text +=
        style.dim(
          "\(Self.folders(counts.unlisted)) cannot be listed; what is below is not known") + "\n"
    }
    for doubt in result.doubts {
      text += "\(style.mark(.unknown)) \(Sanitizer.clean(doubt.message))\n"
    }
    if result.isStopped { text += style.yellow("stopped before the end") + "\n" }
    return text
  }

  private func heading(_ result: AuditResult) -> String {
    let asked = Self.words(result.need)
    let uid = "uid \(result.subject.credentials.user.fileSystem)"
    let name = result.subject.displayName
    let who = Sanitizer.clean(name == uid ? uid : "\(name) (\(uid))")
    let (counts, of) = (result.counts, "\(result.counts.asked.grouped) files and folders")
    if counts.refused > 0 {
      return "\(style.mark(.no)) \(asked) refused for \(who): "
        + "\(counts.refused.grouped) of \(of)\n"
    }
    let isDoubted = counts.undetermined > 0 || !result.doubts.isEmpty
    let mark = isDoubted ? style.mark(.unknown) : style.mark(.yes)
    let granted = result.doubts.isEmpty ? "granted" : "granted by mode and ACL"
    return "\(mark) \(asked) \(granted) for \(who): \(of)\n"
  }

  /// Returns `read+write`.
  static func words(_ need: Permissions) -> String {
    [(Permissions.read, "read"), (.write, "write"), (.execute, "execute")]
      .filter { need.contains($0.0) }.map(\.1).joined(separator: "+")
  }

  /// Returns a line of totals by rule, where the list of folders is not complete.
  private func rules(_ result: AuditResult) -> String {
    var counts: [String: Int] = [:]
    for (cause, count) in result.causes { counts[cause.rule, default: 0] += count }
    let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
    let parts = sorted.map { "\($0.key) \($0.value.grouped)" }
    return "  by rule: \(parts.joined(separator: ", "))\(counts.count > 5 ? ", …" : "")\n"
  }

  static func folders(_ count: Int) -> String {
    count == 1 ? "1 folder" : "\(count.grouped) folders"
  }
}
