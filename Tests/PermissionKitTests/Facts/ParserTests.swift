import Testing

@testable import PermissionKit

@Suite struct ParserTests {
  @Test(arguments: [
    (Array("a/b".utf8), "a/b"), (Array("ä".utf8), "ä"), ([0x61, 0xff, 0x62], #"a\xffb"#),
    (Array(#"a\b"#.utf8), #"a\x5cb"#), ([0xe2, 0x82], #"\xe2\x82"#), ([], ""),
    ([0x0a, 0x1b], "\n\u{1b}"), ([0xed, 0xa0, 0x80], #"\xed\xa0\x80"#),
  ])
  func `Paths are escaped and read back`(_ bytes: [UInt8], _ text: String) {
    #expect(PathBytes(bytes).description == text)
    #expect(PathBytes(escaped: text).bytes == bytes)
  }

  @Test func `Mountinfo is parsed`() throws {
    let table = MountTable(
      mountinfo: Array(
        """
        22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw
        30 25 0:27 /sub\\040dir /mnt/a\\011b\\134c ro,nosuid,nodev,noexec,nosymfollow master:1 - \
        ext4 /dev/x\\040y ro,data=ordered
        31 25 0:28 / /idmapped rw,idmapped shared:1 - tmpfs none rw
        garbage
        32 25 0:28 / /short rw
        """.utf8))
    #expect(table.mounts.map(\.id) == [22, 30, 31])
    let mount = try #require(table[id: 30])
    #expect(mount.point == "/mnt/a\tb\\c")
    #expect(mount.flags == [.readOnly, .noDevices, .noExecute, .noSymbolicLinks])
    #expect(mount.superblockIsReadOnly)
    #expect(mount.fileSystem == "ext4")
    #expect(table[id: 22]?.flags == [])
    #expect(table[id: 31]?.idMappingIsUnreadable == true)
    #expect(table[id: 3] == nil)
  }

  @Test func `An ACL attribute is parsed`() throws {
    let list = AccessControlList([
      .init(.owner, [.read, .write]), .init(.user, id: 1000, .read), .init(.owningGroup, []),
      .init(.mask, .all), .init(.other, []),
    ])
    #expect(AccessControlList(xattr: list.xattr) == list)
    #expect(list.xattr.count == 4 + 5 * 8)
    let bad: [[UInt8]] = [
      [], [2, 0, 0], [1, 0, 0, 0], Array(list.xattr.dropLast()), [2, 0, 0, 0],
      [2, 0, 0, 0, 3, 0, 7, 0, 0, 0, 0, 0], [2, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0, 0],
    ]
    for bytes in bad { #expect(AccessControlList(xattr: bytes) == nil, "\(bytes)") }
  }

  @Test(arguments: [
    ("", "none"), ("# XDG_PICTURES_DIR=\"/x\"\n", "none"),
    ("XDG_PICTURES_DIR=\"$HOME/Bilder\"\n", "~/Bilder"),
    ("XDG_PICTURES_DIR=\"$HOME/Bilder\"", "~/Bilder"),
    ("  XDG_PICTURES_DIR = \"/srv/p\\\"q\"  # mine\n", "/srv/p\"q"),
    ("XDG_PICTURES_DIR=\"$HOME\"\n", "~"), ("XDG_PICTURES_DIR=\"$HOME/\"\n", "~/"),
    ("XDG_MUSIC_DIR=\"$HOME/M\"\nXDG_PICTURES_DIR=\"/a\"\nXDG_PICTURES_DIR=\"/b\"\n", "/b"),
    ("XDG_PICTURES_DIR=\"Bilder\"\n", "malformed 1"), ("\nXDG_PICTURES_DIR=/x\n", "malformed 2"),
    ("XDG_PICTURES_DIR=\"$HOMER/x\"\n", "malformed 1"),
    ("XDG_PICTURES_DIR=\"/x\n", "malformed 1"),
    ("XDG_PICTURES_DIR=\"/x\" y\n", "malformed 1"), ("XDG_PICTURES_DIR=\"/x\\", "malformed 1"),
    ("XDG_MUSIC_DIR=\"$HOME/M\"\n", "none"), ("\u{0}\u{1}\u{2}", "malformed 1"),
    ("XDG_PICTURES_DIR=\"/a\u{0}b\"\n", "malformed 1"),
  ])
  func `user-dirs.dirs is parsed`(_ text: String, _ expected: String) {
    let setting =
      switch UserFolder.setting(of: "PICTURES", in: Array(text.utf8)) {
      case .none: "none"
      case .malformed(let line): "malformed \(line)"
      case .value(_, let isRelative, let path): (isRelative ? "~" : "") + path.description
      }
    #expect(setting == expected)
  }

  @Test func `udev's properties are parsed`() {
    let bytes = Array("N:video0\nE:ID_V4L_CAPABILITIES=:capture:\nE:X=a=b\nE:broken\nG:seat\n".utf8)
    #expect(
      DeviceCatalog.udevProperties(bytes) == ["ID_V4L_CAPABILITIES": ":capture:", "X": "a=b"])
  }
}
