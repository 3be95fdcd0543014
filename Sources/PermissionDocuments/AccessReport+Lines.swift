package import PermissionKit

// What a report says in one line, for every format that has lines.

/// One device or folder in one line: `vivid  /dev/video0  ACL user:tester:rw-`.
package struct DeviceLine: Sendable {
  /// The worst status of the resources of the device.
  package let status: AuthorizationStatus
  /// The first resource that has this status.
  package let main: ResourceReport
  /// Whether a node or folder was judged; if none was, the line has the reason.
  package let isJudged: Bool
  /// The texts after the status, safe for a terminal: the name, the path, and the rule that grants, or
  /// only the reason.
  package let cells: [String]

  /// Creates the line of a device; nil without a resource.
  package init?(_ resources: [ResourceReport]) {
    guard let first = resources.first else { return nil }
    let status = AuthorizationStatus.worst(resources.map(\.status)) ?? .notDetermined
    let main = resources.first { $0.status == status } ?? first
    self.status = status
    self.main = main
    isJudged = status != .unavailable && (main.decision != nil || status == .authorized)
    guard isJudged else {
      cells = [Sanitizer.clean(main.reasons.first?.message ?? "")]
      return
    }
    let path = Sanitizer.clean(main.path.description)
    // The path of a folder already ends with its name.
    let isNamedByPath = main.path.lastComponent.description == main.label
    let basis = status == .authorized ? main.basis ?? "" : ""
    let note = status == .denied || status == .restricted ? "" : main.contents?.words ?? basis
    cells = [
      isNamedByPath ? path : Sanitizer.clean(main.label), isNamedByPath ? "" : path,
      Sanitizer.clean(note),
    ]
  }
}

extension AccessReport {
  /// The resources of each device, in the order of their first resources.
  package var devices: [[ResourceReport]] {
    var devices: [[ResourceReport]] = []
    for resource in resources {
      if let index = devices.firstIndex(where: { $0[0].device == resource.device }) {
        devices[index].append(resource)
      } else {
        devices.append([resource])
      }
    }
    return devices
  }

  /// The number of usable devices among several, for people; empty without a device.
  package func usable(of devices: [[ResourceReport]]) -> String {
    let usable = devices.count { $0.allSatisfy { $0.status == .authorized } }
    return devices.isEmpty ? "" : "\(usable) of \(devices.count) usable"
  }

  /// The texts after the status in the first line of this report, safe for a terminal.
  package var headline: [String] {
    let devices = devices
    if devices.count == 1, let line = DeviceLine(devices[0]) { return line.cells }
    return [usable(of: devices)]
  }

  /// The main reason, or the rule that grants access, in one line that is safe for a terminal.
  package var mainMessage: String {
    let resource = resources.first { $0.status == status }
    let basis = resource?.basis.map { basis in
      resource?.decision?.component.map { "\(basis) on \($0)" } ?? basis
    }
    return Sanitizer.clean(mainReason?.message ?? basis ?? "")
  }
}

extension ResourceReport {
  /// The kernel's own answer, where it was asked and the rule that decides could not be seen.
  package var answer: Probe? { decision?.verdict == .undetermined ? probe : nil }

  /// The rule that granted access, for people; nil if nothing was decided.
  fileprivate var basis: String? {
    if let answer, status == .authorized { return "\(answer.call) succeeds" }
    return decision?.basis
  }
}
