extension Inspection {
  /// Asks the kernel the same question once; nil if the kernel may not be asked.
  ///
  /// Opens a directory for reading, and uses faccessat2(2) for the permissions that an open cannot
  /// ask for. Uses only faccessat2(2) for a device that an open would disturb. After the open of a
  /// video node, asks the driver whether somebody captures, which starts nothing.
  package func probe(_ ask: Ask, _ decision: Decision) -> Probe? {
    switch method(ask) {
    case .none: return nil
    case .access: return Probe(method: .access, errno: refusal(ask.path, ask.need))
    case .open, .write:
      if hasVideoBuffers(ask, decision) { return probeVideo(ask) }
      var errno: Errno?
      if !ask.opened.isEmpty { errno = system.probe(open: ask.path, ask.flags) }
      let rest = ask.need.subtracting(ask.opened)
      if errno == nil, !rest.isEmpty { errno = refusal(ask.path, rest) }
      guard errno == nil, method == .write, ask.isDirectory, ask.need.contains(.write) else {
        return Probe(method: .open, errno: errno)
      }
      return Probe(method: .write, errno: refusalToCreate(in: ask.path))
    }
  }

  /// Creates a file of a name that nobody else uses, and removes it.
  private func refusalToCreate(in folder: PathBytes) -> Errno? {
    let name = PathBytes(".permcheck-\(system.getpid())-\(system.monotonic())")
    let path = folder.appending(name)
    do throws(Errno) {
      system.close(
        try system.openat(
          .currentDirectory, path, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o600))
      try system.unlink(path)
      return nil
    } catch {
      return error
    }
  }

  private func method(_ ask: Ask) -> Probe.Method {
    method.opens && ask.resource.family?.opening == .disturbs ? .access : method
  }

  private func hasVideoBuffers(_ ask: Ask, _ decision: Decision) -> Bool {
    guard let family = ask.resource.family, family.busyTest == .videoBuffers,
      decision.step == .target, ask.need != .execute, let index = decision.inode,
      facts.inodes[index].kind == .characterDevice, let device = facts.inodes[index].device
    else { return false }
    return family.mayHave(device)
  }

  private func probeVideo(_ ask: Ask) -> Probe {
    var probe = Probe(method: .open, errno: nil)
    do throws(Errno) {
      let node = try system.openat(
        .currentDirectory, ask.path, ask.flags.union([.nonBlocking, .noControllingTerminal]),
        mode: 0)
      defer { system.close(node) }
      do throws(Errno) {
        try system.reqbufs(none: node)
      } catch {
        probe.isBusy = error == .EBUSY
      }
      if ask.need.contains(.execute) { probe.errno = refusal(ask.path, .execute) }
    } catch {
      probe.errno = error
    }
    return probe
  }

  private func refusal(_ path: PathBytes, _ need: Permissions) -> Errno? {
    do throws(Errno) {
      try system.faccessat2(path, need)
      return nil
    } catch {
      return error
    }
  }
}
