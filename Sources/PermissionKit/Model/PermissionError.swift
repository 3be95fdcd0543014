/// Something could not be done; a denial is not an error but a report.
public struct PermissionError: Error, Hashable, Sendable {
  /// What kind of failure it is, for programs.
  public enum Code: String, Hashable, Sendable {
    /// No user of that name or number is in the data base.
    case unknownUser = "unknown-user"
    /// There is no such process, or it cannot be looked at.
    case unknownProcess = "unknown-process"
    /// An argument that names nothing that could be checked.
    case invalidArgument = "invalid-argument"
    /// The system itself could not be asked.
    case system
    /// A change could not be made.
    case changeFailed = "change-failed"
  }

  /// The kind of failure, the same from version to version.
  public var code: Code
  /// What went wrong, one line.
  public var message: String
  /// The file that it happened to; nil where it was none.
  public var path: PathBytes?
  /// The system call or library function that failed.
  public var call: String?
  /// The errno of `call`.
  public var errno: Errno?
  /// What to do next.
  public var advice: String?

  /// Makes one of its parts.
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
  /// One line: what, where, by which call, and what to do.
  public var description: String {
    var text = message
    if let call, let errno { text += " (\(call): \(errno))" }
    if let advice { text += "; \(advice)" }
    return text
  }
}
