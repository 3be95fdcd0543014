import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

/// One machine, asked in three ways: for the permissions of a file, for an operation that needs the same, and for a
/// file that does not exist yet.
@Suite struct ThreeQuestionsTests {
  private static let folder: PathBytes = "/home/anna/Pictures"
  private static let file: PathBytes = "/home/anna/Pictures/file"

  /// A scene of causes, with random modes and entries.
  private struct Random {
    var generator: SeededNumbers
    private(set) var causes: [PrecedenceTests.Circumstance] = []
    private(set) var fileNode = FakeNode()

    init(_ test: String, _ number: Int) {
      generator = SeededNumbers("\(test) \(number)")
      // Their machines differ from what is asked here: no folder, or files that were walked.
      let others = ["kind", "contents", "landlock"]
      let known = PrecedenceTests.folders.filter { !others.contains($0.name) }
      let chosen = Set(
        (0..<Int.random(in: 0...3, using: &generator)).map { _ in
          Int.random(in: known.indices, using: &generator)
        })
      causes = chosen.sorted().map { known[$0] }
      causes.append(
        PrecedenceTests.Circumstance("bits") { [self] scene in
          var generator = generator
          if Bool.random(using: &generator) {
            scene.mode = UInt16.random(in: 0...0o777, using: &generator)
            scene.uid = [0, 1000, 1001].randomElement(using: &generator) ?? 0
            scene.gid = [0, 44, 1000].randomElement(using: &generator) ?? 0
          }
        })
    }

    /// Returns a file with a random mode, owner and ACL.
    mutating func node() -> FakeNode {
      var node = FakeNode(
        mode: UInt16.random(in: 0...0o777, using: &generator),
        uid: [0, 1000, 1001].randomElement(using: &generator) ?? 0,
        gid: [0, 44, 1000].randomElement(using: &generator) ?? 0)
      func permissions() -> Permissions {
        Permissions(rawValue: UInt8.random(in: 0...7, using: &generator))
      }
      if Bool.random(using: &generator) {
        node.acl = Scene.acl(
          user: (1000, permissions()), group: permissions(), named: (44, permissions()),
          mask: permissions(), other: permissions())
      }
      return node
    }
  }

  /// What the answers to two questions have in common.
  private static func answer(_ report: AccessReport) -> String {
    let resource = report.resources.first
    let codes = resource?.reasons.map(\.code.rawValue) ?? []
    let fixes = resource?.remedies.map { "\($0.form.rawValue) \($0.command)" } ?? []
    return "\(report.status) \(codes) \(fixes)"
  }

  private static func report(_ context: AccessContext, _ path: PathBytes) throws -> AccessReport {
    try #require(
      Explanation(try Inspection(context) { _ in [Inspection.Target(path: path, in: context)] })
        .reports.first)
  }

  @Test func `Permissions and an operation that needs the same never contradict`() throws {
    var counts: [AuthorizationStatus: Int] = [:]
    for number in 0..<500 {
      var random = Random("operation", number)
      let (fake, question, _) = PrecedenceTests.scene(random.causes, isCamera: false)
      fake.add(Self.file, random.node())
      var context = AccessContext(system: fake, subject: question.subject, probe: .none)
      let scene = "\(number): \(random.causes.map(\.name))"
      for (need, operation, path) in [
        (.write, .truncate, Self.file), (.execute, .chdir, Self.folder),
      ] as [(Permissions, NamedOperation.Name, PathBytes)] {
        context.need = need
        context.question = .permissions
        let permissions = try Self.report(context, path)
        context.question = .operation(try NamedOperation(operation, target: nil, context))
        let asked = try Self.report(context, path)
        counts[permissions.status, default: 0] += 1
        #expect(Self.answer(permissions) == Self.answer(asked), "\(scene) \(operation)")
      }
    }
    // Each status is there often enough to mean something.
    for status in [AuthorizationStatus.authorized, .denied, .restricted, .notDetermined] {
      #expect(counts[status, default: 0] >= 20, "\(counts)")
    }
  }

  @Test func `A file to come gets the answer that it gets when it is there`() throws {
    var counts: [AuthorizationStatus: Int] = [:]
    for number in 0..<500 {
      let random = Random("future", number)
      let (fake, question, _) = PrecedenceTests.scene(random.causes, isCamera: false)
      var context = AccessContext(
        system: fake, subject: question.subject, probe: .none, need: .read)
      let root = Subject(
        source: .user, credentials: Credentials(uid: 0, gid: 0, groups: []),
        name: "root")
      context.question = .newFiles(by: FileCreator(root, umask: 0o027))
      let future = try Self.report(context, Self.folder)
      guard let next = future.resources.first(where: { $0.label == "next file" }),
        let made = next.future
      else { continue }
      var node = FakeNode(mode: made.inode.mode, uid: made.inode.uid, gid: made.inode.gid)
      node.acl = made.inode.acl
      fake.add(Self.file, node)
      context.question = .permissions
      let there = try Self.report(context, Self.file)
      // Who asks may not see the file, though the folder tells what it will be.
      if there.resources.first?.reasons.first?.code == .unreadableFacts { continue }
      counts[there.status, default: 0] += 1
      #expect(
        next.status == there.status,
        "\(number): \(random.causes.map(\.name)) \(Self.answer(future)) \(Self.answer(there))")
      let isOfFile = next.reasons.first?.code == .futureFiles
      #expect(
        isOfFile || next.reasons.first?.code == there.resources.first?.reasons.first?.code,
        "\(number): \(random.causes.map(\.name))")
    }
    #expect(counts.values.reduce(0, +) >= 250, "\(counts)")
  }
}
