/// The outcome of a look at a fact.
package enum Look<Value> {
  case found(Value)
  /// The name does not exist, in a folder that could be searched.
  case absent
  /// Neither is known.
  case unseen(Unseen)

  /// The value; nil if it is absent or unknown.
  package var value: Value? {
    if case .found(let value) = self { value } else { nil }
  }

  /// The fact that could not be looked at; nil if the value is known, or known to be absent.
  package var unseen: Unseen? {
    if case .unseen(let unseen) = self { unseen } else { nil }
  }

  /// Returns the look at a part of the value; a value without that part is not readable (EIO).
  func part<Part>(of path: PathBytes, _ part: (Value) -> Part?) -> Look<Part> {
    switch self {
    case .found(let value): part(value).map { .found($0) } ?? .unseen(Unseen(path, .EIO))
    case .absent: .absent
    case .unseen(let unseen): .unseen(unseen)
    }
  }
}

extension System {
  /// Looks at a fact; a report of this command lists what cannot be seen.
  ///
  /// - Parameters:
  ///   - path: The file, folder or link that shows the fact.
  ///   - read: Reads it.
  /// - Returns: The value; absent if `read` failed with ENOENT or ENOTDIR, unless it is the file system that is
  ///   missing: of /proc, of sysfs.
  package func look<Value>(at path: PathBytes, _ read: () throws(Errno) -> Value) -> Look<Value> {
    do throws(Errno) {
      return .found(try read())
    } catch {
      if error == .ENOENT || error == .ENOTDIR, provesAbsence(path) { return .absent }
      let unseen = Unseen(path, error)
      note(unseen)
      return .unseen(unseen)
    }
  }

  /// Looks at the bytes of a file, see `contents(of:limit:)`.
  package func look(at path: PathBytes, limit: Int = 1 << 20) -> Look<[UInt8]> {
    look(at: path) { () throws(Errno) in try contents(of: path, limit: limit) }
  }

  /// Looks at the first line of a file, see `line(of:)`.
  func look(atLineOf path: PathBytes) -> Look<PathBytes> {
    look(at: path) { () throws(Errno) in try line(of: path) }
  }

  /// Looks at the fields of /proc/PID/status; nil is the calling process, by /proc/self.
  func lookAtStatus(ofProcess pid: Int32?) -> Look<ProcStatus> {
    let path = PathBytes("/proc/\(pid.map(String.init) ?? "self")/status")
    return look(at: path).part(of: path) { ProcStatus($0) }
  }

  /// Whether this process sees something at a path.
  package func isThere(_ path: PathBytes) -> Bool {
    do throws(Errno) {
      _ = try status(of: path)
      return true
    } catch {
      return false
    }
  }

  /// Whether a missing name is one that is not there: the kernel's own file systems may be missing themselves, or
  /// covered by an empty one.
  private func provesAbsence(_ path: PathBytes) -> Bool {
    if path.hasPrefix("/proc/self/") || path.hasPrefix("/proc/thread-self/") {
      // Each process has these, in every configuration of the kernel.
      return !["status", "mountinfo"].contains(path.lastComponent) && isThere("/proc/self")
    }
    if path.hasPrefix("/proc/") { return isThere("/proc/self") }
    // Every kernel has /dev/null.
    if path.hasPrefix("/sys/") { return isThere("/sys/dev/char/1:3") && !isHidden(path) }
    return true
  }

  /// Whether /sys/dev lists a device, and what it leads to is covered.
  private func isHidden(_ path: PathBytes) -> Bool {
    let names = path.components
    guard path.hasPrefix("/sys/dev/"), names.count >= 4 else { return false }
    var entry: PathBytes = "/"
    for name in names.prefix(4) { entry = entry.appending(name) }
    return destination(ofLink: entry) != nil && !isThere(entry)
  }
}
