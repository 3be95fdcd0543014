/// A file of udev rules, see udev(7), that gives a user's entry back each time a node is set up.
package struct UdevRuleGrant: GrantCommand {
  /// The folder of an administrator's rules.
  static let folder: PathBytes = "/etc/udev/rules.d"

  /// The rule's file; its name sorts after systemd's 73, or the entry would be wiped.
  package var path: PathBytes
  /// What the file holds.
  package var contents: String
  /// The entries that it gives, as they are given to the nodes of today.
  package var entries: [InodeGrant]

  /// The change in one line.
  package var summary: String { "udev rule that repeats the grant when the device is set up" }
  /// As an administrator would type it.
  package var arguments: [PathBytes] {
    let lines = contents.split(separator: "\n").map { "'" + $0 + "'" }.joined(separator: " ")
    return ["sh", "-c", PathBytes("printf '%s\\n' \(lines) > \(path) && udevadm control --reload")]
  }
  /// Until the file is removed.
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

  /// Whether the file is there, as it was written.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    guard let bytes = try read(system) else { return .before }
    return bytes == Array(contents.utf8) ? .after : .neither
  }

  /// Writes the file beside its place, moves it there in one step, and has udev read its rules anew.
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

  /// Removes the file, if it is still as it was written, and the entries that udev has made by it.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    // What a run that was killed may have left behind is not read by udev, and goes, too.
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
    for entry in entries { _ = try entry.ofPresentNode(system)?.undo(system) }
    do throws(PermissionError) {
      try system.complete(["udevadm", "control", "--reload"])
    } catch {
      return "\(path) is removed, but udev did not reload its rules: \(error.message)"
    }
    return nil
  }
}
