import Foundation
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// The door to what others can change: `System.door`.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct DoorTests {
  private static let user = Credentials(uid: 61041, gid: 61041, groups: [])

  /// Exchanges the name `file` so many times, and notes in `opened` how often somebody had the FIFO open.
  private static let exchange = """
    import os, sys, time
    os.chdir(sys.argv[1])
    kinds = ["good", "secret", "closed", "fifo", "node", "folder", "huge", "absolute", "up", "loop", "proc"]
    opened = count = 0
    open("ready", "w").close()
    while count < int(sys.argv[2]):
        kind = kinds[count % len(kinds)]
        count += 1
        os.symlink(kind, "new")
        os.rename("new", "file")
        if count % 7 == 0:
            with open("changing", "w") as changing: changing.write("ab" * (count % 50_000))
        try:
            os.close(os.open("fifo", os.O_WRONLY | os.O_NONBLOCK)); opened += 1
        except OSError: pass
    print(count, opened)
    """

  /// A folder of the user's with one of each kind.
  private func ground() throws -> Tree {
    let tree = try Tree()
    try tree.file("root-only", "SECRET", mode: 0o600)
    try tree.folder("home", uid: 61041, gid: 61041)
    for (name, mode) in [("good", 0o644), ("changing", 0o644), ("closed", 0o600)]
      as [(String, mode_t)]
    {
      let uid: UInt32 = name == "closed" ? 0 : 61041
      try tree.file(
        "home/\(name)", name == "closed" ? "SECRET" : "good", mode: mode, uid: uid, gid: uid)
    }
    try tree.folder("home/folder", uid: 61041, gid: 61041)
    let made = try Command.run([
      "sh", "-ec",
      """
      cd "$1/home"; mkfifo fifo; mknod node c 1 5; chmod 666 node; truncate -s 1T huge; ln -s loop loop
      ln -s "$1/root-only" absolute; ln -s ../root-only up; ln -s /etc/shadow secret; ln -s /proc/self/environ proc
      chown -h 61041:61041 *; chown root closed; ln -s good file
      """, "sh", tree.root,
    ])
    try #require(made.status == 0, "\(made)")
    return tree
  }

  @Test func `Nothing is read that the user could not read, and nothing but regular files`() throws
  {
    let tree = try ground()
    let racer = Process()
    racer.executableURL = URL(filePath: "/usr/bin/python3")
    racer.arguments = [
      "-c", Self.exchange, tree.path("home"), "\(Effort.of(20_000, atLeast: 1_000))",
    ]
    let output = Pipe()
    racer.standardOutput = output
    try racer.run()
    while !FileManager.default.fileExists(atPath: tree.path("home/ready")) { usleep(1000) }
    let (system, file) = (LinuxSystem(), PathBytes(tree.path("home/file")))
    let changing = PathBytes(tree.path("home/changing"))
    var reads = 0
    var (good, seen) = (0, Set<Errno>())
    var door = system.door(below: "/", as: Self.user, within: 1000)
    while racer.isRunning {
      reads += 1
      if reads % 100 == 99 { door = system.door(below: "/", as: Self.user, within: 1000) }
      do throws(Errno) {
        let bytes = try door.contents(of: file, limit: 1 << 16)
        #expect(bytes.elementsEqual("good".utf8), "\(String(decoding: bytes, as: UTF8.self))")
        good += 1
      } catch {
        seen.insert(error)
      }
      if reads % 10 == 0, let bytes = try? door.contents(of: changing, limit: 1 << 17) {
        #expect(bytes.count <= 1 << 17)
      }
    }
    racer.waitUntilExit()
    let counts = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      .split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    print(
      "door: \(reads) reads, \(counts.first ?? 0) exchanges, \(good) of what was meant; \(seen.map(\.description).sorted())"
    )
    #expect(counts.count == 2 && counts[1] == 0, "a FIFO was opened")
    #expect(good > 0)
    #expect(
      seen.isSubset(of: [.EACCES, .EINVAL, .ELOOP, .EFBIG, .ENOENT, .EAGAIN, .ETIMEDOUT]), "\(seen)"
    )
  }

  /// Absolute links and `..` stay below the root directory.
  @Test func `No link leads out of the root directory`() throws {
    let tree = try Tree()
    try tree.file("outside", "outside")
    try tree.folder("root")
    try tree.folder("root/etc")
    try tree.file("root/etc/passwd", "inside")
    for (name, target) in [
      ("absolute", "/etc/passwd"), ("up", "../../../../etc/passwd"), ("away", tree.path("outside")),
    ] {
      try tree.link("root/\(name)", to: target)
    }
    let root = PathBytes(tree.path("root"))
    let door = LinuxSystem().door(below: root, as: nil, within: 1000)
    for name in ["absolute", "up", "etc/passwd", "../etc/passwd"] {
      #expect(try door.contents(of: root.appending(name)).elementsEqual("inside".utf8), "\(name)")
    }
    #expect(throws: Errno.ENOENT) { try door.contents(of: root.appending("away")) }
    #expect(throws: Errno.EXDEV) { try door.contents(of: PathBytes(tree.path("outside"))) }
    #expect(throws: Errno.EXDEV) { try door.contents(of: PathBytes(tree.path("root2"))) }
    #expect(try door.names(in: root).map(\.description) == ["absolute", "away", "etc", "up"])
  }

  /// The door reads, and does nothing else.
  @Test func `Other calls fail`() throws {
    let tree = try Tree()
    try tree.file("file", "text", mode: 0o666)
    let path = PathBytes(tree.path("file"))
    let door = LinuxSystem().door(below: "/", as: Self.user, within: 1000)
    #expect(try door.status(of: path).kind == .regular)
    #expect(throws: Errno.EPERM) {
      try door.openat(.currentDirectory, path, [.readWrite], mode: 0)
    }
    #expect(throws: Errno.EPERM) {
      try door.openat(.currentDirectory, path, [.readWrite, .create], mode: 0o600)
    }
    #expect(throws: Errno.ENOSYS) { try door.unlink(path) }
    #expect(throws: Errno.ENOSYS) { try door.faccessat2(path, .read) }
    #expect(throws: Errno.EACCES) { try door.contents(of: "/etc/shadow") }
    #expect(throws: Errno.EACCES) { try door.names(in: "/root") }
  }
}
