internal import CCap
internal import Glibc

// Judging for another user, where the kernel cannot be asked.
extension TreeWorker {
  /// Judges a top and the way to it; returns whether the user can list it.
  mutating func judgeTop(_ top: PathBytes, _ judge: TreeJudge) -> Bool {
    walk.count(asked: 1)
    guard let facts = try? FactsReader.facts(of: [top], system, isSubject: false) else {
      report(.failed(.EACCES), "")
      return false
    }
    let evaluator = AccessEvaluator(facts: facts, credentials: judge.subject)
    let decision = evaluator.decide(
      walk.question.access(of: top, facts), path: top)
    let inode = facts.inode(at: top)
    report(
      decision, "", isLink: inode.map { facts.inodes[$0].kind } == .symbolicLink,
      isDevice: facts.target(of: top).map { facts.inodes[$0].kind.isDevice } ?? false)
    let lists = evaluator.decide(.faccessat2(.read, followsLink: false), path: top).isGranted
    // Where the way is refused, nothing below can be better.
    let isWalked = lists || walk.question.isDeep && decision.step == .target
    if !isWalked, inode.map({ facts.inodes[$0].kind }) == .directory { walk.count(unlisted: 1) }
    return isWalked
  }

  /// Notes whether the user can search the folder of a level.
  mutating func block(
    _ index: Int, below blocker: TreeFinding.Blocker?, _ judge: TreeJudge
  ) {
    guard let number = levels[index].descriptor else { return }
    levels[index].blocker = blocker
    let folder = Descriptor(rawValue: number)
    guard blocker == nil, let status = try? system.statx(folder),
      case let search = judge.verdict(judge.key(folder, status)).search, !search.isGranted
    else { return }
    levels[index].blocker = TreeFinding.Blocker(
      length: path.count, rule: search.rule, errno: search.errno)
  }

  /// Judges the names of one read.
  mutating func judgeNames(_ count: Int, _ judge: TreeJudge) {
    let blocker = levels[levels.count - 1].blocker
    var asked = 0
    for index in 0..<count {
      var fields = named[index]
      if fields.error == Errno.ENOENT.rawValue || !isAsked(fields) { continue }
      asked += 1
      let start = Int(fields.name)
      if fields.error == EXDEV, blocker == nil || walk.question.isDeep,
        !statMount(start, &fields)
      {
        continue
      }
      // The kernel that finds a name has searched the folder.
      if let blocker, !walk.question.asksKernel || fields.error != 0 {
        if fields.error != 0 { countUnlisted(start) }
        report(
          blocker.errno.map(TreeFinding.Answer.refused) ?? .unknown(blocker.rule), name(start))
        if walk.question.isDeep, fields.error == 0, fields.mode & 0o170000 == 0o040000 {
          wait(for: start)
        }
      } else if fields.error != 0 {
        let errno = Errno(rawValue: fields.error)
        let isRefused = walk.question.asksKernel && (errno == .EACCES || errno == .EPERM)
        if isRefused { countUnlisted(start) }
        report(isRefused ? .refused(errno) : .failed(errno), name(start))
      } else if fields.mode & 0o170000 == 0o120000 {
        judgeLink(name(start), judge)
      } else {
        judgeName(fields, start, judge)
      }
    }
    walk.count(asked: asked)
  }

  /// Whether a name is checked; false for what a recursive request leaves out.
  private func isAsked(_ fields: ccap_named) -> Bool {
    guard walk.question.isOfContents else { return true }
    if fields.error != 0 {
      let type = listedType(Int(fields.name))
      return fields.error != EXDEV && [0, CCAP_FOLDER, CCAP_FILE].contains(type)
    }
    let kind = StatusFields.kind(ofMode: fields.mode)
    guard fields.mount == mount else { return false }
    if kind == .regular { return true }
    // A subvolume of btrfs is no mount. Only folders tell: overlayfs has another number for lower files.
    let device = DeviceNumber(major: fields.dev_major, minor: fields.dev_minor)
    return kind == .directory && device == levels.last?.place.fileSystem
  }

  /// Reads the fields of a name that another file system is mounted on; false if that one may
  /// block.
  mutating func statMount(_ start: Int, _ fields: inout ccap_named) -> Bool {
    guard let folder = levels.last?.descriptor,
      !mounts.mayBlock(name(start), in: Descriptor(rawValue: folder), system)
    else {
      report(.remote, name(start))
      return false
    }
    unsafe buffer.withUnsafeBytes {
      let name = unsafe $0.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start }
      unsafe ccap_stat_name(folder, name, &fields)
    }
    return true
  }

  /// Returns the key of a name in the working directory.
  func key(_ fields: ccap_named, _ start: Int, _ judge: TreeJudge) -> TreeJudge.Key {
    unsafe buffer.withUnsafeBytes { bytes in
      unsafe judge.key(
        fields, bytes.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start })
    }
  }

  private mutating func judgeName(_ fields: ccap_named, _ start: Int, _ judge: TreeJudge) {
    let key = key(fields, start, judge)
    let verdict = judge.verdict(key)
    let kind = StatusFields.kind(ofMode: fields.mode)
    if walk.question.asksKernel {
      askKernel(start, walk.question.needs(on: kind), judge.mayBeRefusedLater(verdict.need, key))
    } else {
      report(verdict.need, name(start), isLink: false, isDevice: kind?.isDevice == true)
    }
    guard fields.mode & 0o170000 == 0o040000 else { return }
    if verdict.lists || walk.question.isDeep {
      wait(for: start)
    } else {
      walk.count(unlisted: 1)
    }
  }

  /// Asks the kernel about a name in the last level, for this process.
  ///
  /// - Parameters:
  ///   - start: Where the name begins.
  ///   - needs: The permissions to ask for, those of each call.
  ///   - doubt: The rule by which an open may be refused that the kernel grants; nil for none.
  private mutating func askKernel(_ start: Int, _ needs: [Permissions], _ doubt: Rule?) {
    guard let folder = levels.last?.descriptor else { return }
    for need in needs {
      let result = unsafe buffer.withUnsafeBytes {
        let name = unsafe $0.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start }
        return unsafe ccap_ask_at(folder, name, Int32(need.rawValue))
      }
      if result == -ENOENT, !walk.isFiltered { return walk.count(asked: -1) }
      if result < 0 {
        let errno = Errno(rawValue: -result)
        // A filter that refuses the question says nothing of the file.
        return report(walk.isFiltered ? .failed(errno) : .refused(errno), name(start))
      }
    }
    if let doubt { report(.unknown(doubt), name(start)) }
  }

  /// Counts a name that cannot be entered if it is a folder.
  private mutating func countUnlisted(_ start: Int) {
    if listedType(start) == CCAP_FOLDER { walk.count(unlisted: 1) }
  }

  /// The type of a name as getdents64(2) has it; 0 (DT_UNKNOWN) if the file system does not report it.
  private func listedType(_ start: Int) -> Int { Int(buffer[start - 1]) }

  /// Adds a folder to those that wait to be entered.
  mutating func wait(for start: Int) {
    names += name(start).bytes
    names.append(0)
  }

  /// Judges a link in the working directory by the path to its target.
  private mutating func judgeLink(_ name: PathBytes, _ judge: TreeJudge) {
    guard let folder = levels.last?.descriptor,
      !mounts.leadsToBlocking(name, in: Descriptor(rawValue: folder), system)
    else { return report(.remote, name, isLink: true) }
    guard let facts = try? FactsReader.facts(of: [name], system, isSubject: false) else {
      return report(.failed(.EACCES), name, isLink: true)
    }
    let decision = AccessEvaluator(facts: facts, credentials: judge.subject)
      .decide(walk.question.access(of: name, facts), path: name)
    report(
      decision, name, isLink: true,
      isDevice: facts.target(of: name).map { facts.inodes[$0].kind.isDevice } ?? false)
  }

  private mutating func report(
    _ decision: Decision, _ name: PathBytes, isLink: Bool, isDevice: Bool
  ) {
    switch decision.verdict {
    case .granted:
      if isDevice, walk.question.mayRefuseDevices {
        report(.unknown(.deviceCgroup), name, isLink: isLink)
      }
    case .refused(let errno): report(.refused(errno), name, isLink: isLink)
    case .undetermined: report(.unknown(decision.rule), name, isLink: isLink)
    }
  }

  func name(_ start: Int) -> PathBytes {
    PathBytes(Array(buffer[start...].prefix { $0 != 0 }))
  }
}
