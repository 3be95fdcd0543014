/// The outcome of a request for access; the status of a report says whether there is access now.
public enum RequestOutcome: String, Hashable, Sendable {
  /// No change that this accessor could make would help.
  case nothingToChange = "nothing-to-change"
  /// Nobody agreed to the change, or nobody was there to ask.
  case declined
  /// Only root may make the change, and this process has no way to become root; nobody was asked.
  case needsRoot = "needs-root"
  /// This process made the change.
  case granted
  /// A program that runs as root was asked to make the change, and did not fail.
  case askedRoot = "asked-root"
}
