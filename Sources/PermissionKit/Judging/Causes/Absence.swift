/// A resource that was not found, for which there are no facts: what may hide it.
struct Absence {
  let inspection: Inspection
  let report: ResourceReport

  /// Returns what is known of it besides its own reason.
  func finding() -> Finding {
    let own = Finding(
      status: report.status, reasons: report.reasons, remedies: report.remedies, replaces: .all)
    guard !inspection.isSaved, report.status == .unavailable,
      let code = report.reasons.first?.code, code == .noDevice || code == .noCaptureNode
    else { return own }
    let folder = report.path.parent
    if folder.isBelow("/dev"),
      let cover = Cover.find(
        at: folder, report.path, report.family, isHidden: true, inspection)
    {
      return cover
    }
    var finding = own
    let confinement = inspection.confinement
    if let runner = confinement.runner {
      finding.reasons[0].evidence.append(
        "this is \(runner): hosted runners have no devices; a check there can skip what is unavailable"
      )
    }
    if let family = report.family {
      let node = family.hasNode(named: report.path.lastComponent) ? report.path : family.exampleNode
      let (reasons, remedies) = inspection.surroundings(.devices(family), node, isMissing: true)
      finding.reasons += reasons
      finding.remedies += remedies
      if confinement.runner != nil, let driver = family.testDriver {
        finding.remedies.append(.testDevice(driver))
      }
    }
    return finding
  }
}
