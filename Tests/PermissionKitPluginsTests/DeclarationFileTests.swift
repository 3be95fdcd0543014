import Foundation
import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionKitPlugins

/// Declarations in files: mistakes with their places, folders, and hostile files.
@Suite(.blocking) struct DeclarationFileTests {
  static let head = "name = \"scans\"\nsummary = \"scans\"\n"

  /// A document, the place of its first mistake, and words of the message.
  static let mistakes: [(text: String, place: String, words: String)] = [
    ("", "1:1", "the key name is missing"),
    ("name = \"scans\"", "1:1", "the key summary is missing"),
    (head, "1:1", "one of these keys is missing: nodes, class, directory, xdg, socket"),
    (head + "directory = \"/srv\"\nxdg = \"MUSIC\"", "4:7", "xdg: there is directory already"),
    (head + "directory = \"/srv\"\ncolour = 3", "4:1", "there is no key \"colour\""),
    (head + "directory = 3", "3:13", "directory must be a string in quotes"),
    (head + "directory = \"srv\"", "3:13", "a directory starts with / or ~/"),
    (head + "directory = \"/srv/../etc\"", "3:13", "without . and .."),
    (head + "directory = \"~ada\"", "3:13", "a directory starts with / or ~/"),
    (head + "directory = \"/srv\\u0000x\"", "3:13", "a directory starts with"),
    (head + "directory = \"/srv\\nx\"", "3:13", "a directory starts with"),
    (head + "nodes = \"/dev/x\"", "3:9", "nodes must be a list of strings"),
    (head + "nodes = []", "3:9", "nodes: the list is empty"),
    (head + "nodes = [\"/dev/a\", 3]", "3:20", "nodes must be a string in quotes"),
    (head + "nodes = [\"/dev/a\", \"/etc/*\"]", "3:20", "a node is a path below /dev"),
    (head + "nodes = [\"/dev/[a\"]", "3:10", "not a pattern"),
    (head + "nodes = [\"/dev/[z-a]\"]", "3:10", "not a pattern"),
    (head + "nodes = [\"/dev/**/a\"]", "3:10", "not a pattern"),
    (head + "nodes = [\"/dev/../etc/a\"]", "3:10", "without . and .."),
    (head + "xdg = \"PORN\"", "3:7", "known: DESKTOP"),
    (head + "class = \"../net\"", "3:9", "a class is a name"),
    (head + "socket = \"run/x\"", "3:10", "a socket is a path"),
    (head + "socket = \"/\(String(repeating: "x", count: 120))\"", "3:10", "at most 107 bytes"),
    (head + "directory = \"/srv\"\nneed = \"rz\"", "4:8", "need is a combination"),
    (head + "directory = \"/srv\"\nneed = \"\"", "4:8", "need is a combination"),
    (head + "directory = \"/srv\"\nprobe = \"none\"", "4:9", "this key requires nodes"),
    (head + "directory = \"/srv\"\ngrant = \"acl\"", "4:9", "changes only device nodes"),
    (
      head + "nodes = [\"/dev/a\"]\nprobe = \"write\"", "4:9",
      "there is no \"write\"; known: open, none"
    ),
    (head + "nodes = [\"/dev/a\"]\ngrant = \"acl\"", "4:9", "needs nodes, subsystem and numbers"),
    (
      head
        + "nodes = [\"/dev/a\"]\nsubsystem = \"s\"\nnumbers = [\"1:*\"]\nproperty = \"A\"\ngrant = \"acl\"",
      "7:9", "cannot be combined with property"
    ),
    (head + "x = [{a\(String(repeating: ".a", count: 33)) = 1}]", "3:7", "at most 8 parts"),
    (head + "nodes = [\"/dev/a\"]\nnumbers = [\"1:*\", \"x\"]", "4:19", "expected numbers such as"),
    (head + "nodes = [\"/dev/a\"]\nnumbers = [\"1:9-2\"]", "4:12", "expected numbers such as"),
    (
      head + "nodes = [\"/dev/a\"]\nnumbers = [\"99999999999999999999\"]", "4:12",
      "expected numbers"
    ),
    (head + "nodes = [\"/dev/a\"]\ncompanions = [\"/etc/passwd\"]", "4:15", "below /dev"),
    (head + "nodes = [\"/dev/a\"]\nsubsystem = \"a/b\"", "4:13", "a subsystem is a name"),
    ("name = \"Scans\"\nsummary = \"s\"\ndirectory = \"/srv\"", "1:8", "lower-case letters"),
    (
      "name = \"check\"\nsummary = \"s\"\ndirectory = \"/srv\"", "1:8", "a word that permcheck uses"
    ),
    (head + "aliases = [\"a\", \"a\"]\ndirectory = \"/srv\"", "3:17", "listed twice"),
    ("name = \"scans\"\nsummary = \"\\u001b[31m\"\ndirectory = \"/srv\"", "2:11", "one line"),
    (head + "directory = ", "3:13", "the file ends too early"),
    ("[[[[", "1:3", "unexpected character"),
    ("name = \"a\"\nname = \"b\"", "2:1", "there is a key name already"),
  ]

  @Test(arguments: mistakes.indices)
  func `Each mistake has its place`(_ index: Int) throws {
    let (text, place, words) = Self.mistakes[index]
    let reader = DeclarationReader(Array(text.utf8))
    #expect(reader.declaration == nil)
    let first = try #require(reader.mistakes.first, "\(text)")
    #expect(first.message.contains(words), "\(text): \(first.message)")
    #expect("\(first.place.line):\(first.place.column)" == place, "\(text): \(first.message)")
  }

  @Test func `Every key is read`() throws {
    let reader = DeclarationReader(
      Array(
        """
        name = "port"
        aliases = ["dock", "pier"]
        summary = "ports"
        nodes = ["/dev/port[0-9]*"]
        need = "r"
        subsystem = "tty"
        numbers = ["188:*", "4:64-255", "10:200", "7"]
        property = "ID_BUS=usb"
        probe = "none"
        companions = ["/dev/portctl"]
        hint = "plug it in"
        risk = "much"
        """.utf8))
    #expect(reader.mistakes.isEmpty, "\(reader.mistakes)")
    var wanted = AccessorDeclaration("port", summary: "ports", .nodes(["/dev/port[0-9]*"]))
    wanted.aliases = ["dock", "pier"]
    wanted.need = .read
    wanted.subsystem = "tty"
    wanted.numbers = ["188:*", "4:64-255", "10:200", "7"]
    wanted.property = "ID_BUS=usb"
    wanted.probe = .none
    wanted.companions = ["/dev/portctl"]
    wanted.hint = "plug it in"
    wanted.risk = "much"
    #expect(reader.declaration == wanted)
    let serial = DeclarationReader(
      Array(
        (Self.head
          + "nodes = [\"/dev/a*\"]\nsubsystem = \"tty\"\nnumbers = [\"4:*\"]\ngrant = \"acl\"").utf8
      ))
    #expect(serial.declaration?.grant == .acl)
  }

  // MARK: - Folders

  /// Reads the folders of a tree; in order, later ones override.
  private func read(
    _ tree: Tree, _ folders: [String] = ["a", "b"]
  ) -> (registry: AccessorRegistry, problems: [String]) {
    let files = DeclarationFiles(
      LinuxSystem(), folders: folders.map { PathBytes(tree.path($0)) })
    let (registry, problems) = files.registry()
    return (registry, problems.map { $0.description.replacing(tree.root + "/", with: "") })
  }

  private func text(_ name: String, _ directory: String, _ more: String = "") -> String {
    "name = \"\(name)\"\nsummary = \"s\"\ndirectory = \"\(directory)\"\n\(more)"
  }

  private func place(_ name: String, _ registry: AccessorRegistry) -> AccessorDeclaration.Place? {
    registry[name]?.declaration?.place
  }

  @Test func `Later folders override`() throws {
    let tree = try Tree()
    try tree.file("a/1.toml", text("scans", "/one"))
    try tree.file("a/2.toml", text("plans", "/two"))
    try tree.file("b/9.toml", text("scans", "/three", "aliases = [\"paper\"]"))
    try tree.file("b/serial.toml", text("serial", "/four"))
    try tree.file("b/note.txt", "no declaration")
    try tree.file("b/.hidden.toml", "no declaration")
    let (registry, problems) = read(tree)
    #expect(problems.isEmpty, "\(problems)")
    #expect(place("scans", registry) == .directory("/three"))
    #expect(place("paper", registry) == .directory("/three"))
    #expect(place("plans", registry) == .directory("/two"))
    #expect(place("serial", registry) == .directory("/four"))
    #expect(registry["scans"]?.origin == .file(PathBytes(tree.path("b/9.toml"))))
    #expect(registry["kvm"]?.origin == .shipped)
  }

  @Test func `No file replaces a built-in accessor`() throws {
    let tree = try Tree()
    for name in ["camera", "microphone", "mic", "photos"] {
      try tree.file("a/\(name).toml", text(name, "/x"))
    }
    try tree.file("a/alias.toml", text("lens", "/x", "aliases = [\"eye\", \"mic\"]"))
    try tree.file("a/other.toml", text("port", "/x", "aliases = [\"serial\"]"))
    try tree.file("a/same.toml", text("quay", "/x"))
    try tree.file("a/same2.toml", text("quay", "/y"))
    let (registry, problems) = read(tree)
    #expect(
      problems == [
        "a/alias.toml:4:19: aliases: \"mic\" is the built-in accessor microphone",
        "a/camera.toml:1:8: name: \"camera\" is the built-in accessor camera",
        "a/mic.toml:1:8: name: \"mic\" is the built-in accessor microphone",
        "a/microphone.toml:1:8: name: \"microphone\" is the built-in accessor microphone",
        "a/other.toml:4:12: aliases: \"serial\" is the accessor serial",
        "a/photos.toml:1:8: name: \"photos\" is the built-in accessor photos",
        "a/same2.toml:1:8: name: \"quay\" is already declared by same.toml",
      ])
    let builtIn = AccessorRegistry.standard.entries.map(\.name)
    #expect(registry.entries.prefix(3).map(\.name) == builtIn)
    #expect(registry.entries.prefix(3).allSatisfy { $0.origin == .builtIn })
    #expect(place("quay", registry) == .directory("/x"))
  }

  /// What is no file that can be read; each is told, none holds anything up, and the others count.
  @Test func `A broken file does not affect other files`() throws {
    let tree = try Tree()
    try tree.file("a/good.toml", text("good", "/srv"))
    try tree.file("a/wrong.toml", text("wrong", "srv"))
    try tree.file("a/large.toml", String(repeating: "# x\n", count: 1 << 15))
    try tree.file("a/binary.toml", Data([0, 0xff, 0xfe, 0x80, 10, 0x5b]))
    try tree.folder("a/folder.toml")
    try tree.link("a/loop.toml", to: "loop.toml")
    try tree.link("a/gone.toml", to: "nothing")
    try tree.link("a/zero.toml", to: "/dev/zero")
    try tree.link("a/linked.toml", to: "../elsewhere")
    try tree.file("elsewhere", text("linked", "/srv"))
    let made = try Command.run(["mkfifo", tree.path("a/fifo.toml")])
    #expect(made.status == 0)
    try tree.file("a/nested.toml", "a = " + String(repeating: "[", count: 30_000))
    let (registry, problems) = read(tree)
    #expect(place("good", registry) == .directory("/srv"))
    #expect(place("linked", registry) == .directory("/srv"))
    let names = problems.map { String($0.prefix { $0 != ":" }) }
    let broken = [
      "binary", "fifo", "folder", "gone", "large", "loop", "nested", "wrong", "zero",
    ]
    #expect(Array(Set(names)).sorted() == broken.map { "a/\($0).toml" }, "\(problems)")
    #expect(problems.contains("a/fifo.toml: not a regular file"))
    #expect(problems.contains("a/zero.toml: not a regular file"))
    #expect(problems.contains("a/large.toml: larger than 65536 bytes"))
    #expect(problems.contains { $0.hasPrefix("a/loop.toml: cannot be read (ELOOP") })
    #expect(problems.contains { $0.hasPrefix("a/wrong.toml:3:13: directory: ") })
  }

  @Test func `A folder of too many files has a limit`() throws {
    let tree = try Tree()
    for number in 0..<300 {
      try tree.file("a/\(1000 + number).toml", text("n\(number)", "/srv"))
    }
    let (registry, problems) = read(tree)
    #expect(problems.count == 1 && problems[0].hasPrefix("a: more than 256 files"))
    #expect(registry["n255"] != nil && registry["n256"] == nil)
  }

  @Test func `Only root's own files are trusted`() throws {
    let system = LinuxSystem()
    #expect(system.isWritableOnlyByRoot("/etc/passwd"))
    let tree = try Tree()
    try tree.file("a/x.toml", "")
    // The folder is in /tmp, where everybody can write.
    #expect(!system.isWritableOnlyByRoot(PathBytes(tree.path("a/x.toml"))))
    #expect(!system.isWritableOnlyByRoot("/etc"))
    #expect(!system.isWritableOnlyByRoot("/etc/../etc/passwd"))
    #expect(!system.isWritableOnlyByRoot("/proc/self/root/etc/passwd"))
    #expect(!system.isWritableOnlyByRoot("/etc/no-such-file"))
  }

  /// Row 37 of SECURITY.md: the daemon of a user can claim that root owns everything.
  @Test(arguments: [("ext4", true), ("fuse.x", false)])
  func `What a FUSE daemon claims is not trusted`(_ type: String, isTrusted: Bool) {
    let system = FakeSystem()
    system.mount("/srv/disk", type, options: "rw,nosuid,nodev")
    system.add("/srv/disk/x.toml", FakeNode(mode: 0o644))
    #expect(system.isWritableOnlyByRoot("/srv/disk/x.toml") == isTrusted)
  }
}
