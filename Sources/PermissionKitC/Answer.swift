internal import CPermissionKit
internal import PermissionDocuments
internal import PermissionKit

/// A result as it lies behind a `pk_result`: written once, then only read, so threads may share it.
struct Answer {
  /// A text of a result.
  enum Text: Int, CaseIterable {
    case reason, message, line, explanation, request, error, json
  }

  var status = PK_ERROR
  var isGranted = false
  var isRequestable = false
  /// The texts that are not empty.
  var texts: [Text: String] = [:]

  /// Creates the answer for a report.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - name: The short name of what was checked: `mic`.
  ///   - isStrict: Whether `limited` is no access.
  ///   - json: The document.
  init(_ report: AccessReport, name: String, isStrict: Bool, json: String) {
    status = report.status.number
    isGranted = report.status.isAccess(acceptsLimited: !isStrict)
    isRequestable = report.isRequestable
    texts[.reason] = report.mainReason?.code.rawValue
    texts[.message] = report.mainMessage
    let cells = ["\(Mark(report.status).text) \(name)", report.status.rawValue] + report.headline
    texts[.line] = cells.joined(separator: "  ").withoutBlanksAtEnd
    texts[.explanation] = report.explanation
    texts[.request] = report.requestOutcome?.rawValue
    texts[.json] = json
  }

  /// Creates the answer for an error.
  init(_ error: PermissionError, name: String) {
    let message = Sanitizer.clean(error.description)
    texts[.message] = message
    texts[.line] = "\(Mark.unknown.text) \(Sanitizer.clean(name))  error  \(message)"
    texts[.explanation] = message + "\n"
    texts[.error] = error.code.rawValue
    texts[.json] =
      ErrorDocument(
        toolVersion: Documents.toolVersion, code: error.code.rawValue,
        message: error.description, advice: error.advice, exitStatus: ExitStatus(error).rawValue
      ).text
  }
}

/// What a `pk_result` points to; its texts are allocated apart, each with a NUL at its end.
@unsafe struct StoredAnswer {
  private var status: pk_status
  private var isGranted: Bool
  private var isRequestable: Bool
  private var texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>>

  /// Allocates an answer, which `free(_:)` frees.
  static func allocate(_ answer: Answer) -> OpaquePointer {
    let kinds = Answer.Text.allCases
    let texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>>.allocate(capacity: kinds.count)
    for kind in kinds {
      let bytes = (answer.texts[kind] ?? "").utf8
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
      unsafe text[bytes.count] = 0
      unsafe (texts + kind.rawValue).initialize(to: text)
    }
    let stored = UnsafeMutablePointer<StoredAnswer>.allocate(capacity: 1)
    unsafe stored.initialize(
      to: StoredAnswer(
        status: answer.status, isGranted: answer.isGranted, isRequestable: answer.isRequestable,
        texts: texts))
    return OpaquePointer(stored)
  }

  /// Frees an answer and its texts.
  static func free(_ result: OpaquePointer?) {
    guard let result = unsafe result else { return }
    let stored = unsafe UnsafeMutablePointer<StoredAnswer>(result)
    let texts = unsafe stored.pointee.texts
    for kind in Answer.Text.allCases { unsafe texts[kind.rawValue].deallocate() }
    unsafe texts.deallocate()
    unsafe stored.deallocate()
  }

  private static func read<Value>(
    _ result: OpaquePointer?, _ member: (StoredAnswer) -> Value
  ) -> Value? {
    guard let result = unsafe result else { return nil }
    return unsafe member(UnsafePointer<StoredAnswer>(result).pointee)
  }

  /// Returns the status of a result.
  static func status(_ result: OpaquePointer?) -> pk_status {
    unsafe read(result) { unsafe $0.status } ?? PK_ERROR
  }

  /// Returns 1 if there is access.
  static func isGranted(_ result: OpaquePointer?) -> Int32 {
    unsafe read(result) { unsafe $0.isGranted } == true ? 1 : 0
  }

  /// Returns 1 if a request could help.
  static func isRequestable(_ result: OpaquePointer?) -> Int32 {
    unsafe read(result) { unsafe $0.isRequestable } == true ? 1 : 0
  }

  /// Returns a text of a result.
  static func text(_ text: Answer.Text, of result: OpaquePointer?) -> UnsafePointer<CChar> {
    let found = unsafe read(result) { unsafe UnsafePointer($0.texts[text.rawValue]) }
    return unsafe found ?? UnsafePointer(StaticText.empty)
  }
}
