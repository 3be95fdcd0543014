import Glibc
import PermissionKit
import PermissionKitPlugins
import PermissionKitTesting
import TestSupport
import Testing

/// Patterns of names, against fnmatch(3).
@Suite struct GlobTests {
  @Test func `A pattern matches as in glibc`() {
    let signs = Array("ab1*?[]!-.^".utf8)
    let letters = Array("ab1.-]".utf8)
    var (asked, matched) = (0, 0)
    var random = SeededNumbers("globs")
    let names = Effort.of(50_000, atLeast: 4_000)
    for _ in 0..<names {
      let pattern = (0..<Int.random(in: 0...7, using: &random)).map { _ in
        signs.randomElement(using: &random) ?? 0x61
      }
      let name = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? 0x61
      }
      // Brackets in brackets are for the names of characters, which only fnmatch(3) knows.
      guard Glob.isValid(PathBytes(pattern)), pattern.count(where: { $0 == 0x5b }) < 2 else {
        continue
      }
      let truth =
        fnmatch(
          String(decoding: pattern, as: UTF8.self), String(decoding: name, as: UTF8.self),
          FNM_PERIOD) == 0
      asked += 1
      if truth { matched += 1 }
      #expect(
        Glob.matches(name[...], pattern[...]) == truth,
        "\(String(decoding: pattern, as: UTF8.self)) \(String(decoding: name, as: UTF8.self))")
    }
    #expect(asked * 5 > names && matched * 100 > names)
  }

  @Test func `A hostile pattern ends soon`() {
    let name = [UInt8](repeating: 0x61, count: 255)
    let pattern = Array(String(repeating: "*a", count: 500).utf8) + [0x62]
    #expect(!Glob.matches(name[...], pattern[...]))
  }

  @Test func `Folders are listed one by one`() {
    let system = FakeSystem()
    for name in ["bus/001/002", "bus/001/004", "bus/002/001", "bus/.003/001", "other/001/002"] {
      system.add(PathBytes("/r/dev/\(name)"))
    }
    system.add("/r/dev/bus/004", FakeNode(kind: .symbolicLink, target: "/r/dev/other/001"))
    func paths(_ pattern: PathBytes) -> [String] {
      system.glob(pattern, below: "/r").paths.map { String($0.description.dropFirst(2)) }
    }
    #expect(
      paths("/dev/bus/*/*") == ["/dev/bus/001/002", "/dev/bus/001/004", "/dev/bus/002/001"])
    #expect(paths("/dev/bus/00[2-9]/001") == ["/dev/bus/002/001", "/dev/bus/004/001"])
    #expect(paths("/dev/none/*").isEmpty)
    #expect(paths("/dev/fixed") == ["/dev/fixed"])
    let cut = system.glob("/dev/bus/*/*", below: "/r", limit: 2)
    #expect(cut.isCut && cut.paths.count == 2)
    system.add("/r/dev/closed", FakeNode(kind: .directory, mode: 0o700))
    let closed = system.glob("/dev/closed/*", below: "/r")
    #expect(closed.paths.isEmpty && closed.unreadable.map(\.errno) == [.EACCES])
  }
}
