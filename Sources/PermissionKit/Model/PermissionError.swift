/// An error, for something that could not be done; a denial is a report and not an error.
public struct PermissionError: Error, Hashable, Sendable {
  /// The kind of failure, for programs.
  public enum Code: String, Hashable, Sendable {
    /// The user data base has no user of that name or number.
    case unknownUser = "unknown-user"
    /// There is no such process, or it cannot be inspected.
    case unknownProcess = "unknown-process"
    /// An argument names nothing that can be checked.
    case invalidArgument = "invalid-argument"
    /// A call to the system failed.
    case system
    /// A change could not be made.
    case changeFailed = "change-failed"
    /// sudo, polkit or a person refused the change that only root may make.
    case notAllowed = "not-allowed"
    /// The user data base did not answer in time, so the subject is unknown.
    case notAnswering = "not-answering"
    /// The request was withdrawn before it changed anything: its task was cancelled, or its time
    /// was over.
    case withdrawn
  }

  /// The kind of failure, stable across versions.
  public var code: Code
  /// The error, in one line.
  public var message: String
  /// The file that the failure is about; nil if there is none.
  public var path: PathBytes?
  /// The system call or library function that failed.
  public var call: String?
  /// The errno of `call`.
  public var errno: Errno?
  /// The advice.
  public var advice: String?

  /// Creates an error with these values.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: What went wrong, in one line.
  ///   - path: The file that the failure is about.
  ///   - call: The system call or library function that failed.
  ///   - errno: The errno of `call`.
  ///   - advice: What to do next.
  public init(
    _ code: Code, _ message: String, path: PathBytes? = nil, call: String? = nil,
    errno: Errno? = nil, advice: String? = nil
  ) {
    self.code = code
    self.message = message
    self.path = path
    self.call = call
    self.errno = errno
    self.advice = advice
  }
}

extension PermissionError: CustomStringConvertible {
  /// One line: what went wrong, the call and its errno, what to do next.
  public var description: String {
    var text = message
    if let call, let errno { text += " (\(call): \(errno))" }
    if let advice { text += "; \(advice)" }
    return text
  }
}
