import PermissionKit

// Verifications: a line for each expectation and subject, and what is wrong below a failure.
extension HumanFormat {
  func text(_ result: VerifyResult) -> String {
    let rows = zip(result.verdicts, Findings(result).items).map { verdict, item in
      (
        cells: [
          mark(item.outcome) + " " + style.bold(item.name), item.who, word(item.status),
        ],
        details: verdict.outcome == .holds && !isVerbose ? [] : details(verdict, item)
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

  private func details(_ verdict: Verdict, _ item: Finding) -> [Detail] {
    var details: [Detail] = []
    func add(_ name: String, _ text: String?) {
      guard let text, !text.isEmpty else { return }
      details.append(.text(name.padded(to: 10) + text))
    }
    add("what", item.request)
    add("expected", item.expected)
    add("got", verdict.outcome == .skipped ? "\(item.got), skipped" : item.got)
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
