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
    let inode = facts.inodes[index]
    let found = ProgramRules.rule(of: program, [path, real], inode.kind) { rule in
      rule.firstLine.map { ProgramRules.begins(real, $0, inode, [path], inspection) } == true
    }
    guard let (rule, shown, noun) = found else {
      throw PermissionError(
        .invalidArgument, "\(program) has no rule about \(path)", path: path,
        advice: "see Documentation/programs.md for the files of \(program)")
    }
    let first = firstJudged(rule, shown, chain)
    let user = user(rule, shown, chain)
    var (walk, reasons, remedies) = judge(rule, chain, first, user)
    let settings = reasons.isEmpty ? nil : exception(rule, user)
    if let settings {
      // What the settings mean is the program's.
      reasons.insert(settings, at: 0)
    }
    let isOpen = reasons.contains { $0.code == .unreadableFacts } || settings != nil
    var resource = ResourceReport(
      path: path, label: path.lastComponent.description, device: path.description, need: [],
      status: reasons.isEmpty || rule.onlyWarns ? .authorized : isOpen ? .notDetermined : .denied,
      reasons: reasons, remedies: remedies)
    let reader = rule.runsAsRoot ? 0 : user
    if let kernel = try kernelReport(on: path, for: reader), kernel.status != .authorized {
      // Whoever may not read the file uses nothing of it.
      if resource.status == .authorized {
        resource.status = kernel.status
        walk = kernel.walk
      }
      resource.reasons += kernel.reasons
      resource.decision = kernel.decision
      // Another owner has other rights: what the program wants comes first.
      if resource.remedies.isEmpty { resource.remedies = kernel.remedies }
      for index in resource.remedies.indices { resource.remedies[index].outcome = .undetermined }
    }
    resource.walk = walk
    resource.usedBy = ProgramUse(
      program: program, user: inspection.users.userName(user), noun: noun)
    resource.isChangeable = false
    return AccessReport(
      accessor: "path", status: resource.status, resources: [resource],
      subject: inspection.subject, time: inspection.time)
  }

  /// Judges each component from the first on that the program looks at.
  private func judge(
    _ rule: ProgramRule, _ chain: [Int], _ first: Int, _ user: UInt32
  ) -> ([WalkedComponent], [Reason], [Remedy]) {
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
          var reason = Reason(
            .programRule, .proven,
            "\(facts.path(of: inode)): \(component.basis), so \(program) \(rule.effect)",
            evidence: [rule.source])
          if fault.isUnsure {
            reason = Reason(
              .unreadableFacts, .proven,
              "\(facts.path(of: inode)): \(component.basis), and who else is in the group cannot be looked up"
            )
          }
          reasons.append(reason)
          let more = self.remedies(rule, fault, inode, user)
          remedies += more.filter { one in !remedies.contains { $0.command == one.command } }
        }
      }
      walk.append(component)
    }
    return (walk, reasons, remedies)
  }

  /// Returns what the kernel's rules say of reading the file, for the user who runs the program.
  private func kernelReport(
    on path: PathBytes, for user: UInt32
  ) throws(PermissionError) -> ResourceReport? {
    if inspection.isSaved { return nil }
    var context = inspection.context
    if inspection.subject.credentials.user.fileSystem != user {
      // Nobody logs in with an id that has no name.
      guard let subject = try? inspection.users.subject(userID: user) else { return nil }
      context.subject = subject
    }
    let target = Inspection.Target(path: path, in: context)
    let asked = try Inspection(context, users: inspection.users) { _ in [target] }
    return ResourceJudge(asked, explains: true).reports()
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
  private func firstJudged(_ rule: ProgramRule, _ shown: PathBytes?, _ chain: [Int]) -> Int {
    switch rule.above {
    case .none: chain.count - 1
    case .folder: max(0, chain.count - 2)
    // Where the real path does not lead through the home, everything up to the root.
    case .home: home(rule, shown).flatMap { chain.firstIndex(of: $0) } ?? 0
    }
  }

  /// The inode of the home that a path shows.
  private func home(_ rule: ProgramRule, _ shown: PathBytes?) -> Int? {
    guard let shown, let count = rule.home(of: shown), count > 0 else { return nil }
    return facts.target(of: shown.components.prefix(count).reduce("/") { $0.appending($1) })
  }

  private func expected(_ rule: ProgramRule, _ user: UInt32) -> UInt32 {
    rule.owner == .root ? 0 : user
  }

  /// The user who runs the program: the subject, or by default the owner of the home or of the file.
  private func user(_ rule: ProgramRule, _ shown: PathBytes?, _ chain: [Int]) -> UInt32 {
    if rule.isNamedAfterUser, let name = shown?.lastComponent,
      let record = try? inspection.users.user(named: name.description)
    {
      return record.uid
    }
    if rule.owner == .root { return 0 }
    if rule.isOfCaller || inspection.subject.source != .current {
      return inspection.subject.credentials.user.fileSystem
    }
    return facts.inodes[home(rule, shown) ?? chain[chain.count - 1]].uid
  }

  /// Returns the reason why the settings of the program may lift its rule; nil if they do not.
  private func exception(_ rule: ProgramRule, _ user: UInt32) -> Reason? {
    guard let exception = rule.exception, !inspection.isSaved else { return nil }
    let (system, root) = (inspection.system, inspection.context.root)
    let subject = try? inspection.users.subject(userID: user)
    for file in exception.files {
      var (path, reader) = (file, system.door(below: root, as: nil))
      if file.components.first == "~" {
        guard let subject, let home = subject.home else { continue }
        path = file.components.dropFirst().reduce(home) { $0.appending($1) }
        // The user may have put any link there.
        reader = system.door(to: path.below(root), of: subject, below: root)
      }
      let file = path.below(root)
      do throws(Errno) {
        for one in try Self.files(file, reader)
        where Self.has(exception.line, try reader.contents(of: one, limit: 1 << 20)) {
          return Reason(
            .programRule, .suspected,
            "\(one) has a line \"\(exception.line)\", which may lift this rule of \(program)")
        }
      } catch .ENOENT {
      } catch {
        return Reason(
          .unreadableFacts, .proven,
          "\(file) cannot be read (\(error)), which may lift this rule of \(program)")
      }
    }
    return nil
  }

  /// Returns the files in a folder, or the file itself.
  private static func files(
    _ path: PathBytes, _ reader: any System
  ) throws(Errno) -> [PathBytes] {
    do throws(Errno) {
      return try reader.names(in: path).map { path.appending($0) }
    } catch .ENOTDIR {
      return [path]
    }
  }

  /// Returns whether a line begins with words, whatever the case of the letters and the blanks.
  private static func has(_ words: String, _ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).lowercased().parts(by: "\n").contains { line in
      let text = line.parts(by: " ").flatMap { $0.parts(by: "\t") }.joined(separator: " ") + " "
      return text.hasPrefix(words)
    }
  }

  /// The least changes after which the program accepts an inode.
  private func remedies(
    _ rule: ProgramRule, _ fault: ProgramRule.Fault, _ index: Int, _ user: UInt32
  ) -> [Remedy] {
    let inode = facts.inodes[index]
    let path = inspection.operand(index)
    var remedies: [Remedy] = []
    func add(_ command: [PathBytes], _ undo: [PathBytes], needsRoot: Bool) {
      var remedy = Remedy(
        .programMode, command: command, needsRoot: needsRoot,
        persistence: inspection.persistence(of: index), othersAffected: [], outcome: .granted)
      remedy.undo = undo
      remedy.rootWay = inspection.system.rootWay
      remedies.append(remedy)
    }
    if rule.isOfCaller {
      return [trust(path.lastComponent == ".git" ? path.parent : path, user)]
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
          "who has it by an entry of the ACL loses that, too: the bits of the group are its mask"
      } else if fault.bits & 0o070 != 0 {
        let group = inspection.users.groupName(inode.gid)
        remedies[remedies.count - 1].note = "who has it by the group \(group) loses it"
      }
    }
    return remedies
  }
}

extension ProgramJudge {
  /// Returns the line by which a user trusts the repository of somebody else.
  fileprivate func trust(_ folder: PathBytes, _ user: UInt32) -> Remedy {
    var command: [PathBytes] = ["git", "config", "--global", "--add", "safe.directory", folder]
    let own = (try? inspection.system.credentials())?.user.fileSystem
    if own != user, let record = try? inspection.users.user(user) {
      let home = PathBytes(Array("HOME=".utf8) + record.home.bytes)
      command = ["runuser", "-u", PathBytes(record.name), "--", "env", home] + command
    }
    var remedy = Remedy(
      .programMode, command: command, needsRoot: own != user, persistence: .permanent,
      othersAffected: [], outcome: .granted)
    remedy.note = "git then also runs the hooks and settings of whoever can write there"
    remedy.rootWay = inspection.system.rootWay
    return remedy
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
    func isThere(_ path: PathBytes) -> Bool {
      (try? system.examiner(of: path)?.status(of: path)) != nil
    }
    switch program {
    case "git":
      var folder = path
      while path.lastComponent != ".git" {
        let inner = folder.appending(".git")
        if isThere(inner) { return inner }
        if folder.parent == folder { break }
        folder = folder.parent
      }
    case "sshd":
      let keys = path.appending(
        path.lastComponent == ".ssh" ? "authorized_keys" : ".ssh/authorized_keys")
      if isThere(keys) { return keys }
    default: break
    }
    return path
  }
}
