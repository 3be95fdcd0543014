/// Where the inode of a grant is now.
enum InodePlace {
  /// It is open, with O_PATH; it may have another path.
  case found(Descriptor)
  /// The kernel shows that the inode no longer exists; its path may name another file.
  case deleted(isReplaced: Bool)
  /// Unknown, for this reason.
  case missing(String)
}

/// Finds the inodes of grants by their handles, and by their paths only where that fails.
///
/// Other users may own the folders of a path, so a file at the path proves nothing: an error only
/// means that the path now names another file, and opening it never waits.
struct InodeFinder {
  private let system: any System
  /// The file systems that were searched for: an open folder of the file system, or why there is none.
  private var folders: [(anchor: InodeAnchor, device: DeviceNumber, found: Search)] = []

  private enum Search {
    /// A folder; whether the file system has the device number of the grant, so that it is no copy.
    case folder(Descriptor, isSame: Bool)
    case notMounted
    /// Only on other devices.
    case copied
    case tooManyMounts
  }

  /// The mounts, read here once, and not as the check before remembers them.
  private var table: MountTable?
  private var tree: MountTree?
  /// The file systems that were looked at, by device number; each subvolume of btrfs has an id of its own.
  private var known: [[UInt8]: FileSystem] = [:]
  /// The microseconds that all searches may take from now on, however many mounts there are.
  private var left: Int64 = 1_000_000

  private struct FileSystem {
    let type: UInt64
    let id: UInt64
    let device: DeviceNumber?

    /// Whether an inode with this anchor and device number is in it.
    func has(_ anchor: InodeAnchor, _ number: DeviceNumber) -> Bool {
      // Not every file system has an id, and some ids are those of the device.
      type == anchor.type && id == anchor.fileSystem
        && (anchor.fileSystem != 0 || device == number)
    }
  }

  private let devices: BlockDevices

  init(_ system: any System) {
    self.system = system
    devices = BlockDevices(system)
  }

  /// Whether a file system is on the device of the grant, and so no copy; nil if that is unknown.
  private func isSame(_ device: DeviceNumber?, as anchor: InodeAnchor) -> Bool? {
    guard let known = anchor.device, let present = device.flatMap(devices.identifier) else {
      return nil
    }
    return known == present
  }

  func close() {
    for case .folder(let folder, _) in folders.map(\.found) { system.close(folder) }
  }

  /// Finds an inode.
  mutating func find(_ grant: InodeGrant) -> InodePlace {
    var reason: String?
    var isDeleted = false
    if let anchor = grant.anchor {
      isDeleted = anchor.isOfEarlierBoot(system)
      if let handle = anchor.handle, !isDeleted {
        do throws(Errno) {
          switch search(grant, anchor) {
          case .folder(let folder, let isSame):
            do throws(Errno) {
              let descriptor = try system.open_by_handle_at(folder, handle)
              if grant.isInode(descriptor, system) { return .found(descriptor) }
              system.close(descriptor)
            } catch .ESTALE where !isSame {
              // A copy, such as a snapshot or an older image, has the id of the original.
              reason = Self.copied
            }
          case .copied: reason = Self.copied
          case .notMounted: reason = "the file system of \(grant.path) is not mounted here"
          case .tooManyMounts:
            reason =
              "the file system of \(grant.path) was not found in time, because there are so many mounts"
          }
        } catch .ESTALE {
          isDeleted = true
        } catch {
          reason = "only root can find the file elsewhere (\(error))"
        }
      } else {
        reason = "its file system has no file handles, so a file that was moved cannot be found"
      }
    } else {
      reason = "the entry is from an old journal that does not identify the file"
    }
    do throws(Errno) {
      let descriptor = try system.open(
        grant.path, [.path, .noFollow], through: [], within: PathAvailability.limit)
      if grant.isInode(descriptor, system) {
        let device = (try? system.statx(descriptor))?.fileSystem
        if let anchor = grant.anchor, isSame(device, as: anchor) == false {
          system.close(descriptor)
          return .missing(words(grant, "is on another device", reason))
        }
        if !isOnIdmappedMount(descriptor) { return .found(descriptor) }
        system.close(descriptor)
        return .missing(
          "\(grant.path) is on an idmapped mount, which shows other users than have the access")
      }
      system.close(descriptor)
      return isDeleted
        ? .deleted(isReplaced: true) : .missing(words(grant, "now names another file", reason))
    } catch {
      let isGone = error == .ENOENT || error == .ENOTDIR
      let what = isGone ? "does not exist now" : "cannot be read (\(error))"
      return isDeleted
        ? .deleted(isReplaced: !isGone) : .missing(words(grant, what, reason))
    }
  }

  // MARK: - Copies

  /// Opens the files that took the place of a grant's inode together with its ACL, as `sed -i` and editors make them.
  ///
  /// - Parameters:
  ///   - grant: The grant.
  ///   - leases: What the journal remembers of the ACL.
  ///   - own: Returns the leases of another file; nil if it has none.
  ///   - start: When the grant began, in nanoseconds since 1970: an older file has its entries from somebody else.
  /// - Returns: The open files, and whether each may be changed: not one of another owner, or with other hard links,
  ///   which somebody may have put there.
  mutating func copies(
    inPlaceOf grant: InodeGrant, _ leases: OpenLeases,
    own: (Descriptor, InodeIdentity) -> OpenLeases?, since start: Int64
  ) -> [(file: Descriptor, isPlain: Bool)] {
    var copies: [(file: Descriptor, isPlain: Bool)] = []
    var seen: Set<InodeIdentity> = []
    for descriptor in openPlaces(of: grant) {
      if let status = try? system.statx(descriptor), seen.insert(InodeIdentity(status)).inserted,
        isCopy(descriptor, status, grant, leases, own, since: start)
      {
        let isOwn = leases.record.owner == nil || leases.record.owner == status.uid
        copies.append((descriptor, isOwn && (status.kind == .directory || status.links == 1)))
      } else {
        system.close(descriptor)
      }
    }
    return copies
  }

  private mutating func isCopy(
    _ descriptor: Descriptor, _ status: StatusFields, _ grant: InodeGrant, _ leases: OpenLeases,
    _ own: (Descriptor, InodeIdentity) -> OpenLeases?, since start: Int64
  ) -> Bool {
    let file = InodeIdentity(status)
    guard status.birth ?? .max >= start, file.type == grant.identity.type,
      file.device == grant.identity.device, !grant.isInode(descriptor, system),
      !isOnIdmappedMount(descriptor),
      let now = try? InodeGrant.state(grant.attribute, of: descriptor, system)
    else { return false }
    let (item, record) = (grant.lease.item, leases.record)
    let (list, other) = (now.list(grant.attribute), own(descriptor, file))
    // Bits are equal by chance; an entry of the user is not.
    guard item.tag == .user else {
      return record.own.contains(list) && list?[item] != record.base?[item]
    }
    let copied = leases.values(of: item).subtracting([record.base?[item]].compactMap(\.self))
    if let value = other?.record.base?[item], copied.contains(value) { return true }
    // A lease of the file itself gives the entry.
    if other?.grants.contains(where: { $0.grant.lease.item == item }) == true { return false }
    return list?[item].map(copied.contains) ?? false
  }

  /// Opens what has the name of a grant's inode now: in the folder that it was in, wherever that is, and at its path.
  private mutating func openPlaces(of grant: InodeGrant) -> [Descriptor] {
    var places: [Descriptor] = []
    if let anchor = grant.anchor, let folder = anchor.folder, let name = grant.path.components.last,
      case .folder(let root, _) = search(grant, anchor),
      let folder = try? system.open_by_handle_at(root, folder)
    {
      if let place = try? system.openat(folder, name, [.path, .noFollow], mode: 0) {
        places.append(place)
      }
      system.close(folder)
    }
    let place =
      mountTable().hasBlocking
      ? try? system.open(
        grant.path, [.path, .noFollow], through: [], within: PathAvailability.limit)
      : try? system.openat(.currentDirectory, grant.path, [.path, .noFollow], mode: 0)
    return places + (place.map { [$0] } ?? [])
  }

  private mutating func isOnIdmappedMount(_ descriptor: Descriptor) -> Bool {
    guard let id = (try? system.statx(descriptor))?.mount else { return false }
    return mountTable()[id: id]?.idMappingIsUnreadable == true
  }

  private func words(_ grant: InodeGrant, _ what: String, _ reason: String?) -> String {
    "\(grant.path) \(what)\(reason.map { ", and \($0)" } ?? "")"
  }

  private static let copied =
    "the file is not on the file system that is mounted, which may be a copy"

  // MARK: - File systems

  /// Searches for the file system of a grant, once.
  private mutating func search(_ grant: InodeGrant, _ anchor: InodeAnchor) -> Search {
    let device = grant.identity.fileSystem
    if let known = folders.first(where: {
      $0.anchor.type == anchor.type && $0.anchor.fileSystem == anchor.fileSystem
        && $0.device == device
    }) {
      return known.found
    }
    let start = system.monotonic()
    let found = search(device, grant.path, anchor, until: start + left)
    left -= system.monotonic() - start
    folders.append((anchor, device, found))
    return found
  }

  private mutating func mountTable() -> MountTable {
    if let table { return table }
    let bytes = (try? system.contents(of: MountTable.own, limit: 1 << 26)) ?? []
    let read = MountTable(mountinfo: bytes)
    table = read
    return read
  }

  /// Opens a folder of the best local mount of a file system.
  ///
  /// The order: mounts with the same device number, since a copy of the file system may be mounted,
  /// too; then the mount that the path is on, since files of btrfs have other device numbers; then
  /// the others. Among them, mounts that can be written come first, then those that no other mount covers. An
  /// idmapped mount shows other owners and other entries than were granted, so it is never used.
  private mutating func search(
    _ device: DeviceNumber, _ path: PathBytes, _ anchor: InodeAnchor, until end: Int64
  ) -> Search {
    let table = mountTable()
    var tree = self.tree ?? table.tree
    let number = Array("\(device.major):\(device.minor)".utf8)
    let pathMount = table.mount(of: path)?.id
    var places: [[(entry: MountTree.Entry, isCovered: Bool)]] = Array(repeating: [], count: 12)
    for entry in tree.entries {
      let mount = entry.mount
      guard mount.rules.isDecidedByKernel, mount.fileSystem != "autofs",
        !mount.idMappingIsUnreadable
      else { continue }
      if let other = known[entry.device], !other.has(anchor, device) { continue }
      let group = entry.device == number ? 0 : mount.id == pathMount ? 1 : 2
      let isReadOnly = mount.flags.contains(.readOnly) || mount.superblockIsReadOnly
      let isCovered = !tree.isVisible(mount)
      places[group * 4 + (isReadOnly ? 2 : 0) + (isCovered ? 1 : 0)].append((entry, isCovered))
    }
    self.tree = tree
    // Whoever has spent the time keeps nobody from the plain mount of the grant's own file system.
    let plain = places[0].count
    var hasCopy = false
    for (index, (entry, isCovered)) in places.joined().enumerated() {
      if let other = known[entry.device], !other.has(anchor, device) { continue }
      if index >= plain, system.monotonic() > end { return .tooManyMounts }
      let covers = isCovered ? tree.covers(of: entry.mount) : []
      guard let folder = try? system.openRoot(of: entry.mount, through: covers) else { continue }
      if let fields = try? system.fstatfs(folder) {
        let own = (try? system.statx(folder))?.fileSystem
        let found = FileSystem(type: fields.type, id: fields.id, device: own)
        if found.has(anchor, device) {
          let isSame = isSame(own, as: anchor)
          if isSame != false {
            return .folder(
              folder, isSame: isSame ?? (own == device || entry.device == number))
          }
          hasCopy = true
        }
        if entry.mount.fileSystem != "btrfs" { known[entry.device] = found }
      }
      system.close(folder)
    }
    return hasCopy ? .copied : .notMounted
  }
}

extension System {
  /// Opens the root folder of a local mount for reading, without waiting for anything on the path.
  ///
  /// - Parameters:
  ///   - mount: The mount.
  ///   - covers: What covers it, see `open(_:_:through:within:)`.
  /// - Returns: The open folder.
  /// - Throws: ESTALE if another mount is there.
  func openRoot(of mount: MountFacts, through covers: [PathBytes]) throws(Errno) -> Descriptor {
    let isCovered = !covers.isEmpty
    let flags: OpenFlags = isCovered ? [.readOnly, .directory] : [.path, .directory]
    let root = try open(mount.point, flags, through: covers, within: PathAvailability.limit)
    // Mounts have other ids in the process that looks through covers.
    if isCovered { return root }
    defer { close(root) }
    guard try statx(root).mount == mount.id else { throw .ESTALE }
    return try openat(root, ".", [.readOnly, .directory], mode: 0)
  }
}

extension InodeAnchor {
  /// Whether the inode was in memory, and ended with an earlier boot.
  fileprivate func isOfEarlierBoot(_ system: any System) -> Bool {
    guard isInMemory, let boot, let now = Self.boot(system) else { return false }
    return boot != now
  }
}
