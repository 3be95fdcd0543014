import PermissionDocuments
@_spi(SystemCalls) import PermissionKit

/// Name, version and place of this tool.
enum Tool {
  static let name = "permcheck"
  static var version: String { Documents.toolVersion }

  /// Where sudo looks for programs, see `secure_path` in sudoers(5).
  private static let folders: [PathBytes] = [
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
  ]

  /// Returns the path of the running program; nil without /proc.
  static func executable(_ system: any System) -> PathBytes? {
    guard
      let link = try? system.openat(
        .currentDirectory, "/proc/self/exe", [.path, .noFollow], mode: 0)
    else { return nil }
    defer { system.close(link) }
    guard let path = try? system.readlinkat(link), path.isAbsolute else { return nil }
    return path
  }

  /// Returns the word that starts this program in a shell, also after sudo.
  ///
  /// It is the program's name where it is installed, else its path, if nobody else can put another
  /// program there.
  static func word(_ system: any System) -> PathBytes {
    let word = PathBytes(name)
    guard let path = executable(system), !folders.contains(where: { $0.appending(word) == path })
    else { return word }
    var place = path
    while true {
      guard isOurs(place, system) else { return word }
      if place == place.parent { return path }
      place = place.parent
    }
  }

  /// Returns whether only root and the caller can change the file at this path; in a sticky folder,
  /// whether the file is theirs.
  private static func isOurs(_ path: PathBytes, _ system: any System) -> Bool {
    guard let status = try? system.status(of: path), let ids = try? system.credentials() else {
      return false
    }
    return [0, ids.user.real].contains(status.uid)
      && (status.mode & 0o022 == 0 || status.kind == .directory && status.mode & 0o1000 != 0)
  }
}
