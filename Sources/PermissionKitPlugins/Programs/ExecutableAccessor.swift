@_spi(SystemCalls) package import PermissionKit

/// An accessor that is a program: `permcheck-accessor-NAME`.
///
/// Whatever the program does, an answer that cannot be understood is `notDetermined`.
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

  private func report(_ operation: Dialogue.Operation) -> AccessReport {
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
    do throws(Dialogue.Failure) {
      let access = try Dialogue.access(try Self.ask(operation, name, program, context, subject))
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

  /// Asks a program what its accessor is about, in one line.
  package static func summary(
    of name: String, _ program: PathBytes, _ system: any System
  ) throws(Dialogue.Failure) -> String {
    try Dialogue.summary(ask(.describe, name, program, AccessContext(system: system), nil))
  }

  private static func ask(
    _ operation: Dialogue.Operation, _ name: String, _ program: PathBytes,
    _ context: AccessContext, _ subject: Subject?
  ) throws(Dialogue.Failure) -> ProgramOutput {
    let system = context.system
    guard context.root == "/" else {
      throw Dialogue.Failure(message: "cannot judge another root folder")
    }
    // Since it was found it may have changed hands.
    if let refusal = ExecutableSearch.refusal(of: program, system) {
      throw Dialogue.Failure(message: "is not run: \(refusal)")
    }
    // A request may change whatever was read.
    defer { if operation == .request { system.forget() } }
    do throws(Errno) {
      return try system.runProgram(
        program, environment: ExecutableSearch.environment(system),
        input: Dialogue.question(operation, name, subject, need: context.need),
        timeout: operation.timeout, size: Dialogue.maximumSize,
        // A look gains nothing; a request may well call sudo.
        mayGainPrivileges: operation == .request)
    } catch {
      throw Dialogue.Failure(message: "cannot be run (\(error))")
    }
  }
}
