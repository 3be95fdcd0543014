/// Opens what a check may open to ask the kernel; one rule for every command.
///
/// A device is opened if that is known to change nothing, or if the caller allows it
/// (`Probe.Method.open`); a device of a family that an open disturbs is never opened. Root opens
/// nothing where somebody else could have created one of the names on the path, because that name
/// may be a link to any device. The inode that is opened is that of the facts.
struct Opener {
  private let inspection: Inspection
  private let ask: ResourceQuery
  /// Where the path of the question leads.
  private let place: (inode: Int?, isRoots: Bool)

  init(_ inspection: Inspection, _ ask: ResourceQuery) {
    self.inspection = inspection
    self.ask = ask
    let place = inspection.evaluator.place(of: ask.path)
    self.place = (place.inode, place.isRoots)
  }

  private var facts: AccessFacts { inspection.facts }
  private var system: any System { inspection.system }
  /// Whether the facts have the inode that the path leads to.
  var isKnown: Bool { place.inode != nil }

  /// How the kernel is asked about one resource; never `automatic`.
  var method: Probe.Method {
    let method = inspection.method
    guard method.opens else { return method }
    let opening = method == .automatic ? .open : method
    // Who wants a file to be created in a folder gets it.
    if ask.isDirectory, method == .write { return opening }
    if mayBeReplaced { return .access }
    // Its other end waits for an open, and goes on.
    if isFIFO { return .access }
    guard device != nil else { return opening }
    return opensHarmlessly || method != .automatic && !disturbs
      ? opening : .access
  }

  /// Whether root asks, and somebody else could have put a link on the path.
  var mayBeReplaced: Bool { inspection.subject.credentials.isRoot && !place.isRoots }

  /// Opens the inode of the facts with the flags of the question.
  ///
  /// - Parameter call: openat(2), or a call with the same flags that a filter treats differently.
  /// - Returns: The open file.
  /// - Throws: The errno of the walk or of the open; ESTALE if the path now leads to another inode.
  func open(
    by call: (PathBytes, OpenFlags) throws(Errno) -> Descriptor
  ) throws(Errno) -> Descriptor {
    let flags = ask.flags.union([.nonBlocking, .noControllingTerminal])
    // The links of another process's descriptors are not in this one's /proc/self.
    guard !system.usesCallProcess else { return try call(ask.path, flags) }
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
      if InodeIdentity(status) != inspection.identities[index] { throw .ESTALE }
    } else if status.kind?.isDevice != false {
      // Nothing is known about the device.
      throw .ESTALE
    }
    do throws(Errno) {
      return try call(found.link, flags)
    } catch {
      if system.isThere(found.link) { throw error }
      // Without /proc only the path is left, of which nobody but root made the names if this is root.
      return try call(ask.path, flags)
    }
  }

  /// Opens the inode of the facts by openat(2).
  func open() throws(Errno) -> Descriptor {
    try open { (path, flags) throws(Errno) in
      try system.openat(.currentDirectory, path, flags, mode: 0)
    }
  }

  /// Opens the inode of the facts and closes it; returns the errno, or nil if the open succeeds.
  func refusal() -> Errno? {
    do throws(Errno) {
      system.close(try open())
      return nil
    } catch {
      return error
    }
  }

  /// The number of the device node; nil for other files.
  var device: DeviceNumber? { place.inode.flatMap { facts.inodes[$0].device } }

  var isFIFO: Bool { place.inode.map { facts.inodes[$0].kind == .fifo } == true }

  /// Whether an open of the device is known to change nothing.
  var opensHarmlessly: Bool {
    guard let number = device, !isBlock else { return false }
    if number.opensHarmlessly { return true }
    guard let family = ask.resource.family, family.opening == .harmless, family.mayHave(number)
    else { return false }
    return DeviceFamily.builtIn.contains(family) || !disturbs
  }

  /// Whether an open disturbs devices of this family, by any accessor.
  private var disturbs: Bool {
    let context = inspection.context
    guard let number = device else { return false }
    if ask.resource.family?.opening == .disturbs { return true }
    return (context.families + (context.otherFamilies?() ?? [])).contains { family in
      family.opening == .disturbs && family.mayHave(number) && !isBlock
        && family.contains(ask.path, number, below: context.root, system)
    }
  }

  private var isBlock: Bool {
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
