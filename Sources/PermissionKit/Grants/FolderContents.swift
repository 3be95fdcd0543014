/// Lists everything in a directory, for grants that include the contents.
struct FolderContents {
  let system: any System

  /// A file or directory below a resource, with its inode at the time of the listing.
  struct Found {
    var resource: Resource
    var identity: InodeIdentity
    /// Whether the file is this process's own, and this process is not root.
    var isOwn: Bool
  }

  /// Everything in a directory.
  struct Listing {
    /// The files and directories, in no particular order; a file with several names once.
    var found: [Found] = []
    /// The files with hard links elsewhere, which are not in `found`: the owner of the directory may have linked somebody
    /// else's file there.
    var linked: [PathBytes] = []
  }

  /// Returns the files and directories below a resource, with the permissions that each needs.
  ///
  /// Skips symbolic links, special files and other file systems. A file with several names is looked for again if
  /// somebody changes it meanwhile, because a name that is moved within the directory could be counted twice.
  ///
  /// - Parameter resource: A directory.
  /// - Returns: What is there.
  /// - Throws: If a directory cannot be listed.
  func resources(below resource: Resource) throws(PermissionError) -> Listing {
    for _ in 0..<Self.tries {
      let (listing, isStill) = try look(below: resource)
      if isStill { return listing }
      _ = try? system.poll([], timeout: Self.tick)
    }
    return try look(below: resource).listing
  }

  /// How often files that somebody else changes are looked for again.
  private static let tries = 3
  /// The time after which a change has another ctime, in milliseconds.
  private static let tick: Int32 = 20

  /// A file with several names.
  private struct Names {
    let first: PathBytes
    /// When the inode changed last: rename(2), link(2) and unlink(2) count.
    let changed: Int64?
    var unseen: Int
    var isStill: Bool

    mutating func see(_ status: StatusFields) {
      unseen -= 1
      isStill = isStill && changed == status.changed
    }
  }

  private func look(
    below resource: Resource
  ) throws(PermissionError) -> (listing: Listing, isStill: Bool) {
    var listing = Listing()
    let start = (system.realtime() - Int64(Self.tick) * 1_000) * 1_000
    var names: [InodeIdentity: Names] = [:]
    var folders = [resource.path]
    var path = resource.path
    do throws(Errno) {
      let top = try system.status(of: path)
      let own = try system.credentials().user.fileSystem
      while let folder = folders.popLast() {
        path = folder
        for name in try system.names(in: folder) {
          path = folder.appending(name)
          let descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
          defer { system.close(descriptor) }
          let status = try system.statx(descriptor)
          // Lower files of overlayfs have another number than its folders.
          guard status.mount == top.mount, let kind = status.kind,
            kind == .regular || kind == .directory && status.fileSystem == top.fileSystem
          else { continue }
          let identity = InodeIdentity(status)
          if kind == .regular, status.links > 1 {
            if names[identity]?.see(status) != nil { continue }
            names[identity] = Names(
              first: path, changed: status.changed, unseen: Int(status.links) - 1,
              isStill: status.changed.map { $0 < start } ?? false)
          }
          var one = resource
          one.path = path
          one.kind = kind
          one.lesserNeed = nil
          if kind == .regular { one.need.remove(.execute) }
          if kind == .directory { folders.append(path) }
          listing.found.append(
            Found(resource: one, identity: identity, isOwn: own != 0 && status.uid == own))
        }
      }
    } catch .EMFILE {
      throw .tooManyFiles
    } catch {
      throw PermissionError(
        .changeFailed,
        "\(path) cannot be read, so \(resource.path) cannot be granted with all its contents",
        path: path, call: "open", errno: error)
    }
    listing.found.removeAll { found in
      guard !found.isOwn, let name = names[found.identity], name.unseen > 0 || !name.isStill else {
        return false
      }
      listing.linked.append(name.first)
      return true
    }
    return (listing, names.values.allSatisfy { $0.isStill || $0.unseen > 0 })
  }
}

extension FolderContents.Listing {
  /// The warning about files that are left out; nil if none is.
  var warning: String? {
    guard let first = linked.min(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) else {
      return nil
    }
    let others = linked.count - 1
    let more = others > 0 ? " and \(others.grouped) more have" : " has"
    return
      "\(first)\(more) hard links elsewhere, and is left out; to give it by all its names, request the file itself"
  }
}

extension PermissionError {
  /// The error for a folder with more files than this process may open.
  static var tooManyFiles: PermissionError {
    PermissionError(
      .changeFailed, "the folder contains more files than one process may open", call: "open",
      errno: .EMFILE, advice: "raise the limit with ulimit -n")
  }
}
