extension Inspection.Target {
  /// Creates a target for a path of any type.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened.
  ///   - context: What is judged; its families tell what kind of device a node is.
  package init(path: PathBytes, in context: AccessContext) {
    let found = Self.found(path, context)
    let usual: Permissions =
      switch found?.kind {
      case .directory: [.read, .execute]
      case .characterDevice, .blockDevice: [.read, .write]
      // What connect(2) needs.
      case .socket: .write
      case .regular, .symbolicLink, .fifo, nil: .read
      }
    func isMeant(_ family: DeviceFamily) -> Bool {
      if let found {
        return found.kind == .characterDevice
          && family.contains(path, found.device, below: context.root, context.system)
      }
      // Nothing is there: a container may have been given none of them.
      return family.isPlace(path, below: context.root)
        || family.folder != "dev" && path == context.root.appending(family.folder)
    }
    var family = context.families.first(where: isMeant)
    if family == nil, found?.kind == .characterDevice {
      family = context.otherFamilies?().first(where: isMeant)
    }
    self.init(
      name: "path",
      set: ResourceSet(resources: [
        Resource(
          path: path, label: path.lastComponent.description, device: path.description,
          need: context.need ?? usual, kind: nil, family: family)
      ]))
  }

  /// Returns what is at a path, as the process that is judged finds it; nil if nothing can be seen there.
  private static func found(
    _ path: PathBytes, _ context: AccessContext
  ) -> (kind: FileKind?, device: DeviceNumber)? {
    let system = context.system
    if let process = context.subject?.process {
      let facts = try? FactsReader.facts(of: [path], system, process: process, isSubject: false)
      return facts.flatMap { facts in
        facts.target(of: path).map { index in
          let inode = facts.inodes[index]
          return (inode.kind, inode.device ?? DeviceNumber(major: 0, minor: 0))
        }
      }
    }
    // A look must neither wait for a server nor mount anything.
    guard let status = try? system.reaching(path)?.status(of: path) else {
      return nil
    }
    return (status.kind, status.device)
  }
}
