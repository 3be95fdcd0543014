/// Lists everything in a directory, for grants that include the contents.
struct FolderContents {
  let system: any System

  /// A file or directory below a resource, with its inode at the time of the listing.
  struct Found {
    var resource: Resource
    var identity: InodeIdentity
  }

  /// Returns the files and directories below a resource, with the permissions that each needs.
  ///
  /// Skips links, special files and other file systems.
  ///
  /// - Parameter resource: A directory.
  /// - Returns: The files and directories, in no particular order.
  /// - Throws: If a directory cannot be listed, or if a file has another hard link: the owner of the
  ///   directory may have linked somebody else's file here.
  func resources(below resource: Resource) throws(PermissionError) -> [Found] {
    var found: [Found] = []
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
          if kind == .regular, status.links > 1, own == 0 || status.uid != own {
            throw .EMLINK
          }
          var one = resource
          one.path = path
          one.kind = kind
          one.lesserNeed = nil
          if kind == .regular { one.need.remove(.execute) }
          if kind == .directory { folders.append(path) }
          found.append(Found(resource: one, identity: .init(status)))
        }
      }
    } catch .EMLINK {
      throw PermissionError(
        .changeFailed, "\(path) has another hard link, which would be granted too",
        path: path)
    } catch .EMFILE {
      throw .tooManyFiles
    } catch {
      throw PermissionError(
        .changeFailed,
        "\(path) cannot be read, so \(resource.path) cannot be granted with all its contents",
        path: path, call: "open", errno: error)
    }
    return found
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
