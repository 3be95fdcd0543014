/// Asks the kernel the question of a check.
struct Prober {
  private let inspection: Inspection
  private let ask: ResourceQuery
  private let decision: Decision
  private let opener: Opener

  private init(
    _ inspection: Inspection, _ ask: ResourceQuery, _ decision: Decision, _ opener: Opener
  ) {
    (self.inspection, self.ask, self.decision) = (inspection, ask, decision)
    self.opener = opener
  }

  private var facts: AccessFacts { inspection.facts }
  private var system: any System { inspection.system }

  /// Asks the kernel the same question once; nil if the kernel may not be asked.
  ///
  /// Opens a directory for reading, and uses faccessat2(2) for the permissions that an open cannot
  /// ask for. Uses only faccessat2(2) for what `Opener.method` does not allow to be opened. After the open
  /// of a video node, asks the driver whether somebody captures, which starts nothing.
  /// Where a server or daemon decides, the operation itself is tried: a directory is listed, a name
  /// is looked up. Never opens what waits for a server or would mount something.
  static func probe(
    _ inspection: Inspection, _ ask: ResourceQuery, _ decision: Decision
  ) -> Probe? {
    let process = inspection.context.probe == .enter ? inspection.subject.process : nil
    guard decision.rule != .automount, decision.rule != .notAnswering,
      inspection.method != .none || process != nil
    else { return nil }
    let prober = Prober(inspection, ask, decision, Opener(inspection, ask))
    if let process { return prober.isOfProcess ? nil : prober.entered(process) }
    guard !prober.leavesRoot else { return nil }
    let probe = prober.asked()
    return prober.isOfFilter(probe) ? nil : probe
  }

  /// Whether the path leads to what each process has for itself, which a child has not: its terminal, its descriptors.
  private var isOfProcess: Bool {
    if facts.target(of: ask.path).map({ facts.inodes[$0].device == .terminal }) == true {
      return true
    }
    return inspection.evaluator.steps(ask).contains { step in
      guard case .link(let index) = step.event, let name = facts.name(of: index) else {
        return false
      }
      return facts.inodes[index].isOwnLink || name == "self" || name == "thread-self"
    }
  }

  /// Whether a filter of system calls refuses faccessat2(2) itself, which says nothing about the file.
  private func isOfFilter(_ probe: Probe) -> Bool {
    guard probe.method == .access || probe.isAsked, let errno = probe.errno, errno != decision.errno
    else { return false }
    return refusal("/", []) != nil
  }

  private func asked() -> Probe {
    let how = opener.method
    if how.opens, let test = controlTest { return probeDevice(test) }
    let asking = inspection.asking(ask)
    guard asking !== inspection else { return answer(how) }
    var probe = Prober(asking, ask, decision, Opener(asking, ask)).answer(how)
    if asking.system.isUnresponsive {
      probe.obstacle = facts.mounts.first(where: \.rules.mayKeepWaiting)
        .flatMap { PathAvailability.unresponsive($0.point).reason?.message }
    }
    return probe
  }

  /// Whether a call could follow a link, or two dots, out of the root that is meant.
  private var leavesRoot: Bool {
    guard let base = facts.base else { return false }
    if ask.path.components.contains("..") { return true }
    let steps = inspection.evaluator.steps(ask)
    let below = steps.firstIndex {
      if case .lookup(_, _, base, _) = $0.event { true } else { false }
    }
    return steps[(below ?? 0)...].contains { if case .link = $0.event { true } else { false } }
  }

  private func answer(_ how: Probe.Method) -> Probe {
    switch how {
    case .none, .access, .automatic:
      // As the calls that would follow: a capability can give each permission and not both at once.
      let rest = ask.need.subtracting(ask.opened)
      var errno = ask.opened.isEmpty ? nil : refusal(ask.path, ask.opened)
      if errno == nil, !rest.isEmpty { errno = refusal(ask.path, rest) }
      var probe = Probe(method: .access, errno: errno)
      if probe.errno == nil, isServed || isOnlyForOpen { probe.unproven = ask.need }
      return probe
    case .open, .write, .enter:
      if isServed { return probeServed() }
      var errno: Errno?
      if !ask.opened.isEmpty { errno = opener.refusal() }
      let rest = ask.need.subtracting(ask.opened)
      let isAsked = errno == nil && !rest.isEmpty
      if isAsked { errno = refusal(ask.path, rest) }
      guard errno == nil, inspection.method == .write, ask.isDirectory, ask.need.contains(.write),
        !isAppendOnly
      else {
        var probe = Probe(method: .open, errno: errno)
        probe.isAsked = isAsked && errno != nil || ask.opened.isEmpty
        if errno == nil, !rest.isEmpty, isOnlyForOpen { probe.unproven = rest }
        return probe
      }
      return Probe(method: .write, errno: refusalToCreate(in: ask.path))
    }
  }

  /// Asks the kernel from a child that joins another process.
  private func entered(_ process: Int32) -> Probe {
    var probe = Probe(method: .enter, errno: nil)
    // A child that takes on ids can then be traced by their user, until it forbids that; see proc(5).
    let dumpable: PathBytes = "/proc/sys/fs/suid_dumpable"
    let look = system.look(atLineOf: dumpable)
    guard let value = look.value, value != "1" else {
      probe.obstacle =
        look.value == nil
        ? "process \(process) is not entered, because \(look.unseen?.description ?? dumpable.description) cannot be read"
        : "process \(process) is not entered while fs.suid_dumpable is 1, because its user could read the memory of the child"
      return probe
    }
    let opens =
      !ask.opened.isEmpty && !opener.isFIFO && (opener.device == nil || opener.opensHarmlessly)
    do throws(Errno) {
      let answer = try system.enter(
        process, as: inspection.subject.credentials, path: ask.path, flags: opens ? ask.flags : nil,
        need: ask.need)
      switch answer {
      case .answered(let opened, let accessed):
        probe.errno = opened ?? accessed
        probe.accessed = accessed
        // Root may not even see what a server or daemon decides about, and faccessat2(2) asks neither
        // of them nor a driver.
        if probe.errno == nil, decision.verdict == .undetermined,
          !opener.isKnown || isServed || !opens && decision.rule == .driver
        {
          let tried = opens && !ask.isDirectory ? ask.opened : []
          probe.unproven = ask.need.subtracting(tried)
        }
      case .failed(let step, let errno):
        probe.obstacle = "the check cannot take on \(step.words) of process \(process) (\(errno))"
      }
    } catch .ETIMEDOUT {
      probe.obstacle =
        "a child in the cgroup of process \(process) got no time to answer; the cgroup is perhaps frozen"
    } catch .ESTALE {
      probe.obstacle = "process \(process) has changed meanwhile"
    } catch {
      probe.obstacle = "process \(process) cannot be entered (\(error)), which needs root"
    }
    return probe
  }

  /// Whether only open(2), the creation of a name or execve(2) would be refused, by a nodev mount, a missing driver, an
  /// id mapping: faccessat2(2) grants access there, or another rule decides about it, so that its answer says nothing
  /// about the first one.
  private var isOnlyForOpen: Bool {
    let target = ask.need.contains(.execute) ? facts.target(of: ask.path) : nil
    if let target, facts.inodes[target].kind.isSpecial { return true }
    return !decision.isGranted
      && inspection.evaluator.decide(.faccessat2(ask.need, followsLink: true), path: ask.path).rule
        != decision.rule
  }

  /// Whether a server or daemon decides about the inode, and faccessat2(2) does not ask it.
  private var isServed: Bool {
    guard decision.verdict == .undetermined, let index = facts.target(of: ask.path) else {
      return false
    }
    let rules = facts.mounts[facts.inodes[index].mount].rules
    return !rules.isDecidedByKernel && !rules.answersAccess
  }

  /// Asks the kernel by the operations themselves: open, list, look up, and create if the caller
  /// wants that.
  private func probeServed() -> Probe {
    var probe = Probe(method: .open, errno: nil)
    func attempt(_ operation: () throws(Errno) -> Void) {
      guard probe.errno == nil else { return }
      do throws(Errno) { try operation() } catch { probe.errno = error }
    }
    if !ask.opened.isEmpty {
      attempt { () throws(Errno) in
        let file = try opener.open()
        defer { system.close(file) }
        guard ask.isDirectory else { return }
        if filtersLists { probe.unproven = ask.opened } else { _ = try system.getdents(file) }
      }
    }
    let rest = ask.need.subtracting(ask.opened)
    if !rest.isEmpty, probe.errno == nil {
      probe.errno = refusal(ask.path, rest)
      probe.isAsked = probe.errno != nil
    }
    guard ask.isDirectory else {
      // Only execve(2) asks the server whether the file may be executed.
      if probe.errno == nil { probe.unproven = rest }
      return probe
    }
    if rest.contains(.execute) {
      attempt { () throws(Errno) in
        do throws(Errno) {
          system.close(
            try system.openat(.currentDirectory, unusedName(in: ask.path), .path, mode: 0))
        } catch .ENOENT {
          // The lookup was allowed, and there is no such name.
        }
      }
    }
    if rest.contains(.write), probe.errno == nil {
      if inspection.method == .write, !isAppendOnly {
        probe = Probe(method: .write, errno: refusalToCreate(in: ask.path))
      } else {
        probe.unproven.formUnion(.write)
      }
    }
    return probe
  }

  /// Whether a name that is made in the folder could not be removed again.
  private var isAppendOnly: Bool {
    facts.target(of: ask.path).map { facts.inodes[$0].isAppendOnly } == true
  }

  /// Whether a filter of system calls answers getdents64(2) itself: without one, no descriptor is EBADF.
  private var filtersLists: Bool {
    do throws(Errno) {
      _ = try system.getdents(.currentDirectory)
      return true
    } catch {
      return error != .EBADF
    }
  }

  /// Returns a path in a folder with a name that no other program uses.
  private func unusedName(in folder: PathBytes) -> PathBytes {
    folder.appending(PathBytes(".permcheck-\(system.getpid())-\(system.monotonic())"))
  }

  /// Creates a file with a name that no other program uses, and removes it.
  private func refusalToCreate(in folder: PathBytes) -> Errno? {
    let path = unusedName(in: folder)
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

  /// The test of whether a device is in use; nil if its family has no such test.
  private var controlTest: DeviceFamily.BusyTest? {
    guard let family = ask.resource.family, family.busyTest != .none,
      ask.need != .execute, let index = facts.target(of: ask.path),
      facts.inodes[index].kind == .characterDevice, let device = facts.inodes[index].device
    else { return nil }
    return family.mayHave(device) ? family.busyTest : nil
  }

  /// Opens a camera or a sound device, and calls ioctl(2), without which no program can use it.
  ///
  /// VIDIOC_REQBUFS of no buffers changes nothing on a camera; a sound device knows no such call and
  /// answers ENOTTY.
  private func probeDevice(_ test: DeviceFamily.BusyTest) -> Probe {
    var probe = Probe(method: .open, errno: nil)
    do throws(Errno) {
      let node = try opener.open()
      defer { system.close(node) }
      do throws(Errno) {
        try system.reqbufs(none: node)
      } catch .EBUSY where test == .videoBuffers {
        probe.isBusy = true
      } catch {
        // A filter, or a policy that knows each call; no driver answers so.
        if error == .EPERM || error == .EACCES || error == .ENOSYS {
          (probe.errno, probe.isOfControl) = (error, true)
          return probe
        }
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

extension Inspection {
  /// Returns this inspection, or one whose calls another process makes, where a server may block.
  func asking(_ ask: ResourceQuery) -> Inspection {
    guard facts.mounts.contains(where: \.rules.mayKeepWaiting) else { return self }
    var served: MountFacts?
    for step in evaluator.steps(ask) {
      guard case .permission(let index, _, _, _) = step.event else { continue }
      let inode = facts.inodes[index]
      // To another process /proc/self is itself.
      if facts.mounts[inode.mount].fileSystem == "proc" { return self }
      if facts.mounts[inode.mount].rules.mayKeepWaiting { served = facts.mounts[inode.mount] }
    }
    guard let served else { return self }
    return Inspection(
      self, by: system.withCallProcess(served.point, within: PathAvailability.limit))
  }
}
