/// Gives a file without ACLs to a group of the user, and the group what the user lacks.
///
/// Only where nobody loses anything by it, see `InodeFacts.giving(_:toOneOf:)`. Several grants of one file are leases of
/// the same group: the bits are those of all together, and the last one to end restores what was before the first.
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
  /// The group and its bits before the first open grant of the file.
  var before: State
  /// The group, and the bits that this grant alone gives it.
  var after: State
  /// The group and its bits when this was planned; nil in a journal.
  var present: State?
  /// The bits of everybody else at the time of the plan, which the group had, too.
  var others: UInt8

  /// The change in one line, without the path.
  package var summary: String {
    "owning group \(group), with mode bits g+\(Permissions(rawValue: after.bits & ~before.bits).letters)"
  }
  /// The shell commands that make the same change.
  package var commands: [[PathBytes]] {
    let chgrp: [PathBytes] = ["chgrp", PathBytes(group), file.path]
    let chmod: [PathBytes] = ["chmod", PathBytes("g+\(added.letters)"), file.path]
    // What another grant gives already is given once more.
    if present?.gid != after.gid { return [chgrp] + (added.isEmpty ? [] : [chmod]) }
    return [added.isEmpty ? chgrp : chmod]
  }
  /// All commands as one, for sh(1).
  package var arguments: [PathBytes] {
    ["sh", "-c", PathBytes(commands.map(ShellCommand.line).joined(separator: " && "))]
  }
  /// How long the file system keeps the change.
  package var persistence: Persistence { file.persistence }

  /// The bits that chmod(1) adds.
  private var added: Permissions {
    Permissions(rawValue: after.bits & ~(present ?? before).bits)
  }

  /// The bits that some grants of a file give together.
  private func bits(_ grants: [OwningGroupGrant]) -> UInt8 {
    grants.reduce(0) { $0 | $1.after.bits }
  }

  /// The bits that only this grant gives, beyond those of others at present.
  private func own(_ kept: [OwningGroupGrant], _ status: StatusFields) -> UInt8 {
    after.bits & ~bits(kept) & ~UInt8(status.mode & 7)
  }

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

  /// Returns whether the group has lost what the grant gave; what another group that somebody gave the file has of it
  /// is not over.
  func hasEnded(_ descriptor: Descriptor, _ system: any System) throws(PermissionError) -> Bool {
    let now = try status(descriptor, system)
    return own([], now) & State(now).bits == 0
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
    guard State(now) == present, !clears(now, descriptor, system), UInt8(now.mode & 7) == others
    else {
      throw file.failure(
        "mode or group of \(file.path) changed after the plan was made, so it was not changed",
        advice: "try again")
    }
    let isShared = now.gid == after.gid
    let wanted = State(
      gid: after.gid, bits: isShared ? State(now).bits | after.bits : after.bits)
    // If something fails from here on, the journal undoes it.
    if !isShared { try setGroup(wanted.gid, descriptor, system) }
    try set(wanted.bits, descriptor, system)
    guard State(try status(descriptor, system)) == wanted else {
      throw file.failure(
        "\(file.path) did not get the planned mode and group, because somebody else changes it",
        advice: "try again")
    }
  }

  /// Undoes the change as the only one of the file.
  package func undo(_ system: any System) throws(PermissionError) -> String? {
    try undo(system, keeping: [], open: [self])
  }

  /// Takes back what no other open grant of the file gives; the last one restores the group.
  ///
  /// The bits of others are not touched.
  ///
  /// - Parameters:
  ///   - system: The system to change.
  ///   - kept: The other grants of the file that stay.
  ///   - open: All grants of the file that the state may still be of.
  /// - Returns: What was left as somebody else made it, for people; nil if nothing was.
  /// - Throws: If the change cannot be undone.
  func undo(
    _ system: any System, keeping kept: [OwningGroupGrant], open: [OwningGroupGrant]
  ) throws(PermissionError) -> String? {
    var finder = InodeFinder(system)
    defer { finder.close() }
    switch finder.find(file) {
    case .deleted:
      guard let copy = try copy(kept, system) else { return "\(file.path) was deleted" }
      defer { system.close(copy) }
      _ = try restore(copy, kept, open, system)
      return
        "\(file.path) was replaced by a copy with its group, from which the access was removed, too"
    case .missing(let reason): throw file.failure(reason)
    case .found(let descriptor):
      defer { system.close(descriptor) }
      let note = try restore(descriptor, kept, open, system)
      let left = try status(descriptor, system)
      if left.gid == after.gid, State(left).bits & own(kept, left) != 0 {
        throw file.failure("somebody else changes \(file.path) again and again", nil, .EAGAIN)
      }
      return note
    }
  }

  /// Opens a file in the place of the one that is gone, by which the group has what was given; nil if it has not.
  ///
  /// A program that writes a file anew, such as sed(1) with -i, keeps mode and group.
  private func copy(
    _ kept: [OwningGroupGrant], _ system: any System
  ) throws(PermissionError) -> Descriptor? {
    let found: Descriptor
    do throws(Errno) {
      found = try system.open(
        file.path, [.path, .noFollow], through: [], within: PathAvailability.limit)
    } catch {
      if error == .ENOENT || error == .ENOTDIR { return nil }
      throw file.failure("what is at \(file.path) now cannot be read", "open", error)
    }
    var isOpen = false
    defer { if !isOpen { system.close(found) } }
    let now = try status(found, system)
    let identity = InodeIdentity(now)
    let left = State(now).bits & own(kept, now)
    // A group that the file had before has its bits by chance.
    guard now.gid == after.gid, now.gid != before.gid, left != 0,
      identity.type == file.identity.type, identity.device == file.identity.device
    else { return nil }
    guard now.kind == .directory || now.links == 1 else {
      throw file.failure(
        "\(file.path) was replaced by a file with other hard links, which group \(group) may use",
        advice: "look whose it is, take that (\(taking(left))), and forget the grant with --forget")
    }
    isOpen = true
    return found
  }

  private func restore(
    _ descriptor: Descriptor, _ kept: [OwningGroupGrant], _ open: [OwningGroupGrant],
    _ system: any System
  ) throws(PermissionError) -> String? {
    let status = try status(descriptor, system)
    let now = State(status)
    guard now.gid == after.gid else {
      if now == before { return nil }
      let left = now.bits & own(kept, status)
      return "somebody else changed the group of \(file.path), so it was left as it is"
        + (left == 0 ? "" : "; \(taking(left)) takes from the new group what was given")
    }
    if try hasACL(descriptor, system) {
      // The group then has what others have.
      let left = Permissions(rawValue: UInt8(status.mode & 7)).intersection(
        .init(rawValue: now.bits))
      let command = ShellCommand.line(["setfacl", "-n", "-m", PathBytes("g::\(left)"), file.path])
      throw file.failure(
        "\(file.path) has an ACL now, so its mode no longer shows what group \(group) may do",
        advice: "take it from the group (\(command)), and forget the grant with --forget")
    }
    // Nothing that somebody else took from the group is given back.
    let target = kept.isEmpty ? before.bits : now.bits & ~own(kept, status)
    // Grants end one after the other, and a process that was killed may have changed the group alone.
    let isOwn = [bits(open), before.bits, bits(kept)].contains(now.bits)
    if isOwn, !clears(status, descriptor, system) {
      try set(target, descriptor, system)
      if kept.isEmpty { try setGroup(before.gid, descriptor, system) }
      return nil
    }
    try set(now.bits & ~own(kept, status), descriptor, system)
    return
      "somebody else changed what the group \(group) may do with \(file.path): only what was given is taken back, and the group stays"
  }

  /// The shell command that takes bits from the group.
  private func taking(_ bits: UInt8) -> String {
    ShellCommand.line(
      ["chmod", PathBytes("g-\(Permissions(rawValue: bits).letters)"), file.path])
  }

  private func hasACL(
    _ descriptor: Descriptor, _ system: any System
  ) throws(PermissionError) -> Bool {
    do throws(Errno) {
      _ = try system.getxattr(.access, of: descriptor)
      return true
    } catch {
      if error == .ENODATA || error == .EOPNOTSUPP { return false }
      throw file.failure("the ACL of \(file.path) cannot be read", "getxattr", error)
    }
  }

  /// Whether chown(2) would clear a set-id bit, with which the group means more than access, or the capabilities of a
  /// program.
  private func clears(
    _ status: StatusFields, _ descriptor: Descriptor, _ system: any System
  ) -> Bool {
    status.mode & 0o6000 != 0 || status.kind == .regular && system.hasCapabilities(descriptor)
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
