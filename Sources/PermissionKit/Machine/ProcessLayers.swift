/// The layers that may refuse another process, in addition to its credentials, root and mounts, as far as
/// /proc and the kernel show them.
///
/// The rules of a layer cannot be read from outside, and Landlock is not visible at all.
package struct ProcessLayers {
  let system: any System
  let process: Int32

  /// Creates a reader of the layers of a process.
  package init(_ system: any System, _ process: Int32) {
    self.system = system
    self.process = process
  }

  /// Whether the cgroup of the process may refuse a device that mode and ACL grant.
  package var mayRefuseDevices: Bool { deviceRules("", .read) != nil }

  /// Returns what is known about the device rules of the process's cgroup; nil if it has none.
  func deviceRules(_ path: PathBytes, _ need: Permissions) -> [String]? {
    let theirs = system.cgroups(of: process)
    if theirs.isEmpty { return ["not visible: /proc/\(process)/cgroup"] }
    // Of the same cgroup this process knows the answer: devcgroup_inode_permission() is asked by
    // faccessat2(2), too.
    let inside = PathBytes("/proc/\(process)/root").appending(path)
    if path.isAbsolute, theirs == system.cgroups(of: nil),
      (try? system.faccessat2(inside, need)) != nil
    {
      return nil
    }
    var evidence: [String] = []
    for group in theirs {
      if group.isOfVersion1 {
        // What is listed completely is among the facts.
        if group.path == "/" || rules(group) != nil { continue }
        evidence.append("cgroup devices:\(group.path)")
      } else {
        switch programs(group) {
        case 0: continue
        case let count?:
          evidence.append("cgroup \(group.path): \(count) device program\(count == 1 ? "" : "s")")
        case nil: evidence.append("cgroup \(group.path): only root can ask for its device programs")
        }
      }
    }
    return evidence.isEmpty ? nil : evidence
  }

  /// The rules of the process's cgroup of version 1; nil if it has none, or does not show all of them.
  package var deviceCgroup: DeviceCgroup? {
    system.cgroups(of: process).first(where: \.isOfVersion1).flatMap(rules)
  }

  private func rules(_ group: Cgroup) -> DeviceCgroup? {
    let list = group.folders[0].appending("devices.list")
    return (try? system.contents(of: list, limit: 1 << 20)).flatMap { DeviceCgroup(list: $0) }
  }

  /// Returns the number of device programs that apply to a cgroup of version 2; nil if unknown.
  private func programs(_ group: Cgroup) -> Int? {
    for path in group.folders {
      guard
        let folder = try? system.openat(.currentDirectory, path, [.readOnly, .directory], mode: 0)
      else { continue }
      defer { system.close(folder) }
      return try? system.devicePrograms(folder)
    }
    return nil
  }
}
