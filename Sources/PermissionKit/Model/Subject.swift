internal import JSONSyntax

/// The subject whose access is judged.
public struct Subject: Hashable, Sendable {
  /// How the caller named the subject.
  public enum Source: String, Hashable, Sendable {
    /// The calling process.
    case current = "self"
    /// A user of the data base, with the credentials of a new login.
    case user
    /// Numeric ids.
    case ids
    /// Another process, with the credentials in /proc.
    case process
  }

  /// How the caller named the subject, and so the source of its credentials.
  public var source: Source
  /// The ids and capabilities that decide access.
  public var credentials: Credentials
  /// The user's name; nil if the user has none.
  public var name: String? {
    get { exactName?.string }
    set { exactName = newValue.map(ExactString.init) }
  }
  private var exactName: ExactString?
  /// The home directory; nil if it is not known.
  public var home: PathBytes?
  /// The process, if the subject is another one; its root directory and mounts count.
  public var process: Int32?

  /// Creates a subject with these values.
  ///
  /// - Parameters:
  ///   - source: How the caller named the subject.
  ///   - credentials: The ids and capabilities that decide access.
  ///   - name: The user's name, if there is one.
  ///   - home: The home directory, if it is known.
  ///   - process: The process, if the subject is another one.
  public init(
    source: Source, credentials: Credentials, name: String? = nil, home: PathBytes? = nil,
    process: Int32? = nil
  ) {
    self.process = process
    self.source = source
    self.credentials = credentials
    exactName = name.map(ExactString.init)
    self.home = home
  }

  /// The name, or `uid 1000` if there is no name.
  public var displayName: String { name ?? "uid \(credentials.user.fileSystem)" }
}
