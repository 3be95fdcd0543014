import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// What a sweep says of files that it did not reach.
@Suite struct SweepStateTests {
  private func state(isLast: Bool) throws -> SweepState {
    let system = FakeSystem(user: "root")
    system.add("/var/lib", FakeNode(kind: .directory))
    return try SweepState(try GrantJournal.standard(system), [5], isLast: isLast)
  }

  private func finding(_ answer: TreeFinding.Answer) -> TreeFinding {
    TreeFinding(path: "/album/file", folderLength: 6, folder: .currentDirectory, answer: answer)
  }

  @Test(
    arguments: [
      (.failed(.EIO), "EIO"), (.refused(.EACCES), "EACCES"),
      (.remote, "another file system is mounted there"), (.changed, "others move it"),
      (.unknown(.missing), "missing"),
    ] as [(TreeFinding.Answer, String)])
  func `A file that is not reached is named`(_ answer: TreeFinding.Answer, _ why: String) throws {
    let state = try state(isLast: true)
    #expect(state.failure(below: "/album") == nil && !state.isStopped)
    state.fail(finding(answer))
    #expect(
      state.failure(below: "/album")
        == "below /album, /album/file (\(why)) could not be read or changed")
    state.fail(finding(.failed(.EIO)))
    state.fail(finding(.failed(.EIO)))
    #expect(
      state.failure(below: "/album")
        == "below /album, /album/file (\(why)) and 2 more could not be read or changed")
  }

  @Test func `What moves is looked at once more`() throws {
    let state = try state(isLast: false)
    state.fail(finding(.changed))
    #expect(state.failure(below: "/album") == nil)
    // Unless nothing was changed in this walk, so that another would find the same.
    #expect(!state.mustGoAgain)
  }
}
