/// On whose behalf access is judged.
public struct Subject: Hashable, Sendable {
  /// How the subject was named.
  public enum Source: String, Hashable, Sendable {
    /// The calling process.
    case current = "self"
    /// A user of the data base, as a new login of theirs would be.
    case user
    /// Bare numbers.
    case ids
    /// Another process, as /proc shows it.
    case process
  }

  /// How the subject was named, and with it where the credentials come from.
  public var source: Source
  /// The ids and capabilities that access is judged by.
  public var credentials: Credentials
  /// The user's name, where there is one.
  public var name: String?
  /// The home directory; nil when it is not known.
  public var home: PathBytes?
  /// The process, when another one was named; its root and mounts are meant.
  public var process: Int32?

  /// Makes one of its parts.
  public init(
    source: Source, credentials: Credentials, name: String? = nil, home: PathBytes? = nil,
    process: Int32? = nil
  ) {
    self.process = process
    self.source = source
    self.credentials = credentials
    self.name = name
    self.home = home
  }

  /// The name, or `uid 1000`.
  public var displayName: String { name ?? "uid \(credentials.user.fileSystem)" }
}
