import PermissionDocuments
import PermissionKit

// Explanations: each path as a tree, with the deciding component marked.
extension HumanFormat {
  func text(_ result: ExplainResult) -> String {
    let subject = result.explanation.inspection.subject
    return result.explanation.reports.flatMap { report in
      var texts: [String] = []
      var rest = report.resources[...]
      while let resource = rest.first {
        let group = rest.prefix { $0.future != nil && $0.path == resource.path }
        if group.isEmpty {
          texts.append(resource.walk.isEmpty ? absence(report, resource) : tree(resource, subject))
          rest.removeFirst()
        } else {
          texts.append(future(Array(group), subject))
          rest = rest.dropFirst(group.count)
        }
      }
      return texts
    }.joined(separator: "\n") + notSeen(result.explanation)
  }

  /// Returns what could not be seen, where that leaves a decision open.
  private func notSeen(_ explanation: Explanation) -> String {
    let open = explanation.reports.filter { report in
      report.resources.contains { $0.decision?.verdict == .undetermined }
    }
    return notSeen(open)
  }

  /// The permissions of new files in a folder: a line for the next file and one for the next
  /// folder.
  private func future(_ resources: [ResourceReport], _ subject: Subject) -> String {
    guard let first = resources[0].future else { return "" }
    let umask =
      !first.heedsUmask
      ? "" : " with umask " + (first.umask.map { octal($0) } ?? "unknown")
    var text =
      style.bold(Sanitizer.clean(resources[0].path.description))
      + "   what \(Sanitizer.clean(first.creator)) makes here\(umask), for \(who(subject))\n"
    let rows = resources.map { resource -> [String] in
      guard let future = resource.future else { return [] }
      let atMost = future.heedsUmask && future.umask == nil ? "at most " : ""
      let asked = words(resource.need, isFolder: future.inode.kind == .directory)
      let decision = resource.decision
      let basis = Sanitizer.clean(decision?.basis ?? "")
      let mark: String =
        switch resource.status {
        case .authorized: style.mark(.yes) + " \(basis)"
        case .notDetermined: style.mark(.unknown) + " cannot be determined"
        case .limited, .denied, .restricted, .unavailable: style.mark(.no) + " \(basis)"
        }
      return [
        resource.label, atMost + future.inode.modeText,
        Sanitizer.clean("\(future.owner) \(future.group)"), "\(asked) \(mark)",
      ]
    }
    text += branches(rows)
    var details: [Detail] = []
    for reason in resources.flatMap(\.reasons) {
      let detail = Detail.text("why: \(Sanitizer.clean(reason.message))")
      if !details.contains(detail) { details.append(detail) }
    }
    return text + lines(details + fixes(resources, explains: true), indent: 0)
  }

  private func octal(_ umask: UInt16) -> String {
    let digits = String(umask, radix: 8)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }

  private func words(_ need: Permissions, isFolder: Bool) -> String {
    [
      (Permissions.read, isFolder ? "list" : "read"), (.write, isFolder ? "create" : "write"),
      (.execute, isFolder ? "search" : "execute"),
    ].filter { need.contains($0.0) }.map(\.1).joined(separator: "+")
  }

  private func who(_ subject: Subject) -> String {
    let uid = "uid \(subject.credentials.user.fileSystem)"
    return Sanitizer.clean(
      subject.displayName == uid ? uid : "\(subject.displayName) (\(uid))")
  }

  private func absence(_ report: AccessReport, _ resource: ResourceReport) -> String {
    let reasons = resource.reasons.map { Detail.text(Sanitizer.clean($0.message)) }
    let name = report.accessor == "path" ? resource.path.description : report.accessor
    return "\(style.bold(Sanitizer.clean(name)))   \(resource.status.rawValue)\n"
      + lines(reasons + fixes([resource]), indent: 2)
  }

  private func tree(_ resource: ResourceReport, _ subject: Subject) -> String {
    var text = heading(resource, subject)
    let isOfOperation = resource.operation != nil
    text += branches(resource.walk.map { row($0, isOfOperation: isOfOperation) })
    if !resource.targetWalk.isEmpty, let target = resource.targetPath {
      text += style.bold(Sanitizer.clean(target.description)) + "\n"
      text += branches(resource.targetWalk.map { row($0, isOfOperation: true) })
    }
    var details: [Detail] = []
    if let meaning = resource.decision?.meaning {
      details.append(.text("works: \(Sanitizer.clean(meaning))"))
    }
    if let caveat = resource.caveat { details.append(.text("but: \(Sanitizer.clean(caveat))")) }
    for reason in resource.reasons {
      details.append(.text("why: \(Sanitizer.clean(reason.message))"))
    }
    if let probe = resource.probe {
      let answer = probe.errno.map { "fails (\($0))" } ?? "succeeds"
      details.append(.text("kernel: \(probe.call) \(answer)"))
    }
    details += fixes([resource], explains: true)
    return text + lines(details, indent: 0)
  }

  private func branches(_ rows: [[String]]) -> String {
    let widths = Table.widths(rows)
    return rows.enumerated().map { index, row in
      let branch = style.glyph(index == rows.count - 1 ? .lastBranch : .branch) + " "
      return style.dim(branch) + Table.line(row, widths) + "\n"
    }.joined()
  }

  private func heading(_ resource: ResourceReport, _ subject: Subject) -> String {
    if let use = resource.usedBy {
      let verdict =
        switch resource.status {
        case .authorized: style.green("accepted")
        case .notDetermined: style.yellow("perhaps refused")
        case .limited, .denied, .restricted, .unavailable: style.red("refused")
        }
      let whom = "\(use.program) for \(use.user)\(use.noun.map { ", as \($0)" } ?? "")"
      return style.bold(Sanitizer.clean(resource.path.description))
        + "   \(verdict) by \(Sanitizer.clean(whom))\n"
    }
    let isRefused =
      resource.decision?.verdict == .granted && !resource.status.isAccess()
      && resource.status != .notDetermined
      && resource.reasons.contains { $0.certainty == .proven }
    let verdict =
      switch resource.decision?.verdict {
      case .granted where resource.status.isAccess(): style.green("granted")
      case .granted where isRefused: style.red("refused")
      // Something above mode and ACL may refuse.
      case .granted: style.yellow("granted by mode and ACL")
      case .refused(let errno): style.red("refused") + " (\(errno))"
      case .undetermined, nil: verdict(of: resource)
      }
    let path = style.bold(Sanitizer.clean(resource.path.description))
    let asked = resource.operation.map { Sanitizer.clean($0.words) } ?? resource.need.words
    let but = isRefused ? ", though mode and ACL grant it" : ""
    return "\(path)   \(asked) \(verdict) for \(who(subject))\(but)\n"
  }

  /// Returns the kernel's own answer, as the exit status has it; the rules alone do not decide.
  private func verdict(of resource: ResourceReport) -> String {
    switch (resource.status, resource.answer) {
    case (.authorized, _?): style.green("granted")
    case (.denied, let answer?), (.restricted, let answer?), (.unavailable, let answer?):
      style.red("refused") + (answer.errno.map { " (\($0))" } ?? "")
    default: style.yellow("cannot be determined")
    }
  }

  private func row(_ component: WalkedComponent, isOfOperation: Bool) -> [String] {
    var name = Sanitizer.clean(component.name.description)
    if component.isOfLink { name = "  " + name }
    guard let inode = component.inode else {
      let note =
        component.decides
        ? mark(component, isOfOperation) + "  " + style.bold("decides")
        : isOfOperation && component.isMissing ? "not there" : "not reached"
      return [name, component.decides ? note : style.dim(note)]
    }
    let owner = Sanitizer.clean("\(component.owner) \(component.group)")
    if let target = component.target {
      let decides = component.decides ? "  \(style.mark(.no))  \(style.bold("decides"))" : ""
      return [
        name, inode.modeText, owner,
        "\(style.glyph(.arrow)) \(Sanitizer.clean(target.description))\(decides)",
      ]
    }
    guard let need = component.need else {
      return [
        name, inode.modeText, owner,
        component.decides
          ? mark(component, isOfOperation) + "  " + style.bold("decides")
          : component.verdict == nil ? "" : mark(component, isOfOperation),
      ]
    }
    let changesNames = isOfOperation && inode.kind == .directory && need == [.write, .execute]
    let asked =
      inode.kind == .directory && need == .execute
      ? "search" : changesNames ? "write" : need.letters
    let grant = component.grant.map { "\(style.mark(.yes)) \(Sanitizer.clean($0)), " } ?? ""
    let marked =
      grant.isEmpty
      ? mark(component, isOfOperation) : grant + "\(refusingRule(component)) \(style.mark(.no))"
    return [
      name, inode.modeText, owner,
      "\(asked) \(marked)" + (component.decides ? "  " + style.bold("decides") : ""),
    ]
  }

  /// The rule that refuses an operation, for people: `sticky`.
  private func refusingRule(_ component: WalkedComponent) -> String {
    component.rule.map { RuleWords($0.description).refusal } ?? Sanitizer.clean(component.basis)
  }

  private func mark(_ component: WalkedComponent, _ isOfOperation: Bool) -> String {
    let isOwn = isOfOperation && component.decides && component.rule?.bits == nil
    let basis = isOwn ? refusingRule(component) : Sanitizer.clean(component.basis)
    return switch component.verdict {
    case .granted, nil: style.mark(.yes) + " \(basis)"
    case .refused: style.mark(.no) + " \(basis)"
    case .undetermined: style.mark(.unknown) + " \(basis)"
    }
  }
}
