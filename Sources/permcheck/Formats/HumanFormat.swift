import PermissionKit

/// Reports for people: a line for each device, reasons and next steps under a refusal.
struct HumanFormat {
  let style: Style
  /// Print all that was seen.
  let isVerbose: Bool

  /// What to type to request what a report lacks, one for each report; none where that is not to be
  /// said.
  let requests: [String?]

  init(_ style: Style, isVerbose: Bool = false, requests: [String?] = []) {
    self.style = style
    self.isVerbose = isVerbose
    self.requests = requests
  }

  /// One device's line and what stands under it.
  private struct Entry {
    var cells: [String]
    /// Text and the indent of its lines after the first.
    var details: [(text: String, isFix: Bool)] = []
  }

  func text(_ reports: [AccessReport]) -> String {
    let entries = reports.enumerated().flatMap { index, report in
      self.entries(report, requests.indices.contains(index) ? requests[index] : nil)
    }
    let widths = Table.widths(entries.map(\.cells))
    // The detail stands under the status.
    let indent = (widths.first ?? 0) + 4
    return entries.map { entry in
      Table.line(entry.cells, widths) + "\n"
        + entry.details.map { detail in
          let prefix = String(repeating: " ", count: indent)
          let hanging = detail.isFix ? indent + 5 : indent
          let shown = detail.isFix ? "fix: \(detail.text)" : detail.text
          return prefix + wrapped(shown, indent: indent, hanging: hanging) + "\n"
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
    // One request is for all devices: it is said under the first that lacks something.
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
    let telling = resources.first { $0.status == status } ?? resources[0]
    if telling.decision == nil || status == .unavailable {
      // Nothing was there to judge: the reason is the whole line.
      let message = telling.reasons.first?.message ?? ""
      var entry = Entry(cells: [title, word(shown), Sanitizer.clean(message)])
      var messages: [String] = [message]
      for reason in resources.flatMap(\.reasons) where !messages.contains(reason.message) {
        messages.append(reason.message)
      }
      entry.details = messages.dropFirst().map { (Sanitizer.clean($0), false) }
      entry.details += fixes(telling) + extra(telling)
      return entry
    }
    let note = status == .authorized ? telling.decision?.basis ?? "" : ""
    let path = Sanitizer.clean(telling.path.description)
    // A folder's name is the end of its path already.
    let isNamedByPath = telling.path.lastComponent.description == telling.label
    var entry = Entry(
      cells: [
        title, word(shown), isNamedByPath ? path : Sanitizer.clean(telling.label),
        isNamedByPath ? "" : path, style.dim(Sanitizer.clean(note)),
      ])
    // Nodes of one device are often refused for the same reason: it is said once.
    var messages: [String] = []
    for reason in resources.flatMap(\.reasons) where !messages.contains(reason.message) {
      messages.append(reason.message)
    }
    entry.details = messages.map { (Sanitizer.clean($0), false) }
    let isRequestable = resources.contains { $0.remedies.contains(where: \.isGrant) }
    if let fix, isRequestable { entry.details += fix }
    if fix == nil || !isRequestable || isVerbose { entry.details += resources.flatMap(fixes) }
    entry.details += resources.flatMap(extra)
    return entry
  }

  /// The request that makes all the changes at once.
  private func request(_ command: String, _ remedies: [Remedy]) -> String {
    let order: [Persistence] = [.untilLogout, .untilUdevEvent, .untilReboot, .permanent]
    let lasting = Set(remedies.map(\.persistence))
    let persistence = order.first(where: lasting.contains) ?? .permanent
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

  /// What `-v` adds.
  private func extra(_ resource: ResourceReport) -> [(String, Bool)] {
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
      lines.append((Sanitizer.clean("that holds \(meaning)"), false))
    }
    for evidence in resource.reasons.flatMap(\.evidence).map(Sanitizer.clean)
    where !lines.contains(where: { $0.0 == evidence }) {
      lines.append((evidence, false))
    }
    return lines
  }

  // MARK: - Words and marks

  func title(_ name: String, _ status: AuthorizationStatus) -> String {
    mark(status) + " " + style.bold(short(name))
  }

  /// The accessor as people type it.
  func short(_ name: String) -> String {
    AccessorRegistry.standard[name]?.aliases.first ?? name
  }

  func mark(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green("✔")
    case .limited: style.yellow("◐")
    case .denied, .restricted: style.red("✘")
    case .unavailable: style.dim("–")
    case .notDetermined: style.yellow("?")
    }
  }

  func word(_ status: AuthorizationStatus) -> String {
    switch status {
    case .authorized: style.green(status.rawValue)
    case .limited, .notDetermined: style.yellow(status.rawValue)
    case .denied, .restricted: style.red(status.rawValue)
    case .unavailable: style.dim(status.rawValue)
    }
  }

  /// Breaks text at blanks so that it ends before the terminal does.
  func wrapped(_ text: String, indent: Int, hanging: Int) -> String {
    guard let columns = style.columns, columns > hanging + 20 else { return text }
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      let room = columns - (lines.isEmpty ? indent : hanging)
      if !line.isEmpty, line.displayWidth + 1 + String(word).displayWidth > room {
        lines.append(line)
        line = String(word)
      } else {
        line += (line.isEmpty ? "" : " ") + word
      }
    }
    lines.append(line)
    return lines.joined(separator: "\n" + String(repeating: " ", count: hanging))
  }
}

/// An argument as a shell takes it.
func shellQuoted(_ argument: PathBytes) -> String {
  let text = argument.description
  let isPlain = text.utf8.allSatisfy {
    switch $0 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "_-+=:,./@%".utf8.contains($0)
    }
  }
  if isPlain, !text.isEmpty { return text }
  let hasBytes = argument.bytes.contains { $0 < 0x20 || $0 == 0x7f } || text.contains("\\x")
  if hasBytes {
    let escaped = argument.bytes.map { byte in
      (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
        ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return "$'\(escaped.joined())'"
  }
  return "'"
    + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

extension Remedy {
  /// What to type, and the line to add, on one line.
  var text: String {
    let typed = command.map(shellQuoted).joined(separator: " ")
    let command = typed.isEmpty ? "" : (needsRoot ? "sudo " : "") + typed
    let added = line.map { (command.isEmpty ? "add: " : ", add: ") + $0 } ?? ""
    return Sanitizer.clean(command + added)
  }
}

extension ResourceDecision {
  var errnoName: String? {
    if case .refused(let errno) = verdict { errno.description } else { nil }
  }
}
