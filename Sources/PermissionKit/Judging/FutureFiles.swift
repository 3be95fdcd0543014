/// Judges which access a subject will have to the next file and the next folder that somebody makes
/// in a folder.
struct FutureFiles {
  private let inspection: Inspection
  private let creator: FileCreator
  private let resource: Resource
  private let users: UserDatabase
  private let folder: Int?

  /// - Parameters:
  ///   - inspection: The subject, the folders and the facts, with what new files inherit.
  ///   - creator: Who makes the files.
  ///   - resource: The folder.
  init(_ inspection: Inspection, _ creator: FileCreator, _ resource: Resource) {
    self.inspection = inspection
    self.creator = creator
    self.resource = resource
    users = inspection.users
    let facts = inspection.facts
    folder = inspection.evaluator.place(of: resource.path).inode
      .flatMap { facts.inodes[$0].kind == .directory ? $0 : nil }
  }

  private var facts: AccessFacts { inspection.facts }
  private var who: String { creator.subject.displayName }
  private var need: Permissions { inspection.context.need ?? resource.need }

  func reports() -> [ResourceReport] {
    guard let folder else { return [reportOnFolder()] }
    if let refusal = refusalToCreate(in: folder) {
      return [report(.unavailable, [refusal])]
    }
    let isCounted = Creation.heedsUmask(folder, of: facts)
    guard facts.inodes[folder].aclError == nil, let all = foreseen(folder, creator.umask ?? 0)
    else { return [report(.notDetermined, [ownRules(folder)])] }
    guard isCounted, creator.umask == nil, let none = foreseen(folder, 0o777) else { return all }
    return zip(all, none).map { (open, closed) -> ResourceReport in
      guard open.status != closed.status else { return open }
      var report = open
      report.status = .notDetermined
      report.reasons = [
        Reason(
          .unknownUmask, .proven,
          "the umask of \(who) decides and is unknown: with umask 000 \(words(open)), with 777 \(words(closed))"
        )
      ]
      report.remedies = []
      report.decision?.verdict = .undetermined
      return report
    }
  }

  private func words(_ report: ResourceReport) -> String {
    report.status == .authorized ? "granted" : "refused"
  }

  // MARK: - Where nothing can be foreseen

  /// The report of a check that finds no folder.
  private func reportOnFolder() -> ResourceReport {
    var resource = resource
    (resource.kind, resource.lesserNeed) = (.directory, nil)
    let target = Inspection.Target(name: "", set: ResourceSet(resources: [resource]))
    let judge = ResourceJudge(
      Inspection(inspection, foreseeing: facts, [target]), explains: true)
    return judge.reports()[0].resources[0]
  }

  private func report(_ status: AuthorizationStatus, _ reasons: [Reason]) -> ResourceReport {
    ResourceReport(
      path: resource.path, label: resource.label, device: resource.device, need: need,
      status: status, reasons: reasons)
  }

  private func ownRules(_ folder: Int) -> Reason {
    let inode = facts.inodes[folder]
    if let errno = inode.aclError {
      return Reason(
        .unreadableFacts, .proven, "the ACL of \(resource.path) cannot be read (\(errno))")
    }
    let mount = facts.mounts[inode.mount]
    return Reason(
      .serverDecides, .proven,
      "\(mount.fileSystem) decides what new files in \(resource.path) get, so it is not known before they exist",
      evidence: ["\(mount.fileSystem) \(mount.superblockOptions)"])
  }

  /// Returns why the creator cannot make files in a folder; nil if it can, or perhaps can.
  private func refusalToCreate(in folder: Int) -> Reason? {
    var facts = facts
    facts.inodes[folder].entries.insert(
      InodeFacts.Entry(name: Self.fileName, found: .missing), at: 0)
    let path = resource.path.appending(Self.fileName)
    let evaluator = AccessEvaluator(facts: facts, credentials: creator.subject.credentials)
    let flags: OpenFlags = [.create, .exclusive, .writeOnly]
    let (decision, _) = evaluator.explain(.open(flags), path: path)
    guard let errno = decision.errno else { return nil }
    let place = decision.inode.map { facts.path(of: $0) } ?? resource.path
    let mode = decision.inode.map {
      "\(facts.inodes[$0].summary.modeText) \(users.userName(facts.inodes[$0].uid)):\(users.groupName(facts.inodes[$0].gid))"
    }
    return Reason(
      .cannotCreate, .proven,
      "\(who) cannot make files in \(resource.path): \(place) refuses it (\(errno)\(mode.map { ", \($0)" } ?? ""))",
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

  private func foreseen(_ folder: Int, _ umask: UInt16) -> [ResourceReport]? {
    let creation = Creation(credentials: creator.subject.credentials, umask: umask)
    var facts = facts
    var targets = ResourceSet()
    for (name, kind, need) in asked {
      guard let inode = creation.made(kind, in: folder, of: facts) else { return nil }
      facts.add(inode, name, in: folder)
      targets.resources.append(
        Resource(
          path: resource.path.appending(name), label: name.description, device: resource.device,
          need: need, kind: kind))
    }
    let target = Inspection.Target(name: "", set: targets)
    let inspection = Inspection(inspection, foreseeing: facts, [target])
    var reports = ResourceJudge(inspection, explains: true).reports()[0].resources
    let fix = FutureFix(
      self.inspection, resource, folder, creation, asked.map { ($0.kind, $0.need) })
    let remedies = reports.contains { $0.status == .denied } ? fix.remedies() : []
    for index in reports.indices {
      let inode = facts.inodes[facts.inodes.count - reports.count + index]
      refine(&reports[index], inode, folder, inspection, targets.resources[index])
      if reports[index].status == .denied { reports[index].remedies = remedies }
    }
    return reports
  }

  private func refine(
    _ report: inout ResourceReport, _ inode: InodeFacts, _ folder: Int, _ inspection: Inspection,
    _ resource: Resource
  ) {
    report.future = FutureFile(
      inode: inode.summary, owner: users.userName(inode.uid), group: users.groupName(inode.gid),
      creator: who, umask: creator.umask, heedsUmask: Creation.heedsUmask(folder, of: facts))
    report.path = self.resource.path
    report.remedies = []
    if report.decision?.step == .target {
      report.decision?.component = self.resource.path
      if report.status == .denied, let reason = report.reasons.first {
        let what = inode.kind == .directory ? "folder" : "file"
        report.reasons = [
          Reason(
            .futureFiles, .proven, "the next \(what): \(reason.message)", evidence: reason.evidence)
        ]
      }
    }
    guard report.status == .authorized else { return }
    // What is not there yet cannot be tried.
    let ask = inspection.ask(resource, need: report.need)
    var possibleRefusals = OtherProcess.doubts(inspection, ask)
    if inspection.subject.source == .current,
      let doubt = OwnConfinement.reason(
        "a file that does not exist yet cannot be tried", inspection.system)
    {
      possibleRefusals.append(doubt)
    }
    if !possibleRefusals.isEmpty {
      (report.status, report.reasons) = (.notDetermined, possibleRefusals)
    }
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
