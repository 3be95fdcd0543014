/// The user namespace of a container in which an owner or group has no id.
struct UnmappedGroups: Cause {
  func find(in evidence: Evidence) -> Finding? {
    guard evidence.isRefused(as: .usernsUnmapped) else { return nil }
    let places = evidence.confinement.found.filter(\.place.isContainer)
    guard !places.isEmpty else { return nil }
    var finding = Finding()
    finding.reasons = places.map { place, found in
      let drops = place == .podman(rootless: true)
      return Reason(
        .container, .suspected,
        "this process seems to run in \(place.description)\(drops ? ", which drops the user's supplementary groups" : "")",
        evidence: found)
    }
    if let index = evidence.decision.inode, evidence.isAtRoot {
      let gid = evidence.facts.inodes[index].gid
      finding.remedies =
        ContainerStart.groups(places.map(\.place), gid, evidence)
        + RemedyFinder(evidence.inspection).remedies(evidence.ask, on: evidence.host)
        + evidence.leastChange
      finding.replaces = .remedies
    }
    return finding
  }
}
