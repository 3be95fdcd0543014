/// Refused or unknown files in a folder, where the question is about them too.
struct Contents: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard let contents = evidence.contents, contents.refused > 0 || contents.isUnknown,
      evidence.isGranted || contents.granted > 0
    else { return nil }
    return Finding(
      status: contents.refused > 0 ? .limited : .notDetermined,
      reasons: contents.reasons(below: evidence.ask.path),
      remedies: Self.remedies(evidence, contents), replaces: .all)
  }

  /// Returns the smallest changes that give access to the refused files in a folder; empty if no
  /// changes give all of it, or if there are too many files to list.
  private static func remedies(_ evidence: Evidence, _ contents: ContentsReport) -> [Remedy] {
    guard contents.refused > 0, !contents.isCut else { return [] }
    let ask = evidence.ask
    var context = evidence.inspection.context
    context.subject = evidence.subject
    (context.need, context.contents) = (nil, .none)
    let resources = contents.paths.map { path in
      var resource = ask.resource
      (resource.path, resource.kind) = (path, nil)
      return resource
    }
    let target = Inspection.Target(name: "", set: ResourceSet(resources: resources))
    guard let inspection = try? Inspection(context, users: evidence.users, { _ in [target] })
    else { return [] }
    var least = LeastChange(facts: inspection.facts, credentials: inspection.subject.credentials)
    least.inspection = inspection
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
  fileprivate func reasons(below top: PathBytes) -> [Reason] {
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
