internal import FoundationEssentials

/// Writes changes down before they are made, makes them, and takes them back, now or later.
///
/// Every change is a line before it is made and a line after, each on the disk before the next step.
/// Whatever kills the process, the next one finds what was half done and takes it back.
public struct GrantJournal: Sendable {
  /// The file of JSON lines.
  public let path: PathBytes
  private let system: any System

  /// What came of something: what was done, and what was left alone, for people.
  public struct Outcome: Hashable, Sendable {
    /// The grants that were made or taken back.
    public var grants: [Grant] = []
    /// Grants that another process left half done, or that were over, and were taken back.
    public var recovered: [Grant] = []
    /// What else is to be known.
    public var notes: [String] = []
  }

  /// Takes a file; nothing is opened yet.
  public init(_ path: PathBytes, system: any System = LinuxSystem()) {
    self.path = path
    self.system = system
  }

  /// The journal of this process: root's own, or the user's.
  ///
  /// - Throws: Where there is no home to keep it in.
  public static func standard(_ system: any System) throws(PermissionError) -> GrantJournal {
    let subject = try UserDatabase(system).currentSubject()
    if subject.credentials.user.effective == 0 {
      return GrantJournal("/var/lib/permcheck/grants.jsonl", system: system)
    }
    if let state = system.getenv("XDG_STATE_HOME"), state.isAbsolute {
      return GrantJournal(state.appending("permcheck/grants.jsonl"), system: system)
    }
    guard let home = subject.home, home.isAbsolute, home != "/" else {
      throw PermissionError(
        .changeFailed, "there is no home to keep a journal of grants in",
        advice: "set XDG_STATE_HOME")
    }
    return GrantJournal(home.appending(".local/state/permcheck/grants.jsonl"), system: system)
  }

  // MARK: - What is done

  /// The grants that are not taken back, oldest first; none where there is no journal.
  public func grants() throws(PermissionError) -> [Grant] {
    guard let file = try open(forWriting: false) else { return [] }
    defer { system.close(file) }
    return try GrantRecord.grants(in: try read(file), self).filter { $0.stage != .undone }
  }

  /// Makes a plan's changes, all or none.
  ///
  /// - Parameters:
  ///   - lifetime: How long they are wanted.
  ///   - makePlan: Works the plan out, when nobody else can change anything by this journal; nil
  ///     when nothing is to be done.
  /// - Returns: The grants made, and what was taken back on the way.
  /// - Throws: Where one could not be made; then none is.
  public func carryOut(
    lifetime: Grant.Lifetime = .init(),
    _ makePlan: () throws(PermissionError) -> GrantPlan?
  ) throws(PermissionError) -> Outcome {
    guard let file = try open(forWriting: true) else { return Outcome() }
    defer { system.close(file) }
    var writer = try Writer(file, self, system)
    var outcome = try writer.recover()
    guard let plan = try makePlan() else { return outcome }
    try writer.make(plan, lifetime, &outcome)
    return outcome
  }

  /// Takes back what another process left half done, what ended with a process that is gone, and what
  /// is over.
  public func recover() throws(PermissionError) -> Outcome { try undo { _ in false } }

  /// Takes back the grants that `isWanted` names, the newest first.
  ///
  /// - Throws: Where one could not be taken back; the others are.
  public func undo(_ isWanted: (Grant) -> Bool) throws(PermissionError) -> Outcome {
    guard let file = try open(forWriting: true, creates: false) else { return Outcome() }
    defer { system.close(file) }
    var writer = try Writer(file, self, system)
    var outcome = try writer.recover()
    try writer.undo(writer.grants.filter { $0.stage != .undone && isWanted($0) }, &outcome)
    return outcome
  }

  // MARK: - The file

  private func failure(
    _ message: String, _ call: String? = nil, _ errno: Errno? = nil, advice: String? = nil
  ) -> PermissionError {
    PermissionError(
      .changeFailed, message, path: path, call: call, errno: errno, advice: advice)
  }

  /// Opens the journal and, for writing, waits until no other process has it.
  ///
  /// - Returns: Nil when there is none and none is to be created.
  private func open(
    forWriting: Bool, creates: Bool = true
  ) throws(PermissionError) -> Descriptor? {
    let file: Descriptor
    do throws(Errno) {
      file = try openFile(forWriting: forWriting, creates: forWriting && creates)
    } catch .ENOENT where !(forWriting && creates) {
      return nil
    } catch {
      throw failure("the journal of grants \(path) cannot be opened", "open", error)
    }
    do throws(PermissionError) {
      try examine(file, locks: forWriting)
      return file
    } catch {
      system.close(file)
      throw error
    }
  }

  private func openFile(forWriting: Bool, creates: Bool) throws(Errno) -> Descriptor {
    var flags: OpenFlags =
      forWriting ? [.readWrite, .append, .noFollow] : [.readOnly, .noFollow]
    flags.formUnion([.nonBlocking, .noControllingTerminal])
    do throws(Errno) {
      return try system.openat(.currentDirectory, path, flags, mode: 0)
    } catch .ENOENT where creates {
      try system.makeFolder(path.parent)
      let file = try system.openat(
        .currentDirectory, path, flags.union(.create), mode: 0o600)
      let folder = try system.openat(
        .currentDirectory, path.parent, [.readOnly, .directory], mode: 0)
      defer { system.close(folder) }
      try system.fsync(folder)
      return file
    }
  }

  /// Waits for the file, and makes sure that nobody else can write to it or put another in its place.
  private func examine(_ file: Descriptor, locks: Bool) throws(PermissionError) {
    var call = "flock"
    let problem: String?
    do throws(Errno) {
      if locks { try system.flock(file) }
      call = "statx"
      let status = try system.statx(file)
      let folder = try system.status(of: path.parent)
      let own = try system.credentials().user.fileSystem
      if status.kind != .regular {
        problem = "is not a regular file"
      } else if status.uid != own {
        problem = "belongs to another user"
      } else if status.mode & 0o022 != 0 {
        problem = "can be written by others"
      } else if status.links != 1 {
        problem = "was removed, or has another name elsewhere"
      } else if folder.uid != own && folder.uid != 0 || folder.mode & 0o022 != 0 {
        problem = "is in a folder that others can write to"
      } else {
        problem = nil
      }
    } catch {
      throw failure("the journal of grants \(path) cannot be used", call, error)
    }
    if let problem {
      throw failure(
        "the journal of grants \(path) \(problem), so it is not trusted; nothing was changed",
        advice: "look at it, and make it and its folder yours alone")
    }
  }

  fileprivate func read(_ file: Descriptor) throws(PermissionError) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(Errno) {
      while true {
        let part = try system.read(file, 1 << 16)
        if part.isEmpty { return bytes }
        bytes += part
        if bytes.count > 1 << 28 { throw .EFBIG }
      }
    } catch {
      throw failure("the journal of grants \(path) cannot be read", "read", error)
    }
  }

  fileprivate func damaged(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) is about a grant that is not in it: something"
        + " is missing, so it is not trusted; nothing was changed",
      advice: "look at it, and at what it names, and put it away")
  }

  fileprivate func unreadable(_ line: Int) -> PermissionError {
    failure(
      "line \(line) of the journal of grants \(path) was written by a newer permcheck",
      advice: "use that one")
  }

  fileprivate func unwritable(_ call: String, _ errno: Errno) -> PermissionError {
    failure("the journal of grants \(path) cannot be written", call, errno)
  }
}

/// A line of the journal.
private struct GrantRecord: Codable {
  enum Event: String, Codable {
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

  private struct Version: Decodable { var v: Int }

  /// What the lines come to; one that is torn counts for nothing, for what it was to tell was not
  /// begun before it was whole.
  static func grants(
    in bytes: [UInt8], _ journal: GrantJournal
  ) throws(PermissionError) -> [Grant] {
    let decoder = JSONDecoder()
    var grants: [Grant] = []
    for (number, line) in bytes.split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).enumerated() {
      let data = Data(line)
      guard let record = try? decoder.decode(GrantRecord.self, from: data), record.v == 1 else {
        if let version = try? decoder.decode(Version.self, from: data), version.v != 1 {
          throw journal.unreadable(number + 1)
        }
        continue
      }
      guard record.add(to: &grants) else { throw journal.damaged(number + 1) }
    }
    return grants
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

/// The journal while this process alone has it.
private struct Writer {
  private let file: Descriptor
  private let journal: GrantJournal
  private let system: any System
  private(set) var grants: [Grant]
  /// The last line is torn, so the next one begins with a newline.
  private var isTorn: Bool

  init(_ file: Descriptor, _ journal: GrantJournal, _ system: any System) throws(PermissionError) {
    self.file = file
    self.journal = journal
    self.system = system
    let bytes = try journal.read(file)
    grants = try GrantRecord.grants(in: bytes, journal)
    isTorn = bytes.last.map { $0 != UInt8(ascii: "\n") } ?? false
  }

  /// Writes lines, and waits until they are on the disk.
  private mutating func append(_ records: [GrantRecord]) throws(PermissionError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var bytes: [UInt8] = isTorn ? [UInt8(ascii: "\n")] : []
    for record in records {
      guard let line = try? encoder.encode(record) else {
        throw journal.unwritable("encode", .EINVAL)
      }
      bytes += Array(line) + [UInt8(ascii: "\n")]
    }
    var call = "write"
    do throws(Errno) {
      isTorn = true
      try system.writeAll(file, bytes)
      isTorn = false
      call = "fsync"
      try system.fsync(file)
    } catch {
      throw journal.unwritable(call, error)
    }
  }

  private var now: String { AccessEvent.timestamp(system.realtime()) }

  private func record(_ event: GrantRecord.Event, _ id: String) -> GrantRecord {
    GrantRecord(time: now, event: event, id: id)
  }

  private mutating func set(_ stage: Grant.Stage, _ id: String) {
    for index in grants.indices where grants[index].id == id { grants[index].stage = stage }
  }

  // MARK: - Making

  mutating func make(
    _ plan: GrantPlan, _ lifetime: Grant.Lifetime, _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    let time = now
    let request = "\(time)-\(system.getpid())"
    let made = plan.steps.enumerated().map { number, step in
      Grant(
        id: "\(request)-\(number + 1)", request: request, time: time, accessor: plan.accessor,
        uid: plan.subject.credentials.user.fileSystem, lifetime: lifetime, change: step.change,
        stage: .intended)
    }
    let by = (try? system.credentials())?.user.fileSystem
    grants += made
    do throws(PermissionError) {
      try append(
        made.map { grant in
          GrantRecord(
            time: time, event: .intent, id: grant.id, request: request, accessor: grant.accessor,
            uid: grant.uid, by: by, pid: system.getpid(), lifetime: lifetime, change: grant.change)
        })
      for grant in made {
        try grant.change.command.execute(system)
        set(.applied, grant.id)
      }
      try append(made.map { record(.applied, $0.id) } + [record(.committed, request)])
    } catch {
      throw takeBack(made, after: error)
    }
    for grant in made {
      set(.active, grant.id)
      var grant = grant
      grant.stage = .active
      outcome.grants.append(grant)
    }
  }

  /// All or none: takes back what was made, whether or not that can be written down.
  private mutating func takeBack(
    _ made: [Grant], after error: PermissionError
  ) -> PermissionError {
    var error = error
    for grant in made.reversed() {
      do throws(PermissionError) {
        if try grant.change.command.progress(system) == .after {
          _ = try grant.change.command.undo(system)
        }
        set(.undone, grant.id)
      } catch let second {
        // The journal has the intent: the next run tries again.
        error.message += "; and \(second.message)"
      }
    }
    let undone = made.filter { grant in grants.contains { $0.id == grant.id && $0.stage == .undone }
    }
    try? append(undone.map { record(.undone, $0.id) })
    return error
  }

  // MARK: - Taking back

  mutating func undo(
    _ wanted: [Grant], _ outcome: inout GrantJournal.Outcome
  ) throws(PermissionError) {
    guard let newest = wanted.last else { return }
    // Whoever finds this half done takes all of it back.
    var together = record(.undoing, newest.id)
    together.ids = wanted.map(\.id)
    try append([together])
    for grant in wanted { set(.undoing, grant.id) }
    var failure: PermissionError?
    for grant in wanted.reversed() {
      do throws(PermissionError) {
        if let note = try undo(grant) { outcome.notes.append(note) }
        outcome.grants.append(grant)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Takes back one, though others may have come to stand upon it.
  private mutating func undo(_ grant: Grant) throws(PermissionError) -> String? {
    // What was taken back before it may have moved it.
    let grant = grants.first { $0.id == grant.id } ?? grant
    let (shift, rebased) = shift(without: grant)
    if grant.stage != .undoing {
      try append([record(.undoing, grant.id)])
      set(.undoing, grant.id)
    }
    var note: String?
    var isShifted = false
    if let shift, try shift.progress(system) != .neither {
      if try shift.progress(system) == .before { try shift.execute(system) }
      isShifted = true
    } else {
      note = try grant.change.command.undo(system)
    }
    var undone = record(.undone, grant.id)
    if isShifted { undone.rebased = rebased }
    try append([undone])
    set(.undone, grant.id)
    if isShifted {
      for index in grants.indices {
        if let change = rebased[grants[index].id] { grants[index].change = change }
      }
    }
    return note
  }

  /// The change that leaves the later grants of the same inode as if `grant` had not been, and what
  /// they then are; nil when there are none.
  private func shift(without grant: Grant) -> (InodeGrant?, [String: GrantChange]) {
    guard case .inode(let own) = grant.change,
      let place = grants.firstIndex(where: { $0.id == grant.id })
    else { return (nil, [:]) }
    var rebased: [String: GrantChange] = [:]
    var state = own.before
    var last = own.after
    for other in grants[(place + 1)...] where other.stage != .undone {
      guard case .inode(let later) = other.change, later.path == own.path,
        later.identity == own.identity,
        (later.attribute == .defaultACL) == (own.attribute == .defaultACL)
      else { continue }
      let moved = later.rebased(onto: state)
      rebased[other.id] = .inode(moved)
      state = moved.after
      last = later.after
    }
    guard !rebased.isEmpty else { return (nil, [:]) }
    var shift = own
    shift.attribute = own.attribute == .defaultACL ? .defaultACL : .accessACL
    shift.before = last
    shift.after = state
    return (shift, rebased)
  }

  // MARK: - What was half done

  /// Takes back what another process left half done, and what is no longer wanted.
  mutating func recover() throws(PermissionError) -> GrantJournal.Outcome {
    var outcome = GrantJournal.Outcome()
    let time = system.realtime()
    for grant in grants.reversed() {
      switch grant.stage {
      case .undone: continue
      case .intended, .applied, .undoing: recover(grant, &outcome)
      case .active:
        // It was taken back, and that could not be written down; or somebody else undid it.
        if (try? grant.change.command.progress(system)) == .before {
          forget(grant, &outcome)
          continue
        }
        let isOver = grant.lifetime.expires.map { $0 <= time } ?? false
        let isAlone = grant.lifetime.process.map { !isAlive($0) } ?? false
        if isOver || isAlone { recover(grant, &outcome) }
      }
    }
    return outcome
  }

  /// Where /proc shows not even this process, every other counts as alive.
  private func isAlive(_ process: Grant.ProcessMark) -> Bool {
    system.mark(of: system.getpid()) == nil || system.mark(of: process.pid) == process
  }

  /// Writes down that there is nothing to take back.
  private mutating func forget(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      try append([record(.undone, grant.id)])
      set(.undone, grant.id)
    } catch {
      outcome.notes.append(error.description)
    }
  }

  private mutating func recover(_ grant: Grant, _ outcome: inout GrantJournal.Outcome) {
    do throws(PermissionError) {
      if grant.stage == .intended, try grant.change.command.progress(system) == .before {
        return forget(grant, &outcome)
      }
      if let note = try undo(grant) { outcome.notes.append(note) }
      outcome.recovered.append(grant)
    } catch {
      outcome.notes.append(error.description)
    }
  }
}
