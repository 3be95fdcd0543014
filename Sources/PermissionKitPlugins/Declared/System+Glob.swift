@_spi(SystemCalls) package import PermissionKit

/// The result of glob(3).
package struct Globbed: Sendable {
  /// The paths that match, in order.
  package var paths: [PathBytes] = []
  /// The folders that could not be listed, or only by waiting for a server.
  package var unreadable: [(path: PathBytes, errno: Errno)] = []
  /// Whether there are more paths than the limit allows.
  package var isCut = false
}

extension System {
  /// Returns the paths that match a pattern, see glob(3) and `Glob`.
  ///
  /// Folders behind a link, and folders on a mount that does not answer, are not listed.
  ///
  /// - Parameters:
  ///   - pattern: An absolute path whose components may be patterns.
  ///   - root: The folder that stands for `/`.
  ///   - limit: The most folders, and the most paths.
  /// - Returns: The paths, including the root. The last component exists if it is a pattern.
  package func glob(_ pattern: PathBytes, below root: PathBytes, limit: Int = 1024) -> Globbed {
    var result = Globbed()
    let machine = machine(below: root)
    var folders = [root]
    var isMatched = false
    for component in pattern.components {
      guard Glob.isPattern(component) else {
        folders = folders.map { $0.appending(component) }
        continue
      }
      var found: [PathBytes] = []
      for folder in folders {
        let names = machine.names(in: folder, component, followsLink: !isMatched, &result)
        found += names.prefix(limit - found.count).map(folder.appending)
        if found.count == limit {
          result.isCut = true
          break
        }
      }
      folders = found
      isMatched = true
    }
    result.paths = folders
    return result
  }

  /// Returns the names in a folder that match; none if there is no such folder.
  private func names(
    in folder: PathBytes, _ pattern: PathBytes, followsLink: Bool, _ result: inout Globbed
  ) -> [PathBytes] {
    do throws(Errno) {
      guard availability(of: folder) == .immediate else { throw .ETIMEDOUT }
      let flags: OpenFlags = followsLink ? [] : .noFollow
      let descriptor = try openat(
        .currentDirectory, folder, flags.union([.readOnly, .directory]), mode: 0)
      defer { close(descriptor) }
      return try getdents(descriptor)
        .filter { Glob.matches($0.bytes[...], pattern.bytes[...]) }.sorted()
    } catch .ENOENT {
    } catch .ENOTDIR {
    } catch .ELOOP {
    } catch {
      result.unreadable.append((folder, error))
    }
    return []
  }
}
