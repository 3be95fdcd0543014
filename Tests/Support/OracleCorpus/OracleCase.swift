import FoundationEssentials
@_spi(SystemCalls) package import PermissionKit

/// One case of the oracle: a subject, a tree, and the answers of a running kernel about a path.
///
/// The docstring of Oracle/casegen.py describes the schema.
package struct OracleCase: Decodable {
  package struct Environment: Decodable {
    package struct Maps: Decodable {
      var u: [[UInt32]]
      var g: [[UInt32]]
    }

    var fs: String
    var mnt: [String]?
    var sb_ro: Int?
    var sysctl: [Int]?
    var ovl: String?
    var idmap: Maps?
    var devcg: [String]?
  }

  /// One id, or a list of the real, effective and file system id.
  enum IDs: Decodable {
    case one(UInt32)
    case three([UInt32])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let id = try? container.decode(UInt32.self) {
        self = .one(id)
      } else {
        self = .three(try container.decode([UInt32].self))
      }
    }

    var ids: Credentials.IDs {
      switch self {
      case .one(let id): Credentials.IDs(id)
      case .three(let ids):
        Credentials.IDs(real: ids[0], effective: ids[1], fileSystem: ids[2])
      }
    }
  }

  struct Subject: Decodable {
    struct Landlock: Decodable {
      var handled: [String]
      var rules: [String: [String]]
    }

    var uid: IDs
    var gid: IDs
    var groups: [UInt32]
    var caps: [String]
    var capP: [String]?
    var userns: Environment.Maps?
    var ll: Landlock?
  }

  /// A node of the tree: `[path, kind, octal mode, uid, gid, acl|null, attr|null]`.
  struct Node: Decodable {
    var path: String
    var kind: String
    var mode: UInt16
    var uid: UInt32
    var gid: UInt32
    var acl: String?
    var attribute: String?

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      path = try container.decode(String.self)
      kind = try container.decode(String.self)
      mode = UInt16(try container.decode(String.self), radix: 8) ?? 0
      uid = try container.decode(UInt32.self)
      gid = try container.decode(UInt32.self)
      acl = try container.decodeIfPresent(String.self)
      attribute = try container.decodeIfPresent(String.self)
    }
  }

  package var id: Int
  package var cls: String
  package var env: Environment
  var sub: Subject
  var tree: [Node]
  package var path: String
  /// The kernel's errno for each question token; 0 if access was granted.
  package var k: [String: Int32]
}

extension OracleCase {
  private static let capabilities: [String: CapabilitySet] = [
    "CHOWN": .chown, "MKNOD": .mknod, "DAC_OVERRIDE": .dacOverride,
    "DAC_READ_SEARCH": .dacReadSearch, "FOWNER": .fowner,
  ]
  private static let landlock: [String: LandlockRights] = [
    "EXECUTE": .execute, "WRITE_FILE": .writeFile, "READ_FILE": .readFile,
    "READ_DIR": .readDirectory, "MAKE_REG": .makeRegular, "TRUNCATE": .truncate,
    "REMOVE_DIR": .removeDirectory, "REMOVE_FILE": .removeFile, "MAKE_DIR": .makeDirectory,
    "MAKE_CHAR": .makeCharacterDevice, "MAKE_FIFO": .makeFIFO, "MAKE_SYM": .makeSymbolicLink,
  ]

  private static func capabilitySet(_ names: [String]) -> CapabilitySet {
    CapabilitySet(names.compactMap { capabilities[$0] })
  }

  private static func rights(_ names: [String]) -> LandlockRights {
    LandlockRights(names.compactMap { landlock[$0] })
  }

  private static func map(_ rows: [[UInt32]]) -> IDMap {
    IDMap(rows.map { IDMap.Range(inside: $0[0], outside: $0[1], count: $0[2]) })
  }

  private static func mapping(_ maps: Environment.Maps) -> IDMapping {
    IDMapping(users: map(maps.u), groups: map(maps.g))
  }

  package var credentials: Credentials {
    let effective = Self.capabilitySet(sub.caps)
    return Credentials(
      user: sub.uid.ids, group: sub.gid.ids, groups: sub.groups, effective: effective,
      permitted: Self.capabilitySet(sub.capP ?? sub.caps).union(effective),
      userNamespace: sub.userns.map(Self.mapping))
  }

  /// Returns the facts; the header of the corpus tells the answers of drivers.
  package func facts(drivers: [String: Int32]) -> AccessFacts {
    var mount = MountFacts(fileSystem: env.ovl == nil ? env.fs : "overlay")
    for (name, flag) in [
      ("ro", MountFacts.Flags.readOnly), ("nodev", .noDevices), ("noexec", .noExecute),
      ("nosymfollow", .noSymbolicLinks),
    ] where env.mnt?.contains(name) == true {
      mount.flags.insert(flag)
    }
    mount.superblockIsReadOnly = env.sb_ro == 1
    mount.idMapping = env.idmap.map(Self.mapping)
    let sysctl = (env.sysctl ?? []) + [0, 0, 0, 0]
    var facts = AccessFacts(
      mounts: [mount],
      sysctls: AccessFacts.Sysctls(
        protectedSymlinks: sysctl[0], protectedRegular: sysctl[1], protectedFIFOs: sysctl[2],
        protectedHardlinks: sysctl[3]))
    var indices: [String: Int] = [:]
    for node in tree {
      let index = facts.inodes.count
      var inode = Self.inode(node)
      if let device = inode.device {
        let letter = inode.kind == .characterDevice ? "c" : "b"
        inode.driverErrno = drivers["\(letter):\(device.major):\(device.minor)"]
          .map(Errno.init(rawValue:))
      }
      if node.path != "." {
        let slash = node.path.lastIndex(of: "/")
        let parent = indices[slash.map { String(node.path[..<$0]) } ?? "."] ?? 0
        let name = slash.map { String(node.path[$0...].dropFirst()) } ?? node.path
        inode.parent = parent
        facts.inodes[parent].entries.append(
          InodeFacts.Entry(name: PathBytes(name), found: .inode(index)))
      }
      inode.entriesAreComplete = true
      facts.inodes.append(inode)
      indices[node.path] = index
    }
    facts.deviceCgroup = env.devcg.map(Self.cgroup)
    if let layer = sub.ll {
      var allowed: [Int: LandlockRights] = [:]
      for (path, names) in layer.rules {
        if let index = indices[path] { allowed[index] = Self.rights(names) }
      }
      facts.landlock = [LandlockRuleset(handled: Self.rights(layer.handled), allowed: allowed)]
    }
    return facts
  }

  private static func inode(_ node: Node) -> InodeFacts {
    let parts = node.kind.split(separator: ":", maxSplits: 1).map(String.init)
    let kind: FileKind =
      switch parts[0] {
      case "d": .directory
      case "f": .regular
      case "p": .fifo
      case "s": .socket
      case "c": .characterDevice
      case "b": .blockDevice
      default: .symbolicLink
      }
    var inode = InodeFacts(kind: kind, mode: node.mode, uid: node.uid, gid: node.gid)
    if kind.isDevice {
      let numbers = parts[1].split(separator: ":").compactMap { UInt32($0) }
      inode.device = DeviceNumber(major: numbers[0], minor: numbers[1])
    }
    if kind == .symbolicLink { inode.target = PathBytes(parts[1]) }
    inode.acl = node.acl.map(acl)
    inode.isImmutable = node.attribute == "i"
    inode.isAppendOnly = node.attribute == "a"
    return inode
  }

  /// Parses `u::7,u:1002:4,g::5,m::7,o::0`, in this order.
  static func acl(_ text: String) -> AccessControlList {
    AccessControlList(
      text.split(separator: ",").map { entry in
        let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
        let id = UInt32(parts[1])
        let tag: AccessControlList.Tag =
          switch parts[0] {
          case "u": id == nil ? .owner : .user
          case "g": id == nil ? .owningGroup : .group
          case "m": .mask
          default: .other
          }
        let permissions = Permissions(rawValue: UInt8(parts[2]) ?? 0)
        return AccessControlList.Entry(
          tag, id: id ?? AccessControlList.Entry.undefinedID, permissions)
      })
  }

  private static func cgroup(_ lines: [String]) -> DeviceCgroup {
    DeviceCgroup(
      allowsByDefault: true,
      exceptions: lines.map { line in
        let parts = line.split(separator: " ")
        let numbers = parts[1].split(separator: ":").map { UInt32($0) }
        return DeviceCgroup.Exception(
          kind: parts[0] == "c" ? .characterDevice : .blockDevice, major: numbers[0],
          minor: numbers[1],
          access: Permissions(String(parts[2].filter { "rw".contains($0) })) ?? [])
      })
  }

  /// Parses a question token such as `o:rw+creat`, `f:rx+n`, `a:w`, `x`; see Oracle/common.py.
  package static func question(_ token: String) -> AccessQuestion? {
    if token == "x" { return .execute }
    if token.hasPrefix("=") {
      return operation(token.dropFirst()).map { .operation(OperationQuestion($0)) }
    }
    let parts = token.dropFirst(2).split(separator: "+").map(String.init)
    guard let first = parts.first else { return nil }
    switch token.prefix(2) {
    case "f:":
      return .faccessat2(Permissions(first) ?? [], followsLink: !parts.contains("n"))
    case "a:": return .access(Permissions(first) ?? [])
    case "o:":
      let modes: [String: OpenFlags] = [
        "r": .readOnly, "w": .writeOnly, "rw": .readWrite, "3": .checkOnly,
      ]
      let names: [String: OpenFlags] = [
        "trunc": .truncate, "app": .append, "noatime": .noAccessTime, "creat": .create,
        "excl": .exclusive, "dir": .directory, "nof": .noFollow, "path": .path,
        "tmp": .temporaryFile,
      ]
      guard var flags = modes[first] else { return nil }
      for part in parts.dropFirst() {
        guard let flag = names[part] else { return nil }
        flags.formUnion(flag)
      }
      return .open(flags)
    default: return nil
    }
  }
}

extension OracleCase {
  /// Parses an operation: `unlink`, `rename B/u`, `chown 0:44`.
  private static func operation(_ token: Substring) -> FileOperation? {
    let parts = token.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    let to = parts.count > 1 ? String(parts[1]) : ""
    switch parts[0] {
    case "create": return .create
    case "mkdir": return .makeDirectory
    case "mkfifo": return .makeNode(.fifo)
    case "mknod": return .makeNode(.characterDevice)
    case "symlink": return .makeLink
    case "link": return .link(to: PathBytes(to))
    case "unlink": return .unlink
    case "rmdir": return .removeDirectory
    case "rename": return .rename(to: PathBytes(to))
    case "chmod": return .changeMode
    case "chown":
      let ids = to.split(separator: ":", omittingEmptySubsequences: false).map { UInt32($0) }
      return .changeOwner(uid: ids[0], gid: ids[1])
    case "touch": return .touch
    case "utimes": return .setTimes
    case "truncate": return .truncate
    case "chdir": return .changeDirectory
    case "setxattr": return .setAttribute
    case "connect": return .connect
    default: return nil
    }
  }
}
