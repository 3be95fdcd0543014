/// The kernel's own answer to this process about one path.
public struct Probe: Hashable, Sendable {
  /// How the kernel is asked.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// open(2), which alone tells the whole truth, and opens the device for a moment.
    case open
    /// faccessat2(2) with AT_EACCESS, which disturbs nothing and misses some layers.
    case access
    /// Not at all.
    case none
  }

  /// The call that was made.
  public var method: Method
  /// The refusal; nil when it was granted.
  public var errno: Errno?
  /// It opens, but another descriptor captures from it, as V4L2 tells by EBUSY at VIDIOC_REQBUFS.
  public var isBusy = false

  /// Makes one of its parts.
  package init(method: Method, errno: Errno?) {
    self.method = method
    self.errno = errno
  }
}

extension Probe {
  /// Returns whether the answer says nothing about what decided: faccessat2(2) grants, and the
  /// driver, which only an open asks, has the last word.
  func isSilent(on decision: Decision) -> Bool {
    method == .access && errno == nil && decision.rule == .driver
  }
}
