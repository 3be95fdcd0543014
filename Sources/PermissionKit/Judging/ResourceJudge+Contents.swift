// What is in a folder, if the caller asks about that too.
extension ResourceJudge {
  /// Returns the findings in a folder that the subject can reach; nil unless the context asks for
  /// them.
  func contents(_ ask: ResourceQuery, _ decision: Decision, _ probe: Probe?) -> ContentsReport? {
    guard let examine = inspection.context.examines, !inspection.isSaved, ask.isDirectory else {
      return nil
    }
    let answer = StatusRules.status(decision, probe)
    guard answer == .authorized || answer == .denied && decision.step == .target else {
      return nil
    }
    return examine(inspection, ask, answer != .authorized)
  }

  /// Returns the smallest changes that give access to the refused files in a folder; empty if no
  /// changes give all of it, or if there are too many files to list.
  func remedies(_ ask: ResourceQuery, _ contents: ContentsReport?) -> [Remedy] {
    guard let contents, contents.refused > 0, !contents.isCut else { return [] }
    var context = inspection.context
    context.subject = inspection.subject
    (context.need, context.examines) = (nil, nil)
    let resources = contents.paths.map { path in
      var resource = ask.resource
      (resource.path, resource.kind) = (path, nil)
      return resource
    }
    let target = Inspection.Target(name: "", set: ResourceSet(resources: resources))
    guard let inspection = try? Inspection(context, users: inspection.users, { _ in [target] })
    else { return [] }
    var least = LeastChange(
      facts: inspection.facts, credentials: inspection.subject.credentials)
    for resource in resources {
      let one = inspection.ask(resource)
      let need = one.isDirectory ? ask.need : ask.need.subtracting(.execute)
      guard least.grant(need, path: one.path, isDirectory: one.isDirectory).isGranted else {
        return []
      }
    }
    return RemedyFinder(inspection).remedies(least.changes, asksAll: true)
  }
}

extension ContentsReport {
  /// The largest number of causes in a report.
  private static let told = 10

  /// Returns a reason for each cause of refused or unknown files.
  ///
  /// - Parameter top: The folder, from which names begin.
  /// - Returns: At least one reason if something is refused or unknown.
  func reasons(below top: PathBytes) -> [Reason] {
    var texts = causes.prefix(Self.told).map { cause in
      let why = RuleWords(cause.rule).cause(
        Self.name(cause.folder, below: top).description, isSearch: cause.isSearch,
        isBelow: cause.isBelow)
      return "\(cause.count.grouped) \(why)"
    }
    let rest = causes.dropFirst(Self.told)
    if !rest.isEmpty {
      let count = rest.reduce(0) { $0 + $1.count }
      texts.append(
        "\(count.grouped) for \(rest.count.grouped) more reasons, which permcheck audit lists")
    }
    if undetermined > 0 {
      texts.append("\(undetermined.grouped) of these cannot be determined")
    }
    if unlisted > 0 {
      let folders = unlisted == 1 ? "1 folder" : "\(unlisted.grouped) folders"
      texts.append("\(folders) cannot be listed, so what is below was not checked")
    }
    if let obstacle { texts.append("the contents of the folder are unknown: \(obstacle)") }
    return texts.map { Reason(.folderContents, .proven, $0) }
  }

  /// Returns a path relative to the top; the top itself is unchanged.
  private static func name(_ path: PathBytes, below top: PathBytes) -> PathBytes {
    var rest = path.bytes[...]
    guard path != top, rest.starts(with: top.bytes) else { return path }
    rest = rest.dropFirst(top.bytes.count).drop { $0 == UInt8(ascii: "/") }
    return rest.isEmpty ? path : PathBytes(Array(rest))
  }
}
