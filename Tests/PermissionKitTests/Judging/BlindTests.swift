@_spi(SystemCalls) import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

/// Checks of machines of which one or two things cannot be read: the machine itself answers as before.
@Suite struct BlindTests {
  /// A machine, a question, and what is hidden.
  private struct Case {
    private var random: SeededNumbers
    private let isCamera: Bool
    private let causes: [PrecedenceTests.Circumstance]
    private var path: PathBytes { isCamera ? Scene.camera : "/home/anna/Pictures" }
    private var hidden: [BlindSystem.Look: Errno] = [:]
    private var empty: [PathBytes] = []
    private let asksOther: Bool

    init(_ number: Int) {
      var random = SeededNumbers("blind \(number)")
      isCamera = Bool.random(using: &random)
      let known = isCamera ? PrecedenceTests.cameras : PrecedenceTests.folders
      let count = Int.random(in: 0...2, using: &random)
      causes = known.shuffled(using: &random).prefix(count).sorted { first, second in
        known.firstIndex { $0.name == first.name } ?? 0
          < known.firstIndex { $0.name == second.name } ?? 0
      }
      asksOther = Int.random(in: 0..<3, using: &random) == 0
      self.random = random
    }

    /// Hides one or two of these looks, or mounts an empty file system on a folder.
    mutating func hide(_ looks: [BlindSystem.Look]) {
      let folders: [PathBytes] = [
        "/proc", "/sys", "/proc/self", "/proc/77", "/run/udev", "/sys/dev", "/sys/class",
      ]
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        if Int.random(in: 0..<8, using: &random) == 0 {
          if let folder = folders.randomElement(using: &random) { empty.append(folder) }
        } else if let look = looks.randomElement(using: &random) {
          hidden[look] = [.EACCES, .EIO, .EPERM].randomElement(using: &random)
        }
      }
    }

    /// Checks on a new machine; throws where the facts cannot be read at all.
    func report() throws -> (report: AccessReport, looks: [BlindSystem.Look]) {
      var (fake, question, contents) = PrecedenceTests.scene(causes, isCamera: isCamera)
      if question.subject == nil, asksOther {
        question.subject = Subject(
          source: .user, credentials: Credentials(uid: 1001, gid: 1001, groups: []), name: "ben")
        question.probe = .none
      }
      if isCamera { fake.setCard(VideoCapability(deviceCaps: 1, card: "Webcam"), of: path) }
      let system = BlindSystem(
        fake, asked: [path], asksKernel: question.subject == nil, hidden: hidden, empty: empty)
      return (try question.report(system, contents: contents), system.looks)
    }

    var description: String {
      let looks = hidden.map { "\($0.key) \($0.value)" } + empty.map { "empty \($0)" }
      return "\(causes.map(\.name)) \(asksOther ? "ben" : "self"), hidden: \(looks)"
    }
  }

  @Test func `What cannot be read makes no answer surer`() throws {
    var counts: [AuthorizationStatus: Int] = [:]
    for number in 0..<Effort.of(5000, atLeast: 700) {
      var example = Case(number)
      let (seen, looks) = try example.report()
      example.hide(looks)
      let blind: AccessReport
      do { blind = try example.report().report } catch is PermissionError { continue }
      counts[blind.status, default: 0] += 1
      let text = "\(number) \(example.description): \(seen.status), then \(blind.status)"
      switch blind.status {
      case .authorized: #expect(seen.status == .authorized, "\(text)")
      case .denied, .unavailable, .restricted: #expect(seen.status != .authorized, "\(text)")
      case .limited, .notDetermined: break
      }
    }
    for status in [AuthorizationStatus.authorized, .denied, .restricted, .notDetermined] {
      #expect(counts[status, default: 0] >= 60, "\(counts)")
    }
  }
}
