/// What a check opens to ask the kernel, by one rule for every command.
///
/// A device is opened if that is known to change nothing, or if the caller wants it (`Probe.Method.open`);
/// one of a family that an open disturbs, never. Root opens nothing where somebody else could have made
/// one of the names on the way, because it may be a link to any device. What is opened is the very inode
/// of the facts.
extension Inspection {
  /// How the kernel is asked about one resource; never `automatic`.
  func method(_ ask: Ask, _ place: Place) -> Probe.Method {
    guard method.opens else { return method }
    let opening = method == .automatic ? .open : method
    // Who wants a file to be created in a folder gets it.
    if ask.isDirectory, method == .write { return opening }
    if mayBeAnothers(place) { return .access }
    guard device(place) != nil else { return opening }
    return opensHarmlessly(ask, place) || method != .automatic && !disturbs(ask, place)
      ? opening : .access
  }

  /// Where a path leads.
  struct Place {
    /// The inode of the facts; nil if they lack it.
    let inode: Int?
    /// Whether root alone could have made each name on the way.
    let isRoots: Bool
  }

  /// Returns where the path of a question leads.
  func place(of ask: Ask) -> Place {
    let place = evaluator.place(of: ask.path)
    return Place(inode: place.inode, isRoots: place.isRoots)
  }

  /// Whether root asks, and somebody else could have put a link there.
  func mayBeAnothers(_ place: Place) -> Bool { subject.credentials.isRoot && !place.isRoots }

  /// Opens the inode of the facts for what is asked.
  ///
  /// - Parameters:
  ///   - ask: What is asked.
  ///   - place: Where its path leads.
  ///   - call: openat(2), or a call with the same flags that a filter treats differently.
  /// - Returns: The open file.
  /// - Throws: The errno of the walk or of the open; ESTALE if the path now leads to another inode.
  func open(
    _ ask: Ask, _ place: Place, by call: (PathBytes, OpenFlags) throws(Errno) -> Descriptor
  ) throws(Errno) -> Descriptor {
    let flags = ask.flags.union([.nonBlocking, .noControllingTerminal])
    // The links of another process's descriptors are not in this one's /proc/self.
    guard !system.isApart else { return try call(ask.path, flags) }
    let found: Descriptor
    do throws(Errno) {
      found = try system.openat(.currentDirectory, ask.path, .path, mode: 0)
    } catch {
      // A seccomp filter looks at the flags before any walk, and cannot read the path: an empty one opens
      // nothing.
      do throws(Errno) { system.close(try call("", flags)) } catch .ENOENT {}
      throw error
    }
    defer { system.close(found) }
    let status = try system.statx(found)
    if let index = place.inode {
      if InodeIdentity(status) != identities[index] { throw .ESTALE }
    } else if status.kind?.isDevice != false {
      // Nothing is known about the device.
      throw .ESTALE
    }
    do throws(Errno) {
      return try call(found.link, flags)
    } catch .ENOENT {
      // Without /proc only the path is left, of which nobody but root made the names if this is root.
      return try call(ask.path, flags)
    }
  }

  /// Opens the inode of the facts by openat(2).
  func open(_ ask: Ask, _ place: Place) throws(Errno) -> Descriptor {
    try open(ask, place) { (path, flags) throws(Errno) in
      try system.openat(.currentDirectory, path, flags, mode: 0)
    }
  }

  /// Opens the inode of the facts and closes it; nil if that is granted.
  func refusalToOpen(_ ask: Ask, _ place: Place) -> Errno? {
    do throws(Errno) {
      system.close(try open(ask, place))
      return nil
    } catch {
      return error
    }
  }

  /// The number of the device node; nil for what is none.
  func device(_ place: Place) -> DeviceNumber? { place.inode.flatMap { facts.inodes[$0].device } }

  /// Whether it is known that an open of the device changes nothing.
  func opensHarmlessly(_ ask: Ask, _ place: Place) -> Bool {
    guard let number = device(place), !isBlock(place) else { return false }
    if number.opensHarmlessly { return true }
    guard let family = ask.resource.family, family.opening == .harmless, family.mayHave(number)
    else { return false }
    return DeviceFamily.builtIn.contains(family) || !disturbs(ask, place)
  }

  /// Whether the device belongs to a family that an open disturbs, whichever accessor asks.
  private func disturbs(_ ask: Ask, _ place: Place) -> Bool {
    guard let number = device(place) else { return false }
    if ask.resource.family?.opening == .disturbs { return true }
    return (context.families + (context.otherFamilies?() ?? [])).contains { family in
      family.opening == .disturbs && family.mayHave(number) && !isBlock(place)
        && family.contains(ask.path, number, below: context.root, system)
    }
  }

  private func isBlock(_ place: Place) -> Bool {
    place.inode.map { facts.inodes[$0].kind == .blockDevice } == true
  }
}

extension DeviceNumber {
  /// Whether an open of the character device with this number is known to change nothing.
  ///
  /// See Documentation/admin-guide/devices.txt of Linux: null, zero, full, random and urandom of
  /// drivers/char/mem.c; mem, port, kmsg, tty and hwrng, whose drivers only check who opens them;
  /// pseudo-terminals, of which O_NOCTTY makes no controlling terminal.
  var opensHarmlessly: Bool {
    switch (major, minor) {
    case (1, 1), (1, 3), (1, 4), (1, 5), (1, 7), (1, 8), (1, 9), (1, 11), (5, 0), (10, 183): true
    case (136...143, _): true
    default: false
    }
  }
}

extension System {
  /// Whether another process makes the calls, see `apart`.
  var isApart: Bool { (self as? LinuxSystem)?.apart != nil }
}
