import Foundation
import PermissionKit
import Testing

/// What the library can do, by its public interface and on the kernel.
///
/// The column `Swift` of the table in Documentation/guide/c-python.md; Tests/Library/lifecycle.c and
/// test_lifecycle.py have the others.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: geteuid() == 0, "only root gives others access"))
struct CapabilityTests {
  /// A folder that user games may not open.
  private final class Album: Sendable {
    let path: String

    init() throws {
      path = "/var/tmp/capability.\(UUID())"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      open(false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open(_ isOpen: Bool) { chmod(path, isOpen ? 0o755 : 0o700) }

    func accessor(
      _ consent: GrantOptions.Consent? = nil
    ) throws(PermissionError) -> PhotoLibraryAccessor {
      var context = try AccessContext(for: .user("games"), path: path)
      context.need = [.read, .execute]
      let photos = PhotoLibraryAccessor(context)
      photos.grants.consent = consent
      return photos
    }
  }

  private let album: Album

  init() throws { album = try Album() }

  @Test func `A check answers as the kernel does`() throws {
    #expect(try album.accessor().currentAccess().status == .denied)
    album.open(true)
    #expect(try album.accessor().currentAccess().status == .authorized)
  }

  @Test func `A plan shows what a request would change`() throws {
    let prepared = try album.accessor().prepare()
    #expect(try #require(prepared.plan).description.contains(album.path))
    #expect(try !album.accessor().hasAccess())
  }

  @Test func `A request with consent gives access, and revoke removes it`() throws {
    let plan = try album.accessor().prepare().plan
    for answer in [false, true] {
      let report = try album.accessor { (asked) throws(PermissionError) in
        #expect(asked == plan)
        return answer
      }.requestAccessIfNeeded()
      #expect(report.isGranted == answer)
      #expect(report.requestOutcome == (answer ? .granted : .declined))
    }
    #expect(try album.accessor().revokeAccess())
    #expect(try !album.accessor().hasAccess())
    #expect(try !album.accessor().revokeAccess())
  }

  @Test func `A wait ends with access, and a watch reports each change`() throws {
    let album = album
    let make: AccessWatcher.Factory = { () throws(PermissionError) in try album.accessor() }
    let watcher = try AccessWatcher(logs: false, [make])
    #expect(watcher.reports.map(\.status) == [.denied])
    for isOpen in [true, false] {
      let thread = Thread { album.open(isOpen) }
      thread.start()
      while watcher.reports[0].isGranted != isOpen { _ = try watcher.next() }
    }
  }

  @Test func `A gate publishes each change`() async throws {
    let album = album
    let gate = PermissionGate { () throws(PermissionError) in try album.accessor() }
    var wanted: [AuthorizationStatus] = [.denied, .authorized, .denied]
    for await change in await gate.changes(following: true) {
      guard let status = change.report?.status, status == wanted.first else { continue }
      wanted.removeFirst()
      if wanted.isEmpty { break }
      album.open(wanted.first == .authorized)
    }
    #expect(wanted.isEmpty)
  }

  @Test func `The task of a gate ends its request`() async throws {
    let (album, asked) = (album, DispatchSemaphore(value: 0))
    let answer = DispatchSemaphore(value: 0)
    let gate = PermissionGate { () throws(PermissionError) in
      try album.accessor { (_) in
        asked.signal()
        answer.wait()
        return true
      }
    }
    let task = Task { try await gate.requestAccessIfNeeded() }
    await withCheckedContinuation { continuation in
      Thread {
        asked.wait()
        continuation.resume()
      }.start()
    }
    task.cancel()
    let error = await #expect(throws: PermissionError.self) { try await task.value }
    #expect(error?.code == .withdrawn)
    answer.signal()
    #expect(await gate.check().status == .denied)
  }

  @Test func `A sound server can be asked instead of the nodes`() throws {
    for route in [AudioRoute.alsa, .server, .any] {
      var context = AccessContext()
      context.through = route
      let report = MicrophoneAccessor(context).currentAccess()
      #expect(!report.explanation.isEmpty)
    }
  }

  @Test func `Every accessor has its name`() {
    let names = AccessorRegistry.standard.entries.map(\.name)
    #expect(Set(names).isSuperset(of: ["camera", "microphone", "photos"]))
  }
}
