extension Confinement.Place {
  /// The reason code for this kind of place.
  var code: Reason.Code {
    switch self {
    case .docker, .podman, .container, .wsl: .container
    case .flatpak, .snap, .bubblewrap, .firejail, .service, .privateDevices: .sandbox
    }
  }

  /// The place as a noun phrase for people: `a Docker container`.
  var description: String {
    switch self {
    case .docker: "a Docker container"
    case .podman(let rootless): "a \(rootless ? "rootless " : "")Podman container"
    case .container(let name): "a \(name) container"
    case .flatpak(let app): "the Flatpak sandbox of \(app)"
    case .snap(let name, _): "the sandbox of the snap \(name)"
    case .bubblewrap: "a bubblewrap sandbox"
    case .firejail: "a firejail sandbox"
    case .service(let unit, _): "the service \(unit.name)"
    case .privateDevices: "a sandbox or container with its own /dev"
    case .wsl: "the Windows Subsystem for Linux (WSL)"
    }
  }
}

/// A kind of resource that a sandbox or container may hide from the process.
enum ConfinedResource: Hashable {
  /// The devices of a family.
  case devices(DeviceFamily)
  /// A folder.
  case folder

  /// The snap plug that gives access; nil if there is none.
  var plug: String? {
    switch self {
    case .devices(let family): family.snapPlug
    case .folder: "home"
    }
  }

  /// The resource as a noun phrase for people: `the cameras`.
  var description: String {
    switch self {
    case .devices(let family): "the \(family.noun)s"
    case .folder: "that folder"
    }
  }
}

extension Confinement {
  /// Returns a reason for each place, and the remedies that change the place.
  ///
  /// - Parameters:
  ///   - resource: The kind of resource that the process lacks.
  ///   - path: The node or folder; an example node if no device was found.
  ///   - isMissing: Whether the resource does not exist; otherwise access was refused.
  /// - Returns: The reasons, all of them suspected, and the remedies.
  func reasons(
    _ resource: ConfinedResource, _ path: PathBytes, isMissing: Bool
  ) -> ([Reason], [Remedy]) {
    var reasons: [Reason] = []
    var remedies: [Remedy] = []
    for (place, evidence) in found {
      if case .service(_, let settings) = place, !isMissing, settings.isEmpty { continue }
      // The settings that reach a folder are told on their own.
      if case .service = place, resource == .folder { continue }
      var reason = Reason(
        place.code, .suspected, message(place, resource, isMissing: isMissing),
        evidence: evidence + hidden)
      if case .service = place { reason.ownWhose = .service }
      reasons.append(reason)
      remedies += self.remedies(place, resource, path)
    }
    return (reasons, remedies)
  }

  private func message(_ place: Place, _ resource: ConfinedResource, isMissing: Bool) -> String {
    let start = "this process seems to run in \(place.description)"
    if case .snap(_, let plugs?) = place, let plug = resource.plug {
      return plugs.contains(plug)
        ? "\(start); the snap declares the plug \(plug), which is probably not connected"
        : "\(start); the snap does not declare the plug \(plug), so its author must add the plug"
    }
    if case .flatpak = place, case .devices(let family) = resource, let way = family.flatpak?.way {
      return "\(start); \(way)"
    }
    if case .wsl = place, resource != .folder {
      return "\(start), which does not pass cameras and sound hardware on by default"
    }
    if case .service(_, let settings) = place, !settings.isEmpty {
      return "\(start), whose unit sets \(settings.joined(separator: ", "))"
    }
    return isMissing
      ? "\(start), which shows only what was passed in, perhaps not \(resource.description)"
      : "\(start), which probably limits access to \(resource.description)"
  }
}
