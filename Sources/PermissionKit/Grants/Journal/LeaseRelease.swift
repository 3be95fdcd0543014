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

  func carryOut(_ system: any System) throws(PermissionError) {
    guard let now, let target else { return }
    try grant.set(target, from: now, isPutBack: isPutBack, descriptor, system)
  }
}
