/// The question of a check: one resource, and the permissions that are needed on it.
package struct ResourceQuery: Hashable, Sendable {
  /// The node, file or directory.
  package let resource: Resource
  /// The permissions to ask for, which can differ from the resource's own need.
  package let need: Permissions
  /// Whether the path names a directory, which cannot be opened for writing.
  package let isDirectory: Bool
  /// Whether the path names a socket that is to be connected, which connect(2) needs write permission for.
  package var isSocket = false
  /// The system call on the path; nil to ask for the permissions.
  var operation: OperationQuestion?
  /// The operation that the call is for; nil to ask for the permissions.
  var named: NamedOperation?

  /// Whether the accessor needs connect(2), of which the permissions are only a part.
  package var connects: Bool { resource.kind == .socket && need.contains(.write) }

  /// Whether the need includes to make and remove names in a directory.
  package var createsInside: Bool {
    operation == nil && isDirectory && need.contains(.write)
  }

  /// The path to open.
  package var path: PathBytes { resource.path }

  /// Returns the same question with other permissions.
  package func asking(for need: Permissions) -> ResourceQuery {
    ResourceQuery(
      resource: resource, need: need, isDirectory: isDirectory, isSocket: isSocket,
      operation: operation, named: named)
  }

  /// The permissions that an open can ask for; faccessat2(2) asks for the others.
  package var opened: Permissions {
    need.intersection(isDirectory ? .read : isSocket ? [] : [.read, .write])
  }

  /// The flags of an open that asks for `opened`.
  package var flags: OpenFlags { isDirectory ? [.readOnly, .directory] : OpenFlags(opened) }
}

extension AccessEvaluator {
  /// Predicts the answer of open(2), then of faccessat2(2) to the permissions that open lacks.
  package func decide(_ ask: ResourceQuery) -> Decision {
    if let operation = ask.operation { return decide(.operation(operation), path: ask.path) }
    let decision = decide(
      ask.need, ask.path, isDirectory: ask.isDirectory, isSocket: ask.isSocket)
    guard decision.isGranted, ask.createsInside else { return decision }
    let created = decide(.createInside, path: ask.path)
    return created.isGranted ? decision : created
  }

  /// Returns the steps of the call that decided in `decide(_:)`.
  package func steps(_ ask: ResourceQuery) -> [WalkStep] {
    if let operation = ask.operation {
      return explain(.operation(operation), path: ask.path).steps
    }
    let whole = decide(ask)
    if ask.createsInside, whole.step == .create {
      return explain(.createInside, path: ask.path).steps
    }
    if ask.opened.isEmpty {
      return explain(.faccessat2(ask.need, followsLink: true), path: ask.path).steps
    }
    let flags: OpenFlags = ask.isDirectory ? [.readOnly, .directory] : OpenFlags(ask.need)
    let opened = explain(.open(flags), path: ask.path)
    let asked = explain(.faccessat2(ask.need, followsLink: true), path: ask.path)
    // The open of a directory asks only for read permission.
    let first = ask.isDirectory ? asked : opened
    return first.decision.decidesAs(whole)
      ? first.steps : ask.isDirectory ? opened.steps : asked.steps
  }
}
