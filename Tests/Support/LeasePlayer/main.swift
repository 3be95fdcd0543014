import JSONSyntax
@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting

// lease-player: carries out histories of grants on a system in memory, for Model/leases.py.
//
// stdin : one operation per line, words separated by blanks; folders are /srv/m/NAME, on a file
//         system of its own, and /srv/t/NAME, on a tmpfs
//   new                           a new system
//   mkdir PATH MODE UID GID       a folder; MODE is octal
//   reuse PATH MODE UID GID       a folder with the inode number of the one that was there
//   rmdir PATH · mv PATH PATH · ln TARGET PATH
//   chmod PATH MODE · chown PATH UID GID
//   acl PATH ACL                  TAG:ID:BITS,…, tags as in posix_acl.h
//   unmount · mount               the file system of /srv/m
//   reboot                        empties the tmpfs, and mounts /srv/m with another device number
//   request PATH UID NEED END     END: "-" until it is revoked, "t" for an hour, or pPID
//   revoke all|photos|expired|UID
//   ended PID                     what `run` does at its end
//   start PID · end PID           a process
//   later                         lets an hour pass
//   journal                       the lines of the journal, as the note
//   kill N OPERATION              lets every system call after the Nth one fail
// stdout: per operation, one line:
//   {"status":0,"note":…,"nodes":{PATH:[MODE,UID,GID,[[TAG,ID,BITS],…]]},"leases":{ID:[UID,STAGE]}}
//   status: 0 done, 1 refused, 2 a grant's folder is missing, 3 another error
//
// lease-player hold PATH UID NEED COMMAND...: gives a user a lease that ends with this process, on the running system, and
// takes it back when the command has ended. Exit status: 0 for any end of the command; 126 without access.

/// One system and its journal.
final class Player {
  private var system = FakeSystem()
  private var boots = 0
  private var journal: GrantJournal { GrantJournal.root(system) }

  func play(_ line: String) -> String {
    var words = line.split(separator: " ").map(String.init)
    if words.first == "kill", words.count > 2 {
      system.kill(after: Int(words[1]))
      words.removeFirst(2)
    }
    var (status, note) = (0, "")
    do {
      (status, note) = try carryOut(words)
    } catch {
      (status, note) = (3, "\(error)")
    }
    system.kill(after: nil)
    return answer(status, note)
  }

  private func carryOut(_ words: [String]) throws -> (Int, String) {
    let path = PathBytes(words.count > 1 ? words[1] : "")
    switch (words[0], words.count) {
    case ("new", 1): begin()
    case ("mkdir", 5): system.add(path, Self.folder(words))
    case ("reuse", 5): system.replace(path, Self.folder(words))
    case ("rmdir", 2): system.remove(path)
    case ("mv", 3): try system.rename(path, PathBytes(words[2]))
    case ("ln", 3):
      system.add(PathBytes(words[2]), FakeNode(kind: .symbolicLink, target: path))
    case ("chmod", 3), ("chown", 4), ("acl", 3): try change(path, words)
    case ("unmount", 1): system.unmount("/srv/m")
    case ("mount", 1): system.remount("/srv/m")
    case ("reboot", 1): reboot()
    case ("request", 5): return try request(path, words)
    case ("revoke", 2): return try revoke(words[1])
    case ("ended", 2):
      guard let pid = Int32(words[1]), let mark = system.mark(of: pid) else { return (3, "pid") }
      return outcome(try journal.undo { $0.lifetime.process == mark })
    case ("start", 2): system.add(PathBytes("/proc/\(words[1])/stat"), Self.stat(words[1]))
    case ("end", 2): system.remove(PathBytes("/proc/\(words[1])/stat"))
    case ("journal", 1):
      let bytes = try? system.contents(of: GrantJournal.root(system).path)
      return (0, String(decoding: bytes ?? [], as: UTF8.self))
    case ("later", 1): system.pass(milliseconds: 3_600_000)
    default: return (3, "unknown operation")
    }
    return (0, "")
  }

  // MARK: - The system

  /// A line of proc_pid_stat(5).
  private static func stat(_ pid: String) -> FakeNode {
    .file("\(pid) (x) S" + String(repeating: " 1", count: 18) + " \(pid)00 0\n")
  }

  private static func folder(_ words: [String]) -> FakeNode {
    FakeNode(
      kind: .directory, mode: UInt16(words[2], radix: 8), uid: UInt32(words[3]) ?? 0,
      gid: UInt32(words[4]) ?? 0)
  }

  private func begin() {
    system = FakeSystem()
    system.become(Credentials(uid: 0, gid: 0, groups: []))
    system.add("/var/lib/permcheck", FakeNode(kind: .directory, mode: 0o700))
    system.add("/proc/sys/kernel/random/boot_id", .file("0\n"))
    system.add("/proc/4242/stat", Self.stat("4242"))
    system.add("/srv/t", FakeNode(kind: .directory))
    system.mount("/srv/m", "ext4")
  }

  private func reboot() {
    boots += 1
    system.add("/proc/sys/kernel/random/boot_id", .file("\(boots)\n"))
    for name in (try? system.names(in: "/srv/t")) ?? [] {
      system.remove(PathBytes("/srv/t").appending(name))
    }
    system.unmount("/srv/m")
    system.remount("/srv/m")
  }

  private func change(_ path: PathBytes, _ words: [String]) throws {
    let node = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    defer { system.close(node) }
    switch words[0] {
    case "chmod": try system.chmod(node, UInt16(words[2], radix: 8) ?? 0)
    case "chown": system.chown(path, uid: UInt32(words[2]) ?? 0, gid: UInt32(words[3]) ?? 0)
    default:
      let entries = words[2].split(separator: ",").compactMap { text -> AccessControlList.Entry? in
        let fields = text.split(separator: ":").compactMap { UInt32($0) }
        guard fields.count == 3, let tag = AccessControlList.Tag(rawValue: UInt16(fields[0]))
        else { return nil }
        return .init(tag, id: fields[1], Permissions(rawValue: UInt8(fields[2])))
      }
      try system.setxattr(.access, of: node, AccessControlList(entries).xattr)
    }
  }

  // MARK: - Grants

  private func request(_ path: PathBytes, _ words: [String]) throws -> (Int, String) {
    guard let uid = UInt32(words[2]), let need = Permissions(words[3]) else { return (3, "words") }
    var lifetime = Grant.Lifetime()
    if words[4] == "t" {
      lifetime.expires = system.realtime() + 3_600_000_000
    } else if let pid = Int32(words[4].dropFirst()) {
      lifetime.process = system.mark(of: pid)
    }
    _ = try journal.recover()
    var context = AccessContext(
      system: system,
      subject: try UserDatabase(system).subject(.ids(uid: uid, gid: uid, groups: [])))
    context.need = need
    context.path = path
    let accessor = PhotoLibraryAccessor(context, analytics: .discard)
    accessor.grants = GrantOptions { (_: GrantPlan) throws(PermissionError) -> Bool in true }
    accessor.grants.lifetime = lifetime
    let report = try accessor.requestAccessIfNeeded()
    return (report.status == .authorized ? 0 : 1, "\(report.status)")
  }

  private func revoke(_ what: String) throws -> (Int, String) {
    let (uid, time) = (UInt32(what), system.realtime())
    return outcome(
      try journal.undo(of: uid) { grant in
        if what == "expired" { return grant.lifetime.expires.map { $0 <= time } ?? false }
        return uid == nil || grant.uid == uid
      })
  }

  private func outcome(_ outcome: GrantJournal.Outcome) -> (Int, String) {
    (outcome.missing.isEmpty ? 0 : 2, outcome.notes.joined(separator: "; "))
  }

  // MARK: - The answer

  private func answer(_ status: Int, _ note: String) -> String {
    var nodes: [(String, JSONValue)] = []
    for folder: PathBytes in ["/srv/m", "/srv/t"] {
      for name in (try? system.names(in: folder)) ?? [] {
        let path = folder.appending(name)
        if let node = node(path) { nodes.append((path.description, node)) }
      }
    }
    let leases = ((try? journal.grants()) ?? []).map { grant in
      (grant.id, JSONValue.array([JSONValue(grant.uid), .string(grant.stage.rawValue)]))
    }
    return JSONWriter().text(
      .object(
        JSONObject([
          ("status", JSONValue(UInt32(status))), ("note", .string(note)),
          ("nodes", .object(JSONObject(nodes))), ("leases", .object(JSONObject(leases))),
        ])))
  }

  private func node(_ path: PathBytes) -> JSONValue? {
    guard let file = try? system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(file) }
    guard let status = try? system.statx(file), status.kind == .directory else { return nil }
    let list = (try? system.getxattr(.access, of: file)).flatMap { AccessControlList(xattr: $0) }
    let entries = list?.entries.map { entry in
      JSONValue.array([
        JSONValue(UInt32(entry.tag.rawValue)), JSONValue(entry.id),
        JSONValue(UInt32(entry.permissions.rawValue)),
      ])
    }
    return .array([
      JSONValue(status.mode & 0o7777), JSONValue(status.uid), JSONValue(status.gid),
      entries.map { .array($0) } ?? .null,
    ])
  }
}

/// Gives a lease for as long as a command runs.
func hold(_ words: [String]) throws -> Int32 {
  let system = LinuxSystem()
  guard words.count > 3, let uid = UInt32(words[1]), let need = Permissions(words[2]),
    let mark = system.mark(of: system.getpid())
  else { return 64 }
  let journal = GrantJournal.root(system)
  _ = try journal.sweeping.recover()
  var context = AccessContext(
    system: system, subject: try UserDatabase(system).subject(.ids(uid: uid, gid: uid, groups: [])))
  (context.need, context.path) = (need, PathBytes(words[0]))
  let accessor = PhotoLibraryAccessor(context, analytics: .discard)
  accessor.grants = GrantOptions { (_: GrantPlan) throws(PermissionError) -> Bool in true }
  accessor.grants.lifetime.process = mark
  let isGiven = try accessor.requestAccessIfNeeded().isGranted
  if isGiven {
    let command = words[3...].map { PathBytes($0) }
    let child = try system.spawn(Array(command), output: .standardOutput)
    while try system.waitpid(child, waits: true) == nil {}
  }
  _ = try journal.sweeping.undo(of: nil) { $0.lifetime.process == mark }
  return isGiven ? 0 : 126
}

if CommandLine.arguments.dropFirst().first == "hold" {
  LinuxSystem().exit(try hold(Array(CommandLine.arguments.dropFirst(2))))
}
let player = Player()
while let line = readLine() {
  if line.isEmpty { continue }
  _ = try LinuxSystem().write(
    Descriptor(rawValue: 1), Array("\(player.play(line))\n".utf8))
}
