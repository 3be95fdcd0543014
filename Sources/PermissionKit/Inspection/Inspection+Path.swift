extension Inspection.Target {
  /// Creates a target for a path of any type.
  ///
  /// - Parameters:
  ///   - path: The path as it is opened.
  ///   - context: What is judged; its families tell what kind of device a node is.
  package init(path: PathBytes, in context: AccessContext) {
    // A look must neither wait for a server nor mount anything.
    let isNear = context.system.reach(path) == .immediate
    let status = isNear ? try? context.system.status(of: path) : nil
    let usual: Permissions =
      switch status?.kind {
      case .directory: [.read, .execute]
      case .characterDevice, .blockDevice: [.read, .write]
      // What connect(2) needs.
      case .socket: .write
      case .regular, .symbolicLink, .fifo, nil: .read
      }
    let family = context.families.first { family in
      if let status {
        return status.kind == .characterDevice
          && family.contains(path, status.device, below: context.root, context.system)
      }
      // Nothing is there: a container may have been given none of them.
      return family.isPlace(path, below: context.root)
        || family.folder != "dev" && path == context.root.appending(family.folder)
    }
    self.init(
      name: "path",
      set: ResourceSet(resources: [
        Resource(
          path: path, label: path.lastComponent.description, device: path.description,
          need: context.need ?? usual, kind: nil, family: family)
      ]))
  }
}
