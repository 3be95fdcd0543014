import PermissionKit

/// Asks at the terminal twice whether a folder may be opened: first with little time, then with enough.
@main struct GateQuestion {
  static func main() async throws {
    let path = PathBytes(CommandLine.arguments[1])
    let gate = PermissionGate {
      let accessor = PhotoLibraryAccessor(
        AccessContext(need: [.read, .execute], path: path), analytics: .discard)
      accessor.grants.consent = GrantOptions.askAtTerminal
      return accessor
    }
    do throws(PermissionError) {
      let report = try await gate.requestAccessIfNeeded(within: .milliseconds(700))
      print("answered: \(report.isGranted)")
    } catch {
      print("first: \(error.code.rawValue)")
    }
    print("second: \(try await gate.requestAccessIfNeeded().isGranted)")
  }
}
