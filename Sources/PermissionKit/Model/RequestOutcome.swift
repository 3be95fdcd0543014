/// The outcome of a request for access; the status of a report tells whether there is access now.
public enum RequestOutcome: String, Hashable, Sendable {
  /// No change that this accessor could make would help.
  case nothingToChange = "nothing-to-change"
  /// Nobody agreed to the change, or nobody was there to ask.
  case declined
  /// Only root may make the change, and there is no way to ask root here; nobody was asked.
  case needsRoot = "needs-root"
  /// This process made the change.
  case granted
  /// A program that runs as root was asked to make the change, and did not fail.
  case askedRoot = "asked-root"
}
