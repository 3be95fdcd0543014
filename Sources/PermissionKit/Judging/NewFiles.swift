/// The next file and the next folder that somebody makes in a folder.
struct NewFiles {
  private let inspection: Inspection
  private let creator: FileCreator
  /// The folder, as it was asked for.
  let resource: Resource
  /// The folder in the facts; nil if the path leads to none.
  let folder: Int?

  /// - Parameters:
  ///   - inspection: The subject, the folders and the facts, with what new files inherit.
  ///   - creator: Who makes the files.
  ///   - resource: The folder.
  init(_ inspection: Inspection, _ creator: FileCreator, _ resource: Resource) {
    self.inspection = inspection
    self.creator = creator
    self.resource = resource
    let facts = inspection.facts
    folder = inspection.evaluator.place(of: resource.path).inode
      .flatMap { facts.inodes[$0].kind == .directory ? $0 : nil }
  }

  private var facts: AccessFacts { inspection.facts }
  /// The permissions that are asked for.
  var need: Permissions { inspection.context.need ?? resource.need }

  /// Returns why nothing can be foreseen in the folder; nil if it can.
  func obstacle(in folder: Int) -> Finding? {
    if let refusal = refusalToCreate(in: folder) {
      return Finding(status: .unavailable, reasons: [refusal])
    }
    if !inspection.isSaved,
      var full = FullFileSystem.finding(
        in: folder, resource.path, to: creator.subject, inspection)
    {
      if full.status == .restricted { full.status = .unavailable }
      return full
    }
    let inode = facts.inodes[folder]
    let mount = facts.mounts[inode.mount]
    if let errno = inode.aclError {
      let reason = Reason(
        .unreadableFacts, .proven, "the ACL of \(resource.path) cannot be read (\(errno))")
      return Finding(status: .notDetermined, reasons: [reason])
    }
    guard asked.contains(where: { creation(0).made($0.kind, in: folder, of: facts) == nil })
    else { return nil }
    let reason = Reason(
      .serverDecides, .proven,
      "\(mount.fileSystem) decides what new files in \(resource.path) get, so it is not known before they exist",
      evidence: ["\(mount.fileSystem) \(mount.superblockOptions)"])
    return Finding(status: .notDetermined, reasons: [reason])
  }

  /// Returns why the creator cannot make files in a folder; nil if it can, or perhaps can.
  private func refusalToCreate(in folder: Int) -> Reason? {
    var facts = facts
    facts.inodes[folder].entries.insert(
      InodeFacts.Entry(name: Self.fileName, found: .missing), at: 0)
    let evaluator = AccessEvaluator(facts: facts, credentials: creator.subject.credentials)
    let flags: OpenFlags = [.create, .exclusive, .writeOnly]
    let decision = evaluator.decide(.open(flags), path: resource.path.appending(Self.fileName))
    guard let errno = decision.errno else { return nil }
    let place = decision.inode.map { facts.path(of: $0) } ?? resource.path
    let mode = decision.inode.map { ", " + ReasonFinder(inspection).modeAndOwners($0) }
    return Reason(
      .cannotCreate, .proven,
      "\(creator.subject.displayName) cannot make files in \(resource.path): \(place) refuses it (\(errno)\(mode ?? ""))",
      evidence: [decision.rule.description])
  }

  // MARK: - What is made

  private static let fileName: PathBytes = "next file"
  private static let folderName: PathBytes = "next folder"

  /// The next inodes with the permissions to check; execute only for folders, since new files lack
  /// it.
  private var asked: [(name: PathBytes, kind: FileKind, need: Permissions)] {
    let ofFile = need.intersection([.read, .write])
    let ofFolder = (Self.folderName, FileKind.directory, need.union(.execute))
    return ofFile.isEmpty ? [ofFolder] : [(Self.fileName, .regular, ofFile), ofFolder]
  }

  private func creation(_ umask: UInt16) -> Creation {
    Creation(credentials: creator.subject.credentials, umask: umask)
  }

  /// Returns the evidence about each of them.
  func evidence(in folder: Int) -> [Evidence] {
    let isCounted = Creation.heedsUmask(folder, of: facts)
    let evidence = foreseen(in: folder, creator.umask ?? 0)
    guard isCounted, creator.umask == nil else { return evidence }
    for (open, closed) in zip(evidence, foreseen(in: folder, 0o777)) {
      open.future?.closed = closed
    }
    return evidence
  }

  private func foreseen(in folder: Int, _ umask: UInt16) -> [Evidence] {
    let creation = creation(umask)
    var facts = facts
    var files: [(resource: Resource, inode: InodeFacts)] = []
    for (name, kind, need) in asked {
      guard let inode = creation.made(kind, in: folder, of: facts) else { continue }
      facts.add(inode, name, in: folder)
      let path = resource.path.appending(name)
      files.append(
        (
          Resource(
            path: path, label: name.description, device: resource.device, need: need, kind: kind),
          inode
        ))
    }
    let targets = [Inspection.Target(name: "", set: ResourceSet(resources: files.map(\.resource)))]
    let inspection = Inspection(inspection, foreseeing: facts, targets)
    let fix = FutureFix(
      self.inspection, resource, folder, creation, asked.map { ($0.kind, $0.need) })
    let heedsUmask = Creation.heedsUmask(folder, of: facts)
    return files.map { resource, inode in
      let file = NewFile(self.resource.path, inode, creator, heedsUmask: heedsUmask, fix)
      return Evidence(inspection, inspection.ask(resource), explains: true, future: file)
    }
  }
}

/// One file or folder that does not exist yet.
final class NewFile {
  /// The path of the folder in which it is made.
  let folder: PathBytes
  let inode: InodeFacts
  let creator: FileCreator
  /// Whether the umask of the creator counts, which a default ACL replaces.
  let heedsUmask: Bool
  /// The evidence about the same file if its creator had umask 0777; nil if the umask is known, or does
  /// not count.
  var closed: Evidence?
  private let fix: FutureFix

  init(
    _ folder: PathBytes, _ inode: InodeFacts, _ creator: FileCreator, heedsUmask: Bool,
    _ fix: FutureFix
  ) {
    (self.folder, self.inode, self.creator) = (folder, inode, creator)
    (self.heedsUmask, self.fix) = (heedsUmask, fix)
  }

  /// The least change after which such files give access; empty if none does.
  var remedies: [Remedy] { fix.remedies() }

  /// Returns what a report says about it.
  func report(_ users: UserDatabase) -> FutureFile {
    FutureFile(
      inode: inode.summary, owner: users.userName(inode.uid), group: users.groupName(inode.gid),
      creator: creator.subject.displayName, umask: creator.umask, heedsUmask: heedsUmask)
  }
}

extension AccessFacts {
  /// Adds an inode under a name, and hides any other inode of that name.
  fileprivate mutating func add(_ inode: InodeFacts, _ name: PathBytes, in folder: Int) {
    inodes.append(inode)
    inodes[folder].entries.insert(
      InodeFacts.Entry(name: name, found: .inode(inodes.count - 1)), at: 0)
  }
}
