internal import CPermissionKit
internal import PermissionDocuments
internal import PermissionKit

/// A result in the memory behind a `pk_result`.
///
/// It is written once and then only read, so threads may share it.
struct Answer {
  /// A text of a result.
  enum Text: Int, CaseIterable {
    case reason, message, line, explanation, obstacle, request, plan, error, json
  }

  var status = PK_ERROR
  var isGranted = false
  var requestability = PK_NOT_REQUESTABLE
  /// The texts; not a dictionary, which would look up its types at each start.
  var texts = Texts()

  /// A text for each kind; nil if it is empty.
  struct Texts {
    private var values = [String?](repeating: nil, count: Text.allCases.count)

    subscript(kind: Text) -> String? {
      get { values[kind.rawValue] }
      set { values[kind.rawValue] = newValue }
    }
  }

  /// Creates the answer for a report.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - name: The short name of what was checked: `mic`.
  ///   - json: The document.
  init(_ report: AccessReport, name: String, json: String) {
    status = report.status.number
    isGranted = report.isGranted
    requestability = report.requestability.number
    if !report.isGranted { texts[.obstacle] = report.requestability.obstacle.map(Sanitizer.clean) }
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

/// The memory behind a `pk_result`; each text has its own allocation, with a NUL at its end.
@unsafe struct StoredAnswer {
  private var status: pk_status
  private var isGranted: Bool
  private var requestability: pk_requestability
  private var texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>>

  /// Allocates an answer, which `free(_:)` frees.
  static func allocate(_ answer: Answer) -> OpaquePointer {
    let kinds = Answer.Text.allCases
    let texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>>.allocate(capacity: kinds.count)
    for kind in kinds {
      let characters = (answer.texts[kind] ?? "").utf8CString
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: characters.count)
      let copy = unsafe UnsafeMutableBufferPointer(start: text, count: characters.count)
      _ = unsafe copy.initialize(fromContentsOf: characters)
      unsafe (texts + kind.rawValue).initialize(to: text)
    }
    let stored = UnsafeMutablePointer<StoredAnswer>.allocate(capacity: 1)
    unsafe stored.initialize(
      to: StoredAnswer(
        status: answer.status, isGranted: answer.isGranted,
        requestability: answer.requestability, texts: texts))
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

  /// Returns who can make the change that gives access.
  static func requestability(_ result: OpaquePointer?) -> pk_requestability {
    unsafe read(result) { unsafe $0.requestability } ?? PK_NOT_REQUESTABLE
  }

  /// Returns a text of a result.
  static func text(_ text: Answer.Text, of result: OpaquePointer?) -> UnsafePointer<CChar> {
    let found = unsafe read(result) { unsafe UnsafePointer($0.texts[text.rawValue]) }
    return unsafe found ?? UnsafePointer(StaticText.empty)
  }
}
