import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionTrace

/// A format for people, with marks, and with colours if the terminal has them.
struct HumanFormat: ReportFormat {
  static let name = "human"
  static let printsAudits = true
  static let printsRefusals = true

  let style: Style
  /// Whether to print all evidence.
  let isVerbose: Bool

  init(_ style: Style, isVerbose: Bool) {
    self.style = style
    self.isVerbose = isVerbose
  }

  func text(_ result: RequestResult) -> String {
    if result.isDryRun, !result.plans.isEmpty { return text(result.plans) }
    return text(result.reports) + given(result)
  }

  /// Returns what a request gave, its end, and the command that revokes it.
  private func given(_ result: RequestResult) -> String {
    guard result.isApplied, !result.undo.isEmpty else { return "" }
    var details = result.helper.flatMap { answered($0, result.system) }
    // The helper says when its own grants end.
    if let expires = result.expires, result.plans.contains(where: { !$0.needsRoot }) {
      let end = Timestamp.local(expires, result.system)
      details.append(.text("given until \(end); \(result.howItEnds)"))
    }
    details.append(.text("undo:"))
    return lines(details + result.undo.map { .command(Sanitizer.clean($0)) }, indent: 0)
  }

  /// Returns what permcheck-helper changed, and its end; `end` (` until …`) if no time ends it.
  func answered(
    _ helper: CheckDocument.HelperAnswered, _ system: any System, end: String = ""
  ) -> [Detail] {
    let (name, answer) = (short(helper.accessor), helper.answer)
    guard !answer.changes.isEmpty else { return [.text("root had nothing to change for \(name)")] }
    let status = answer.status.map { " (\(word($0)))" } ?? ""
    let end =
      answer.expires.map { " until \(Timestamp.local($0, system)); it then ends by itself" } ?? end
    return [.text("root gave access to \(name)\(status)\(end):")]
      + answer.changes.map { .command(Sanitizer.clean("\($0.place)   \($0.summary)")) }
  }

  // MARK: - Words and marks

  func title(_ name: String, _ status: AuthorizationStatus) -> String {
    mark(status) + " " + style.bold(short(name))
  }

  /// Returns the short name of an accessor, such as `mic`.
  func short(_ name: String) -> String {
    name == MicrophoneAccessor.name ? "mic" : Sanitizer.clean(name)
  }

  func mark(_ status: AuthorizationStatus) -> String { style.mark(Mark(status)) }

  func word(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green(status.rawValue)
    case .limited, .notDetermined: style.yellow(status.rawValue)
    case .denied, .restricted: style.red(status.rawValue)
    case .unavailable: style.dim(status.rawValue)
    }
  }
}

extension ResourceDecision {
  var errnoName: String? {
    if case .refused(let errno) = verdict { errno.description } else { nil }
  }
}

// Plans: what changes, for how long, who else gains, and the equivalent commands.
extension HumanFormat {
  func text(_ plans: [GrantPlan]) -> String {
    plans.map { plan in
      text(plan) + plan.steps.map { "  \(style.dim($0.typed))\n" }.joined()
    }.joined() + (plans.isEmpty ? "" : "nothing was changed (--dry-run)\n")
  }

  func question(_ plans: [GrantPlan]) -> String { plans.map(text).joined() }

  private func text(_ plan: GrantPlan) -> String {
    let who = Sanitizer.clean(plan.subject.displayName)
    let heading = "\(style.bold(plan.title)) for \(who), by \(plan.strategy):"
    let lines = plan.changes + plan.effects.map { style.wrapped($0, indent: 2, hanging: 4) }
    return ([heading] + lines.map { "  " + $0 }).map { $0 + "\n" }.joined()
  }
}

// Verifications: a line for each expectation and subject, and what is wrong below a failure.
extension HumanFormat {
  func text(_ result: VerifyResult) -> String {
    let rows = zip(result.verdicts, Findings(result).items).map { verdict, item in
      (
        cells: [
          mark(item.outcome) + " " + style.bold(item.name), item.who, word(item.status),
        ],
        details: (verdict.outcome == .holds && !isVerbose ? [] : details(verdict, item))
          + (verdict.wantsAccess ? caveats(verdict.report.resources) : [])
      )
    }
    let widths = Table.widths(rows.map(\.cells))
    var text = ""
    for row in rows {
      let line = Table.line(row.cells, widths)
      if let columns = style.columns, line.displayWidth > columns {
        text += row.cells[0] + "\n" + lines([.text(row.cells[1] + "  " + row.cells[2])], indent: 4)
      } else {
        text += line + "\n"
      }
      text += lines(row.details, indent: 4)
    }
    return text + style.bold(Findings(result).summary) + "\n"
  }

  /// Returns what granted permissions do not include.
  func caveats(_ resources: [ResourceReport]) -> [Detail] {
    resources.compactMap(\.caveat).map { .text("but \(Sanitizer.clean($0))") }
  }

  private func details(_ verdict: Verdict, _ item: Finding) -> [Detail] {
    var details: [Detail] = []
    func add(_ name: String, _ text: String?) {
      guard let text, !text.isEmpty else { return }
      details.append(.text(name.padded(to: 10) + text))
    }
    add("what", item.request)
    add("expected", item.expected)
    let got = isVerbose ? item.got : item.status.rawValue
    add("got", verdict.outcome == .skipped ? "\(got), skipped" : got)
    add("why", item.message)
    // A change gives access, which helps only where access is expected.
    if verdict.outcome == .fails, verdict.wantsAccess {
      details += fixes(verdict.report.resources.filter { $0.status == item.status })
    }
    return details
  }

  private func mark(_ outcome: Finding.Outcome) -> String {
    switch outcome {
    case .holds: style.mark(.yes)
    case .fails: style.mark(.no)
    case .undetermined: style.mark(.unknown)
    case .skipped: style.mark(.none)
    }
  }
}

// Lists: accessors, grants, and the summary of the log.
extension HumanFormat {
  func text(_ listing: AccessorListing) -> String {
    Table(
      listing.entries.map { entry in
        [
          style.bold(entry.name),
          entry.aliases.isEmpty ? "" : "(\(entry.aliases.joined(separator: ", ")))",
          Sanitizer.clean(entry.summary),
          style.dim(Sanitizer.clean(entry.origin.description)),
        ]
      }
    ).text
  }

  func text(_ listing: GrantListing) -> String {
    if listing.grants.isEmpty {
      return "no grants in \(Sanitizer.clean(listing.journal.description))\n"
    }
    let rows = listing.rows(\.asked) { Timestamp.local($0, listing.users.system) }
    let table = Table(rows).text
    guard let columns = style.columns,
      table.parts(by: "\n").contains(where: { String($0).displayWidth > columns })
    else { return table }
    // In a narrow terminal each grant has lines of its own.
    return rows.map { row in
      let lines = [row[0...2].joined(separator: "   "), row[3]] + row[4...].filter { !$0.isEmpty }
      return lines.enumerated().map { index, line in
        let indent = index == 0 ? 0 : 2
        return String(repeating: " ", count: indent)
          + style.wrapped(line, indent: indent, hanging: 2) + "\n"
      }.joined()
    }.joined()
  }

  func text(_ result: RevokeResult) -> String {
    let word = result.isDryRun ? "would revoke" : "revoked"
    let words =
      result.revoked.map { (word, $0) } + result.forgotten.map { ("forgot ", $0) }
      + result.open.map { ("left   ", $0) }
    var lines = words.map { (word, grant) in
      "\(word)  "
        + Sanitizer.clean("\(grant.asked)   \(grant.place)   \(grant.change.command.summary)")
    }
    if words.isEmpty {
      lines.append("nothing to revoke in \(Sanitizer.clean(result.journal.description))")
    } else if result.isDryRun {
      lines.append("nothing was changed (--dry-run)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  func text(_ summary: LogSummary) -> String {
    let header = ["accessor", "checks", "granted", "refused", "unavailable", "share"].map(style.dim)
    let rows = summary.lines.map { line in
      [
        Sanitizer.clean(line.accessor), "\(line.checks)", "\(line.granted)", "\(line.refused)",
        "\(line.unavailable)", "\(Int((line.grantedShare * 100).rounded())) %",
      ]
    }
    return Table([header] + rows).text
  }
}

extension GrantListing {
  /// Returns one row for each grant, safe for a terminal: `name` is the first column, `clock` writes
  /// microseconds since 1970 (UTC).
  func rows(_ name: (Grant) -> String, _ clock: (Int64) -> String) -> [[String]] {
    grants.map { grant in
      let end: String? =
        switch grant.stage {
        case .missing: "missing"
        case .undoing: "could not be ended"
        case .released: "ended, files that inherited it not all reached"
        case .deleted: "ended: the file was deleted"
        case .ended: "ended: somebody else removed the access"
        default:
          grant.lifetime.hasEnded(at: time, users.system)
            ? "EXPIRED, still in place"
            : grant.lifetime.words(clock)
        }
      return [
        name(grant), users.userName(grant.uid), grant.place, grant.change.command.summary,
        "since \(Timestamp.microseconds(grant.time).map(clock) ?? grant.time)", end ?? "",
      ].map(Sanitizer.clean)
    }
  }
}

// What stands below a line: sentences, which are wrapped, and commands, which never are.
extension HumanFormat {
  enum Detail: Hashable {
    /// A sentence.
    case text(String)
    /// A command to type, or a line to add to a file: on a line of its own, never wrapped.
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
  func fix(_ command: String, _ remedies: [Remedy], isFirst: Bool = true) -> [Detail] {
    let count = Set(remedies.map(\.command)).count
    let changes = "\(count) change\(count == 1 ? "" : "s"); \(effect(remedies))"
    return [
      .text("\(isFirst ? "fix" : "or") (\(count == 0 ? "--dry-run shows the changes" : changes)):"),
      .command(Sanitizer.clean(command)),
    ]
  }

  /// Returns the changes for one device or folder: those that must be made together are listed in
  /// order, the others are alternatives.
  ///
  /// `explains` also prints the simulated result, and why the usual advice is worse.
  func fixes(_ resources: [ResourceReport], explains: Bool = false) -> [Detail] {
    var remedies: [Remedy] = []
    for remedy in resources.flatMap(\.remedies) where !remedies.contains(remedy) {
      remedies.append(remedy)
    }
    if remedies.isEmpty {
      let advice = resources.flatMap(\.reasons).lazy.compactMap(\.advice).first
      return advice.map { [.text("fix: \($0)")] } ?? []
    }
    return fixes(by: ways(remedies), explains: explains)
  }

  /// Returns the remedies that come before a change of permissions.
  func first(_ resources: [ResourceReport]) -> [Detail] {
    var remedies: [Remedy] = []
    for remedy in resources.flatMap(\.remedies).filter(\.comesFirst)
    where !remedies.contains(remedy) {
      remedies.append(remedy)
    }
    return fixes(by: ways(remedies), explains: false)
  }

  /// Returns the remedies in groups that must be made together, those that outlive a container
  /// first.
  private func ways(_ remedies: [Remedy]) -> [[Remedy]] {
    var ways: [[Remedy]] = []
    let first = remedies.filter(\.comesFirst)
    let rest = remedies.filter { !$0.comesFirst }
    for remedy in first + rest.filter(\.isStep) + rest.filter({ !$0.isStep }) {
      let belongs = ways.firstIndex { way in
        remedy.isOnHost && way[0].isOnHost || remedy.isStep && way[0].isStep
      }
      if let belongs { ways[belongs].append(remedy) } else { ways.append([remedy]) }
    }
    return ways
  }

  private func fixes(by ways: [[Remedy]], explains: Bool) -> [Detail] {
    ways.enumerated().flatMap { index, way in
      let isSimulated = explains && way[0].outcome != .undetermined
      let isTried = !way.contains(where: \.isSuggestion)
      let first = isSimulated ? "smallest fix" : "fix"
      let start =
        (isTried ? index > 0 ? "or" : first : "\(index > 0 ? "or, " : "")a suggestion")
        + (way[0].isOnHost ? " on the machine that runs the container" : "")
      let count = way.count > 1 ? "\(way.count) steps; " : ""
      let result = way[0].outcome == .granted ? "" : ": \(way[0].outcome.rawValue)"
      let outcome = isSimulated ? "; tested by simulation\(result)" : ""
      var details: [Detail] = [.text("\(start) (\(count)\(effect(way))\(outcome)):")]
      for remedy in way { details += typed(remedy, notes: explains || isVerbose) }
      let undo = way.reversed().compactMap(\.typedUndo)
      if isVerbose, !undo.isEmpty {
        details.append(.text("undo:"))
        details += undo.map { .command($0) }
      }
      return details
    }
  }

  private func typed(_ remedy: Remedy, notes: Bool) -> [Detail] {
    var details: [Detail] = remedy.typed.map { [.command($0)] } ?? []
    if let line = remedy.line {
      details.append(.text(remedy.command.isEmpty ? "add this:" : "and add this there:"))
      details += line.parts(by: "\n").map { .command(Sanitizer.clean(String($0))) }
    }
    if let after = remedy.typedAfter { details += [.text("then:"), .command(after)] }
    if notes || remedy.isOutside, let note = remedy.note {
      details.append(.text(Sanitizer.clean(note)))
    }
    return details
  }

  /// Returns how long the changes last, who else gains, and what else they open: `lasts until you undo it; nobody else
  /// gets access; ada can then delete …`.
  func effect(_ remedies: [Remedy]) -> String {
    let others = Set(remedies.flatMap(\.othersAffected)).sorted().map(Sanitizer.clean)
    let gains =
      others.isEmpty
      ? "nobody else gets access" : "also get access: \(others.joined(separator: "; "))"
    let objections = remedies.flatMap(\.objections)
      .map { "; but \(Sanitizer.clean($0.words))" }.joined()
    let opens = remedies.compactMap(\.opens).map { "; \(Sanitizer.clean($0))" }.joined()
    return
      "lasts \(Persistence.shortest(of: remedies.map(\.persistence)).words); \(gains)\(objections)\(opens)"
  }
}

// Refusals of programs: one line each.
extension HumanFormat {
  func text(_ line: RefusalLine) -> String {
    let refusal = line.refusal
    let paths = [refusal.path, refusal.secondPath].compactMap { $0 }
      .map { Sanitizer.clean($0.description) }.joined(separator: " \(style.glyph(.arrow)) ")
    let program = "\(Sanitizer.clean(refusal.name.description))[\(refusal.process)]"
    let count = line.count > 1 ? " (\(line.count) times)" : ""
    return
      "\(style.dim(program)) \(refusal.call)\(paths.isEmpty ? "" : " \(paths)"): \(refusal.errno)\(style.dim(count))\n"
  }

  var noRefusals: String { "\(Tool.name): nothing was refused\n" }
}

// Changes: one line each.
extension HumanFormat {
  /// The column of the accessor's name, after the time and the mark.
  private static let indent = 16

  func text(_ line: WatchLine) -> String {
    switch line.content {
    case .first(let report, _):
      let message = report.mainReason.map { Sanitizer.clean($0.message) } ?? ""
      return human(report, line, [word(report.status), message])
    case .change(let change):
      var cause = change.cause.rawValue.parts(by: "-").joined(separator: " ")
      if let path = change.path { cause += ": \(Sanitizer.clean(path.description))" }
      let status =
        change.old.status == change.new.status
        ? "still \(word(change.new.status))"
        : "\(word(change.old.status)) \(style.glyph(.arrow)) \(word(change.new.status))"
      let message = change.new.mainReason.map { Sanitizer.clean($0.message) } ?? ""
      let text = human(change.new, line, [status, style.dim(cause), message])
      return isVerbose ? text + change.resources.map(resource).joined() : text
    }
  }

  private func human(_ report: AccessReport, _ line: WatchLine, _ cells: [String]) -> String {
    let width = line.reports.map { title($0.accessor, $0.status).displayWidth }.max() ?? 0
    let name = title(report.accessor, report.status).padded(to: width)
    let shown = ([style.dim(clock(line.time, line.system)), name] + cells)
      .filter { !$0.isEmpty }
    return (line.isNewDay ? style.dim(date(line.time, line.system)) + "\n" : "")
      + style.wrapped(shown.joined(separator: "  "), indent: 0, hanging: Self.indent) + "\n"
  }

  /// Returns the line of a resource, below the accessor's name.
  private func resource(_ resource: AccessWatcher.Change.Resource) -> String {
    let (old, new) = (
      resource.old.map(word) ?? "none", resource.new.map(word) ?? "none"
    )
    return String(repeating: " ", count: Self.indent)
      + "\(Sanitizer.clean(resource.path.description))  \(old) \(style.glyph(.arrow)) \(new)\n"
  }

  private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Returns the local date and the offset from UTC: `2026-11-22, UTC+01:00`.
  private func date(_ time: Int64, _ system: any System) -> String {
    let offset = system.localtime(time).offset
    let minutes = abs(offset) / 60
    let zone = offset == 0 ? "" : (offset < 0 ? "-" : "+")
    let shift = zone.isEmpty ? "" : "\(zone)\(padded(minutes / 60, 2)):\(padded(minutes % 60, 2))"
    return "\(Timestamp.rfc3339(time + Int64(offset) * 1_000_000).prefix(10)), UTC\(shift)"
  }

  /// Returns the local time with milliseconds.
  private func clock(_ time: Int64, _ system: any System) -> String {
    let wall = system.localtime(time)
    return "\(padded(wall.hour, 2)):\(padded(wall.minute, 2)):\(padded(wall.second, 2))"
      + ".\(padded(Int(time / 1000 % 1000), 3))"
  }
}

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
    case .itself: RuleWords(entry.ruleName).refusal
    case .folder: closing(entry.folder, entry.ruleName)
    case .ancestor(let folder): closing(folder, entry.ruleName)
    case .target: "target of the link: \(RuleWords(entry.ruleName).refusal)"
    }
  }

  /// Returns `folder 2019 is closed to others`.
  private func closing(_ folder: PathBytes, _ rule: String) -> String {
    let name = folder.lastComponent.isEmpty ? folder : folder.lastComponent
    return RuleWords(rule).closing("folder \(Sanitizer.clean(name.description))")
  }

  func text(_ result: AuditResult) -> String {
    let counts = result.counts
    var text = heading(result)
    let causes = result.causes.prefix(isVerbose ? .max : 10)
    let width = causes.first.map { $0.count.grouped.count } ?? 0
    for (cause, count) in causes {
      let number = count.grouped
      let why = RuleWords(cause.rule).cause(
        Sanitizer.clean(cause.folder.description), isSearch: cause.isSearch, isBelow: cause.isBelow)
      text += "  \(String(repeating: " ", count: width - number.count))\(number) \(why)\n"
    }
    if result.causes.count > causes.count {
      text += rules(result)
      let rest = result.causes.dropFirst(causes.count)
      let sum = rest.reduce(0) { $0 + $1.count }
      text += "  \(sum.grouped) for \(rest.count.grouped) more reasons; -v shows all\n"
    }
    if let caveat = ContentsReport.caveat(ofProtected: counts.protected) {
      text += style.wrapped("but \(caveat)", indent: 0, hanging: 2) + "\n"
    }
    if counts.undetermined > 0 {
      text += "\(style.mark(.unknown)) \(counts.undetermined.grouped) cannot be determined\n"
    }
    if counts.unlisted > 0 {
      text +=
        style.dim(
          "\(Self.folders(counts.unlisted)) cannot be listed, so what is below was not checked")
        + "\n"
    }
    for doubt in result.possibleRefusals {
      text += "\(style.mark(.unknown)) \(Sanitizer.clean(doubt.message))\n"
    }
    if result.isStopped { text += style.yellow("stopped before the end") + "\n" }
    return text
  }

  private func heading(_ result: AuditResult) -> String {
    let asked = result.need.words
    let uid = "uid \(result.subject.credentials.user.fileSystem)"
    let name = result.subject.displayName
    let who = Sanitizer.clean(name == uid ? uid : "\(name) (\(uid))")
    let (counts, of) = (result.counts, "\(result.counts.asked.grouped) files and folders")
    if counts.refused > 0 {
      return "\(style.mark(.no)) \(asked) refused for \(who): "
        + "\(counts.refused.grouped) of \(of)\n"
    }
    let isDoubted = counts.undetermined > 0 || !result.possibleRefusals.isEmpty
    let mark = isDoubted ? style.mark(.unknown) : style.mark(.yes)
    let granted = result.possibleRefusals.isEmpty ? "granted" : "granted by mode and ACL"
    return "\(mark) \(asked) \(granted) for \(who): \(of)\n"
  }

  /// Returns a line of totals by rule, where the list of folders is not complete.
  private func rules(_ result: AuditResult) -> String {
    var counts: [String: Int] = [:]
    for (cause, count) in result.causes { counts[cause.rule, default: 0] += count }
    let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
    let parts = sorted.map { "\(RuleWords($0.key).refusal) \($0.value.grouped)" }
    return "  in all: \(parts.joined(separator: ", "))\(counts.count > 5 ? ", …" : "")\n"
  }

  static func folders(_ count: Int) -> String {
    count == 1 ? "1 folder" : "\(count.grouped) folders"
  }
}
