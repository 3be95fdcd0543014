/// One question of a check: what is needed of one resource.
package struct Ask: Hashable, Sendable {
  /// The node, file or directory.
  package let resource: Resource
  /// What is asked for, perhaps less or more than the resource's own need.
  package let need: Permissions
  /// Whether the path names a directory, which cannot be opened for writing.
  package let isDirectory: Bool

  /// The path as it is opened.
  package var path: PathBytes { resource.path }

  /// The same question about other permissions.
  package func asking(for need: Permissions) -> Ask {
    Ask(resource: resource, need: need, isDirectory: isDirectory)
  }

  /// The permissions that an open can ask for; the others are asked by faccessat2(2).
  package var opened: Permissions { need.intersection(isDirectory ? .read : [.read, .write]) }

  /// The flags of the open that asks for `opened`.
  package var flags: OpenFlags { isDirectory ? [.readOnly, .directory] : OpenFlags(opened) }
}

extension AccessEvaluator {
  /// Predicts what asking by open(2), and by faccessat2(2) for what an open cannot ask, answers.
  package func decide(_ ask: Ask) -> Decision {
    decide(ask.need, ask.path, isDirectory: ask.isDirectory)
  }

  /// Returns the steps of the call that decides in `decide(_:)`.
  package func steps(_ ask: Ask) -> [WalkStep] {
    if ask.opened.isEmpty {
      return explain(.faccessat2(ask.need, followsLink: true), path: ask.path).steps
    }
    let whole = decide(ask)
    let flags: OpenFlags = ask.isDirectory ? [.readOnly, .directory] : OpenFlags(ask.need)
    let opened = explain(.open(flags), path: ask.path)
    let asked = explain(.faccessat2(ask.need, followsLink: true), path: ask.path)
    // A directory's open asks for reading alone.
    let first = ask.isDirectory ? asked : opened
    return first.decision == whole ? first.steps : ask.isDirectory ? opened.steps : asked.steps
  }
}
