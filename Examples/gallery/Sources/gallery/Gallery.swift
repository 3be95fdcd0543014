import ArgumentParser
import Foundation
import Hummingbird
import PermissionKit

/// Serves the names of the pictures in a folder to other programs on this machine.
///
/// All requests share one gate: however many clients ask, the folder is checked once and access requested
/// once. Nobody sits at the terminal of a server, so a service decides about changes, see `Approval`.
@main struct Gallery: AsyncParsableCommand {
  @Argument(help: "The folder.") var folder: String
  @Option(help: "The port on 127.0.0.1.") var port = 8080
  @Option(help: "The service that decides about changes; without one nothing is changed.")
  var approval: String?

  func run() async throws {
    let (folder, approval) = (folder, approval)
    let gate = PermissionGate {
      let accessor = PhotoLibraryAccessor(
        AccessContext(need: [.read, .execute], path: PathBytes(folder)))
      if let approval {
        accessor.grants.strategy = Approval(url: approval)
        // The service has agreed to the plan already.
        accessor.grants.consent = { (_: GrantPlan) throws(PermissionError) -> Bool in true }
      }
      return accessor
    }

    let router = Router()
    router.get("pictures") { _, _ in
      let report = await gate.check()
      guard report.isGranted else { return Self.refusal(report) }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      return Response(
        status: .ok,
        body: .init(byteBuffer: ByteBuffer(string: names.joined(separator: "\n") + "\n")))
    }
    router.post("access") { _, _ in
      do throws(PermissionError) {
        let report = try await gate.requestAccessIfNeeded(within: .seconds(30))
        return report.isGranted ? Response(status: .noContent) : Self.refusal(report)
      } catch {
        return Self.text(.forbidden, error.description)
      }
    }
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
    try await application.runService()
  }

  /// Says why there is no access, as the tool says it.
  private nonisolated static func refusal(_ report: AccessReport) -> Response {
    text(report.status == .unavailable ? .notFound : .forbidden, report.explanation)
  }

  private nonisolated static func text(
    _ status: HTTPResponse.Status, _ text: String
  ) -> Response {
    Response(status: status, body: .init(byteBuffer: ByteBuffer(string: text)))
  }
}
