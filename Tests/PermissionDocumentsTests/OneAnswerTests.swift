import JSONSyntax
import PermissionKit
import PermissionKitTesting
import TestSupport
import Testing

@testable import PermissionDocuments

/// Whether a report counts as access is decided once, by the accessor that made it.
@Suite struct OneAnswerTests {
  /// A machine with up to three cameras, some of which are refused, and what is asked of it.
  struct Case {
    let system: FakeSystem
    let isStrict: Bool

    init(_ number: Int) {
      let system = FakeSystem(credentials: .init(uid: 1000, gid: 1000, groups: []))
      var rest = number / 2
      for camera in 0..<3 {
        // None, usable, refused, or readable alone.
        let modes: [UInt16?] = [nil, 0o666, 0o600, 0o664]
        if let mode = modes[rest % 4] { system.addCamera(UInt32(camera * 2), mode: mode) }
        rest /= 4
      }
      self.system = system
      isStrict = !number.isMultiple(of: 2)
    }

    func accessor() -> CameraAccessor {
      let accessor = CameraAccessor(AccessContext(system: system), analytics: .inMemory)
      accessor.acceptsLimited = !isStrict
      return accessor
    }
  }

  @Test func `All interfaces give the same answer`() async throws {
    var seen: [String: Int] = [:]
    // Four kinds of three cameras, asked in two ways; twice, for 200 and more.
    let numbers =
      Effort.isFull ? (0..<128) + (0..<128).reversed() : stride(from: 0, to: 128, by: 7) + [1]
    for number in numbers {
      let one = Case(number)
      let report = one.accessor().currentAccess()
      var batch = AccessBatch(number.isMultiple(of: 3) ? .concurrent : .failFast)
      batch.add { one.accessor() }
      let result = try batch.requestAccessIfNeeded()
      let gate = PermissionGate { one.accessor() }
      let json = ReportDocument.report.json(report)
      let expected =
        report.status == .authorized || report.status == .limited && !one.isStrict
      let answers: [Bool] = [
        report.isGranted, one.accessor().hasAccess(),
        try one.accessor().requestAccessIfNeeded().isGranted,
        one.accessor().prepare().report.isGranted,
        try [one.accessor()].requestAccessIfNeeded().allSatisfy(\.isGranted),
        result.isGranted, result.granted == 1, result.reports.allSatisfy(\.isGranted),
        await gate.check().isGranted, try await gate.requestAccessIfNeeded().isGranted,
        ExitStatus([report]) == .authorized, json["granted"] == .bool(true),
      ]
      #expect(answers.allSatisfy { $0 == expected }, "\(number): \(report.status) \(answers)")
      seen["\(report.status) \(one.isStrict)", default: 0] += 1
    }
    for name in ["authorized", "limited", "denied", "unavailable"] {
      for isStrict in [false, true] { #expect(seen["\(name) \(isStrict)", default: 0] > 0) }
    }
  }

  @Test func `One usable device is no access for a caller that needs all`() throws {
    // 01 in base 4 of two cameras: one usable, one refused; strict.
    let strict = Case((1 + 2 * 4) * 2 + 1).accessor()
    let report = try strict.requestAccessIfNeeded()
    #expect(report.status == .limited && !report.isGranted)
    #expect(report.explanation.contains("denied"))
  }
}
