import Testing

@testable import PermissionKit

/// What a change opens beyond what was asked.
struct OpeningTests {
  /// A place that is changed, and the end of the sentence; nil for nothing worth a word.
  private typealias Row = (
    path: PathBytes, kind: FileKind, mode: UInt16, gives: Permissions, words: String?
  )

  private static let rows: [Row] = [
    (
      "/dev/sda", .blockDevice, 0o660, [.read],
      "read every file on the disk /dev/sda, whoever owns it"
    ),
    (
      "/dev/sda", .blockDevice, 0o660, [.read, .write],
      "change every file on the disk /dev/sda, and so become root if the system is on it"
    ),
    ("/dev/mem", .characterDevice, 0o640, [.read], "read the memory of every program"),
    ("/dev/null", .characterDevice, 0o640, [.read], nil),
    (
      "/run/docker.sock", .socket, 0o660, [.write],
      "have anything done by the daemon at /run/docker.sock, and so become root"
    ),
    ("/run/other.sock", .socket, 0o660, [.write], nil),
    ("/etc", .directory, 0o755, [.write], "replace everything in /etc, and so become root"),
    ("/", .directory, 0o755, [.write], "replace everything in /, and so become root"),
    (
      "/usr/share/doc", .directory, 0o755, [.write],
      "replace everything in /usr/share/doc, which root may run or read"
    ),
    ("/etc/sudoers", .regular, 0o440, [.write], "change /etc/sudoers, and so become root"),
    ("/etc/sudoers", .regular, 0o440, [.read], nil),
    ("/etc/motd", .regular, 0o644, [.write], "change /etc/motd, which root may run or read"),
    ("/etc/shadow", .regular, 0o640, [.read], "read the password hashes of everybody"),
    ("/etc/ssl/private/key.pem", .regular, 0o640, [.read], "read the private keys of this machine"),
    ("/etcetera/motd", .regular, 0o644, [.write], nil),
    ("/srv/d", .directory, 0o755, [.write], "create, delete and replace every file in /srv/d"),
    ("/srv/d", .directory, 0o1755, [.write], "create files in /srv/d"),
    (
      "/srv/d", .directory, 0o700, [.execute],
      "reach what is below /srv/d, as far as its own permissions allow"
    ),
    ("/srv/d", .directory, 0o700, [.write], nil),
    ("/srv/f", .regular, 0o600, [.read, .write], nil),
  ]

  @Test(arguments: 0..<Self.rows.count) func `Each place has its words`(_ number: Int) {
    let (path, kind, mode, gives, words) = Self.rows[number]
    let before = InodeFacts(kind: kind, mode: mode, uid: 0, gid: 0)
    let credentials = Credentials(uid: 1000, gid: 1000, groups: [])
    let had = SubjectClasses.rights(of: credentials, on: before)
    let change = InodeChange(
      inode: 0, attribute: .accessACL, before: before,
      after: before.granting(gives.union(had), to: 1000), permissions: gives,
      asked: gives)
    let subject = Subject(source: .user, credentials: credentials)
    let seen = Opening.sentence(change.openings(at: path, for: credentials), for: subject)
    #expect(seen == words.map { "\(subject.displayName) can then \($0)" })
  }

  @Test func `The worst comes first, in one sentence`() {
    let subject = Subject(source: .user, credentials: Credentials(uid: 5, gid: 5, groups: []))
    func opening(_ rank: Opening.Rank, _ path: PathBytes) -> Opening {
      Opening(rank, path, "\(rank)")
    }
    var all = [
      opening(.below, "/a/b"), opening(.names, "/c"), opening(.below, "/a"), opening(.root, "/etc"),
      opening(.names, "/d"), opening(.names, "/d"),
    ]
    let name = subject.displayName
    #expect(
      Opening.sentence(all, for: subject)
        == "\(name) can then root /etc; and names /c and /d; and below /a")
    all += [opening(.names, "/e"), opening(.names, "/f")]
    #expect(
      Opening.sentence(all, for: subject)
        == "\(name) can then root /etc; and names /c, /d and 2 more; and below /a")
    #expect(Opening.sentence([], for: subject) == nil)
  }
}
