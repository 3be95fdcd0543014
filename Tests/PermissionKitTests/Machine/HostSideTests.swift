import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Where a folder of a container is on the machine, as far as mountinfo tells.
struct HostSideTests {
  struct Row: CustomTestStringConvertible {
    let testDescription: String
    /// What is mounted at /photos: the number, the path of the file system, its type and its source.
    let mount: String
    /// Another line: what the manager of the containers mounts.
    var other = "8:1 /x/hosts /etc/hosts rw - ext4 /dev/sda1 rw"
    /// The path of /photos/a; HOSTPATH if it cannot be told; nil if it is the container's own.
    let path: PathBytes?
    var meaning: String?
    /// What /photos is called as a volume.
    var volume: PathBytes?
  }

  static let rows: [Row] = [
    Row(
      testDescription: "below a folder of the root file system",
      mount: "8:1 /srv/pictures /photos rw - ext4 /dev/sda1 rw", path: "/srv/pictures/a"),
    Row(
      testDescription: "a folder that no machine has at its root",
      mount: "8:17 /pictures /photos rw - ext4 /dev/sdb1 rw", path: "HOSTPATH",
      meaning: "HOSTPATH is /pictures/a of /dev/sdb1 (ext4)"),
    Row(
      testDescription: "the same, on the file system where Docker keeps its files",
      mount: "8:1 /data/pictures /photos rw - ext4 /dev/sda1 rw",
      other: "8:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/sda1 rw",
      path: "/data/pictures/a"),
    Row(
      testDescription: "a subvolume, which that shows",
      mount: "0:30 /@/data/pictures /photos rw - btrfs /dev/sda1 rw",
      other: "0:30 /@/var/lib/docker/containers/1/hosts /etc/hosts rw - btrfs /dev/sda1 rw",
      path: "/data/pictures/a"),
    Row(
      testDescription: "another subvolume of it",
      mount: "0:30 /@home/ada /photos rw - btrfs /dev/sda1 rw",
      other: "0:30 /@/var/lib/docker/containers/1/hosts /etc/hosts rw - btrfs /dev/sda1 rw",
      path: "HOSTPATH", meaning: "HOSTPATH is /@home/ada/a of /dev/sda1 (btrfs)"),
    Row(
      testDescription: "a whole file system", mount: "8:17 / /photos rw - ext4 /dev/sdb1 rw",
      path: "HOSTPATH", meaning: "HOSTPATH is /a of /dev/sdb1 (ext4)"),
    Row(
      testDescription: "a folder of a tmpfs", mount: "0:40 /home/x /photos rw - tmpfs tmpfs rw",
      path: "HOSTPATH", meaning: "HOSTPATH is /home/x/a of tmpfs (tmpfs)"),
    Row(
      testDescription: "a tmpfs of the container", mount: "0:40 / /photos rw - tmpfs tmpfs rw",
      path: nil),
    Row(
      testDescription: "a node of the machine's /dev",
      mount: "0:5 /snd /photos rw - devtmpfs udev rw", path: "/dev/snd/a"),
    Row(
      testDescription: "a volume",
      mount: "8:1 /var/lib/docker/volumes/pics/_data /photos rw - ext4 /dev/sda1 rw",
      path: "/var/lib/docker/volumes/pics/_data/a", volume: "pics"),
    Row(
      testDescription: "an escaped blank",
      mount: "8:1 /srv/my\\040pictures /photos rw - ext4 /dev/sda1 rw",
      path: "/srv/my pictures/a"),
  ]

  static func side(_ row: Row) -> (HostSide, MountFacts?) {
    let lines = ["1 0 0:50 / / rw - overlay overlay rw", "2 1 \(row.other)", "3 1 \(row.mount)"]
    let text = lines.map { $0 + "\n" }.joined()
    let fake = FakeSystem()
    fake.add("/proc/thread-self/mountinfo", .file(text))
    return (HostSide(fake, process: nil), MountTable(mountinfo: Array(text.utf8))[id: 3])
  }

  @Test(arguments: rows) func `A path of a container has its path on the machine`(_ row: Row) throws
  {
    let (side, found) = Self.side(row)
    let mount = try #require(found)
    let path = side.path(of: "/photos/a", on: mount)
    #expect(path?.path == row.path && path?.meaning == row.meaning)
    #expect(HostSide.isOwn(mount) == (row.path == nil))
    #expect(side.path(of: "/photos", on: mount)?.volume == row.volume)
    #expect(path?.volume == nil)
  }

  @Test func `The root of a container belongs to the container`() throws {
    let (side, _) = Self.side(Self.rows[0])
    let root = MountFacts(id: 1, fileSystem: "overlay")
    #expect(HostSide.isOwn(root) && side.path(of: "/srv", on: root) == nil)
  }

  /// Entries have the numbers that their users have outside; who is nobody inside has none.
  @Test func `Ids are those outside of the container`() {
    let fake = FakeSystem()
    fake.add("/proc/self/uid_map", .file("0 100000 65536\n"))
    fake.add("/proc/self/gid_map", .file("0 100000 65536\n"))
    let side = HostSide(fake, process: nil)
    let nobody = AccessFacts.Overflow(
      uid: 65_534, gid: 65_534, uidIsMapped: true, gidIsMapped: true)
    var list = AccessControlList(mode: 0o640)
    list.entries.append(.init(.user, id: 1000, .read))
    #expect(side.outside(list, nobody).list.entries.last?.id == 101_000)
    #expect(side.outside(list, nobody).isWhole)
    list.entries.append(.init(.group, id: 65_534, .read))
    #expect(!side.outside(list, nobody).isWhole)
  }
}

/// How long a change lasts, by what keeps the inode.
struct PersistenceTests {
  @Test(arguments: [
    (FileKind.socket, "tmpfs", "/run", Persistence.untilServiceRestart),
    (.socket, "ext4", "/", .untilServiceRestart),
    (.characterDevice, "devtmpfs", "/dev", .untilUdevEvent),
    (.regular, "sysfs", "/sys", .untilUdevEvent), (.regular, "proc", "/proc", .untilReboot),
    (.directory, "cgroup2", "/sys/fs/cgroup", .untilReboot),
    (.regular, "tmpfs", "/run/user/1000", .untilLogout), (.regular, "tmpfs", "/tmp", .untilReboot),
    (.characterDevice, "devpts", "/dev/pts", .untilLogout), (.regular, "ext4", "/", .permanent),
    (.regular, "fuse.sshfs", "/mnt", .permanent),
  ])
  func `A change on a file system of the machine lasts`(
    _ kind: FileKind, _ type: String, _ point: PathBytes, _ lasting: Persistence
  ) {
    #expect(Persistence(kind, on: type, at: point) == lasting)
  }

  @Test func `The shortest of several durations is named`() {
    #expect(
      Persistence.shortest(of: [.permanent, .untilReboot, .untilContainerEnds])
        == .untilContainerEnds)
    #expect(Persistence.shortest(of: Persistence.allCases) == .untilProcessEnds)
    #expect(Persistence.shortest(of: []) == .permanent)
  }
}
