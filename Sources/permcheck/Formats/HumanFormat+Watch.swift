@_spi(SystemCalls) import PermissionKit

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
      var cause = change.cause.rawValue.split(separator: "-").joined(separator: " ")
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
