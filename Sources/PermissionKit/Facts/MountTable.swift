/// The lines of /proc/PID/mountinfo, each parsed when it is used.
///
/// For the format see `show_mountinfo()` in fs/proc_namespace.c; `mangle()` writes the octal
/// escapes.
package struct MountTable: Hashable, Sendable {
  /// The mounts of the calling thread, which may have left those of its process.
  package static let own: PathBytes = "/proc/thread-self/mountinfo"

  /// Returns the mountinfo file of a process; nil means the calling thread.
  static func path(of process: Int32?) -> PathBytes {
    process.map { PathBytes("/proc/\($0)/mountinfo") } ?? own
  }

  private let bytes: [UInt8]
  private var lines: [Line] = []

  private struct Line: Hashable {
    let id: UInt64
    let range: Range<Int>
    /// Whether a server, a daemon or an automount is behind the mount.
    var mayBlock = false
  }

  /// Whether examining some mount may wait for a server or daemon, or mount something.
  private(set) var hasBlocking = false

  /// Creates a table from a mountinfo file; a line is parsed when it is used.
  ///
  /// - Parameter bytes: The whole file.
  package init(mountinfo bytes: [UInt8]) {
    self.bytes = bytes
    lines.reserveCapacity(32)
    var start = 0
    while start < bytes.count {
      let (type, end) = scan(start)
      if let id = number(start) {
        let mayBlock = Self.mayBlock(bytes[type..<end])
        lines.append(Line(id: id, range: start..<end, mayBlock: mayBlock))
        if mayBlock { hasBlocking = true }
      }
      start = end + 1
    }
  }

  /// Returns the start of the type of the file system, after ` - `, and the end of the line.
  private func scan(_ start: Int) -> (type: Int, end: Int) {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      var end = start
      var type = start
      while end < bytes.count, unsafe bytes[end] != UInt8(ascii: "\n") {
        if unsafe bytes[end] == UInt8(ascii: "-"), end > start, end + 1 < bytes.count,
          unsafe bytes[end - 1] == UInt8(ascii: " "), unsafe bytes[end + 1] == UInt8(ascii: " ")
        {
          type = end + 2
        }
        end += 1
      }
      return (min(type, end), end)
    }
  }

  /// Returns whether the file system of a line, from its type on, may block.
  private static func mayBlock(_ line: ArraySlice<UInt8>) -> Bool {
    let type = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ".") }
    return blocking.contains { $0.count == type.count && $0.first == type.first && type == $0[...] }
  }

  private static let blocking: [[UInt8]] = [
    "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse", "fuseblk", "ceph", "afs", "coda",
    "lustre", "orangefs", "autofs", "vboxsf",
  ].map { Array($0.utf8) }

  /// Returns the mounts on a mount point; the last one hides the ones before.
  func mounts(at point: PathBytes) -> [MountFacts] {
    var found: [MountFacts] = []
    for line in lines {
      // Most lines are not parsed: only a point with an escape may be another than it looks.
      var fields = parts(line.range, by: " ")
      for _ in 0..<4 { _ = fields.next() }
      guard let range = fields.next(),
        range.count == point.bytes.count || bytes[range].contains(UInt8(ascii: "\\")),
        let mount = mount(line), mount.point == point
      else { continue }
      found.append(mount)
    }
    return found
  }

  /// The part of a file system that a mount shows.
  struct Origin {
    /// The number of the file system: `8:1`.
    let device: [UInt8]
    /// The path on the file system that the mount point stands for.
    let path: PathBytes
    /// The source of the mount, a device of the machine or a name: `/dev/sda1`, `tmpfs`.
    let source: PathBytes
  }

  /// Returns the path on its file system that the last mount at a mount point shows, and the type
  /// of the file system.
  func shown(at point: PathBytes) -> (path: PathBytes, fileSystem: String)? {
    guard let last = mounts(at: point).last, let origin = origin(of: last) else { return nil }
    return (origin.path, last.fileSystem)
  }

  /// Returns what a mount shows; nil if the file does not list it.
  func origin(of mount: MountFacts) -> Origin? {
    lines.first { $0.id == mount.id }.flatMap(origin)
  }

  /// The part of a file system that each mount shows, in the order of mountinfo.
  var origins: [Origin] { lines.compactMap(origin) }

  private func origin(_ line: Line) -> Origin? {
    var fields = parts(line.range, by: " ")
    for _ in 0..<2 { _ = fields.next() }
    guard let device = fields.next(), let path = fields.next() else { return nil }
    while let field = fields.next() {
      guard holds(field, "-") else { continue }
      guard fields.next() != nil, let source = fields.next() else { return nil }
      return Origin(
        device: Array(bytes[device]), path: PathBytes(unescaped(path)),
        source: PathBytes(unescaped(source)))
    }
    return nil
  }

  /// Which mounts hide which other ones.
  var tree: MountTree {
    MountTree(
      lines.compactMap { line in
        var fields = parts(line.range, by: " ")
        _ = fields.next()
        guard let parent = fields.next().flatMap({ number($0.lowerBound) }),
          let device = fields.next(), let mount = mount(line)
        else { return nil }
        return MountTree.Entry(mount: mount, parent: parent, device: Array(bytes[device]))
      })
  }

  /// The mounts that may block, and the automounts.
  var blockingMounts: [MountFacts] { lines.filter(\.mayBlock).compactMap(mount) }

  /// Returns the mount that a path lies on, if no link is on the way; nil if there is none.
  func mount(of path: PathBytes) -> MountFacts? {
    var found: MountFacts?
    for line in lines {
      guard let mount = mount(line), path == mount.point || path.isBelow(mount.point) else {
        continue
      }
      if mount.point.bytes.count >= found?.point.bytes.count ?? 0 { found = mount }
    }
    return found
  }

  /// Whether the file was empty.
  package var isEmpty: Bool { bytes.isEmpty }

  /// Every mount, in the order of the file; a malformed line is left out.
  package var mounts: [MountFacts] { lines.compactMap(mount) }

  /// The mount with this id; nil if the file does not list it.
  package subscript(id id: UInt64) -> MountFacts? {
    for line in lines where line.id == id {
      if let mount = mount(line) { return mount }
    }
    return nil
  }

  /// Returns the number before the first blank.
  ///
  /// Nil if there is no such number, if the number has leading zeros or if it exceeds 64 bits.
  private func number(_ start: Int) -> UInt64? {
    var value: UInt64 = 0
    var index = start
    while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
      let (product, isLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = product.addingReportingOverflow(UInt64(bytes[index] & 15))
      if isLarge || isLarger || value == 0 && index > start { return nil }
      value = sum
      index += 1
    }
    return index > start && index < bytes.count && bytes[index] == UInt8(ascii: " ") ? value : nil
  }

  /// The parts of a range of the bytes between separators, including empty parts.
  private struct Parts: IteratorProtocol {
    let bytes: [UInt8]
    let separator: UInt8
    var rest: Range<Int>?

    mutating func next() -> Range<Int>? {
      guard let range = rest else { return nil }
      var end = range.lowerBound
      while end < range.upperBound, bytes[end] != separator { end += 1 }
      rest = end < range.upperBound ? end + 1..<range.upperBound : nil
      return range.lowerBound..<end
    }
  }

  private func parts(_ range: Range<Int>, by separator: Unicode.Scalar) -> Parts {
    Parts(bytes: bytes, separator: UInt8(ascii: separator), rest: range)
  }

  private func mount(_ line: Line) -> MountFacts? {
    // id parent major:minor root point options [optional …] - type source superblock
    var fields = parts(line.range, by: " ")
    for _ in 0..<3 { _ = fields.next() }
    guard let path = fields.next(), let point = fields.next(), let flags = fields.next()
    else { return nil }
    repeat {
      guard let field = fields.next() else { return nil }
      if holds(field, "-") { break }
    } while true
    guard let type = fields.next(), fields.next() != nil, let superblock = fields.next()
    else { return nil }

    var facts = MountFacts(
      id: line.id, fileSystem: String(decoding: unescaped(type), as: UTF8.self),
      point: PathBytes(unescaped(point)),
      superblockOptions: String(decoding: unescaped(superblock), as: UTF8.self))
    facts.isPart = !holds(path, "/")
    var options = parts(superblock, by: ",")
    while let option = options.next() {
      if holds(option, "ro") { facts.superblockIsReadOnly = true }
    }
    options = parts(flags, by: ",")
    while let option = options.next() {
      if holds(option, "ro") {
        facts.flags.insert(.readOnly)
      } else if holds(option, "nodev") {
        facts.flags.insert(.noDevices)
      } else if holds(option, "noexec") {
        facts.flags.insert(.noExecute)
      } else if holds(option, "nosymfollow") {
        facts.flags.insert(.noSymbolicLinks)
      } else if holds(option, "idmapped") {
        facts.idMappingIsUnreadable = true
      }
    }
    return facts
  }

  private func holds(_ range: Range<Int>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      guard range.count == text.count else { return false }
      for index in text.indices where unsafe bytes[range.lowerBound + index] != text[index] {
        return false
      }
      return true
    }
  }

  private func unescaped(_ range: Range<Int>) -> [UInt8] {
    for index in range where bytes[index] == UInt8(ascii: "\\") {
      return Self.unescape(bytes[range])
    }
    return Array(bytes[range])
  }

  /// Replaces octal escapes such as `\040` by their bytes.
  static func unescape(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        result.append(value)
        rest = rest.dropFirst(3)
      } else {
        result.append(byte)
      }
    }
    return result
  }
}

extension MountFacts {
  /// Creates facts from fstatfs(2): ST_… flags of sys/statvfs.h, a magic number of linux/magic.h.
  ///
  /// fstatfs(2) does not report whether the mount or its superblock is read-only; the mount is
  /// assumed. Options, and whether the mount is idmapped, remain unknown.
  init(_ fields: FileSystemFields, id: UInt64) {
    self.init(id: id, fileSystem: Self.types[fields.type] ?? "", point: "")
    if fields.flags & 1 != 0 { self.flags.insert(.readOnly) }
    if fields.flags & 4 != 0 { self.flags.insert(.noDevices) }
    if fields.flags & 8 != 0 { self.flags.insert(.noExecute) }
    if fields.flags & 0x2000 != 0 { self.flags.insert(.noSymbolicLinks) }
    idMappingIsUnreadable = true
    isUnreadable = fileSystem.isEmpty || !rules.isDecidedByKernel || fileSystem == "overlay"
  }

  /// Types by their numbers in linux/magic.h; devtmpfs has that of tmpfs.
  private static let types: [UInt64: String] = [
    0x6969: "nfs", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb3", 0x0102_1997: "9p",
    0x00c3_6400: "ceph", 0x6573_5546: "fuse", 0x9fa0: "proc", 0x6265_6572: "sysfs",
    0x0102_1994: "tmpfs", 0x8584_58f6: "ramfs", 0xef53: "ext4", 0x5846_5342: "xfs",
    0x9123_683e: "btrfs", 0xf2f5_2010: "f2fs", 0x794c_7630: "overlay", 0x6e73_6673: "nsfs",
    0x1cd1: "devpts", 0x0187: "autofs", 0x6367_7270: "cgroup2", 0x27_e0eb: "cgroup",
    0x6462_6720: "debugfs", 0x7472_6163: "tracefs", 0x7363_6673: "securityfs",
    0x6265_6570: "configfs", 0xcafe_4a11: "bpf", 0x9584_58f6: "hugetlbfs",
    0x1980_0202: "mqueue", 0x7371_7368: "squashfs", 0x9660: "iso9660", 0xe0f5_e1e2: "erofs",
    0x4d44: "vfat", 0x2011_bab0: "exfat", 0x5049_5045: "pipefs", 0x534f_434b: "sockfs",
    0x0904_1934: "anon_inodefs",
  ]
}
