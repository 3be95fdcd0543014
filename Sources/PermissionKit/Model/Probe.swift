/// The kernel's own answer to this process, about one path.
public struct Probe: Hashable, Sendable {
  /// How the kernel is asked.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// `open` where an open is known to change nothing, otherwise `access`.
    ///
    /// A device is opened if it is of a family whose nodes an open does not disturb, or one of those in
    /// `DeviceNumber.opensHarmlessly`.
    case automatic = "auto"
    /// open(2), the only complete answer; opens the device for a moment.
    ///
    /// Devices of a family that an open disturbs are not opened. Root does not open a file that
    /// somebody else could have put at the path.
    case open
    /// As `open`; in a directory that must be writable, a file is created and removed.
    ///
    /// Only this proves that files can be created if the process is confined: faccessat2(2) and
    /// O_TMPFILE do not ask Landlock about LANDLOCK_ACCESS_FS_MAKE_REG.
    case write
    /// As `open`, for another process, in a child that takes on its place; needs root.
    ///
    /// Only the process itself can ask its system call filter and its Landlock rules.
    case enter
    /// faccessat2(2) with AT_EACCESS, which has no side effect and misses some layers.
    case access
    /// The kernel is not asked.
    case none

    /// Whether the kernel is asked by opening the file.
    package var opens: Bool {
      self == .automatic || self == .open || self == .write || self == .enter
    }
  }

  /// The call that was made.
  public var method: Method
  /// The errno of the refusal; nil if access was granted.
  public var errno: Errno?
  /// Whether another descriptor captures from the device, although this one could be opened.
  ///
  /// V4L2 shows this by EBUSY at VIDIOC_REQBUFS.
  public var isBusy = false

  /// Whether ioctl(2) gave the answer, after open(2) had opened the device.
  package var isOfControl = false
  /// Whether faccessat2(2) gave the answer, where `method` says open(2).
  package var isAsked = false
  /// The system call that gave the answer, for people.
  package var call: String {
    switch method {
    case .access: "faccessat2"
    case .open where isOfControl: "ioctl"
    case .open where isAsked: "faccessat2"
    case .automatic, .open, .write, .enter, .none: method.rawValue
    }
  }

  /// Why the kernel could not be asked in the place of the process; nil if it was asked.
  package var obstacle: String?
  /// The answer of faccessat2(2) in the place of the process, in addition to that of the open.
  package var accessed: Errno?

  /// The permissions that were not tried, if faccessat2(2) covers only a part of the decision.
  package var unproven: Permissions = []

  /// Creates an answer of the kernel.
  package init(method: Method, errno: Errno?) {
    self.method = method
    self.errno = errno
  }
}

extension Probe {
  /// Whether the answer is not the final one: faccessat2(2) grants access, and does not ask the
  /// driver, nodev mount or server that decides.
  var isInconclusive: Bool { obstacle != nil || errno == nil && !unproven.isEmpty }
}
