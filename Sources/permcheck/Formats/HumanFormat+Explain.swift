import PermissionKit

// Explanations: each path as a tree, with the deciding component marked.
extension HumanFormat {
  func text(_ result: ExplainResult) -> String {
    result.explanation.reports.flatMap { report in
      report.resources.map {
        $0.walk.isEmpty ? absence(report, $0) : tree($0, result.explanation.inspection.subject)
      }
    }.joined(separator: "\n")
  }

  private func absence(_ report: AccessReport, _ resource: ResourceReport) -> String {
    let reasons = resource.reasons.map { Detail.text(Sanitizer.clean($0.message)) }
    return "\(style.bold(Sanitizer.clean(report.accessor)))   \(resource.status.rawValue)\n"
      + lines(reasons + fixes([resource]), indent: 2)
  }

  private func tree(_ resource: ResourceReport, _ subject: Subject) -> String {
    var text = heading(resource, subject)
    let rows = resource.walk.map(row)
    let widths = Table.widths(rows)
    for (index, row) in rows.enumerated() {
      let branch = style.glyph(index == rows.count - 1 ? .lastBranch : .branch) + " "
      text += style.dim(branch) + Table.line(row, widths) + "\n"
    }
    var details: [Detail] = []
    if let meaning = resource.decision?.meaning {
      details.append(.text("holds: \(Sanitizer.clean(meaning))"))
    }
    for reason in resource.reasons {
      details.append(.text("why: \(Sanitizer.clean(reason.message))"))
    }
    if let probe = resource.probe {
      let answer = probe.errno.map { "fails (\($0))" } ?? "succeeds"
      details.append(.text("kernel: \(probe.method.rawValue) \(answer)"))
    }
    details += fixes([resource], explains: true)
    return text + lines(details, indent: 0)
  }

  private func heading(_ resource: ResourceReport, _ subject: Subject) -> String {
    let asked = [
      (Permissions.read, "read"), (.write, "write"), (.execute, "execute"),
    ].filter { resource.need.contains($0.0) }.map(\.1).joined(separator: "+")
    let uid = "uid \(subject.credentials.user.fileSystem)"
    let who = subject.displayName == uid ? uid : "\(subject.displayName) (\(uid))"
    let verdict =
      switch resource.decision?.verdict {
      case .granted: style.green("granted")
      case .refused(let errno): style.red("refused") + " (\(errno))"
      case .undetermined, nil: style.yellow("cannot be determined")
      }
    let path = style.bold(Sanitizer.clean(resource.path.description))
    return "\(path)   \(asked) \(verdict) for \(Sanitizer.clean(who))\n"
  }

  private func row(_ component: WalkedComponent) -> [String] {
    var name = Sanitizer.clean(component.name.description)
    if component.isOfLink { name = "  " + name }
    guard let inode = component.inode else {
      let note = component.decides ? mark(component) + "  " + style.bold("decides") : "not reached"
      return [name, component.decides ? note : style.dim(note)]
    }
    let owner = Sanitizer.clean("\(component.owner) \(component.group)")
    if let target = component.target {
      return [
        name, inode.modeText, owner,
        "\(style.glyph(.arrow)) \(Sanitizer.clean(target.description))",
      ]
    }
    guard let need = component.need else {
      return [name, inode.modeText, owner, component.decides ? mark(component) + "  decides" : ""]
    }
    let asked = inode.kind == .directory && need == .execute ? "search" : need.letters
    return [
      name, inode.modeText, owner,
      "\(asked) \(mark(component))" + (component.decides ? "  " + style.bold("decides") : ""),
    ]
  }

  private func mark(_ component: WalkedComponent) -> String {
    let basis = Sanitizer.clean(component.basis)
    return switch component.verdict {
    case .granted, nil: style.mark(.yes) + " \(basis)"
    case .refused: style.mark(.no) + " \(basis)"
    case .undetermined: style.mark(.unknown) + " \(basis)"
    }
  }
}
