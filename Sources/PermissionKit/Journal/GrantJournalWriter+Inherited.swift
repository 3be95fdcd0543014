// What files and folders inherited from leases on default ACLs.
extension GrantJournalWriter {
  /// Records what was not reached of what inherited from a grant.
  mutating func leave(_ grant: Grant, _ note: String, _ outcome: inout GrantJournal.Outcome) {
    var line = record(.released, grant.id)
    line.note = note
    append([line], &outcome)
  }

  /// Takes what an inode inherited out of its leases, which stay; returns whether it had something.
  mutating func release(_ item: SweepState.Item) throws(PermissionError) -> Bool {
    let status = item.status
    var probe = InodeGrant(
      path: item.path, identity: InodeIdentity(status), uid: .max, permissions: [],
      persistence: .permanent, attribute: item.attribute, arguments: [])
    probe.anchor = InodeAnchor(item.inode, system)
    let isDefault = item.attribute == .defaultACL
    let now = try probe.state(item.inode, system)
    guard var leases = ledger.leases(around: probe), let first = leases.grants.first else {
      guard let list = now.list(item.attribute) else { return false }
      let left =
        isDefault
        ? item.inheritance.releasedDefault(list, birth: status.birth)
        : item.inheritance.released(list, birth: status.birth)
      try probe.set(
        now.setting(left, item.attribute), from: now, isPutBack: true, item.inode, system)
      return left != list
    }
    let base = leases.record.base
    leases.record = leases.record.released(
      item.inheritance, birth: status.birth, isDefault: isDefault)
    let look = try first.grant.look(at: item.inode, leases, system)
    let target = InodeGrant.State(look.inode { _ in true }, item.attribute)
    // A process that was killed may have written the line alone.
    if target == now, leases.record.base == base { return false }
    try append([line(look.outcome(target, releasing: []), of: leases.acl)])
    try first.grant.set(target, from: now, isPutBack: true, item.inode, system)
    return true
  }
}
