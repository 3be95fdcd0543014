import Foundation
import Glibc
import TestSupport
import Testing

/// Where the pictures are, by user-dirs.dirs, and what may be done there, by the kernel.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "owning folders and taking on other ids wants root"))
struct PhotoFolderTests {
  /// A file's text and the folder it means, below the tree; ROOT stands for the tree.
  static let rules: [(text: String, folder: String)] = [
    ("", "home/Pictures"),
    ("\n# a comment\n\n", "home/Pictures"),
    ("XDG_MUSIC_DIR=\"$HOME/Music\"\n", "home/Pictures"),
    ("#XDG_PICTURES_DIR=\"$HOME/No\"\n", "home/Pictures"),
    ("XDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "home/Bilder"),
    ("XDG_PICTURES_DIR=\"$HOME/Bilder\"", "home/Bilder"),
    ("XDG_PICTURES_DIR=\"$HOME/Bilder/\"\n", "home/Bilder"),
    ("XDG_PICTURES_DIR=\"$HOME/a/b/c\"\n", "home/a/b/c"),
    ("XDG_PICTURES_DIR=\"ROOT/srv/photos\"\n", "srv/photos"),
    ("XDG_PICTURES_DIR=\"$HOME/My Pictures\"\n", "home/My Pictures"),
    ("XDG_PICTURES_DIR=\"$HOME/My\\ Pictures\"\n", "home/My Pictures"),
    ("XDG_PICTURES_DIR=\"$HOME/a\\\"b\"\n", "home/a\"b"),
    ("XDG_PICTURES_DIR=\"$HOME/a\\\\b\"\n", "home/a\\b"),
    ("XDG_PICTURES_DIR=\"$HOME/a\\$b\\`c\"\n", "home/a$b`c"),
    ("XDG_PICTURES_DIR=\"$HOME/Im\u{e1}genes\"\n", "home/Im\u{e1}genes"),
    ("  XDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "home/Bilder"),
    ("XDG_PICTURES_DIR=\"$HOME/First\"\nXDG_PICTURES_DIR=\"$HOME/Last\"\n", "home/Last"),
    (
      "# written by xdg-user-dirs-update\nXDG_DESKTOP_DIR=\"$HOME/Desktop\"\n"
        + "XDG_PICTURES_DIR=\"$HOME/Bilder\"\nXDG_VIDEOS_DIR=\"$HOME/Videos\"\n", "home/Bilder"
    ),
  ]

  func report(
    _ tree: Tree, _ more: [String] = [], _ environment: [String: String?] = [:]
  ) throws -> Document.Report {
    let outcome = try Command.permcheck(
      ["photos", "--json"] + more,
      environment: tree.homeEnvironment.merging(environment) { $1 }, as: stranger)
    #expect(outcome.errors.isEmpty)
    return try outcome.report()
  }

  @Test(arguments: Effort.some(Array(rules.indices), of: "PhotoFolderTests The judged", atLeast: 3))
  func `The configured folder is judged`(
    _ index: Int
  ) throws {
    let (text, folder) = Self.rules[index]
    let tree = try Tree()
    try tree.home(text.replacing("ROOT", with: tree.root))
    try tree.folder(folder, uid: stranger.uid, gid: stranger.gid)
    let there = try report(tree)
    // In documents a backslash reads \\x5c, see `permcheck schema`; a last slash says nothing.
    let path = tree.path(folder).replacing("\\", with: "\\x5c")
    #expect(there.paths == [path] || there.paths == [path + "/"])
    #expect(there.status == "authorized")
    #expect(try Command.run(["rmdir", tree.path(folder)]).status == 0)
    let gone = try report(tree)
    #expect(gone.status == "unavailable")
    // In a container the folder may not have been passed in.
    #expect(
      gone.codes.first == "no-device" && gone.codes.dropFirst().allSatisfy { $0 == "container" })
  }

  @Test func `The default folder is Pictures`() throws {
    let tree = try Tree()
    try tree.home()
    #expect(try report(tree).paths == [tree.path("home/Pictures")])
  }

  @Test func `XDG_CONFIG_HOME is used`() throws {
    let tree = try Tree()
    try tree.home("XDG_PICTURES_DIR=\"$HOME/Usual\"\n")
    try tree.file("config/user-dirs.dirs", "XDG_PICTURES_DIR=\"$HOME/Special\"\n")
    for (value, folder) in [
      (tree.path("config"), "home/Special"), (nil, "home/Usual"), ("", "home/Usual"),
      ("config", "home/Usual"), (tree.path("none"), "home/Pictures"),
    ] {
      let report = try report(tree, [], ["XDG_CONFIG_HOME": value])
      #expect(report.paths == [tree.path(folder)], "XDG_CONFIG_HOME=\(value ?? "unset")")
    }
  }

  /// The home of another user is in the user data base; nothing of the caller's counts.
  @Test func `Another user's home is used`() throws {
    let tree = try Tree()
    try tree.home("XDG_PICTURES_DIR=\"$HOME/Mine\"\n")
    try tree.file(
      "etc/passwd", "ann:x:54330:54330::/home/ann:/bin/sh\nben:x:54331:54331::/home/ben:/bin/sh\n")
    try tree.file("etc/group", "ann:x:54330:\nben:x:54331:\nfamily:x:54340:ben\n")
    try tree.file("home/ann/.config/user-dirs.dirs", "XDG_PICTURES_DIR=\"$HOME/Album\"\n")
    try tree.folder("home/ann/Album", mode: 0o770, uid: 54_330, gid: 54_340)
    try tree.folder("home/ann", mode: 0o755, uid: 54_330, gid: 54_330)
    try tree.folder("home/ben/Pictures", mode: 0o700, uid: 54_331, gid: 54_331)
    let more = { (name: String) in ["--root", tree.root, "--user", name] }
    let config: [String: String?] = ["XDG_CONFIG_HOME": tree.path("home/.config")]
    let ann = try report(tree, more("ann"), config)
    #expect(ann.paths == [tree.path("home/ann/Album")])
    #expect(ann.status == "authorized")
    #expect(try report(tree, more("54330"), config).paths == ann.paths)
    #expect(try report(tree, more("ben"), config).paths == [tree.path("home/ben/Pictures")])
    try tree.file(
      "home/ben/.config/user-dirs.dirs", "XDG_PICTURES_DIR=\"/home/ann/Album\"\n")
    let shared = try report(tree, more("ben"), config)
    #expect(shared.paths == ann.paths, "what is absolute lies below the root, too")
    let ben = Account(uid: 54_331, gid: 54_331, groups: [54_340])
    #expect(try Kernel.faccessat2(ann.paths[0], R_OK | W_OK | X_OK, as: ben) == 0)
    #expect(shared.status == "authorized")
    try tree.mode("home/ann", 0o700)
    #expect(try Kernel.faccessat2(ann.paths[0], R_OK | W_OK | X_OK, as: ben) == EACCES)
    #expect(try report(tree, more("ben"), config).status == "denied")
  }

  /// Modes of somebody else's folder; listing is open(2) for reading, writing asks for w and x.
  @Test(
    arguments: Effort.some(
      [0o777, 0o755, 0o775, 0o750, 0o700, 0o770, 0o000, 0o711, 0o1777] as [UInt32],
      of: "PhotoFolderTests Status kernel's", atLeast: 3))
  func `Status is the kernel's`(_ mode: UInt32) throws {
    let tree = try Tree()
    try tree.home()
    try tree.folder("home/Pictures", mode: mode, uid: 0, gid: 0)
    let folder = tree.path("home/Pictures")
    let list = try Kernel.open(folder, O_RDONLY | O_DIRECTORY, as: stranger) == 0
    let search = try Kernel.faccessat2(folder, X_OK, as: stranger) == 0
    let write = try Kernel.faccessat2(folder, W_OK | X_OK, as: stranger) == 0
    let expected = list && search ? (write ? "authorized" : "limited") : "denied"
    for more in [[], ["--probe", "access"], ["--probe", "none"]] {
      #expect(try report(tree, more).status == expected)
    }
    let reading = try report(tree, ["--need", "r"])
    #expect(reading.status == (list ? "authorized" : "denied"))
    let writing = try report(tree, ["--need", "w"])
    #expect(
      (writing.status == "authorized")
        == (try Kernel.faccessat2(folder, W_OK, as: stranger) == 0))
  }

  @Test func `Linked folder is followed`() throws {
    let tree = try Tree()
    try tree.home("XDG_PICTURES_DIR=\"$HOME/Link\"\n")
    try tree.link("home/Link", to: "../disk/photos")
    #expect(try report(tree).status == "unavailable")
    #expect(try report(tree).codes == ["dangling-symlink"])
    try tree.folder("disk/photos", uid: stranger.uid, gid: stranger.gid)
    #expect(try report(tree).status == "authorized")
    try tree.folder("disk", mode: 0o700)
    #expect(try report(tree).status == "denied")
    #expect(try report(tree).codes == ["parent-search"])
  }
}
