@_spi(SystemCalls) import PermissionKit

/// The timer of systemd that ends grants whose time is over, see Scripts/install.
enum GrantTimer {
  /// Returns whether the caller's systemd has started the timer.
  static func isEnabled(_ system: any System) -> Bool {
    func isThere(_ path: PathBytes) -> Bool {
      // A link may lead to a place that this process does not see; it is there all the same.
      guard let file = try? system.openat(.currentDirectory, path, [.path, .noFollow], mode: 0)
      else { return false }
      system.close(file)
      return true
    }
    guard isThere("/run/systemd/system") else { return false }
    let isRoot = system.isRoot
    let wanted = "/etc/systemd/\(isRoot ? "system" : "user")/timers.target.wants"
    // systemd makes the stamp when it starts a persistent timer, see systemd.timer(5).
    return isThere(PathBytes("\(wanted)/permcheck-expire.timer"))
      && stamps(system, isRoot: isRoot).contains {
        isThere($0.appending("stamp-permcheck-expire.timer"))
      }
  }

  private static func stamps(_ system: any System, isRoot: Bool) -> [PathBytes] {
    if isRoot { return ["/var/lib/systemd/timers"] }
    let data = system.getenv("XDG_DATA_HOME")
    let home = system.getenv("HOME")?.appending(".local/share")
    return [data, home].compactMap { $0 }.filter(\.isAbsolute).map {
      $0.appending("systemd/timers")
    }
  }
}
