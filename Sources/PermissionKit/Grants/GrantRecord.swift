internal import JSONSyntax

/// One line of the journal.
struct GrantRecord: Sendable {
  enum Event: String, Sendable {
    /// The request begins to make this change.
    case intent
    /// The change is made.
    case applied
    /// Every change of the request is made.
    case committed
    /// The undo of the change begins.
    case undoing
    /// The change is undone, or was never made.
    case undone
  }

  /// The version of this format.
  var v = 1
  var time: String
  var event: Event
  /// The identifier of the grant; that of the request for `committed`.
  var id: String
  /// All grants that are undone together, for `undoing`; one line makes the list atomic.
  var ids: [String]?
  var request: String?
  var accessor: String?
  var uid: UInt32?
  /// The fsuid of the process that wrote the line.
  var by: UInt32?
  /// The id of the process that wrote the line.
  var pid: Int32?
  var lifetime: Grant.Lifetime?
  var change: GrantChange?
  /// The later grants of the same inode as they are after an undo, by identifier.
  var rebased: [String: GrantChange]?

  /// Returns the grants that the lines of a journal describe.
  ///
  /// Ignores incomplete lines, because the change that such a line announces had not begun.
  ///
  /// - Parameters:
  ///   - bytes: The contents of the journal.
  ///   - journal: The journal, for error messages.
  /// - Returns: The grants in the order of their first lines, with their present stage.
  /// - Throws: If a line has another version, or names a grant that no earlier line contains.
  static func grants(
    in bytes: [UInt8], _ journal: GrantJournal
  ) throws(PermissionError) -> [Grant] {
    let reader = JSONReader()
    var grants: [Grant] = []
    for (number, line) in bytes.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).enumerated() {
      guard let json = try? reader.value(from: Array(line)) else { continue }
      if let version = json["v"], version.integer() != 1 {
        throw journal.unreadable(number + 1)
      }
      guard let record = try? codec.decode(json) else { continue }
      guard record.add(to: &grants) else { throw journal.damaged(number + 1) }
    }
    return grants
  }

  /// The record as one line of JSON, with a newline.
  var line: [UInt8] {
    JSONWriter(sortsKeys: true).bytes(Self.record.json(self)) + [UInt8(ascii: "\n")]
  }

  /// Adds the record to the grants; returns false if it names a grant that is not among them.
  private func add(to grants: inout [Grant]) -> Bool {
    if event == .intent {
      guard let accessor, let uid, let change, let request else { return false }
      grants.append(
        Grant(
          id: id, request: request, time: time, accessor: accessor, uid: uid,
          lifetime: lifetime ?? .init(), change: change, stage: .intended))
      return true
    }
    // The intent line may be incomplete; its grant is undone nevertheless.
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
