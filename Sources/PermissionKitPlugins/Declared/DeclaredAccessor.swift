@_spi(SystemCalls) public import PermissionKit

/// An accessor that a declaration describes.
open class DeclaredAccessor: ResourceAccessor {
  /// The declaration of the accessor.
  public let declaration: AccessorDeclaration
  private let family: DeviceFamily?

  /// Creates an accessor for everything that a declaration describes, or for `context.path` alone.
  ///
  /// - Parameters:
  ///   - declaration: What the accessor is. With a mistake in it, nothing can be determined.
  ///   - context: The subject, the system and the options of the check.
  ///   - analytics: The log that receives the events.
  public init(
    _ declaration: AccessorDeclaration, _ context: AccessContext = AccessContext(),
    analytics: AnalyticsLog = .shared
  ) {
    self.declaration = declaration
    family = declaration.family
    var context = context
    if context.otherFamilies == nil {
      context.otherFamilies = { AccessorDeclaration.shipped.compactMap(\.family) }
    }
    super.init(name: declaration.name, context: context, analytics: analytics)
    followsSubject = declaration.followsSubject
    planNotes = declaration.risk.map { [$0] } ?? []
  }

  open override func resources(for subject: Subject) -> ResourceSet {
    if let mistake = declaration.mistakes.first {
      return unknown(
        context.root,
        Reason(
          .unreadableFacts, .proven, "the declaration of \(name) has an error: \(mistake.message)",
          evidence: [mistake.key]))
    }
    switch declaration.place {
    case .nodes, .deviceClass: return devices()
    case .userFolder(let key):
      return userFolder(key, label: name, for: subject, need: declaration.wanted)
    case .directory(let text): return directory(text, for: subject)
    case .socket(let text):
      let path = context.path ?? context.belowRoot(PathBytes(text))
      var socket = Resource(
        path: path, label: name, device: name, need: declaration.wanted, kind: .socket)
      socket.mayConnect = declaration.probe == .open
      // A path that the caller names may be another program's.
      socket.hint = context.path == nil ? declaration.hint : nil
      return hinted(ResourceSet(resources: [socket]))
    }
  }

  open override func sources(for subject: Subject) -> [PathBytes] {
    guard context.path == nil else { return [] }
    switch declaration.place {
    case .nodes(let patterns):
      let folders = patterns.flatMap { pattern in
        // The fixed folders before the first pattern, and all that they lead to.
        let names = PathBytes(pattern).components
        let fixed = names.dropLast().prefix { !Glob.isPattern($0) }
        let start = fixed.reduce(context.root) { $0.appending($1) }
        let rest = names.dropFirst(fixed.count).dropLast()
        return rest.isEmpty
          ? [start]
          : [start]
            + context.system.glob(
              PathBytes("/").appending(fixed.joinedPath).appending(Array(rest).joinedPath),
              below: context.root
            ).paths
      }
      let data = declaration.property == nil ? [] : deviceSources(["run/udev/data"])
      return Array(Set(folders + data)).sorted()
    case .deviceClass(let name):
      return deviceSources([PathBytes("sys/class/\(name)"), "dev"])
    case .userFolder(let key): return userFolderSources(key, for: subject)
    case .directory, .socket: return []
    }
  }

  // MARK: - Devices

  private func devices() -> ResourceSet {
    guard let family else { return ResourceSet() }
    if let path = context.path {
      var named = node(path, .characterDevice)
      named.isNamed = true
      return ResourceSet(resources: withCompanions(named))
    }
    let catalog = DeviceCatalog(context.system, root: context.root, mayOpen: false)
    let property = declaration.property.flatMap(DeviceCatalog.Property.init)
    let found: DeviceCatalog.Nodes
    if case .deviceClass(let name) = declaration.place {
      found = catalog.nodes(ofClass: name, family, with: property)
    } else {
      found = catalog.nodes(of: family, with: property)
    }
    var set = ResourceSet()
    for node in found.nodes {
      if let kind = node.kind {
        set.resources += withCompanions(self.node(node.path, kind))
      } else {
        set.absences.append(
          absence(
            node.path, .unavailable,
            Reason(
              .noDevice, .proven,
              "the kernel knows \(node.path.lastComponent), but its device node \(node.path) does not exist here"
            )))
      }
    }
    set.absences += found.withoutNode.map(withoutNode)
    if let (path, evidence) = found.unknown.first {
      set.absences.append(
        absence(
          path, .notDetermined,
          Reason(
            .unreadableFacts, .proven,
            "\(path) cannot be read, so a \(family.noun) may be missing from this report",
            evidence: [evidence])))
    }
    if set.resources.isEmpty, set.absences.isEmpty { set.absences = [none(found, family)] }
    return set
  }

  private func node(_ path: PathBytes, _ kind: FileKind) -> Resource {
    let label = path.lastComponent.description
    var node = Resource(
      path: path, label: label, device: path.description, need: declaration.wanted, kind: kind,
      family: family)
    node.uses = declaration.uses
    return node
  }

  private func withCompanions(_ node: Resource) -> [Resource] {
    [node]
      + declaration.companions.map { path in
        var companion = self.node(context.belowRoot(PathBytes(path)), .characterDevice)
        (companion.device, companion.uses) = (node.device, nil)
        return companion
      }
  }

  private func withoutNode(_ device: PathBytes) -> ResourceReport {
    var reason = Reason(
      .driver, .proven,
      "\(device) has no device node: programs reach it by a socket of the kernel or through a service, and only using it shows whether they may",
      evidence: ["sysfs lists \(device) without DEVNAME"])
    reason.ownAdvice = declaration.hint
    return absence(context.root.appending("dev"), .notDetermined, reason)
  }

  private func none(_ found: DeviceCatalog.Nodes, _ family: DeviceFamily) -> ResourceReport {
    var evidence = found.others
    switch declaration.place {
    case .deviceClass(let name): evidence.append("nothing in /sys/class/\(name)")
    case .nodes(let patterns): evidence.append("searched: \(patterns.joined(separator: ", "))")
    case .directory, .userFolder, .socket: break
    }
    var reason = Reason(
      .noDevice, .proven, "there is no \(family.noun)", evidence: evidence)
    reason.ownAdvice = declaration.hint
    return absence(context.root.appending(family.folder), .unavailable, reason)
  }

  private func absence(
    _ path: PathBytes, _ status: AuthorizationStatus, _ reason: Reason
  ) -> ResourceReport {
    ResourceSet.absence(
      path, label: name, device: path.description, status: status,
      family: family?.paths.isEmpty == false ? family : nil, reason)
  }

  // MARK: - Directories and sockets

  private func directory(_ text: String, for subject: Subject) -> ResourceSet {
    let need = declaration.wanted
    if let path = context.path {
      return ResourceSet(resources: [folder(path, label: name, need: need)])
    }
    guard text == "~" || text.hasPrefix("~/") else {
      let path = context.belowRoot(PathBytes(text))
      return hinted(ResourceSet(resources: [folder(path, label: name, need: need)]))
    }
    guard let home = subject.home, home.isAbsolute else {
      var reason = Reason(
        .notConfigured, .proven, "the home directory of \(subject.displayName) is unknown")
      reason.ownAdvice = "set HOME, or name the folder"
      return unknown(context.root, reason)
    }
    let place = context.belowRoot(home)
    let path = text == "~" ? place : place.appending(String(text.dropFirst(2)))
    return hinted(ResourceSet(resources: [folder(path, label: name, need: need)]))
  }

  private func unknown(_ path: PathBytes, _ reason: Reason) -> ResourceSet {
    ResourceSet(absences: [absence(path, .notDetermined, reason)])
  }

  /// Returns the resources, with the hint of the declaration if nothing was found.
  private func hinted(_ set: ResourceSet) -> ResourceSet {
    guard let hint = declaration.hint, context.path == nil, let path = set.resources.first?.path,
      context.system.availability(of: path) == .immediate
    else { return set }
    do throws(Errno) {
      _ = try context.system.machine(below: context.root).status(of: path)
      return set
    } catch .ENOENT {
      var reason = Reason(.noDevice, .proven, "there is no \(path)", evidence: ["stat: ENOENT"])
      reason.ownAdvice = hint
      return ResourceSet(absences: [absence(path, .unavailable, reason)])
    } catch {
      return set
    }
  }
}

extension Array where Element == PathBytes {
  /// The names with slashes between them.
  fileprivate var joinedPath: PathBytes { reduce(PathBytes("")) { $0.appending($1) } }
}

extension ArraySlice where Element == PathBytes {
  /// The names with slashes between them.
  fileprivate var joinedPath: PathBytes { Array(self).joinedPath }
}
