internal import JSONSyntax

/// A line of the journal.
struct GrantRecord: Sendable {
  enum Event: String, Sendable {
    /// The changes follow now.
    case intent
    /// The change is made.
    case applied
    /// All that was asked for together is made.
    case committed
    /// The change is taken back now.
    case undoing
    /// The change is taken back, or was never made.
    case undone
  }

  /// The version of this format.
  var v = 1
  var time: String
  var event: Event
  /// Of the grant; of the request for `committed`.
  var id: String
  /// All that is taken back together, for `undoing`: one line, so it is all of it or nothing.
  var ids: [String]?
  var request: String?
  var accessor: String?
  var uid: UInt32?
  /// Who made it: the fsuid and the process.
  var by: UInt32?
  var pid: Int32?
  var lifetime: Grant.Lifetime?
  var change: GrantChange?
  var rebased: [String: GrantChange]?

  /// Returns the grants that the lines come to.
  ///
  /// Ignores incomplete lines: what such a line was to tell had not begun.
  ///
  /// - Throws: Where a line is of another version, or about a grant that no line before it tells of.
  static func grants(
    in bytes: [UInt8], _ journal: GrantJournal
  ) throws(PermissionError) -> [Grant] {
    let reader = JSONReader()
    var grants: [Grant] = []
    for (number, line) in bytes.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).enumerated() {
      guard let json = try? reader.value(from: Array(line)) else { continue }
      if let version: Int = json["v"]?.integer(), version != 1 {
        throw journal.unreadable(number + 1)
      }
      guard let record = try? codec.decode(json) else { continue }
      guard record.add(to: &grants) else { throw journal.damaged(number + 1) }
    }
    return grants
  }

  /// The record as one line of JSON, with its newline.
  var line: [UInt8] {
    JSONWriter(sortsKeys: true).bytes(Self.record.json(self)) + [UInt8(ascii: "\n")]
  }

  /// Answers whether it is about something that the lines before it have told of.
  private func add(to grants: inout [Grant]) -> Bool {
    if event == .intent {
      guard let accessor, let uid, let change, let request else { return false }
      grants.append(
        Grant(
          id: id, request: request, time: time, accessor: accessor, uid: uid,
          lifetime: lifetime ?? .init(), change: change, stage: .intended))
      return true
    }
    // An intent that was torn is taken back all the same.
    var isKnown = event == .undone
    for index in grants.indices {
      if grants[index].id == id || grants[index].request == id { isKnown = true }
      switch event {
      case .committed where grants[index].request == id && grants[index].stage == .applied:
        grants[index].stage = .active
      case .applied where grants[index].id == id: grants[index].stage = .applied
      case .undoing where grants[index].id == id || ids?.contains(grants[index].id) ?? false:
        grants[index].stage = .undoing
      case .undone:
        if grants[index].id == id { grants[index].stage = .undone }
        if let change = rebased?[grants[index].id] { grants[index].change = change }
      default: break
      }
    }
    return isKnown
  }
}
