/// The release of grants of one ACL.
final class LeaseRelease {
  let grants: [Grant]
  let grant: InodeGrant
  /// The inode, open with O_PATH.
  let descriptor: Descriptor
  let leases: OpenLeases
  private var now: InodeGrant.State?
  private var target: InodeGrant.State?
  private var isPutBack = false
  private(set) var outcome: LeaseOutcome?

  init(_ grants: [Grant], _ grant: InodeGrant, _ descriptor: Descriptor, _ leases: OpenLeases) {
    (self.grants, self.grant, self.descriptor, self.leases) = (grants, grant, descriptor, leases)
  }

  /// Reads the inode, and computes its new state.
  func look(_ system: any System) throws(PermissionError) {
    let look = try grant.look(at: descriptor, leases, system)
    let ids = Set(grants.map(\.id))
    let target = look.released(ids)
    (now, self.target) = (.init(look.inode, grant.attribute), target)
    isPutBack = look.isPutBack(target)
    outcome = look.outcome(
      target, releasing: ids,
      isAgain: grants.allSatisfy { [.applied, .undoing].contains($0.stage) })
  }

  /// Changes the inode, and looks whether it is changed.
  ///
  /// - Throws: EAGAIN if somebody else changes it, too.
  func carryOut(_ system: any System) throws(PermissionError) {
    guard let now, let target, now != target else { return }
    try grant.set(target, from: now, isPutBack: isPutBack, descriptor, system)
    // It has ended only if it is gone now: somebody else may have written the old ACL meanwhile.
    let left = try grant.state(descriptor, system).list(grant.attribute)
    if left != target.list(grant.attribute) {
      throw grant.failure("somebody else changes \(grant.path) again and again", nil, .EAGAIN)
    }
  }
}
