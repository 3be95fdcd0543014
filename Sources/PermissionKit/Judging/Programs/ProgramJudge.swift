/// Judges a file as a program uses it: by the program's own rule, which is none of the kernel's.
struct ProgramJudge {
  let program: String
  let inspection: Inspection

  private var facts: AccessFacts { inspection.facts }

  /// Returns a report on each file; on one that was not reached, that of the kernel's rules.
  func reports() throws(PermissionError) -> [AccessReport] {
    var reports = ResourceJudge(inspection, explains: true).reports()
    for (place, target) in inspection.targets.enumerated() {
      if let path = target.set.resources.first?.path, let report = try report(on: path) {
        reports[place] = report
      }
    }
    return reports
  }

  /// Returns the report on a file; nil if it was not reached.
  private func report(on path: PathBytes) throws(PermissionError) -> AccessReport? {
    guard let index = facts.target(of: path) else { return nil }
    let chain = way(to: index)
    let real = facts.path(of: index)
    guard let rule = ProgramRules.rule(of: program, real, facts.inodes[index].kind) else {
      throw PermissionError(
        .invalidArgument, "\(program) has no rule about \(path)", path: path,
        advice: "name the file that \(program) reads")
    }
    let first = firstJudged(rule, real, chain)
    let user = user(rule, chain, first)
    var (walk, reasons, remedies) = ([WalkedComponent](), [Reason](), [Remedy]())
    for (place, inode) in chain.enumerated() {
      let status = facts.inodes[inode]
      let isFile = place == chain.count - 1
      var component = WalkedComponent(
        place == 0 ? "/" : facts.path(of: inode).lastComponent, isOfLink: false)
      component.inode = status.summary
      component.owner = inspection.users.userName(status.uid)
      component.group = inspection.users.groupName(status.gid)
      if place >= first {
        let fault = rule.fault(of: status, for: user, isAbove: !isFile, inspection)
        component.verdict = fault == nil ? .granted : .refused(.EACCES)
        component.basis =
          fault?.words(
            of: status, owner: component.owner,
            expected: inspection.users.userName(expected(rule, user))
          ) ?? "accepted"
        component.decides = fault != nil && reasons.isEmpty
        if let fault {
          reasons.append(
            Reason(
              .programRule, .proven,
              "\(facts.path(of: inode)): \(component.basis), so \(program) \(rule.effect)",
              evidence: [rule.source]))
          remedies += self.remedies(rule, fault, inode, user)
        }
      }
      walk.append(component)
    }
    var resource = ResourceReport(
      path: path, label: path.lastComponent.description, device: path.description, need: [],
      status: reasons.isEmpty || rule.onlyWarns ? .authorized : .denied, reasons: reasons,
      remedies: remedies)
    if let kernel = try kernelReport(on: path, for: user), kernel.status != .authorized {
      // Whoever may not read the file uses nothing of it.
      if resource.status == .authorized { resource.status = kernel.status }
      resource.reasons += kernel.reasons
      resource.decision = kernel.decision
      // Another owner has other rights: what the program wants comes first.
      if resource.remedies.isEmpty { resource.remedies = kernel.remedies }
      for index in resource.remedies.indices { resource.remedies[index].outcome = .undetermined }
    }
    resource.walk = walk
    resource.usedBy = ProgramUse(program: program, user: inspection.users.userName(user))
    resource.isChangeable = false
    return AccessReport(
      accessor: "path", status: resource.status, resources: [resource],
      subject: inspection.subject, time: inspection.time)
  }

  /// Returns what the kernel's rules say of reading the file, for the user who runs the program.
  private func kernelReport(
    on path: PathBytes, for user: UInt32
  ) throws(PermissionError) -> ResourceReport? {
    if inspection.isSaved { return nil }
    var context = inspection.context
    if inspection.subject.credentials.user.fileSystem != user {
      context.subject = try inspection.users.subject(userID: user)
    }
    let target = Inspection.Target(path: path, in: context)
    return ResourceJudge(try Inspection(context, users: inspection.users) { _ in [target] })
      .reports()
      .first?.resources.first
  }

  /// The inodes from the root to the file, by `..`: no link is in it, as realpath(3) has it.
  private func way(to index: Int) -> [Int] {
    var chain = [index]
    while let last = chain.last, facts.inodes[last].parent != last,
      chain.count <= facts.inodes.count
    {
      chain.append(facts.inodes[last].parent)
    }
    return chain.reversed()
  }

  /// The place in the chain from which on the program looks.
  private func firstJudged(_ rule: ProgramRule, _ real: PathBytes, _ chain: [Int]) -> Int {
    switch rule.above {
    case .none: chain.count - 1
    case .folder: max(0, chain.count - 2)
    // Without a home on the way, everything up to the root.
    case .home: rule.home(of: real) ?? 0
    }
  }

  private func expected(_ rule: ProgramRule, _ user: UInt32) -> UInt32 {
    rule.owner == .root ? 0 : user
  }

  /// The user who runs the program: the subject, or by default the owner of the home or of the file.
  private func user(_ rule: ProgramRule, _ chain: [Int], _ first: Int) -> UInt32 {
    if inspection.subject.source != .current {
      return inspection.subject.credentials.user.fileSystem
    }
    if rule.owner == .root { return 0 }
    let real = facts.path(of: chain[chain.count - 1])
    if let home = rule.home(of: real), home > 0 { return facts.inodes[chain[home]].uid }
    return facts.inodes[chain[chain.count - 1]].uid
  }

  /// The least changes after which the program accepts an inode.
  private func remedies(
    _ rule: ProgramRule, _ fault: ProgramRule.Fault, _ index: Int, _ user: UInt32
  ) -> [Remedy] {
    let inode = facts.inodes[index]
    let path = inspection.place(of: index)
    var remedies: [Remedy] = []
    func add(_ command: [PathBytes], _ undo: [PathBytes], needsRoot: Bool) {
      var remedy = Remedy(
        .programMode, command: command, needsRoot: needsRoot,
        persistence: inspection.persistence(of: index), othersAffected: [], outcome: .granted)
      remedy.undo = undo
      remedy.rootWay = inspection.system.rootWay
      remedies.append(remedy)
    }
    if fault.isOwner {
      let owner = expected(rule, user)
      add(
        ["chown", "-h", PathBytes(inspection.users.userName(owner)), path],
        ["chown", "-h", PathBytes("\(inode.uid)"), path], needsRoot: true)
    }
    if fault.bits != 0 {
      let old = PathBytes(String(inode.mode & 0o7777, radix: 8))
      var mode = PathBytes(rule.only.map { String($0, radix: 8) } ?? "")
      if rule.only == nil {
        let parts = [("u", 6), ("g", 3), ("o", 0)].compactMap { who, shift -> String? in
          let bits = Permissions(rawValue: UInt8(fault.bits >> UInt16(shift) & 7))
          return bits.isEmpty ? nil : "\(who)-\(bits.letters)"
        }
        mode = PathBytes(parts.joined(separator: ","))
      }
      let own = try? inspection.system.credentials()
      add(
        ["chmod", mode, path], ["chmod", old, path], needsRoot: own?.user.fileSystem != inode.uid)
      if fault.bits & 0o070 != 0, inode.acl?.mask != nil {
        remedies[remedies.count - 1].note =
          "the bits of the group are the mask of the ACL: its entries give that much less then"
      }
    }
    return remedies
  }
}

extension ProgramRules {
  /// Returns the path that a program means by a folder: its repository, for git.
  ///
  /// - Parameters:
  ///   - program: The program.
  ///   - path: An absolute path.
  ///   - system: The system that has the folder.
  /// - Returns: The path, or that of the repository in it.
  package static func file(of program: String, _ path: PathBytes, _ system: any System) -> PathBytes
  {
    guard program == "git", path.lastComponent != ".git" else { return path }
    let inner = path.appending(".git")
    return (try? system.examiner(of: inner)?.status(of: inner)) == nil ? path : inner
  }
}
