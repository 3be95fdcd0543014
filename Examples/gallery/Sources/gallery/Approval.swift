import AsyncHTTPClient
import Dispatch
import Hummingbird
import PermissionKit
import Synchronization

/// Makes the smallest change, if a service on the network allows it: 200 is yes, everything else is no.
///
/// The service gets the plan as a person would read it.
nonisolated struct Approval: GrantStrategy {
  let name = "approval"
  let url: String

  func plan(_ request: GrantRequest) throws(PermissionError) -> GrantPlan? {
    guard let plan = try request.smallestPlan(for: request.resources) else { return nil }
    let answer = Self.wait { await Self.ask(url, "\(plan.subject.displayName)\n\(plan)") }
    guard answer == nil else {
      throw PermissionError(.notAllowed, "\(url) does not allow the change: \(answer ?? "")")
    }
    return plan
  }

  /// Returns nil for yes, and otherwise why not.
  private static func ask(_ url: String, _ plan: String) async -> String? {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.body = .bytes(ByteBuffer(string: plan))
    do {
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(10))
      guard response.status != .ok else { return nil }
      let body = try await response.body.collect(upTo: 1 << 16)
      return "\(response.status.code) \(String(buffer: body))"
    } catch {
      return "\(error)"
    }
  }

  /// Waits for a task; a strategy is called on a thread that may block.
  private static func wait(_ body: @escaping @Sendable () async -> String?) -> String? {
    let answer = Answer()
    Task.detached {
      let found = await body()
      answer.text.withLock { $0 = found }
      answer.end.signal()
    }
    answer.end.wait()
    return answer.text.withLock { $0 }
  }
}

private nonisolated final class Answer: Sendable {
  let text = Mutex<String?>(nil)
  let end = DispatchSemaphore(value: 0)
}
