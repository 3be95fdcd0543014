import ArgumentParser
import PermissionDocuments
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins

struct Revoke: AccessorCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revokes access that permcheck request gave.",
    usage: "permcheck revoke NAME|PATH … | --request ID | --expired | --all [OPTION…]",
    discussion: """
      EXAMPLES
        permcheck revoke camera
        permcheck revoke photos=/srv/photos
        sudo permcheck revoke mic --user tester
        permcheck revoke --expired
        permcheck revoke --all --dry-run

      Undoes only the changes that permcheck made; later changes by others stay.
      A name ends everything that was given by it; NAME=PATH what was given by it
      for that path; a path what was given for it alone; --request what one request
      gave, as its undo line says.
      """)

  @Argument(help: .accessors, completion: .accessors)
  var names: [PathBytes] = []

  @Option(
    name: .customLong("request"),
    help: ArgumentHelp(
      "Revoke what this request gave; list --grants --json shows the ids.", valueName: "id"))
  var requests: [TextArgument] = []

  @Flag(help: "Revoke every grant.")
  var all = false

  @Flag(help: "Revoke the grants whose time is over, or whose process has ended.")
  var expired = false

  @Flag(
    help: "Also forget grants whose file is gone; if it comes back, its access is still there.")
  var forget = false

  @Option(
    help: ArgumentHelp("Revoke only the grants to this user.", valueName: "name|uid"),
    completion: .users)
  var user: TextArgument?

  @Option(help: "How to become root if needed; auto is sudo, then pkexec.")
  var via: RootCommand.Via = .auto

  @Flag(name: [.customShort("n"), .long], help: "Show what would be revoked; change nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Print nothing.")
  var quiet = false

  @OptionGroup var output: FormatOptions

  /// The most notes that are printed: there may be one for each file of a folder.
  private static let mostNotes = 20

  func validate() throws {
    let chosen = [!names.isEmpty, !requests.isEmpty, all, expired].count { $0 }
    if chosen == 0 {
      throw ValidationError("name the accessors to revoke, or use --request, --all or --expired")
    }
    if chosen > 1 {
      throw ValidationError("names, --request, --all and --expired cannot be combined")
    }
    // What has ended is not remembered, so only what can be no identifier is a mistake.
    if let other = requests.map(\.text).first(where: { !Self.isRequest($0) }) {
      throw ValidationError(
        "\(Sanitizer.clean(other)) is no request; \(Tool.name) list --grants --json shows them, as in 2026-11-24T14:26:45.408913Z-30520"
      )
    }
  }

  /// Returns whether a text has the form of a request's identifier: a time and a process.
  private static func isRequest(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "Z"), omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0].count == 26 && parts[1].first == UInt8(ascii: "-")
      && Int32(Substring(parts[1].dropFirst())) != nil
  }

  func run(_ accessors: Accessors) throws {
    let system = accessors.system
    let console = Console(system, color: output.color, isQuiet: quiet)
    var journal = try GrantJournal.standard(system).sweeping
    let progress = RevokeProgress(system, console, isQuiet: quiet)
    journal.progress = { progress.show($0) }
    let isRoot = try system.credentials().isRoot
    var result = RevokeResult(
      users: UserDatabase(system), journal: journal.path, time: system.realtime(),
      isDryRun: dryRun)
    let (uid, isSelected) = try selection(accessors, journal, system)
    let byRoot =
      isRoot
      ? [] : GrantMirror(system).grants(of: try system.credentials().user.real).filter(isSelected)
    var isDamaged = false
    if dryRun {
      let journaled = try journal.grants(of: uid)
      result.open = journaled.filter { $0.stage == .missing }
      result.revoked = journaled.filter { isSelected($0) && $0.stage != .missing }
      for share in shares(byRoot, system) {
        if share.isServed {
          result.revoked += share.grants
        } else {
          result.open += share.grants
        }
      }
    } else {
      defer { progress.clear() }
      var outcome = try journal.undo(of: uid, isSelected)
      isDamaged = outcome.damage != nil
      progress.clear()
      if forget {
        let forgotten = try journal.forget(isSelected)
        result.forgotten = forgotten.grants
        outcome.missing = forgotten.missing
      }
      for note in outcome.notes.prefix(Self.mostNotes) { console.warn(note) }
      if outcome.notes.count > Self.mostNotes {
        console.warn("\(outcome.notes.count - Self.mostNotes) more warnings of this kind")
      }
      result.revoked = outcome.recovered + outcome.grants
      result.open = outcome.missing
      try revoke(byRoot, console, system, &result)
    }
    if !names.isEmpty {
      let left = try journal.grants(of: uid).filter { !isSelected($0) }
      warnOfOthers(left, console, result.users, system)
    }
    // A missing grant is neither revoked nor certainly there.
    result.status = result.open.isEmpty && !isDamaged ? .authorized : .notDetermined
    console.print(try output.format(console).text(result))
    try console.finish(result.status)
  }

  /// Returns the user of `--user`, and the selection of grants by the arguments.
  private func selection(
    _ accessors: Accessors, _ journal: GrantJournal, _ system: LinuxSystem
  ) throws -> (UInt32?, (Grant) -> Bool) {
    let names = try self.names.map { try named($0, accessors, journal, system) }
    let requests = requests.map(\.text)
    var uid: UInt32?
    if let user {
      do throws(PermissionError) {
        uid = try UserDatabase(system).subject(.user(user.text)).credentials.user.fileSystem
      } catch {
        // A user who is not in the data base may still have grants.
        guard let number = UInt32(user.text) else { throw error }
        uid = number
      }
    }
    let (only, wantsExpired, time) = (uid, expired, system.realtime())
    return (
      uid,
      { grant in
        if let only, grant.uid != only { return false }
        if wantsExpired { return grant.lifetime.hasEnded(at: time, system) }
        if !requests.isEmpty { return requests.contains(grant.request) }
        return names.isEmpty || names.contains { grant.isNamed($0.accessor, $0.path) }
      }
    )
  }

  /// Says what is still given on the files of the names, because it was asked for by another name.
  private func warnOfOthers(
    _ grants: [Grant], _ console: Console, _ users: UserDatabase, _ system: LinuxSystem
  ) {
    // An argument of an accessor names its path behind the first `=`.
    let paths = names.compactMap { name -> PathBytes? in
      guard name.bytes.contains(where: { [0x2f, 0x3d].contains($0) }) else { return nil }
      let parts = name.bytes.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let path = PathBytes(Array(parts[parts.count - 1]))
      return system.absolute(path) ?? path
    }
    let inodes = Set(
      paths.compactMap { try? system.examiner(of: $0)?.status(of: $0) }.map(InodeIdentity.init))
    let others = grants.filter { grant in
      grant.changedInode.map(inodes.contains) == true
        || grant.changedPath.map { path in paths.contains { $0.isSpelledLike(path) } } == true
    }
    for grant in others.prefix(Self.mostNotes) {
      let asked = grant.accessor == "path" ? grant.path?.description ?? grant.place : grant.asked
      console.warn(
        "the access of \(users.userName(grant.uid)) to \(Sanitizer.clean(grant.place)) was asked for as \(Sanitizer.clean(asked)), so it stays; to end it: \(Tool.name) revoke --request \(grant.request)"
      )
    }
  }

  /// Returns the accessor and the path of an argument.
  ///
  /// The accessor may no longer be declared, while its grants still exist.
  private func named(
    _ argument: PathBytes, _ accessors: Accessors, _ journal: GrantJournal, _ system: LinuxSystem
  ) throws -> (accessor: String, path: PathBytes?) {
    do {
      let argument = try AccessorArgument(argument, accessors).absolute(system)
      return (argument.entry.name, argument.path)
    } catch {
      let parts = argument.bytes.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: parts[0], as: UTF8.self)
      let own = (try? journal.grants()) ?? []
      let byRoot = GrantMirror(system).grants(of: try system.credentials().user.real)
      guard (own + byRoot).contains(where: { $0.accessor == name }) else { throw error }
      return (name, parts.count > 1 ? PathBytes(Array(parts[1])) : nil)
    }
  }

  /// Grants that root made for one accessor.
  private struct Share {
    let accessor: String
    /// The request that made the grants; nil for all grants of the accessor.
    let request: String?
    let grants: [Grant]
    /// Whether the helper can revoke the grants: it handles only devices.
    let isServed: Bool
  }

  /// Returns the grants that root made, in groups that are revoked together.
  private func shares(_ grants: [Grant], _ system: any System) -> [Share] {
    guard let uid = grants.first?.uid else { return [] }
    let all = GrantMirror(system).grants(of: uid)
    let isThere = HelperElevation(via, system) != nil
    func share(_ name: String, _ request: String?, _ own: [Grant], isWhole: Bool) -> Share {
      let areDevices = own.allSatisfy { grant in
        if case .inode(let change) = grant.change { change.isOfDevice } else { false }
      }
      return Share(
        accessor: name, request: request, grants: own, isServed: isThere && areDevices && isWhole)
    }
    return Set(grants.map(\.accessor)).sorted().flatMap { name in
      let own = grants.filter { $0.accessor == name }
      if own.count == all.count(where: { $0.accessor == name }) {
        return [share(name, nil, own, isWhole: true)]
      }
      return Set(own.map(\.request)).sorted().map { request in
        let part = own.filter { $0.request == request }
        return share(
          name, request, part, isWhole: part.count == all.count { $0.request == request })
      }
    }
  }

  /// Revokes grants that root made, through the helper; prints the administrator's command for other grants.
  private func revoke(
    _ grants: [Grant], _ console: Console, _ system: any System, _ result: inout RevokeResult
  ) throws {
    for share in shares(grants, system) {
      let (name, own) = (share.accessor, share.grants)
      guard share.isServed, let helper = HelperElevation(via, system) else {
        var words: [PathBytes] = [Tool.word(system), "revoke"]
        if let request = share.request, !expired {
          words += ["--request", PathBytes(request)]
        } else {
          let user = try UserDatabase(system).subject(.current)
          words += [
            expired ? "--expired" : PathBytes(name), "--user",
            PathBytes(user.name ?? "\(user.credentials.user.real)"),
          ]
        }
        Console.report(
          "only an administrator may revoke this access to \(name):\n  \(system.rootWay.line(words))",
          system)
        result.open += own
        continue
      }
      do throws(PermissionError) {
        for note in try helper.revoke(name, request: share.request).notes { console.warn(note) }
      } catch {
        console.warn("\(name): \(error.description)")
      }
      let left = Set(GrantMirror(system).grants(of: own[0].uid).map(\.id))
      result.open += own.filter { left.contains($0.id) }
      result.revoked += own.filter { !left.contains($0.id) }
    }
  }
}
