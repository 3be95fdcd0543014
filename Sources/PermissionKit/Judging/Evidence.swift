/// The evidence about one resource of a check: each part is looked at when a cause first asks for
/// it, and then kept.
///
/// `decision` is what the facts say, `probe` what the kernel said when it was asked, and `answer` the status by both.
package final class Evidence {
  let inspection: Inspection
  /// The resource, and what is asked of it.
  let ask: ResourceQuery
  /// The decision on the facts.
  let decision: Decision
  /// Whether the report shall contain the walk.
  let explains: Bool

  /// The file that the question is about, which does not exist yet; nil for what exists.
  let future: NewFile?

  init(_ inspection: Inspection, _ ask: ResourceQuery, explains: Bool, future: NewFile?) {
    self.inspection = inspection
    self.future = future
    self.ask = ask
    self.explains = explains
    decision = inspection.evaluator.decide(ask)
  }

  /// Creates the evidence about a resource that exists, or is missing.
  package convenience init(_ inspection: Inspection, _ ask: ResourceQuery, explains: Bool) {
    self.init(inspection, ask, explains: explains, future: nil)
  }

  var facts: AccessFacts { inspection.facts }
  var users: UserDatabase { inspection.users }
  var subject: Subject { inspection.subject }
  var system: any System { inspection.system }
  /// Whether this machine may be looked at; false for facts of another time or place.
  var isHere: Bool { !inspection.isSaved }
  /// Whether paths are those of this machine, not of an image below another root.
  var isAtRoot: Bool { inspection.context.root == "/" }

  // MARK: - The answer

  /// Why the file is of another type than what is needed; nil if it is not.
  private(set) lazy var otherKind: Reason? =
    decision.step == .target
    ? decision.inode.flatMap { OtherKind.reason(inspection, ask.resource, $0) } : nil

  /// The kernel's own answer; nil if it was not asked.
  ///
  /// A file of another type is not opened.
  private(set) lazy var probe: Probe? =
    ask.operation == nil && future == nil && otherKind == nil
    ? Prober.probe(inspection, ask, decision) : nil

  /// The status by the kernel's answer, or else by the decision.
  private(set) lazy var answer = AuthorizationStatus(decision, probe)

  var isGranted: Bool { answer == .authorized }

  /// Whether the kernel contradicts the facts, perhaps because something changed meanwhile.
  var isContradiction: Bool {
    guard let probe, probe.obstacle == nil, probe.errno != decision.errno, !probe.isInconclusive
    else { return false }
    return decision.verdict != .undetermined
      && ![.EBUSY, .ETXTBSY, .ENXIO, .ENODEV].contains(probe.errno)
  }

  /// The steps of the walk; empty if nobody wants them: no step of a granted walk explains a
  /// refusal.
  private(set) lazy var steps: [WalkStep] =
    decision.isGranted && !explains ? [] : inspection.evaluator.steps(ask)

  /// The reasons of the refusal alone.
  private(set) lazy var refusal: [Reason] = KernelAnswer.reasons(in: self)

  /// The smallest change of modes and ACLs that gives access; empty if none does.
  private(set) lazy var leastChange: [Remedy] = KernelAnswer.remedies(in: self)

  /// The question for the fewer permissions that make the resource useful, with its answers; nil if all
  /// are granted, or if nothing less is of use.
  private(set) lazy var lesser: (ask: ResourceQuery, decision: Decision, probe: Probe?)? = {
    // Of what is not there nothing less is either.
    guard !isGranted, answer != .unavailable, let need = ask.resource.lesserNeed, !isLocked,
      probe?.shown?.isInconclusive != true
    else { return nil }
    let less = ResourceQuery(
      resource: ask.resource, need: need, isDirectory: ask.resource.kind == .directory)
    let decision = inspection.evaluator.decide(less)
    return (less, decision, Prober.probe(inspection, less, decision))
  }()

  /// Whether these fewer permissions are granted.
  var grantsLess: Bool {
    lesser.map { AuthorizationStatus($0.decision, $0.probe) == .authorized } ?? false
  }

  /// The findings in the folder; nil unless the question is about what is in it, too.
  private(set) lazy var contents: ContentsReport? = {
    guard isHere, future == nil, ask.isDirectory, otherKind == nil,
      isGranted || answer == .denied && decision.step == .target
    else { return nil }
    switch inspection.context.contents {
    case .none: return nil
    case .all:
      var report = FolderExamination.examine(inspection, ask, isRefused: !isGranted)
      if inspection.context.probesAsSelf != .none, report?.obstacle == nil {
        report?.obstacle = OwnConfinement.reasonForTrees(inspection.system)?.message
      }
      return report
    case .known(let report): return report
    }
  }()

  // MARK: - What refuses

  /// Whether mode or ACL refuse, and the kernel says so, if it was asked.
  var isRefusedByBits: Bool {
    isHere && decision.errno == .EACCES && AuthorizationStatus(decision) == .denied
      && (probe?.shown == nil || probe?.shown?.errno == decision.errno)
  }

  /// Whether they are stored: some file systems get owners and modes from the options of their mount.
  var isRefusedByStoredBits: Bool {
    isRefusedByBits && MountOwner.remedy(inspection, decision) == nil
  }

  /// Whether a layer above mode and ACL refuses.
  var isRefusedByLayer: Bool {
    isHere
      && refusal.contains {
        $0.code == .deviceCgroup || $0.code == .landlockOrLSM || $0.code == .seccomp
      }
  }

  /// Returns whether a reason of the refusal has this code.
  func isRefused(as code: Reason.Code) -> Bool {
    isHere && refusal.contains { $0.code == code }
  }

  /// Why the seat of the device gives it to others; nil if mode and ACL do not refuse, or for other
  /// devices.
  private(set) lazy var seatReason: Reason? =
    isRefusedByStoredBits ? session.seatReason(decision) : nil

  /// The units whose device policy refuses the device.
  private(set) lazy var refusingPolicies: [DevicePolicy] = {
    guard isRefused(as: .deviceCgroup), confinement.boundary == nil, isAtRoot,
      let device = device(facts.target(of: ask.path))
    else { return [] }
    return DevicePolicy.policies(subject.process, system).filter { !$0.allows(device, system) }
  }()

  /// The setting of a service that hides or protects the path; nil if none does.
  private(set) lazy var hidingSetting = UnitSetting.hiding(self)

  /// The answer of the policy of a security module; nil if it cannot be asked.
  private(set) lazy var policy: ModulePolicy.Answer? =
    isGranted && isHere ? subject.process.flatMap { ModulePolicy.answer(self, $0) } : nil

  // MARK: - The machine

  /// The containers, sandboxes and services around the subject.
  private(set) lazy var confinement: Confinement = inspection.confinement

  /// The other side of a container.
  var host: HostSide { HostSide(system, process: subject.process) }

  var session: Session { Session(inspection) }

  /// The advice to mount /proc; nil if it is mounted.
  var adviceToMount: String? {
    inspection.isWithoutProc ? "mount /proc (mount -t proc proc /proc)" : nil
  }

  /// Whether the folder is encrypted without its key, so that its names are scrambled, its files do
  /// not open and none can be created, though the kernel opens the folder itself.
  private(set) lazy var isLocked = lockable.map { facts.inodes[$0].isLocked } ?? false

  /// The error of the look for the key of the folder; nil if it is known whether it is there.
  var keyError: Errno? { lockable.flatMap { facts.inodes[$0].keyError } }

  /// The encrypted inode that the question needs the key of; nil if it needs none.
  private lazy var lockable: Int? = {
    guard facts.inodes.contains(where: { $0.isLocked || $0.keyError != nil }),
      ask.resource.kind == .directory || ask.need.contains(.write)
    else { return nil }
    return facts.target(of: ask.path)
  }()

  /// Returns the number of a character device; nil for other inodes.
  func device(_ index: Int?) -> DeviceNumber? {
    guard let index, facts.inodes[index].kind == .characterDevice else { return nil }
    return facts.inodes[index].device
  }
}

extension AccessFacts {
  /// Returns whether a path leads to a device.
  func isDevice(_ path: PathBytes) -> Bool {
    target(of: path).map { inodes[$0].kind.isDevice } ?? false
  }
}

extension Inspection {
  /// Whether /proc is not mounted, by which ACLs and mounts are read, or is covered.
  var isWithoutProc: Bool {
    !isSaved && !system.isThere("/proc/self")
  }

  /// The containers, sandboxes and services around the subject.
  var confinement: Confinement {
    system.scanned(subject.process) { Confinement(system, root: context.root, of: subject) }
  }
}
