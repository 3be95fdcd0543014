import PermissionDocuments
import PermissionKit

// Reports: a line for each device, with reasons and fixes below a refusal.
extension HumanFormat {
  /// One line of the table and the details below it.
  private struct Entry {
    var cells: [String]
    var details: [Detail] = []
  }

  func text(_ result: CheckResult) -> String {
    if let columns = result.columns { return table(result, columns) }
    var expired: [Detail] = []
    for grant in result.expired {
      let place = Sanitizer.clean("\(grant.place)   \(grant.change.command.summary)")
      let detail = Detail.text("EXPIRED, still in place: \(place)")
      if !expired.contains(detail) { expired.append(detail) }
    }
    let undo: [Detail] =
      expired.isEmpty ? [] : [.text("fix:"), .command("permcheck revoke --expired")]
    return text(result.reports, requests: result.requests) + lines(expired + undo, indent: 0)
  }

  /// Returns a row for each user, with a column for each accessor.
  private func table(_ result: CheckResult, _ columns: [String]) -> String {
    func cell(_ report: AccessReport) -> String { mark(report.status) + " " + word(report.status) }
    let starts = Array(stride(from: 0, to: result.reports.count, by: columns.count))
    let rows = starts.map { start in
      let reports = result.reports[start..<start + columns.count]
      let who = (reports.first?.subject ?? result.subject).displayName
      return [style.bold(Sanitizer.clean(who))] + reports.map(cell)
    }
    let all = [[""] + columns.map(style.bold)] + rows
    let widths = Table.widths(all)
    let text = all.map { Table.line($0, widths) }
    guard let width = style.columns, text.contains(where: { $0.displayWidth > width }) else {
      return text.map { $0 + "\n" }.joined()
    }
    // Too wide: a line for each user and accessor.
    return Table(rows.flatMap { row in zip(columns, row.dropFirst()).map { [row[0], $0, $1] } })
      .text
  }

  func text(_ reports: [AccessReport], requests: [String?] = []) -> String {
    let entries = reports.enumerated().flatMap { index, report in
      self.entries(report, requests.indices.contains(index) ? requests[index] : nil)
    }
    let widths = Table.widths(entries.map(\.cells))
    // Details are aligned with the status.
    let indent = (widths.first ?? 0) + 4
    var text = ""
    for entry in entries {
      text += row(entry.cells, widths, indent: indent) + lines(entry.details, indent: indent)
    }
    return text + (isVerbose ? notSeen(reports) : "")
  }

  /// Returns what the checks could not look at, each once.
  func notSeen(_ reports: [AccessReport]) -> String {
    var all: [String] = []
    for unseen in reports.flatMap(\.notSeen) where !all.contains(unseen.description) {
      all.append(unseen.description)
    }
    let text = Sanitizer.clean("not seen: \(all.joined(separator: ", "))")
    return all.isEmpty ? "" : lines([.text(text)], indent: 0)
  }

  /// Returns a line of the table; if it is too wide, the cells after the status go below it.
  private func row(_ cells: [String], _ widths: [Int], indent: Int) -> String {
    let line = Table.line(cells, widths)
    guard let columns = style.columns, line.displayWidth > columns, cells.count > 2 else {
      return line + "\n"
    }
    let rest = cells.dropFirst(2).filter { !$0.isEmpty }.joined(separator: "  ")
    return Table.line(Array(cells.prefix(2)), widths) + "\n" + lines([.text(rest)], indent: indent)
  }

  private func entries(_ report: AccessReport, _ request: String?) -> [Entry] {
    let title = title(report.accessor, report.status)
    let devices = report.devices
    var entries = devices.map { entry($0, isRequested: request != nil) }
    if devices.count == 1 {
      entries[0].cells[0] = title
      // The title is the path already.
      if report.resources[0].path.description == report.accessor, entries[0].cells.count > 3 {
        entries[0].cells.removeSubrange(2...3)
      }
      entries[0].cells[1] = word(report.status)
    } else {
      entries.insert(
        Entry(cells: [title, word(report.status), report.usable(of: devices)]), at: 0)
    }
    // One request serves all devices, so it is printed once.
    let changes = report.resources.flatMap(\.grants)
    if let request, !changes.isEmpty || report.isCut || report.isHidden {
      let isFirst = !report.resources.flatMap(\.remedies).contains(where: \.comesFirst)
      entries[entries.count - 1].details += fix(request, changes, isFirst: isFirst)
    }
    for other in report.alternatives {
      let message = Sanitizer.clean(other.reasons.first?.message ?? other.status.rawValue)
      let text = other.status == .authorized ? "or: \(message)" : message
      entries[entries.count - 1].details += [.text(text)] + evidence(other)
    }
    return entries
  }

  /// Returns the line of one device.
  private func entry(_ resources: [ResourceReport], isRequested: Bool) -> Entry {
    guard let line = DeviceLine(resources) else { return Entry(cells: ["", ""]) }
    let (status, main) = (line.status, line.main)
    let title = "  " + mark(status)
    // The nodes of one device often have the same reason, so print each reason once.
    var messages: [String] = []
    for reason in resources.flatMap(\.reasons) where !messages.contains(reason.message) {
      messages.append(reason.message)
    }
    guard line.isJudged else {
      // There was nothing to judge, so the line shows the reason.
      var entry = Entry(cells: [title, word(status)] + line.cells)
      entry.details = messages.filter { $0 != main.reasons.first?.message ?? "" }.map {
        .text(Sanitizer.clean($0))
      }
      entry.details += fixes([main]) + evidence(main)
      return entry
    }
    var entry = Entry(cells: [title, word(status)] + line.cells)
    entry.cells[4] = style.dim(entry.cells[4])
    entry.details = messages.map { .text(Sanitizer.clean($0)) }
    entry.details += caveats(resources)
    let isServed =
      isRequested && resources.contains { $0.isHidden || !$0.grants.isEmpty }
    entry.details += isServed ? first(resources) : fixes(resources)
    entry.details += resources.flatMap(evidence)
    return entry
  }

  /// Returns the decision, the probe and the evidence, which only `-v` prints.
  private func evidence(_ resource: ResourceReport) -> [Detail] {
    guard isVerbose else { return [] }
    var lines: [String] = []
    if resource.isFolder, resource.contents == nil, resource.status.isAccess() {
      lines.append("the folder itself was checked; --recursive also checks everything in it")
    }
    if let decision = resource.decision {
      let rule = RuleWords(decision.rule.description)
      let verdict =
        decision.errnoName.map { "refused (\($0)), \(rule.refusal)" }
        ?? (decision.verdict == .granted
          ? "granted \(rule.grant)" : "undetermined, \(rule.refusal)")
      let place = decision.component.map { ", at \($0)" } ?? ""
      lines.append(Sanitizer.clean("\(resource.path): \(verdict)\(place)"))
    }
    if let probe = resource.probe {
      lines.append("\(probe.call): \(probe.errno.map(\.description) ?? "granted")")
    }
    if let meaning = resource.decision?.meaning {
      lines.append(Sanitizer.clean("works: \(meaning)"))
    }
    for evidence in resource.reasons.flatMap(\.evidence).map(Sanitizer.clean)
    where !lines.contains(evidence) {
      lines.append(evidence)
    }
    if let aside = resource.aside { lines.append(aside) }
    return lines.map { .text($0) }
  }
}
