/// The machine outside of a container, or of another place with mounts of its own, as seen from
/// inside.
///
/// /proc/PID/mountinfo has, for each mount, the path of its file system that it shows, see
/// proc_pid_mountinfo(5). It does not say where the machine has mounted that file system.
struct HostSide {
  private let system: any System
  private let process: Int32?

  /// Creates a view of the mounts and id maps of a process; nil is this process.
  init(_ system: any System, process: Int32?) {
    self.system = system
    self.process = process
  }

  private var table: MountTable {
    (try? system.mountTable(MountTable.path(of: process))) ?? MountTable(mountinfo: [])
  }

  private func map(_ name: String) -> IDMap? {
    let path = PathBytes("/proc/\(process.map(String.init) ?? "self")/\(name)")
    return (try? system.contents(of: path)).flatMap { IDMap(lines: $0) }
  }

  /// The types of the file systems that a container manager creates for a container: its /dev, its
  /// layers.
  private static let made: Set<String> = [
    "cgroup", "cgroup2", "devpts", "hugetlbfs", "mqueue", "overlay", "proc", "ramfs", "sysfs",
    "tmpfs",
  ]

  /// Returns whether a mount was created for the container and goes with it: its root, its /dev,
  /// its tmpfs.
  static func isOwn(_ mount: MountFacts) -> Bool {
    mount.point == "/" || !mount.isPart && made.contains(mount.fileSystem)
  }

  /// Returns whether a container may have this root: a machine mostly has a whole file system at `/`.
  static func mayBeRoot(_ mount: MountFacts) -> Bool {
    mount.isPart || ["overlay", "fuse.fuse-overlayfs"].contains(mount.fileSystem)
  }

  /// Returns an ACL with the ids that its users and groups have outside of the container.
  ///
  /// - Returns: The list, and whether each of them has a number outside; an entry without one stays as it is.
  func outside(
    _ list: AccessControlList, _ overflow: AccessFacts.Overflow?
  ) -> (list: AccessControlList, isWhole: Bool) {
    var (list, isWhole) = (list, true)
    let (users, groups) = (map("uid_map"), map("gid_map"))
    for index in list.entries.indices {
      let entry = list.entries[index]
      let map = entry.tag == .user ? users : entry.tag == .group ? groups : nil
      guard let map else { continue }
      let unknown = entry.tag == .user ? overflow?.uid : overflow?.gid
      if entry.id != unknown, let id = map.outside(entry.id) {
        list.entries[index].id = id
      } else {
        isWhole = false
      }
    }
    return (list, isWhole)
  }

  /// A path on the machine that runs the place.
  struct Path {
    /// The path; `HOSTPATH` if it is unknown.
    let path: PathBytes
    /// The meaning of `HOSTPATH`; nil if the path is known.
    var meaning: String?
    /// The name that the container manager has for the volume; nil if the path is in no volume.
    var volume: PathBytes?
  }

  /// Returns where a path is on the machine; nil if it belongs to the container itself.
  func path(of path: PathBytes, on mount: MountFacts) -> Path? {
    let table = table
    guard !Self.isOwn(mount), let origin = table.origin(of: mount) else { return nil }
    let below = path.components.dropFirst(mount.point.components.count)
    let names = origin.path.components + below
    if mount.fileSystem == "devtmpfs" { return Path(path: Self.joined(["dev"] + names)) }
    if let known = Self.known(names, origin, mount.fileSystem, table) {
      let volume = below.isEmpty ? Self.volume(known) : nil
      return Path(path: Self.joined(known), volume: volume)
    }
    let what = names.isEmpty ? "the top folder" : "\(Self.joined(names))"
    return Path(
      path: Self.unknown, meaning: "HOSTPATH is \(what) of \(origin.source) (\(mount.fileSystem))")
  }

  /// The placeholder for an unknown path of the machine.
  static let unknown: PathBytes = "HOSTPATH"

  /// Folders of the file system that is mounted at `/`, see hier(7).
  private static let top: Set<PathBytes> = [
    "etc", "home", "media", "mnt", "opt", "root", "srv", "tmp", "usr", "var",
  ]

  /// The folders where container managers keep what they mount into containers; the file system of
  /// these is known.
  private static let kept: [[PathBytes]] = [
    ["var", "lib", "docker"], ["var", "lib", "containers"], ["var", "lib", "kubelet"],
    ["var", "lib", "lxc"], ["var", "lib", "machines"],
  ]

  /// Returns the names of a path on the machine; nil if the mount point of its file system is unknown.
  private static func known(
    _ names: [PathBytes], _ origin: MountTable.Origin, _ fileSystem: String, _ table: MountTable
  ) -> [PathBytes]? {
    for other in table.origins where other.device == origin.device {
      let shown = other.path.components
      for folder in kept {
        // What stands before is a subvolume: /@/var/lib/docker.
        for start in 0..<2
        where shown.dropFirst(start).starts(with: folder) && names.starts(with: shown[..<start]) {
          return Array(names.dropFirst(start))
        }
      }
    }
    guard !["tmpfs", "ramfs"].contains(fileSystem), let first = names.first else { return nil }
    return top.contains(first) ? names : nil
  }

  /// Returns the name of the volume whose folder this is: `…/volumes/NAME/_data`.
  private static func volume(_ names: [PathBytes]) -> PathBytes? {
    guard names.count > 3, names[names.count - 1] == "_data", names[names.count - 3] == "volumes"
    else { return nil }
    return names[names.count - 2]
  }

  private static func joined(_ names: [PathBytes]) -> PathBytes {
    names.reduce("/") { $0.appending($1) }
  }
}
