/// Adds a file of udev rules, see udev(7), that repeats ACL entries each time a node is set up.
package struct UdevRuleGrant: UndoableCommand {
  /// The folder for local udev rules.
  static let folder: PathBytes = "/etc/udev/rules.d"

  /// The file of the rule; its name must sort after 73-seat-late.rules, which resets the ACL.
  package var path: PathBytes
  /// The contents of the file.
  package var contents: String
  /// The ACL entries that the rule sets, as commands for the present nodes.
  package var entries: [InodeGrant]

  /// The change in one line.
  package var summary: String { "udev rule that repeats the grant when the device is set up" }
  /// The shell command that makes the same change.
  package var arguments: [PathBytes] {
    let lines = contents.parts(by: "\n").map { "'" + $0 + "'" }.joined(separator: " ")
    return ["sh", "-c", PathBytes("printf '%s\\n' \(lines) > \(path) && udevadm control --reload")]
  }
  /// Permanent: the rule lasts until somebody removes the file.
  package var persistence: Persistence { .permanent }

  private func failure(_ call: String, _ errno: Errno) -> PermissionError {
    PermissionError(
      .changeFailed, "\(path) cannot be written", path: path, call: call, errno: errno)
  }

  private func read(_ system: any System) throws(PermissionError) -> [UInt8]? {
    do throws(Errno) {
      return try system.contents(of: path)
    } catch .ENOENT {
      return nil
    } catch {
      throw failure("read", error)
    }
  }

  /// Returns whether the file exists with these contents.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    guard let bytes = try read(system) else { return .before }
    return bytes == Array(contents.utf8) ? .after : .neither
  }

  /// Writes a temporary file, renames it to its place, and makes udev reload its rules.
  package func execute(_ system: any System) throws(PermissionError) {
    if try read(system) != nil {
      throw PermissionError(
        .changeFailed, "\(path) already exists", path: path,
        advice: "check the file, and remove it if nobody needs it")
    }
    // udev reads only names that end in .rules.
    let temporary = PathBytes(path.bytes + Array(".new".utf8))
    var call = "open"
    do throws(Errno) {
      try? system.unlink(temporary)
      let file = try system.openat(
        .currentDirectory, temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o644)
      do throws(Errno) {
        defer { system.close(file) }
        call = "write"
        try system.writeAll(file, Array(contents.utf8))
        call = "fsync"
        try system.fsync(file)
        call = "rename"
        try system.rename(temporary, path)
      } catch {
        try? system.unlink(temporary)
        throw error
      }
    } catch {
      throw failure(call, error)
    }
    do throws(PermissionError) {
      try system.complete(["udevadm", "control", "--reload"])
    } catch {
      try? system.unlink(path)
      throw error
    }
  }

  /// Removes the file if nobody changed it, and the entries that udev set because of it.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    // A killed process may have left the temporary file, which udev does not read.
    try? system.unlink(PathBytes(path.bytes + Array(".new".utf8)))
    guard let bytes = try read(system) else { return nil }
    guard bytes == Array(contents.utf8) else {
      return "somebody else changed \(path) meanwhile, so it was not removed"
    }
    do throws(Errno) {
      try system.unlink(path)
    } catch {
      throw failure("unlink", error)
    }
    // The device may have another name now.
    let lines = contents.parts(by: "\n").filter { !$0.hasPrefix("#") }
    for (entry, line) in zip(entries, lines) {
      var paths = UdevMatch(rule: line)?.nodes(system).map(\.path) ?? []
      if !paths.contains(entry.path) { paths.append(entry.path) }
      for path in paths { try entry.removeFromNewNode(path, system) }
    }
    do throws(PermissionError) {
      try system.complete(["udevadm", "control", "--reload"])
    } catch {
      return "\(path) is removed, but udev did not reload its rules: \(error.message)"
    }
    return nil
  }
}

extension InodeGrant {
  /// Removes the entry that the rule set on a node that udev set up after the grant.
  fileprivate func removeFromNewNode(
    _ path: PathBytes, _ system: any System
  ) throws(PermissionError) {
    let descriptor: Descriptor
    let status: StatusFields
    do throws(Errno) {
      descriptor = try system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
    } catch .ENOENT {
      return
    } catch {
      throw failure("\(path) cannot be read", "open", error)
    }
    defer { system.close(descriptor) }
    do throws(Errno) {
      status = try system.statx(descriptor)
    } catch {
      throw failure("\(path) cannot be read", "statx", error)
    }
    let node = InodeIdentity(status)
    // The node of the grant is that grant's own.
    guard node.type == identity.type, node.device.major == identity.device.major,
      !identity.matches(node),
      !Seats(system).mayHaveGiven(node.device, to: uid, since: nil)
    else { return }
    let now = try state(descriptor, system)
    guard var list = now.acl, list[lease.item] == permissions else { return }
    list[lease.item] = nil
    try set(now.setting(list.withoutIdleMask, .accessACL), from: now, descriptor, system)
  }
}
