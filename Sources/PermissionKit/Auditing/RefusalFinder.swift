/// Finds the rule behind a refusal, from the facts of a name and of its open folder.
///
/// It opens names as O_PATH below that folder alone, and never the target of a link.
struct RefusalFinder {
  private let subject: Credentials
  private let need: Permissions
  private let system: any System
  private let overflow: AccessFacts.Overflow?
  /// The folder of the last finding.
  private var folder: (path: PathBytes, inode: InodeFacts)?
  private var mounts = KnownMounts()

  init(_ subject: Credentials, _ need: Permissions, _ system: any System) {
    self.subject = subject
    self.need = need
    self.system = system
    overflow = FactsReader.overflow(system)
  }

  /// Returns a finding with the rule that decided, if the facts explain it.
  mutating func entry(_ finding: TreeFinding) -> AuditEntry {
    let isTop = finding.folder == .currentDirectory
    let folder =
      isTop || finding.folderLength == finding.path.bytes.count
      ? finding.path.parent : Self.folder(finding)
    var entry = AuditEntry(path: finding.path, folder: folder, answer: finding.answer)
    if let blocker = finding.blocker {
      let path = PathBytes(Array(finding.path.bytes[..<blocker.length]))
      entry.place = path == folder ? .folder : .ancestor(path)
      entry.rule = blocker.rule
      return entry
    }
    guard case .refused(let errno) = finding.answer else { return entry }
    if isTop {
      explainTop(&entry, errno)
    } else {
      explain(finding, &entry, errno)
    }
    return entry
  }

  private static func folder(_ finding: TreeFinding) -> PathBytes {
    var bytes = finding.path.bytes[..<finding.folderLength]
    if bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return PathBytes(Array(bytes))
  }

  /// Explains by the folder and the name alone, for everything above was passed by the walk.
  private mutating func explain(
    _ finding: TreeFinding, _ entry: inout AuditEntry, _ errno: Errno
  ) {
    if folder?.path != entry.folder {
      guard let inode = inode(finding.folder) else { return }
      folder = (entry.folder, inode)
    }
    guard var parent = folder?.inode else { return }
    let name = finding.name
    var inodes: [InodeFacts] = []
    var found = InodeFacts.Entry.Found.unreadable(.EACCES)
    if let descriptor = try? system.openat(finding.folder, name, [.path, .noFollow], mode: 0) {
      defer { system.close(descriptor) }
      if let inode = inode(descriptor) {
        inodes = [inode]
        found = .inode(1)
      }
    }
    parent.parent = 0
    parent.entries = [InodeFacts.Entry(name: name, found: found)]
    let facts = AccessFacts(inodes: [parent] + inodes, mounts: mounts.facts, overflow: overflow)
    let decision = AccessEvaluator(facts: facts, credentials: subject)
      .decide(.faccessat2(need, followsLink: false), path: name)
    if decision.errno == errno, decision.step == .walk, decision.inode == 0 {
      (entry.place, entry.rule, entry.inode) = (.folder, decision.rule, parent.summary)
    } else if finding.isLink || inodes.first?.kind == .symbolicLink {
      (entry.place, entry.rule) = (.target, Self.linkRule(errno))
    } else {
      entry.inode = inodes.first?.summary
      if decision.errno == errno { entry.rule = decision.rule }
    }
  }

  /// Explains with the facts of the whole path, as the caller gave it.
  private func explainTop(_ entry: inout AuditEntry, _ errno: Errno) {
    guard let facts = try? FactsReader.facts(of: [entry.path], system, isSubject: false) else {
      return
    }
    let decision = AccessEvaluator(facts: facts, credentials: subject)
      .decide(.faccessat2(need, followsLink: true), path: entry.path)
    guard decision.errno == errno else { return }
    entry.rule = decision.rule
    guard let index = decision.inode else { return }
    entry.inode = facts.inodes[index].summary
    if decision.step == .walk, errno == .EACCES { entry.place = .ancestor(facts.path(of: index)) }
  }

  /// The rule that an errno alone tells for a link whose target is not looked at.
  private static func linkRule(_ errno: Errno) -> Rule? {
    switch errno {
    case .ENOENT: .missing
    case .ELOOP: .tooManyLinks
    case .ENOTDIR: .notADirectory
    default: nil
    }
  }

  private mutating func inode(_ descriptor: Descriptor) -> InodeFacts? {
    guard let status = try? system.statx(descriptor), let kind = status.kind else { return nil }
    var inode = InodeFacts(
      kind: kind, mode: UInt16(status.mode & 0o7777), uid: status.uid, gid: status.gid,
      device: kind.isDevice ? status.device : nil, mount: mounts.index(of: status.mount, system))
    inode.isImmutable = status.isImmutable
    inode.isAppendOnly = status.isAppendOnly
    if kind == .symbolicLink { return inode }
    do throws(Errno) {
      let value = try system.getxattr(.access, of: descriptor)
      if !value.isEmpty {
        inode.acl = AccessControlList(xattr: value)
        if inode.acl == nil { inode.aclError = .EINVAL }
      }
    } catch .ENODATA {
    } catch .EOPNOTSUPP {
      inode.hasACLs = false
    } catch {
      inode.aclError = error
    }
    return inode
  }
}
