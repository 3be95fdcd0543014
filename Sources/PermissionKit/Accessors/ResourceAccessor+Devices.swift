extension ResourceAccessor {
  /// Returns the resources of a device accessor, from the search of the catalogue.
  ///
  /// - Parameters:
  ///   - find: The search of the catalogue.
  ///   - family: The kind of device to search for.
  ///   - noneHint: The places that were searched, as evidence if no device is found.
  /// - Returns: The nodes to judge, and reports on missing nodes.
  package func deviceResources(
    _ find: () -> DeviceCatalog.Findings, of family: DeviceFamily, noneHint: String
  ) -> ResourceSet {
    let need: Permissions = [.read, .write]
    if let path = context.path {
      let label = path.lastComponent.description
      var resource = Resource(
        path: path, label: label, device: label, need: need, kind: .characterDevice,
        family: family)
      resource.isNamed = true
      return ResourceSet(resources: [resource])
    }
    let findings = find()
    var set = ResourceSet()
    for device in findings.devices {
      if device.hasNode {
        set.resources += device.nodes.map {
          Resource(
            path: $0, label: device.label, device: device.name, need: need, kind: .characterDevice,
            family: family)
        }
      } else {
        set.absences.append(
          ResourceSet.absence(
            device.nodes[0], label: device.label, device: device.name, status: .unavailable,
            family: family,
            Reason(
              .noCaptureNode, .proven,
              "the kernel knows \(device.label), but its device node \(device.nodes[0]) does not exist here",
              evidence: [device.evidence])))
      }
    }
    if let (path, errno) = findings.unreadable.first, findings.devices.isEmpty {
      set.absences.append(
        ResourceSet.absence(
          path, label: family.noun, device: "unreadable", status: .notDetermined,
          family: family,
          Reason(
            .unreadableFacts, .proven,
            "\(path) cannot be listed, so devices may be missing from this report",
            evidence: ["open: \(errno)"])))
    }
    if set.resources.isEmpty, set.absences.isEmpty {
      set.absences = [nothing(findings, family, noneHint: noneHint)]
    }
    return set
  }

  /// Returns the folders that the catalogue searches; empty if the context names one node.
  package func deviceSources(_ folders: [PathBytes]) -> [PathBytes] {
    context.path == nil ? folders.map(context.root.appending) : []
  }

  private func nothing(
    _ findings: DeviceCatalog.Findings, _ family: DeviceFamily, noneHint: String
  ) -> ResourceReport {
    let nodes = findings.others.map { String($0.prefix { $0 != ":" }) }
    let reason =
      findings.others.isEmpty
      ? Reason(.noDevice, .proven, "there is no \(family.noun)", evidence: [noneHint])
      : Reason(
        .noCaptureNode, .proven,
        "there \(nodes.count == 1 ? "is a device node" : "are device nodes") (\(nodes.joined(separator: ", "))), but none \(family.busyTest == .none ? "is a \(family.noun)" : "captures")",
        evidence: findings.others)
    return ResourceSet.absence(
      context.root.appending(family.folder), label: family.noun, device: family.noun,
      status: .unavailable, family: family, reason)
  }
}
