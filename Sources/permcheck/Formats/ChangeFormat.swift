import PermissionKit

/// Changes, one a line, in each format.
struct ChangeFormat {
  /// Where the accessor's name stands, after the time and the mark.
  private static let indent = 16
  private let options: OutputOptions
  private let style: Style
  private let words: HumanFormat
  private let system: any System

  init(_ options: OutputOptions, _ style: Style, _ system: any System) {
    self.options = options
    self.style = style
    self.system = system
    words = HumanFormat(style)
  }

  /// The columns that the accessor's mark and name take.
  func nameWidth(_ report: AccessReport) -> Int {
    words.title(report.accessor, report.status).displayWidth
  }

  /// The line for an accessor as it is at the beginning.
  func first(_ report: AccessReport, _ time: Int64, _ width: Int) throws -> String {
    switch options.chosen {
    case .human:
      let message = report.mainReason.map { Sanitizer.clean($0.message) } ?? ""
      return human(time, report, width, [words.word(report.status), message])
    case .plain: return plain(AccessWatcher.timestamp(time), nil, report, nil, nil)
    case .json:
      return try JSONFormat.text(ChangeDocument(AccessWatcher.timestamp(time), report))
    }
  }

  /// The line for a change.
  func text(_ change: AccessWatcher.Change, _ width: Int) throws -> String {
    switch options.chosen {
    case .plain:
      return plain(change.timestamp, change.old, change.new, change.cause, change.path)
    case .json: return try JSONFormat.text(ChangeDocument(change, isVerbose: options.verbose))
    case .human:
      var cause = change.cause.rawValue.split(separator: "-").joined(separator: " ")
      if let path = change.path { cause += ": \(Sanitizer.clean(path.description))" }
      let status =
        change.old.status == change.new.status
        ? "still \(words.word(change.new.status))"
        : "\(words.word(change.old.status)) → \(words.word(change.new.status))"
      let message = change.new.mainReason.map { Sanitizer.clean($0.message) } ?? ""
      let line = human(change.time, change.new, width, [status, style.dim(cause), message])
      return options.verbose ? line + change.resources.map(resource).joined() : line
    }
  }

  private func human(
    _ time: Int64, _ report: AccessReport, _ width: Int, _ cells: [String]
  ) -> String {
    let title = words.title(report.accessor, report.status).padded(to: width)
    let line = ([style.dim(clock(time)), title] + cells).filter { !$0.isEmpty }
    return words.wrapped(line.joined(separator: "  "), indent: 0, hanging: Self.indent) + "\n"
  }

  /// Under the accessor's name.
  private func resource(_ resource: AccessWatcher.Change.Resource) -> String {
    let (old, new) = (
      resource.old.map(words.word) ?? "none", resource.new.map(words.word) ?? "none"
    )
    return String(repeating: " ", count: Self.indent)
      + "\(Sanitizer.clean(resource.path.description))  \(old) → \(new)\n"
  }

  /// Local time to the millisecond.
  private func clock(_ time: Int64) -> String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let wall = system.localtime(time)
    return "\(padded(wall.hour, 2)):\(padded(wall.minute, 2)):\(padded(wall.second, 2))"
      + ".\(padded(Int(time / 1000 % 1000), 3))"
  }

  /// time, accessor, old status, new status, cause, its path, reason code, message.
  private func plain(
    _ time: String, _ old: AccessReport?, _ new: AccessReport, _ cause: ChangeCause?,
    _ path: PathBytes?
  ) -> String {
    PlainFormat.line([
      time, new.accessor, old?.status.rawValue ?? "", new.status.rawValue, cause?.rawValue ?? "",
      path?.description ?? "", new.mainReason?.code.rawValue ?? "", new.mainReason?.message ?? "",
    ])
  }
}

/// A line of `permcheck watch --json`.
struct ChangeDocument: Encodable {
  struct Resource: Encodable {
    let path: String
    let old: AuthorizationStatus?
    let new: AuthorizationStatus?
  }

  let schemaVersion = 1
  let time: String
  let accessor: String
  var old: AuthorizationStatus?
  let new: AuthorizationStatus
  var cause: ChangeCause?
  var path: String?
  let reason: Reason.Code?
  let message: String?
  var resources: [Resource]?

  init(_ time: String, _ report: AccessReport) {
    self.time = time
    accessor = report.accessor
    new = report.status
    reason = report.mainReason?.code
    message = report.mainReason?.message
  }

  init(_ change: AccessWatcher.Change, isVerbose: Bool) {
    self.init(change.timestamp, change.new)
    old = change.old.status
    cause = change.cause
    path = change.path?.description
    if isVerbose {
      resources = change.resources.map {
        Resource(path: $0.path.description, old: $0.old, new: $0.new)
      }
    }
  }
}
