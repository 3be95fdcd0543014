import PermissionKit

// Reports: one line for each device, with reasons and fixes below a refusal.
extension HumanFormat {
  /// The line of one device and the details below it.
  private struct Entry {
    var cells: [String]
    /// The lines below; a fix gets the prefix `fix:`.
    var details: [(text: String, isFix: Bool)] = []
  }

  func text(_ result: CheckResult) -> String { text(result.reports, requests: result.requests) }

  func text(_ reports: [AccessReport], requests: [String?] = []) -> String {
    let entries = reports.enumerated().flatMap { index, report in
      self.entries(report, requests.indices.contains(index) ? requests[index] : nil)
    }
    let widths = Table.widths(entries.map(\.cells))
    // Details are aligned with the status.
    let indent = (widths.first ?? 0) + 4
    return entries.map { entry in
      Table.line(entry.cells, widths) + "\n"
        + entry.details.map { detail in
          let prefix = String(repeating: " ", count: indent)
          let hanging = detail.isFix ? indent + 5 : indent
          let shown = detail.isFix ? "fix: \(detail.text)" : detail.text
          return prefix + style.wrapped(shown, indent: indent, hanging: hanging) + "\n"
        }.joined()
    }.joined()
  }

  private func entries(_ report: AccessReport, _ request: String?) -> [Entry] {
    var devices: [[ResourceReport]] = []
    for resource in report.resources {
      if let index = devices.firstIndex(where: { $0[0].device == resource.device }) {
        devices[index].append(resource)
      } else {
        devices.append([resource])
      }
    }
    if devices.isEmpty {
      return [Entry(cells: [title(report.accessor, report.status), word(report.status), ""])]
    }
    // One request serves all devices, so print it once, below the first device that needs it.
    let remedies = report.resources.flatMap(\.remedies).filter(\.isGrant)
    let place = devices.firstIndex { $0.contains { $0.remedies.contains(where: \.isGrant) } }
    return devices.enumerated().map { index, resources in
      let fix = request.map { index == place ? [(self.request($0, remedies), true)] : [] }
      let status = AuthorizationStatus.worst(resources.map(\.status)) ?? .notDetermined
      let isFirst = index == 0
      let title =
        isFirst
        ? title(report.accessor, report.status) : "  " + (devices.count > 1 ? mark(status) : "")
      return entry(title, isFirst ? report.status : status, status, resources, fix)
    }
  }

  private func entry(
    _ title: String, _ shown: AuthorizationStatus, _ status: AuthorizationStatus,
    _ resources: [ResourceReport], _ fix: [(String, Bool)]?
  ) -> Entry {
    let main = resources.first { $0.status == status } ?? resources[0]
    if main.decision == nil || status == .unavailable {
      // There was nothing to judge, so the line shows the reason.
      let message = main.reasons.first?.message ?? ""
      var entry = Entry(cells: [title, word(shown), Sanitizer.clean(message)])
      var messages: [String] = [message]
      for reason in resources.flatMap(\.reasons) where !messages.contains(reason.message) {
        messages.append(reason.message)
      }
      entry.details = messages.dropFirst().map { (Sanitizer.clean($0), false) }
      entry.details += fixes(main) + evidence(main)
      return entry
    }
    let note = status == .authorized ? main.decision?.basis ?? "" : ""
    let path = Sanitizer.clean(main.path.description)
    // The path of a folder already ends with its name.
    let isNamedByPath = main.path.lastComponent.description == main.label
    var entry = Entry(
      cells: [
        title, word(shown), isNamedByPath ? path : Sanitizer.clean(main.label),
        isNamedByPath ? "" : path, style.dim(Sanitizer.clean(note)),
      ])
    // The nodes of one device often have the same reason, so print each reason once.
    var messages: [String] = []
    for reason in resources.flatMap(\.reasons) where !messages.contains(reason.message) {
      messages.append(reason.message)
    }
    entry.details = messages.map { (Sanitizer.clean($0), false) }
    let isRequestable = resources.contains { $0.remedies.contains(where: \.isGrant) }
    if let fix, isRequestable { entry.details += fix }
    if fix == nil || !isRequestable || isVerbose { entry.details += resources.flatMap(fixes) }
    entry.details += resources.flatMap(evidence)
    return entry
  }

  /// Returns the request that makes all changes at once, with their effect.
  private func request(_ command: String, _ remedies: [Remedy]) -> String {
    let persistence = Persistence.shortest(of: remedies.map(\.persistence))
    let count = Set(remedies.map(\.command)).count
    let others = Set(remedies.flatMap(\.othersAffected)).sorted()
    let gains =
      others.isEmpty ? "nobody else gains" : "also gains: \(others.joined(separator: "; "))"
    return
      "\(Sanitizer.clean(command))   \(count) change\(count == 1 ? "" : "s"), \(persistence.words), \(Sanitizer.clean(gains))"
  }

  private func fixes(_ resource: ResourceReport) -> [(String, Bool)] {
    if resource.remedies.isEmpty {
      let advice = resource.reasons.lazy.compactMap(\.code.advice).first
      return advice.map { [($0, true)] } ?? []
    }
    return resource.remedies.flatMap { remedy in
      let gains =
        remedy.othersAffected.isEmpty
        ? "nobody else gains" : "also gains: \(remedy.othersAffected.joined(separator: "; "))"
      let fix = "\(remedy.text)   \(remedy.persistence.words), \(Sanitizer.clean(gains))"
      guard isVerbose, let note = remedy.note else { return [(fix, true)] }
      return [(fix, true), (Sanitizer.clean(note), false)]
    }
  }

  /// Returns the decision, the probe and the evidence, which only `-v` prints.
  private func evidence(_ resource: ResourceReport) -> [(String, Bool)] {
    guard isVerbose else { return [] }
    var lines: [(String, Bool)] = []
    if let decision = resource.decision {
      let verdict = decision.errnoName.map { "refused (\($0))" } ?? decision.verdict.name
      let place = decision.component.map { " at \($0)" } ?? ""
      lines.append(
        (Sanitizer.clean("\(resource.path): \(verdict) by \(decision.rule)\(place)"), false))
    }
    if let probe = resource.probe {
      lines.append(
        ("\(probe.method.rawValue): \(probe.errno.map(\.description) ?? "granted")", false))
    }
    if let meaning = resource.decision?.meaning {
      lines.append((Sanitizer.clean("holds: \(meaning)"), false))
    }
    for evidence in resource.reasons.flatMap(\.evidence).map(Sanitizer.clean)
    where !lines.contains(where: { $0.0 == evidence }) {
      lines.append((evidence, false))
    }
    return lines
  }
}
