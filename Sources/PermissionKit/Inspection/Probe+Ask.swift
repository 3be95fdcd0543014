extension Probe {
  /// Asks the kernel for `need` of `path`, once.
  ///
  /// A directory is opened for reading, and asked by faccessat2(2) for what an open cannot ask. A
  /// video node that opens is asked whether somebody captures, which starts nothing.
  ///
  /// - Returns: Nil when `method` is `none`.
  static func ask(
    _ system: any System, _ path: PathBytes, _ need: Permissions, isDirectory: Bool,
    isVideo: Bool = false, method: Method
  ) -> Probe? {
    switch method {
    case .none: return nil
    case .access: return Probe(method: .access, errno: refusal(system, path, need))
    case .open:
      var errno: Errno?
      if isVideo { return askVideo(system, path, need) }
      if isDirectory {
        if need.contains(.read) { errno = system.probe(open: path, [.readOnly, .directory]) }
        let rest = need.subtracting(.read)
        if errno == nil, !rest.isEmpty { errno = refusal(system, path, rest) }
      } else {
        let asked = need.intersection([.read, .write])
        if !asked.isEmpty { errno = system.probe(open: path, OpenFlags(asked)) }
        if errno == nil, need.contains(.execute) { errno = refusal(system, path, .execute) }
      }
      return Probe(method: .open, errno: errno)
    }
  }

  private static func askVideo(
    _ system: any System, _ path: PathBytes, _ need: Permissions
  ) -> Probe {
    var probe = Probe(method: .open, errno: nil)
    let flags = OpenFlags(need.intersection([.read, .write]))
    do throws(Errno) {
      let node = try system.openat(
        .currentDirectory, path, flags.union([.nonBlocking, .noControllingTerminal]), mode: 0)
      defer { system.close(node) }
      do throws(Errno) {
        try system.reqbufs(none: node)
      } catch {
        probe.isBusy = error == .EBUSY
      }
      if need.contains(.execute) { probe.errno = refusal(system, path, .execute) }
    } catch {
      probe.errno = error
    }
    return probe
  }

  private static func refusal(
    _ system: any System, _ path: PathBytes, _ need: Permissions
  ) -> Errno? {
    do throws(Errno) {
      try system.faccessat2(path, need)
      return nil
    } catch {
      return error
    }
  }
}
