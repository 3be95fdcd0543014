/// Gives a file without ACLs to a group of the user, and the group what the user lacks.
///
/// Only where nobody loses anything by it, see `InodeFacts.giving(_:toOneOf:)`.
package struct OwningGroupGrant: UndoableCommand {
  /// The owning group, and its bits in the mode.
  package struct State: Hashable, Sendable {
    /// The gid of the owning group.
    package var gid: UInt32
    /// The bits 0070 of the mode, as the digit of the group.
    package var bits: UInt8

    init(gid: UInt32, bits: UInt8) { (self.gid, self.bits) = (gid, bits) }

    init(_ inode: InodeFacts) { self.init(gid: inode.gid, bits: UInt8(inode.mode >> 3 & 7)) }

    init(_ status: StatusFields) {
      self.init(gid: status.gid, bits: UInt8(status.mode >> 3 & 7))
    }
  }

  /// The file, and who gets access.
  package var file: InodeGrant
  /// The name of the group.
  var group: String
  /// The group and its bits before the change.
  var before: State
  /// The group and its bits after the change.
  var after: State
  /// The bits of everybody else at the time of the plan, which the group had, too.
  var others: UInt8

  /// The change in one line, without the path.
  package var summary: String {
    "owning group \(group), with mode bits g+\(added.letters)"
  }
  /// Two shell commands that make the same change.
  package var commands: [[PathBytes]] {
    [
      ["chgrp", PathBytes(group), file.path],
      ["chmod", PathBytes("g+\(added.letters)"), file.path],
    ]
  }
  /// Both commands as one, for sh(1).
  package var arguments: [PathBytes] {
    ["sh", "-c", PathBytes(commands.map(ShellCommand.line).joined(separator: " && "))]
  }
  /// How long the file system keeps the change.
  package var persistence: Persistence { file.persistence }

  /// The rights of the group that it did not have as others.
  private var given: UInt8 { after.bits & ~others }
  /// The bits that chmod(1) adds.
  private var added: Permissions { Permissions(rawValue: after.bits & ~before.bits) }

  private func status(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> StatusFields {
    do throws(Errno) {
      return try system.statx(descriptor)
    } catch {
      throw file.failure("mode and group of \(file.path) cannot be read", "statx", error)
    }
  }

  /// Returns whether the file has the group and the bits.
  package func progress(_ system: any System) throws(PermissionError) -> GrantProgress {
    guard let descriptor = try file.open(system) else { return .neither }
    defer { system.close(descriptor) }
    let now = State(try status(descriptor, system))
    return now == after ? .after : now == before ? .before : .neither
  }

  /// Calls chown(2), then chmod(2), if the file is the planned one and still in the planned state.
  package func execute(_ system: any System) throws(PermissionError) {
    guard let descriptor = try file.open(system) else {
      throw file.failure(
        "\(file.path) was removed or replaced after the plan was made, so it was not changed",
        advice: "try again")
    }
    defer { system.close(descriptor) }
    let now = try status(descriptor, system)
    // chown(2) would clear these bits.
    guard State(now) == before, now.mode & 0o6000 == 0, UInt8(now.mode & 7) == others else {
      throw file.failure(
        "mode or group of \(file.path) changed after the plan was made, so it was not changed",
        advice: "try again")
    }
    try setGroup(after.gid, descriptor, system)
    // If this fails, the journal undoes it.
    try set(after.bits, descriptor, system)
    guard State(try status(descriptor, system)) == after else {
      throw file.failure(
        "\(file.path) did not get the planned mode and group, because somebody else changes it",
        advice: "try again")
    }
  }

  /// Restores the bits, then the group; the bits of others are not touched.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    var finder = InodeFinder(system)
    defer { finder.close() }
    switch finder.find(file) {
    case .deleted: return "\(file.path) was deleted"
    case .missing(let reason): throw file.failure(reason)
    case .found(let descriptor):
      defer { system.close(descriptor) }
      let note = try restore(descriptor, system)
      let left = State(try status(descriptor, system))
      if left.gid == after.gid, after.gid != before.gid, left.bits & given != 0 {
        throw file.failure("somebody else changes \(file.path) again and again", nil, .EAGAIN)
      }
      return note
    }
  }

  private func restore(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> String? {
    let now = State(try status(descriptor, system))
    guard now.gid == after.gid else {
      return now == before
        ? nil : "somebody else changed the group of \(file.path), so it was left as it is"
    }
    // A process that was killed may have changed the group alone.
    if now.bits == after.bits || now.bits == before.bits {
      try set(before.bits, descriptor, system)
      try setGroup(before.gid, descriptor, system)
      return nil
    }
    try set(now.bits & ~given, descriptor, system)
    return
      "somebody else changed what the group \(group) may do with \(file.path): only what was given is taken back, and the group stays"
  }

  private func set(
    _ bits: UInt8, _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) {
    let mode = UInt16(try status(descriptor, system).mode & 0o7777)
    let wanted = mode & ~0o070 | UInt16(bits) << 3
    if mode == wanted { return }
    do throws(Errno) {
      try system.chmod(descriptor, wanted)
    } catch {
      throw file.failure("the mode of \(file.path) cannot be changed", "chmod", error)
    }
  }

  private func setGroup(
    _ gid: UInt32, _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) {
    do throws(Errno) {
      try system.chgrp(descriptor, gid)
    } catch {
      throw file.failure("the group of \(file.path) cannot be changed", "chown", error)
    }
  }
}
