import Foundation
import PermissionKitTesting
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Parsers of what others write, fed with garbage: no crash, no hang, nothing granted.
///
/// 4,000 inputs a parser.
@Suite struct FuzzTests {
  static let inputs = Effort.of(4_000, atLeast: 200)

  /// Half of the inputs are samples with bytes changed, cut, doubled and inserted; half are noise.
  static func feed(
    _ samples: [[UInt8]], _ name: String = #function, _ parse: ([UInt8]) throws -> Void
  ) rethrows {
    var random = SeededNumbers(name)
    for index in 0..<inputs {
      var bytes = index % 2 == 0 ? samples.randomElement(using: &random) ?? [] : []
      if index % 2 == 1 {
        bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      }
      for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0...5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeLast(bytes.count - place)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 3: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
        case 4: bytes.remove(at: place)
        default: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
      }
      try parse(bytes)
    }
  }

  @Test func `Random ACL attributes do no harm`() {
    let list = AccessControlList([
      .init(.owner, .all), .init(.user, id: 7, .all), .init(.owningGroup, []), .init(.mask, .all),
      .init(.other, []),
    ])
    let nobody = Credentials(uid: 4_000_000, gid: 4_000_000, groups: [])
    Self.feed([list.xattr]) { bytes in
      guard let parsed = AccessControlList(xattr: bytes) else { return }
      #expect(parsed.xattr.count == bytes.count)
      var inode = InodeFacts(kind: .regular, mode: 0o770, uid: 0, gid: 0, acl: parsed)
      inode.entriesAreComplete = true
      let evaluator = AccessEvaluator(facts: AccessFacts(inodes: [inode]), credentials: nobody)
      // Granted only by an entry for others, or by one that names this very id.
      let isNamed = parsed.entries.contains {
        $0.id == 4_000_000 || $0.tag == .other && $0.permissions.contains(.read)
      }
      if !isNamed { #expect(!evaluator.permits(.read, of: 0)) }
    }
  }

  @Test func `Random mountinfo files do no harm`() {
    let sample =
      "30 25 0:27 /a\\040b /mnt/c\\134 ro,nodev,idmapped master:1 - ext4 /dev/x ro,data=x\n"
    Self.feed([Array(sample.utf8), Array((sample + sample).utf8)]) { bytes in
      let table = MountTable(mountinfo: bytes)
      for mount in table.mounts { #expect(table[id: mount.id] != nil) }
    }
  }

  @Test func `Random /proc/PID/status files do no harm`() throws {
    let sample = """
      Name:\tx
      Uid:\t1\t2\t3\t4
      Gid:\t1\t2\t3\t4
      Groups:\t1 2 3
      CapPrm:\t0000000000000000
      CapEff:\t0000000000000000
      NoNewPrivs:\t0
      Seccomp:\t2

      """
    let status = try #require(ProcStatus(Array(sample.utf8)))
    #expect(status.credentials.user.fileSystem == 4 && status.credentials.groups == [1, 2, 3])
    #expect(status.seccomp == 2 && !status.noNewPrivileges)
    Self.feed([Array(sample.utf8)]) { bytes in
      guard let status = ProcStatus(bytes) else { return }
      // Nothing is read that is not written there.
      let text = String(decoding: bytes, as: UTF8.self)
      let ids = status.credentials
      for id in [ids.user.fileSystem, ids.group.fileSystem] + ids.groups {
        #expect(text.contains("\(id)"), "\(id) in \(text)")
      }
      if status.noNewPrivileges { #expect(text.contains("NoNewPrivs:")) }
      if !ids.effective.isEmpty { #expect(text.contains("CapEff:")) }
    }
  }

  @Test func `Random id maps do no harm`() {
    Self.feed([Array("         0     100000      65536\n".utf8)]) { bytes in
      guard let map = IDMap(lines: bytes) else { return }
      for id: UInt32 in [0, 1, 65_534, .max] {
        if let outside = map.outside(id), map.ranges.count == 1 {
          #expect(map.inside(outside) == id)
        }
      }
    }
  }

  @Test func `Random udev and user-dirs files do no harm`() {
    let udev = "S:v4l/by-id/x\nE:ID_V4L_CAPABILITIES=:capture:\nE:ID_V4L_PRODUCT=Cam\n"
    Self.feed([Array(udev.utf8)]) { bytes in
      let properties = DeviceCatalog.udevProperties(bytes)
      guard let text = String(validating: bytes, as: UTF8.self), !text.contains("\\") else {
        return
      }
      for (name, value) in properties where (name + value).unicodeScalars.allSatisfy(\.isASCII) {
        #expect(text.contains("E:\(name)=\(value)"), "\(text)")
      }
    }
    let dirs = "# c\nXDG_MUSIC_DIR=\"$HOME/M\"\nXDG_PICTURES_DIR=\"$HOME/P\\\"q\"\n"
    Self.feed([Array(dirs.utf8)]) { bytes in
      if case .value(_, let isRelative, let path) = UserFolder.setting(of: "PICTURES", in: bytes) {
        #expect(isRelative || path.isAbsolute)
        #expect(!path.bytes.contains(0))
      }
    }
  }

  /// The whole way, with garbage in every file that the catalogue reads: never authorized.
  @Test func `Garbage authorizes nothing`() {
    let files: [PathBytes] = [
      "/sys/class/video4linux/video0/name", "/sys/class/video4linux/video0/index",
      "/sys/class/video4linux/video0/dev", "/run/udev/data/c81:0", "/proc/asound/pcm",
      "/proc/asound/cards", "/home/u/.config/user-dirs.dirs", "/proc/thread-self/mountinfo",
      "/proc/self/uid_map",
    ]
    var random = SeededNumbers(#function)
    for _ in 0..<Effort.of(300, atLeast: 60) {
      let system = FakeSystem()
      system.setEnvironment("HOME", "/home/u")
      system.add(
        "/dev/video0",
        FakeNode(kind: .characterDevice, mode: 0o600, device: .init(major: 81, minor: 0)))
      system.add("/home/u/Pictures", FakeNode(kind: .directory, mode: 0o700))
      for file in files where Bool.random(using: &random) {
        let noise = (0..<Int.random(in: 0...200, using: &random)).map { _ in
          UInt8.random(in: 0...127, using: &random)
        }
        system.add(file, FakeNode(contents: String(decoding: noise, as: UTF8.self)))
      }
      for entry in AccessorRegistry.standard.entries {
        let report = entry.make(AccessContext(system: system), .discard).checkAccess()
        #expect(report.status != .authorized && report.status != .limited)
      }
    }
  }
}
