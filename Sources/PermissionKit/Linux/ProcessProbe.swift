/// The answer of a child that joined another process, see `System.enter`.
@_spi(SystemCalls) public enum ProcessProbe: Hashable, Sendable {
  /// The steps by which the child joins the process.
  public enum Step: Int32, Hashable, Sendable {
    /// The cgroup, see cgroups(7).
    case cgroup = 1
    /// The namespaces, see setns(2).
    case namespaces
    /// The root directory and the working directory.
    case root
    /// The user and group ids.
    case ids
    /// The capabilities.
    case capabilities

    /// The step for people: `the cgroup`.
    package var words: String {
      switch self {
      case .cgroup: "the cgroup"
      case .namespaces: "the namespaces"
      case .root: "the root directory"
      case .ids: "the ids"
      case .capabilities: "the capabilities"
      }
    }
  }

  /// The errno of the open, if it was made, and that of faccessat2(2); nil if access was granted.
  case answered(opened: Errno?, accessed: Errno?)
  /// The step that failed, with its errno.
  case failed(Step, Errno)
}

/// A cgroup of a process that can have rules for devices, see cgroups(7).
package struct Cgroup: Hashable, Sendable {
  /// Whether the cgroup is of version 1, with the controller `devices`.
  package let isOfVersion1: Bool
  /// The path below the root of its hierarchy: `/user.slice`.
  package let path: PathBytes

  /// The places where the folder of the cgroup can be.
  package var folders: [PathBytes] {
    let roots: [PathBytes] =
      isOfVersion1 ? ["/sys/fs/cgroup/devices"] : ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
    return roots.map { path == "/" ? $0 : $0.appending(PathBytes(Array(path.bytes.dropFirst()))) }
  }
}

extension System {
  /// Returns the cgroups of a process that can have rules for devices.
  ///
  /// - Parameter process: The process; nil for this process.
  /// - Returns: The cgroups; empty if they cannot be read.
  package func cgroups(of process: Int32?) -> [Cgroup] {
    let path = PathBytes("/proc/\(process.map(String.init) ?? "self")/cgroup")
    guard let bytes = try? contents(of: path) else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(
        separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return nil }
      let controllers = fields[1].split(separator: UInt8(ascii: ","))
      let hasDevices = controllers.contains { $0.elementsEqual("devices".utf8) }
      guard hasDevices || fields[1].isEmpty else { return nil }
      return Cgroup(isOfVersion1: hasDevices, path: PathBytes(Array(fields[2])))
    }
  }
}
