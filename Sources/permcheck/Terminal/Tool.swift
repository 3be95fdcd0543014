import PermissionKit

/// Name, version and place of this tool.
enum Tool {
  static let name = "permcheck"
  static let version = "0.1.0"

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

  /// Returns the word that starts this program in a shell, after sudo too: its name where it is
  /// installed, else its path.
  static func word(_ system: any System) -> PathBytes {
    guard let path = executable(system), !folders.contains(path.parent) else {
      return PathBytes(name)
    }
    return path
  }
}
