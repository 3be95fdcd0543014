import PermissionKitTesting
import TestSupport
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// Who can make the change that gives access: said by a check, and proven by what a request comes to.
@Suite struct RequestabilityTests {
  /// A camera and a folder with some owner and mode, asked for by somebody.
  struct Case {
    let system: FakeSystem
    let accessor: ResourceAccessor
    let words: String

    init(_ number: Int, elevation: (any Elevation)? = nil) throws {
      var rest = number
      func pick<Value>(_ values: [Value]) -> Value {
        defer { rest /= values.count }
        return values[rest % values.count]
      }
      let caller: UInt32 = pick([1000, 0, 1001])
      let owner: UInt32 = pick([0, 1000])
      let mode: UInt16 = pick([0o600, 0o000, 0o060, 0o666, 0o640])
      let options = pick(["rw", "ro", "rw,nodev"])
      let isFolder = pick([false, true])
      system = RequestTests.system(uid: caller)
      if caller == 1001 { system.setEnvironment("HOME", "/home/bob") }
      system.mount("/srv", "ext4", options: options)
      system.add(
        "/srv/node",
        FakeNode(
          kind: isFolder ? .directory : .characterDevice, mode: mode, uid: owner, gid: 44,
          device: isFolder ? nil : .init(major: 81, minor: 0)))
      var context = try RequestTests.context(system, subject: "ann")
      context.path = "/srv/node"
      let camera = CameraAccessor(context, analytics: .inMemory)
      accessor = isFolder ? PhotoLibraryAccessor(context, analytics: .inMemory) : camera
      accessor.acceptsLimited = false
      accessor.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in true }
      accessor.grants.elevation = elevation
      words = "\(number): \(caller) \(owner) \(String(mode, radix: 8)) \(options) \(isFolder)"
    }

    /// What a request may change.
    func state() throws -> [String] {
      try ["/srv", "/srv/node"].map { (path: PathBytes) in
        let status = try system.status(of: path)
        return "\(status.mode) \(system.calls.count { $0 == "setxattr" })"
      }
    }
  }

  @Test func `A request ends as the check's requestability says`() throws {
    var seen: [String: Int] = [:]
    for number in 0..<180 {
      let one = try Case(number)
      let checked = one.accessor.currentAccess()
      let before = try one.state()
      var outcome: RequestOutcome?
      var failure: PermissionError?
      do throws(PermissionError) {
        let report = try one.accessor.requestAccessIfNeeded()
        outcome = report.requestOutcome
        #expect(outcome != .granted || report.isGranted, "\(one.words)")
      } catch {
        failure = error
      }
      let didChange = try one.state() != before
      let end = outcome?.rawValue ?? failure?.description ?? "nothing"
      let words: Comment = "\(one.words): \(checked.status), \(checked.requestability), \(end)"
      switch checked.requestability {
      case .now: #expect(outcome == .granted && didChange, words)
      case .onlyByRoot: #expect(outcome == .needsRoot && !didChange, words)
      case .never(let reason):
        #expect(outcome == nil && failure == nil && !didChange && !reason.isEmpty, words)
      }
      #expect(checked.isRequestable == (checked.requestability == .now))
      seen[checked.requestability.maker ?? "nobody", default: 0] += 1
    }
    #expect(seen.values.allSatisfy { $0 > 5 } && seen.count == 3, "\(seen)")
  }

  @Test func `With a way to become root the caller can request`() throws {
    struct Root: Elevation {
      func request(_ request: ElevatedRequest) throws(PermissionError) -> HelperAnswer {
        throw PermissionError(.notAllowed, "not today")
      }
    }
    var count = 0
    for number in 0..<180 {
      let (without, with) = (
        try Case(number).accessor, try Case(number, elevation: Root()).accessor
      )
      let plain = without.currentAccess().requestability
      #expect(with.currentAccess().requestability == (plain == .onlyByRoot ? .now : plain))
      if plain == .onlyByRoot { count += 1 }
    }
    #expect(count > 5)
  }
}
