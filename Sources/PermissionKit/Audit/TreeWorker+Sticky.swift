internal import CCap

// Files that are opened for writing, and not with O_CREAT.
extension TreeWorker {
  /// Counts the files in an open folder that the subject may write, and not open with O_CREAT.
  func countProtected(in folder: Descriptor) {
    // Where the user who is judged reaches nothing, nothing is granted.
    guard levels.last?.blocker == nil, let sysctls = walk.sysctls, let writer,
      let status = try? system.statx(folder), status.mode & 0o1000 != 0, status.mode & 0o022 != 0
    else { return }
    do throws(Errno) {
      let listing = try system.openat(folder, ".", [.directory], mode: 0)
      defer { system.close(listing) }
      let overflow = FactsReader.overflow(system)
      var count = 0
      for name in try system.getdents(listing) {
        guard let file = try? system.openat(folder, name, [.path, .noFollow], mode: 0) else {
          continue
        }
        defer { system.close(file) }
        let found = try system.statx(file)
        guard let kind = found.kind, kind == .regular || !walk.question.isOfContents else {
          continue
        }
        // may_create_in_sticky() of fs/namei.c asks for nothing else.
        let above = InodeFacts(
          kind: .directory, mode: UInt16(status.mode & 0o7777), uid: status.uid, gid: status.gid)
        let inode = InodeFacts(kind: kind, mode: 0, uid: found.uid, gid: found.gid)
        let facts = AccessFacts(sticky: inode, in: above, sysctls, overflow)
        let decision = AccessEvaluator(facts: facts, credentials: writer)
          .decide(.open([.writeOnly, .create]), path: "it")
        if decision.rule == .stickyDirectory, mayWrite(file, found) { count += 1 }
      }
      walk.count(protected: count)
    } catch {
      // The walk itself reports what cannot be listed.
    }
  }

  /// The user who would write; nil if nobody is asked for, or many are counted.
  private var writer: Credentials? {
    switch asker {
    case .kernel: walk.question.identity ?? (try? system.credentials())
    case .judge(let judge): judge.subject
    case .census, .visitor: nil
    }
  }

  private func mayWrite(_ file: Descriptor, _ status: StatusFields) -> Bool {
    guard case .judge(let judge) = asker, !walk.question.asksKernel else {
      return walk.question.needs(on: status.kind).allSatisfy {
        unsafe ccap_ask_at(file.rawValue, "", Int32($0.rawValue)) == 0
      }
    }
    return judge.verdict(judge.key(file, status)).need.isGranted
  }
}

extension AccessFacts {
  /// Creates facts about one inode in a directory that anybody can search.
  fileprivate init(
    sticky inode: InodeFacts, in directory: InodeFacts, _ sysctls: Sysctls, _ overflow: Overflow?
  ) {
    var above = directory
    above.mode |= 0o111
    above.entries = [InodeFacts.Entry(name: "it", found: .inode(1))]
    self.init(inodes: [above, inode], sysctls: sysctls, overflow: overflow)
  }
}
