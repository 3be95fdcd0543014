import JSONSyntax
import PermissionKit
import PermissionKitTesting

// lease-player: carries out histories of grants on a system in memory.
//
// stdin : one operation per line, words separated by blanks:
//   new                          a new system: root, /srv/a and /srv/b (folders), /srv/c (a file)
//   set NAME MODE UID GID ACL    somebody else sets owner, mode (octal) and ACL ("-": none;
//                                otherwise TAG:ID:BITS,…, tags as in posix_acl.h)
//   create NAME KIND MODE UID GID    a new inode; KIND is d or f
//   delete NAME · move NAME NAME
//   request NAME UID NEED END    END: "-", tMICROSECONDS from now, or pPID
//   revoke UID|all · expired · forget
//   time MILLISECONDS            lets time pass
//   start PID · end PID          a process
// stdout: per operation, one line: {"answer":…,"notes":[…],"files":{NAME:[MODE,UID,GID,ACL]},
//   "leases":[[UID,PLACE,STAGE]]}

/// One system and its journal.
final class Player {
  private var system = FakeSystem()
  private var journal: GrantJournal {
    GrantJournal("/var/lib/permcheck/grants.jsonl", system: system)
  }

  func play(_ words: [String]) -> String {
    var answer = "done"
    var notes: [String] = []
    do {
      switch (words[0], words.count) {
      case ("new", 1): begin()
      case ("set", 6): try set(words)
      case ("create", 6):
        system.add(
          PathBytes("/srv/\(words[1])"), words[2] == "d", words[3], UInt32(words[4]) ?? 0,
          UInt32(words[5]) ?? 0)
      case ("delete", 2): system.remove(PathBytes("/srv/\(words[1])"))
      case ("move", 3):
        try system.rename(PathBytes("/srv/\(words[1])"), PathBytes("/srv/\(words[2])"))
      case ("request", 5): answer = try request(words)
      case ("revoke", 2):
        let uid = UInt32(words[1])
        (answer, notes) = outcome(try journal.undo { uid == nil || $0.uid == uid })
      case ("expired", 1): (answer, notes) = outcome(try journal.recover())
      case ("forget", 1): (answer, notes) = outcome(try journal.forget { _ in true })
      case ("time", 2): system.pass(milliseconds: Int64(words[1]) ?? 0)
      case ("start", 2): system.add(PathBytes("/proc/\(words[1])/stat"), .file(Self.stat(words[1])))
      case ("end", 2): system.remove(PathBytes("/proc/\(words[1])/stat"))
      default: answer = "unknown operation"
      }
    } catch {
      answer = "refused: \(error)"
    }
    return line(answer, notes)
  }

  /// A line of proc_pid_stat(5).
  private static func stat(_ pid: String) -> String {
    "\(pid) (x) S" + String(repeating: " 1", count: 18) + " \(pid)00 0\n"
  }

  private func begin() {
    system = FakeSystem()
    system.become(Credentials(uid: 0, gid: 0, groups: []))
    system.add("/var/lib/permcheck", FakeNode(kind: .directory, mode: 0o700))
    system.add(
      "/proc/self/mountinfo", .file("1 0 0:1 / / rw - tmpfs tmpfs rw\n"))
    system.add("/proc/sys/kernel/random/boot_id", .file("boot\n"))
    system.add("/proc/4242/stat", .file(Self.stat("4242")))
    system.add("/srv/a", true, "700", 0, 0)
    system.add("/srv/b", true, "750", 61_001, 61_009)
    system.add("/srv/c", false, "640", 61_002, 61_009)
  }

  private func set(_ words: [String]) throws {
    let path = PathBytes("/srv/\(words[1])")
    let status = try system.status(of: path)
    var entries: [AccessControlList.Entry] = []
    for text in words[5] == "-" ? [] : words[5].split(separator: ",") {
      let fields = text.split(separator: ":").compactMap { UInt32($0) }
      guard fields.count == 3, let tag = AccessControlList.Tag(rawValue: UInt16(fields[0])) else {
        throw Errno.EINVAL
      }
      entries.append(.init(tag, id: fields[1], Permissions(rawValue: UInt8(fields[2]))))
    }
    system.add(
      path,
      FakeNode(
        kind: status.kind ?? .regular, mode: UInt16(words[2], radix: 8), uid: UInt32(words[3]) ?? 0,
        gid: UInt32(words[4]) ?? 0, acl: entries.isEmpty ? nil : AccessControlList(entries)))
  }

  private func request(_ words: [String]) throws -> String {
    guard let uid = UInt32(words[2]), let need = Permissions(words[3]) else { return "bad words" }
    var lifetime = Grant.Lifetime()
    if words[4].hasPrefix("t") {
      lifetime.expires = system.realtime() + (Int64(words[4].dropFirst()) ?? 0)
    } else if let pid = Int32(words[4].dropFirst()) {
      guard let mark = system.mark(of: pid) else { return "no process" }
      lifetime.process = mark
    }
    var context = AccessContext(
      system: system, subject: UserDatabase(system).subject(uid: uid, gid: uid, groups: []))
    context.need = need
    context.path = PathBytes("/srv/\(words[1])")
    let accessor = OneFile(PathBytes("/srv/\(words[1])"), context)
    accessor.grants = GrantOptions { (_: GrantPlan) throws(PermissionError) -> Bool in true }
    accessor.grants.lifetime = lifetime
    let report = try accessor.requestAccessIfNeeded()
    return report.status == .authorized ? "authorized" : "refused: \(report.status)"
  }

  private func outcome(_ outcome: GrantJournal.Outcome) -> (String, [String]) {
    (outcome.missing.isEmpty ? "done" : "missing", outcome.notes)
  }

  private func line(_ answer: String, _ notes: [String]) -> String {
    var files: [(String, JSONValue)] = []
    for name in (try? system.names(in: "/srv")) ?? [] {
      guard
        let file = try? system.openat(
          .currentDirectory, PathBytes("/srv").appending(name), [.path, .noFollow], mode: 0)
      else { continue }
      defer { system.close(file) }
      guard let status = try? system.statx(file) else { continue }
      let acl = (try? system.getxattr(.access, of: file)).flatMap { bytes in
        JSONValue.array(
          stride(from: 4, to: bytes.count, by: 8).map { offset in
            .array([
              JSONValue(UInt32(bytes[offset])), JSONValue(UInt32(bytes[offset + 2])),
              JSONValue(
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + 4 + $1]) << (8 * $1) }),
            ])
          })
      }
      files.append(
        (
          name.description,
          .array([
            JSONValue(status.mode & 0o7777), JSONValue(status.uid), JSONValue(status.gid),
            acl ?? .null,
          ])
        ))
    }
    let leases = ((try? journal.grants()) ?? []).map { grant in
      JSONValue.array([
        JSONValue(grant.uid), .string(grant.place), .string(grant.stage.rawValue),
      ])
    }
    let value: JSONValue = .object(
      JSONObject([
        ("answer", .string(answer)), ("notes", .array(notes.map { .string($0) })),
        ("files", .object(JSONObject(files))), ("leases", .array(leases)),
      ]))
    return JSONWriter().text(value)
  }
}

/// An accessor of one file.
final class OneFile: ResourceAccessor {
  private let resource: Resource

  init(_ path: PathBytes, _ context: AccessContext) {
    resource = Resource(
      path: path, label: "file", device: "file", need: context.need ?? .read,
      kind: nil)
    super.init(name: "file", context: context, analytics: .discard)
  }

  override func resources(for subject: Subject) -> ResourceSet {
    ResourceSet(resources: [resource])
  }
}

extension FakeSystem {
  fileprivate func add(
    _ path: PathBytes, _ isFolder: Bool, _ mode: String, _ uid: UInt32, _ gid: UInt32
  ) {
    add(
      path,
      FakeNode(
        kind: isFolder ? .directory : .regular, mode: UInt16(mode, radix: 8), uid: uid, gid: gid))
  }
}

let player = Player()
while let line = readLine() {
  let words = line.split(separator: " ").map(String.init)
  if words.isEmpty { continue }
  print(player.play(words))
}
