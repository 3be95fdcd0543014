/// Turns the steps of a decision into a list of path components.
struct WalkExplainer {
  private let finder: ReasonFinder

  init(_ finder: ReasonFinder) { self.finder = finder }

  /// Returns the components of each path of an operation.
  func walks(
    _ steps: [WalkStep], _ decision: Decision, _ path: PathBytes, _ target: PathBytes?
  ) -> [[WalkedComponent]] {
    var parts: [[WalkStep]] = [[], []]
    var (turn, target) = (0, target)
    for step in steps {
      switch step.event {
      case .turn(let next): turn = next
      case .next(let path, _): (turn, target, parts[1]) = (1, path, [])
      default: parts[turn].append(step)
      }
    }
    // Where everything is granted, the program alone is of interest.
    if decision.isGranted, steps.next != nil { (turn, target) = (0, nil) }
    // What decides is in the part of the last step.
    var granted = decision
    granted.verdict = .granted
    let paths = [path] + (target.map { [$0] } ?? [])
    return paths.indices.map { walk(parts[$0], $0 == turn ? decision : granted, paths[$0]) }
  }

  /// Returns the components in the order of the walk, with symbolic links resolved.
  ///
  /// - Returns: The components; those that the walk did not reach come last.
  func walk(
    _ steps: [WalkStep], _ decision: Decision, _ path: PathBytes
  ) -> [WalkedComponent] {
    var walk: [WalkedComponent] = []
    var inodes: [Int?] = []
    func add(_ name: PathBytes, _ inode: Int?, isOfLink: Bool) {
      walk.append(component(name, inode, isOfLink: isOfLink))
      inodes.append(inode)
    }
    for step in steps {
      switch step.event {
      case .start(let inode): add(path.isAbsolute ? "/" : ".", inode, isOfLink: false)
      case .lookup(let name, _, let inode, let isOfLink):
        add(name, inode, isOfLink: isOfLink)
        walk[walk.count - 1].isMissing = inode == nil
      case .link(let inode):
        if let index = inodes.lastIndex(of: inode) {
          walk[index].target = finder.facts.inodes[inode].target
        }
        if let jump = finder.facts.inodes[inode].jump {
          add(finder.facts.inodes[inode].target ?? "?", jump, isOfLink: true)
        }
      case .turn, .next: break
      case .permission(let inode, let need, let verdict, let rule):
        // The walk checks a directory again when a link leads back to it.
        guard let index = inodes.lastIndex(of: inode),
          walk[index].need?.isSuperset(of: need) != true
        else { continue }
        walk[index].need = need
        walk[index].verdict = verdict
        walk[index].rule = rule
        walk[index].basis = finder.basis(
          Decision(verdict, rule, step: .target, inode: inode))
      }
    }
    if decision.rule == .tooManyLinks { cutCircle(&walk, &inodes) }
    markDeciding(decision, &walk, inodes)
    appendRest(path, &walk)
    return walk
  }

  private func component(
    _ name: PathBytes, _ inode: Int?, isOfLink: Bool
  ) -> WalkedComponent {
    var component = WalkedComponent(name, isOfLink: isOfLink)
    if let inode, !finder.facts.inodes[inode].isClosed {
      let facts = finder.facts.inodes[inode]
      component.inode = facts.summary
      component.owner = finder.users.userName(facts.uid)
      component.group = finder.users.groupName(facts.gid)
    }
    return component
  }

  /// Removes what repeats where links lead in a circle.
  private func cutCircle(_ walk: inout [WalkedComponent], _ inodes: inout [Int?]) {
    var seen: Set<Int> = []
    let again = walk.indices.first { index in
      guard walk[index].target != nil, let inode = inodes[index] else { return false }
      return !seen.insert(inode).inserted
    }
    guard let again else { return }
    walk.removeSubrange(again...)
    inodes.removeSubrange(again...)
  }

  private func markDeciding(
    _ decision: Decision, _ walk: inout [WalkedComponent], _ inodes: [Int?]
  ) {
    guard !decision.isGranted, !walk.isEmpty else { return }
    var index = walk.count - 1
    if ![.missing, .unreadable, .tooManyLinks].contains(decision.rule), let inode = decision.inode {
      index = inodes.lastIndex(of: inode) ?? index
    }
    walk[index].decides = true
    if walk[index].verdict == .granted, decision.rule.bits == nil {
      walk[index].grant = walk[index].basis
    }
    walk[index].verdict = decision.verdict
    walk[index].rule = decision.rule
    walk[index].basis = finder.basis(decision)
  }

  /// Appends the components of the path that the walk did not reach.
  private func appendRest(_ path: PathBytes, _ walk: inout [WalkedComponent]) {
    let names = path.components
    let walked = walk.count { !$0.isOfLink } - 1
    for name in names.dropFirst(max(0, walked)) {
      walk.append(WalkedComponent(name, isOfLink: false))
    }
  }
}

extension [WalkStep] {
  /// The last path that the call opens besides its own, and the inode that names it; nil if it opens no other.
  var next: (path: PathBytes, inode: Int)? {
    for step in reversed() {
      if case .next(let path, let inode) = step.event { return (path, inode) }
    }
    return nil
  }
}
