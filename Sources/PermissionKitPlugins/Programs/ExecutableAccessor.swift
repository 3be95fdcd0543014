@_spi(SystemCalls) package import PermissionKit

/// An accessor that is a program: `permcheck-accessor-NAME`.
///
/// If the program's answer cannot be parsed, the status is `notDetermined`.
package final class ExecutableAccessor: PermissionAccessor {
  private let program: PathBytes
  private let context: AccessContext

  /// Creates an accessor.
  package init(
    name: String, program: PathBytes, _ context: AccessContext, analytics: AnalyticsLog
  ) {
    self.program = program
    self.context = context
    super.init(name: name, analytics: analytics)
  }

  package override func checkAccess() -> AccessReport { report(.check) }

  package override func requestAccess(
    _ report: AccessReport
  ) throws(PermissionError) -> AccessReport {
    // The template checks again and believes that check alone.
    _ = self.report(.request)
    return report
  }

  private func report(_ operation: ProgramProtocol.Operation) -> AccessReport {
    let time = context.system.realtime()
    let subject: Subject
    do throws(PermissionError) {
      subject = try Inspection.subject(context)
    } catch {
      return failed("the credentials of this process cannot be read", nil, time)
    }
    if let path = context.path {
      return failed("\(program) does not judge single paths, such as \(path)", subject, time)
    }
    do throws(ProgramProtocol.Failure) {
      let access = try ProgramProtocol.access(
        try Self.ask(operation, name, program, context, subject))
      var resource = ResourceReport(
        path: access.path ?? program, label: access.label.isEmpty ? name : access.label,
        device: name, need: context.need ?? [], status: access.status)
      if !access.message.isEmpty {
        resource.reasons = [
          Reason(
            .byAccessor, .suspected, access.message, evidence: ["answer of \(program)"])
        ]
      }
      return AccessReport(
        accessor: name, status: access.status, isRequestable: access.isRequestable,
        resources: [resource], subject: subject, time: time)
    } catch {
      return failed("\(program) \(error.message)", subject, time)
    }
  }

  private func failed(_ message: String, _ subject: Subject?, _ time: Int64) -> AccessReport {
    let resource = ResourceReport(
      path: program, label: name, device: name, need: context.need ?? [], status: .notDetermined,
      reasons: [Reason(.accessorFailed, .proven, message)])
    return AccessReport(
      accessor: name, status: .notDetermined, resources: [resource], subject: subject, time: time)
  }

  /// Asks a program for its summary, one line.
  package static func summary(
    of name: String, _ program: PathBytes, _ system: any System
  ) throws(ProgramProtocol.Failure) -> String {
    try ProgramProtocol.summary(ask(.describe, name, program, AccessContext(system: system), nil))
  }

  private static func ask(
    _ operation: ProgramProtocol.Operation, _ name: String, _ program: PathBytes,
    _ context: AccessContext, _ subject: Subject?
  ) throws(ProgramProtocol.Failure) -> ProgramOutput {
    let system = context.system
    guard context.root == "/" else {
      throw ProgramProtocol.Failure(message: "cannot judge another root folder")
    }
    // Since it was found it may have changed hands.
    if let refusal = ExecutableSearch.refusal(of: program, system) {
      throw ProgramProtocol.Failure(message: "is not run: \(refusal)")
    }
    // A request may change whatever was read.
    defer { if operation == .request { system.forget() } }
    do throws(Errno) {
      return try system.runProgram(
        [program], environment: ExecutableSearch.environment(system),
        input: ProgramProtocol.question(operation, name, subject, need: context.need),
        timeout: operation.timeout, size: ProgramProtocol.maximumSize,
        // A look gains nothing; a request may well call sudo.
        mayGainPrivileges: operation == .request)
    } catch {
      throw ProgramProtocol.Failure(message: "cannot be run (\(error))")
    }
  }
}
