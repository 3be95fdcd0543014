// What is on an overlay, and comes from a lower layer.
extension GrantPlan {
  /// Copies what the plan changes on overlays into their upper layers, and returns the plan for the copies.
  ///
  /// The first change of an inode of a lower layer copies it up, see ovl_copy_up() of fs/overlayfs/copy_up.c,
  /// and the copy is another inode: with another time of birth, and perhaps another number. A chmod(2) to the
  /// same mode changes nothing else.
  ///
  /// - Parameter system: The system that makes the copies.
  /// - Returns: The same plan about the copies; nil if nothing in it is on an overlay.
  /// - Throws: If a copy cannot be made.
  func copiedUp(_ system: any System) throws(PermissionError) -> GrantPlan? {
    var plan = self
    var copies: [InodeIdentity: InodeIdentity] = [:]
    for index in steps.indices {
      guard case .inode(var grant) = steps[index].change, grant.anchor?.isOnOverlay == true else {
        continue
      }
      if copies[grant.identity] == nil {
        copies[grant.identity] = try grant.copyUp(system)
      }
      grant.identity = copies[grant.identity] ?? grant.identity
      plan.steps[index].change = .inode(grant)
    }
    return copies.isEmpty ? nil : plan
  }
}

extension InodeGrant {
  /// Copies the inode up, and returns the identity of the copy.
  fileprivate func copyUp(_ system: any System) throws(PermissionError) -> InodeIdentity {
    guard let descriptor = try open(system) else { throw .planChanged }
    defer { system.close(descriptor) }
    do throws(Errno) {
      let mode = UInt16(try system.statx(descriptor).mode & 0o7777)
      try system.chmod(descriptor, mode)
      // The descriptor stays that of the file, which is the copy now.
      return InodeIdentity(try system.statx(descriptor))
    } catch {
      throw failure("\(path) cannot be copied into the upper layer of its overlay", "chmod", error)
    }
  }
}

extension InodeAnchor {
  /// OVERLAYFS_SUPER_MAGIC of linux/magic.h.
  fileprivate var isOnOverlay: Bool { type == 0x794c_7630 }
}
