import PermissionKit
import PermissionKitPlugins
import PermissionKitTesting
import Testing

/// What is asked of a scene.
struct Question: Sendable {
  enum What: Sendable {
    case camera
    case microphone
    /// The microphones that a sound server offers.
    case sound
    case photos
    /// A folder of pictures, named by its path.
    case folder(PathBytes)
    /// A camera's node or a microphone's, named by its path.
    case node(PathBytes, DeviceFamily)
    /// A declared socket.
    case socket(PathBytes)
    /// A declared node, the use of which takes CAP_NET_ADMIN.
    case interface(PathBytes)
    /// A bare path, which is explained.
    case path(PathBytes)
  }

  var what: What
  var need: Permissions?
  var probe = Probe.Method.open
  /// Nil: anna's process asks about itself.
  var subject: Subject?

  static let camera = Question(what: .camera)
  static let microphone = Question(what: .microphone)
  static let sound = Question(what: .sound)
  static let photos = Question(what: .photos)
  static func node(_ path: PathBytes, _ family: DeviceFamily = .camera) -> Question {
    Question(what: .node(path, family))
  }
  static func path(
    _ path: PathBytes, _ need: Permissions? = nil, probe: Probe.Method = .open
  ) -> Question {
    Question(what: .path(path), need: need, probe: probe)
  }

  /// Returns the same question, asked of the kernel in another way.
  func probed(_ method: Probe.Method) -> Question {
    var copy = self
    copy.probe = method
    return copy
  }

  /// Returns the same question about somebody else.
  func asked(for subject: Subject) -> Question {
    var copy = self
    copy.subject = subject
    return copy
  }

  /// Checks on a system.
  ///
  /// - Parameters:
  ///   - fake: The system.
  ///   - contents: What is in the folder; nil to check the folder alone.
  /// - Returns: The report.
  /// - Throws: An error if the facts cannot be read.
  func report(_ fake: any System, contents: ContentsReport? = nil) throws -> AccessReport {
    let context = context(fake, contents)
    if let accessor = accessor(context) { return accessor.checkAccess() }
    return try #require(Explanation(try inspection(fake, contents: contents)).reports.first)
  }

  /// Reads what a check judges.
  ///
  /// - Parameters:
  ///   - fake: The system.
  ///   - contents: What is in the folder; nil to check the folder alone.
  /// - Returns: The subject, the resources and the facts.
  /// - Throws: An error if the facts cannot be read.
  func inspection(_ fake: any System, contents: ContentsReport? = nil) throws -> Inspection {
    let context = context(fake, contents)
    if let accessor = accessor(context) {
      _ = accessor.checkAccess()
      return try #require(accessor.inspection)
    }
    guard case .path(let path) = what else { fatalError("only a path has no accessor") }
    return try Inspection(context) { _ in [Inspection.Target(path: path, in: context)] }
  }

  private func context(_ fake: any System, _ contents: ContentsReport?) -> AccessContext {
    var context = AccessContext(system: fake, subject: subject, probe: probe, need: need)
    if let contents { context.contents = .known(contents) }
    switch what {
    case .sound: context.through = .server
    case .folder(let path), .node(let path, _): context.path = path
    case .camera, .microphone, .photos, .socket, .interface, .path: break
    }
    return context
  }

  private func accessor(_ context: AccessContext) -> ResourceAccessor? {
    switch what {
    case .node(_, let family) where family == .camera:
      return CameraAccessor(context, analytics: .inMemory)
    case .camera: return CameraAccessor(context, analytics: .inMemory)
    case .microphone, .sound, .node: return MicrophoneAccessor(context, analytics: .inMemory)
    case .photos, .folder: return PhotoLibraryAccessor(context, analytics: .inMemory)
    case .socket(let path):
      let declaration = AccessorDeclaration("daemon", summary: "a daemon", .socket("\(path)"))
      return DeclaredAccessor(declaration, context, analytics: .inMemory)
    case .interface(let path):
      var declaration = AccessorDeclaration("tun", summary: "interfaces", .nodes(["\(path)"]))
      declaration.uses = "net_admin"
      return DeclaredAccessor(declaration, context, analytics: .inMemory)
    case .path: return nil
    }
  }
}

/// A remedy that a report must have.
struct Wanted: Sendable {
  var kind: Remedy.Kind
  var command: [PathBytes]
  var persistence = Persistence.permanent
  var needsRoot = false
  var outcome = Remedy.Outcome.undetermined
  /// A part of the text on each that gains access besides, in order.
  var others: [String] = []
  /// A part of the line; nil where there is no line.
  var line: String?

  /// An entry for anna, set by root, that lasts until the device changes.
  static func acl(_ entries: PathBytes, on path: PathBytes) -> Wanted {
    Wanted(
      kind: .acl, command: ["setfacl", "-n", "-m", entries, path], persistence: .untilUdevEvent,
      needsRoot: true, outcome: .granted)
  }

  /// The flag of a container.
  static func run(_ program: PathBytes, _ flags: PathBytes...) -> Wanted {
    Wanted(
      kind: .container, command: [program, "run"] + flags + ["IMAGE"], others: ["in the container"])
  }

  func check(_ remedy: Remedy, _ row: String) {
    #expect(remedy.kind == kind, "\(row)")
    #expect(remedy.command == command, "\(row)")
    #expect(remedy.persistence == persistence, "\(row): \(remedy.command)")
    #expect(remedy.needsRoot == needsRoot, "\(row): \(remedy.command)")
    #expect(remedy.outcome == outcome, "\(row): \(remedy.command)")
    #expect(remedy.othersAffected.count == others.count, "\(row): \(remedy.othersAffected)")
    for (text, part) in zip(remedy.othersAffected, others) {
      #expect(text.contains(part), "\(row): \(text)")
    }
    #expect((remedy.line == nil) == (line == nil), "\(row): \(remedy.line ?? "no line")")
    if let line { #expect(remedy.line?.contains(line) == true, "\(row): \(remedy.line ?? "")") }
  }
}

/// Facts that lead to a reason, and the same without the one fact that decides.
struct DiagnosisRow: Sendable, CustomTestStringConvertible {
  typealias Setting = @Sendable (FakeSystem) -> Void

  var name: String
  var code: Reason.Code
  var question: Question
  var status = AuthorizationStatus.denied
  var certainty = Reason.Certainty.proven
  /// Parts of the reason's evidence, in any order.
  var evidence: [String] = []
  /// Parts of the message, one of which must be there; empty for a message about neither.
  var mentions: [String] = []
  /// Names that neither message nor evidence may have.
  var omits: [String] = []
  var remedies: [Wanted] = []
  /// The codes of every reason, in order; nil for `code` alone.
  var codes: [Reason.Code]?
  /// The status without the deciding fact.
  var otherStatus = AuthorizationStatus.authorized
  /// The deciding fact is there.
  var scene: Setting
  /// The deciding fact is another.
  var beside: Setting

  var testDescription: String { name }

  /// Returns the row with names that neither message nor evidence may have.
  func omitting(_ names: String...) -> DiagnosisRow {
    var copy = self
    copy.omits += names
    return copy
  }

  /// Expects the reason and all that belongs to it.
  func checkScene() throws {
    let fake = Scene.system()
    scene(fake)
    let report = try question.report(fake)
    let resource = try #require(
      report.resources.first { $0.reasons.contains { $0.code == code } },
      "\(name): \(report.resources.map(\.reasons))")
    #expect(resource.status == status, "\(name)")
    #expect(resource.reasons.map(\.code) == codes ?? [code], "\(name): \(resource.reasons)")
    let reason = try #require(resource.reasons.first { $0.code == code })
    #expect(reason.certainty == certainty, "\(name)")
    let seen = reason.evidence.joined(separator: "\n")
    for part in evidence { #expect(seen.contains(part), "\(name): \(seen)") }
    for name in omits { #expect(!"\(reason.message)\n\(seen)".contains(name), "\(self.name)") }
    if !mentions.isEmpty {
      #expect(mentions.contains { reason.message.contains($0) }, "\(name): \(reason.message)")
    }
    let commands = resource.remedies.map(\.command)
    #expect(resource.remedies.count == remedies.count, "\(name): \(commands)")
    for (remedy, wanted) in zip(resource.remedies, remedies) { wanted.check(remedy, name) }
    Self.checkWords(report, name)
  }

  /// Expects that nothing of the reason is left where the deciding fact is another.
  func checkBeside() throws {
    let fake = Scene.system()
    beside(fake)
    let report = try question.report(fake)
    let reasons = report.resources.flatMap(\.reasons)
    #expect(!reasons.contains { $0.code == code }, "\(name): \(reasons)")
    #expect(report.status == otherStatus, "\(name): \(report.status), \(reasons)")
    Self.checkWords(report, name)
  }

  /// Expects what every message keeps to.
  private static func checkWords(_ report: AccessReport, _ row: String) {
    for reason in report.resources.flatMap(\.reasons) {
      #expect(!reason.message.isEmpty && reason.message.last != ".", "\(row): \(reason.message)")
    }
  }
}
