internal import CCap
internal import Glibc

/// One thread of a walk, depth first, with the folders from its job to its position.
struct TreeWorker {
  /// The identity of a folder: mount and inode.
  struct Place: Hashable, Sendable {
    let fileSystem: DeviceNumber
    let inode: UInt64
  }

  /// An entered folder.
  struct Level {
    var descriptor: Int32?
    let place: Place
    /// The length of its path.
    let length: Int
    /// Where its names begin in `names`, and where the next name to enter begins.
    let start: Int
    var next: Int
    /// Whether all its names were read.
    var isRead = false
    /// Whether everything in it was entered.
    var isSpent = false
    /// The folder, this one or one above, that the user who is judged cannot search.
    var blocker: TreeFinding.Blocker?
    /// The counted users whom this folder or one above blocks.
    var blockedUsers = TreeCensus.BlockedUsers.none
    /// The visitor's state for this folder.
    var visited: (any Sendable)?
    var offset: Int64 = 0
  }

  /// The most bytes of waiting names before reads get smaller; so memory grows only with the depth.
  static let manyNames = 1 << 22
  static let block = 1 << 15
  static let smallBlock = 1 << 10
  /// The most folders that one thread keeps open; it opens the others again when it comes back.
  private static let maxOpen = 16

  let walk: TreeWalk
  let need: Int32
  let needOfFolders: Int32
  var sink: TreeSink
  let system = LinuxSystem()
  var path: [UInt8] = []
  var levels: [Level] = []
  /// The names of folders to enter, each with a NUL; those of the last level are at the end.
  var names: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: Self.block)
  var found = [UInt8](repeating: 0, count: Self.block)
  var ancestors: [Place] = []
  var open = 0
  var firstOpen = 0
  var mounts = BlockingMounts()
  let asker: TreeAsker
  /// The fields of the names of one read.
  var named: [ccap_named] = []
  /// The mount of the folder of a job, if other mounts are left out.
  var mount: UInt64 = 0
  /// The working directory, where relative roots begin.
  var home: Descriptor?
  /// The error of the look at it, without which no relative root is found again.
  var homeError: Errno?

  init(_ walk: TreeWalk, _ sink: TreeSink) {
    self.walk = walk
    self.sink = sink
    need = Int32(walk.question.need.rawValue)
    needOfFolders = Int32(walk.question.need(on: .directory).rawValue)
    asker = TreeAsker(walk.question, system)
    if asker.isKernel { return }
    named = Array(repeating: ccap_named(), count: Self.block / 24 + 1)
    do throws(Errno) {
      home = try system.openat(.currentDirectory, ".", [.path, .directory], mode: 0)
    } catch {
      homeError = error
    }
  }

  mutating func finish() {
    sink.finish()
    if case .census(let census) = asker { walk.add(census) }
    asker.visitor?.finish()
    close(home?.rawValue)
  }

  /// Walks everything below the folder of a job.
  mutating func run(_ job: TreeWalk.Job) {
    path = job.path
    ancestors = job.ancestors
    names.removeAll(keepingCapacity: true)
    firstOpen = 0
    if let descriptor = job.descriptor {
      if walk.question.isOfContents {
        mount = (try? system.statx(Descriptor(rawValue: descriptor)))?.mount ?? 0
      }
      let blocked = job.blockedUsers.flatMap { asker.census?.blockedUsers($0) } ?? .none
      push(descriptor, ancestors.removeLast(), below: job.blocker, blocked, job.visited)
    } else {
      enterTop()
    }
    while let level = levels.last, !walk.isEnded {
      if level.next < names.count {
        enterNext()
      } else if !level.isRead {
        read()
      } else {
        leave()
      }
    }
    for level in levels { close(level.descriptor) }
    levels = []
    open = 0
  }

  // MARK: - Reading a folder

  private mutating func read() {
    let last = levels.count - 1
    guard let descriptor = levels[last].descriptor else {
      levels[last].isRead = true
      return
    }
    names.removeLast(names.count - levels[last].start)
    levels[last].next = levels[last].start
    // Where this process cannot search, the kernel is asked about names without their ACLs.
    if !asker.isKernel, ccap_enter_directory(descriptor) < 0, !walk.question.asksKernel {
      levels[last].isRead = true
      return report(.changed, "")
    }
    let careful: Int32 = mayHaveBlockingPoint(descriptor) ? 1 : 0
    repeat {
      let size = names.count > Self.manyNames ? Self.smallBlock : Self.block
      var batch = ccap_names()
      var count = 0
      if asker.isKernel {
        unsafe ccap_ask_names(descriptor, need, careful, &buffer, &found, size, &batch)
      } else {
        let fields: Int32 = asker.visitor?.wantsNumbers == false ? 0 : 1
        count = unsafe ccap_stat_names(descriptor, fields, careful, &buffer, size, &named, &batch)
      }
      walk.count(asked: Int(batch.asked))
      if batch.length <= 0 {
        // ENOENT is the end of a removed folder.
        if batch.length < 0, batch.length != -Int(ENOENT) {
          report(.failed(Errno(rawValue: Int32(-batch.length))), "")
        }
        levels[last].isRead = true
        asker.visitor?.didRead(Descriptor(rawValue: descriptor))
      } else {
        levels[last].offset = batch.offset
        switch asker {
        case .kernel: take(Int(batch.found), descriptor)
        case .judge(let judge): judgeNames(count, judge)
        case .census(let census): countNames(count, census)
        case .visitor(let visitor): visitNames(count, visitor)
        }
      }
    } while !levels[last].isRead && names.count - levels[last].start < Self.block
      && !walk.isEnded
  }

  /// Whether a file system that may block is mounted on a name in the last level.
  private mutating func mayHaveBlockingPoint(_ folder: Int32) -> Bool {
    guard mounts.hasBlocking(system) else { return false }
    // The name of a top need not be that of its folder.
    let name = path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    guard levels.count == 1 || mounts.mayHoldPoint(name) else { return false }
    return mounts.hasBlockingPoint(in: Descriptor(rawValue: folder), system)
  }

  /// Takes the records of one read.
  private mutating func take(_ count: Int, _ folder: Int32) {
    var index = 0
    while index < count {
      let (type, errno) = (found[index], Int32(found[index + 1]))
      let start = index + 2
      var end = start
      while found[end] != 0 { end += 1 }
      index = end + 1
      if Int(type) == CCAP_FOLDER {
        names += found[start...end]
        continue
      }
      let isLink = Int(type) == CCAP_LINK
      // Only a link that leads nowhere is refused so; another name is gone.
      if errno == ENOENT, !isLink, !walk.isFiltered {
        walk.count(asked: -1)
        continue
      }
      let name = found[start...end]
      if [EMFILE, ENFILE, ENOMEM, ENOSYS].contains(errno) {
        report(.failed(Errno(rawValue: errno)), PathBytes(Array(name.dropLast())), isLink: isLink)
      } else if errno == EXDEV || isLink && errno == ELOOP {
        // A link of /proc leads where no name does.
        askThrough(name, folder, isLink: isLink)
      } else {
        report(.refused(Errno(rawValue: errno)), PathBytes(Array(name.dropLast())), isLink: isLink)
      }
    }
  }

  /// Checks a name, or the target of a link, on another mount, unless that mount may block.
  private mutating func askThrough(_ name: ArraySlice<UInt8>, _ folder: Int32, isLink: Bool) {
    let text = PathBytes(Array(name.dropLast()))
    let mayBlock =
      isLink
      ? mounts.leadsToBlocking(text, in: Descriptor(rawValue: folder), system)
      : mounts.mayBlock(text, in: Descriptor(rawValue: folder), system)
    if mayBlock { return report(.remote, text, isLink: isLink) }
    let result = unsafe Array(name).withUnsafeBytes {
      unsafe ccap_ask_through(folder, $0.bindMemory(to: CChar.self).baseAddress, need)
    }
    if result < 0 { report(.refused(Errno(rawValue: -result)), text, isLink: isLink) }
  }

  /// Reports the answer about a name in the last level; the empty name is that folder itself.
  mutating func report(_ answer: TreeFinding.Answer, _ name: PathBytes, isLink: Bool = false) {
    var answer = answer
    if case .refused(let errno) = answer, case .kernel = asker, walk.isFiltered {
      answer = .failed(errno)
    }
    if case .refused = answer { walk.count(refused: 1) } else { walk.count(undetermined: 1) }
    let slash = path.last == UInt8(ascii: "/") ? 0 : 1
    let whole = name.isEmpty ? PathBytes(path) : PathBytes(path).appending(name)
    let folder = levels.last?.descriptor.map(Descriptor.init(rawValue:)) ?? .currentDirectory
    var finding = TreeFinding(
      path: whole, folderLength: name.isEmpty ? path.count : path.count + slash, folder: folder,
      answer: answer, isLink: isLink)
    if !name.isEmpty { finding.blocker = levels.last?.blocker }
    sink.found(finding)
  }

  // MARK: - Entering and leaving

  /// Enters the next folder that waits in the last level.
  private mutating func enterNext() {
    let last = levels.count - 1
    let start = levels[last].next
    var end = start
    while names[end] != 0 { end += 1 }
    levels[last].next = end + 1
    guard let folder = levels[last].descriptor else { return }
    let opened = unsafe names.withUnsafeBytes {
      unsafe ccap_open_folder(
        folder, $0.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start })
    }
    if opened == -ENOENT {
      asker.visitor?.didMiss()
      return
    }
    let name = names[start...end]
    if opened == -EXDEV { return enterMount(name, folder) }
    guard opened >= 0 else {
      return refuse(name, folder, -opened)
    }
    enter(opened, name)
  }

  /// Asks about a folder that cannot be opened.
  private mutating func refuse(_ name: ArraySlice<UInt8>, _ folder: Int32, _ errno: Int32) {
    let text = PathBytes(Array(name.dropLast()))
    if ![EACCES, ENOTDIR, ELOOP].contains(errno) {
      return report(.failed(Errno(rawValue: errno)), text)
    }
    let isFolder = errno != ENOTDIR && errno != ELOOP
    walk.count(asked: asker.isKernel ? 1 : 0, unlisted: isFolder ? 1 : 0)
    switch asker {
    // Its name was counted.
    case .census where isFolder: return
    case .judge where isFolder && walk.question.asksKernel: return
    case .judge, .census, .visitor: return report(.failed(Errno(rawValue: errno)), text)
    case .kernel: break
    }
    let result = unsafe Array(name).withUnsafeBytes {
      unsafe ccap_ask_at(
        folder, $0.bindMemory(to: CChar.self).baseAddress, isFolder ? needOfFolders : need)
    }
    if result < 0 { report(.refused(Errno(rawValue: -result)), text) }
  }

  /// Enters the file system that is mounted on a name, unless it may block.
  private mutating func enterMount(_ name: ArraySlice<UInt8>, _ folder: Int32) {
    let text = PathBytes(Array(name.dropLast()))
    if walk.question.isOfContents { return }
    if asker.visitor != nil || mounts.mayBlock(text, in: Descriptor(rawValue: folder), system) {
      return report(.remote, text)
    }
    let opened: Descriptor
    do throws(Errno) {
      opened = try system.openat(
        Descriptor(rawValue: folder), text, [.directory, .noFollow, .nonBlocking], mode: 0)
    } catch {
      return refuse(name, folder, error.rawValue)
    }
    guard let status = try? system.statx(opened) else {
      close(opened.rawValue)
      return report(.changed, text)
    }
    let place = Place(fileSystem: status.fileSystem, inode: status.inode)
    // As find(1): a folder that contains itself is passed over.
    if ancestors.contains(place) || levels.contains(where: { $0.place == place }) {
      return close(opened.rawValue)
    }
    let isOther = (levels.first?.place ?? place).fileSystem != status.fileSystem
    if isOther, walk.question.staysOnFileSystem {
      ask(opened.rawValue, text)
      return close(opened.rawValue)
    }
    enter(opened.rawValue, name)
  }

  /// Checks an open folder, which was opened with read permission.
  mutating func ask(_ folder: Int32, _ name: PathBytes) {
    // The name of a folder was judged when it was read.
    guard asker.isKernel else { return }
    walk.count(asked: 1)
    guard walk.question.need != .read else { return }
    let result = unsafe ccap_ask_at(folder, "", needOfFolders)
    if result < 0 { report(.refused(Errno(rawValue: -result)), name) }
  }

  /// Walks an open folder, or hands it to an idle thread.
  private mutating func enter(_ folder: Int32, _ name: ArraySlice<UInt8>) {
    if walk.question.need == .read, asker.isKernel {
      walk.count(asked: 1)
    } else {
      ask(folder, PathBytes(Array(name.dropLast())))
    }
    guard let status = try? system.statx(Descriptor(rawValue: folder)) else {
      close(folder)
      return report(.changed, PathBytes(Array(name.dropLast())))
    }
    let place = Place(fileSystem: status.fileSystem, inode: status.inode)
    let last = levels.count - 1
    // A subvolume of btrfs is no mount, but another file system.
    if walk.question.staysOnFileSystem, place.fileSystem != levels[last].place.fileSystem {
      return close(folder)
    }
    if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    path += name.dropLast()
    if walk.hasIdleThread {
      walk.give(
        TreeWalk.Job(
          path: path, descriptor: folder, ancestors: ancestors + levels.map(\.place) + [place],
          blocker: levels[last].blocker,
          blockedUsers: asker.census?.answers(levels[last].blockedUsers),
          visited: levels[last].visited))
      path.removeLast(path.count - levels[last].length)
      return
    }
    push(folder, place)
    // What cannot be searched is no way back to the folders above.
    if unsafe ccap_ask_at(folder, "", Int32(CCAP_SEARCH)) == 0, levels[last].isRead,
      levels[last].next == levels[last + 1].start
    {
      close(levels[last].descriptor)
      levels[last].descriptor = nil
      levels[last].isSpent = true
      open -= 1
    }
    if open > Self.maxOpen { closeFirst() }
  }

  mutating func push(
    _ folder: Int32, _ place: Place, below given: TreeFinding.Blocker? = nil,
    _ blocked: TreeCensus.BlockedUsers? = nil, _ visited: (any Sendable)? = nil
  ) {
    let blocker = given ?? levels.last?.blocker
    let blocked = blocked ?? levels.last?.blockedUsers ?? .none
    let visited = visited ?? levels.last?.visited
    open += 1
    levels.append(
      Level(
        descriptor: folder, place: place, length: path.count, start: names.count,
        next: names.count))
    switch asker {
    case .kernel: break
    case .judge(let judge): block(levels.count - 1, below: blocker, judge)
    case .census(let census): noteBlockedUsers(levels.count - 1, blocked, census)
    case .visitor(let visitor):
      levels[levels.count - 1].visited = visitor.enter(
        Descriptor(rawValue: folder), PathBytes(path), visited)
    }
    countProtected(in: Descriptor(rawValue: folder))
  }

  func close(_ descriptor: Int32?) {
    if let descriptor { system.close(Descriptor(rawValue: descriptor)) }
  }
}

extension TreeWorker {
  /// Asks about a top, and enters it if it is a folder and no link.
  mutating func enterTop() {
    let top = PathBytes(path)
    if let homeError, !top.isAbsolute {
      walk.count(asked: 1)
      return report(.failed(homeError), "")
    }
    if let home { _ = ccap_enter_directory(home.rawValue) }
    guard system.availability(of: top) == .immediate else { return report(.remote, "") }
    var blocked = TreeCensus.BlockedUsers.none
    switch asker {
    case .kernel, .visitor: break
    case .judge(let judge): if !judgeTop(top, judge) { return }
    case .census(let census):
      guard let found = countTop(top, census) else { return }
      blocked = found
    }
    do throws(Errno) {
      let folder = try system.openat(
        .currentDirectory, top, [.directory, .noFollow, .nonBlocking], mode: 0)
      guard let status = try? system.statx(folder) else {
        system.close(folder)
        return report(.changed, "")
      }
      ask(folder.rawValue, "")
      push(
        folder.rawValue, Place(fileSystem: status.fileSystem, inode: status.inode), below: nil,
        blocked
      )
    } catch {
      if [EMFILE, ENFILE].contains(error.rawValue) { return report(.failed(error), "") }
      switch asker {
      case .census where error == .EACCES: return walk.count(unlisted: 1)
      case .judge, .census:
        if error != .ENOTDIR, error != .ELOOP { report(.failed(error), "") }
        return
      case .kernel, .visitor: break
      }
      // Other errors are those of a folder, of which nothing more is known.
      if ![.EACCES, .ENOTDIR, .ELOOP, .ENOENT].contains(error) {
        walk.count(asked: 1)
        return report(.failed(error), "")
      }
      walk.count(asked: 1, unlisted: error == .EACCES ? 1 : 0)
      let status = try? system.openat(.currentDirectory, top, [.path, .noFollow], mode: 0)
      let isLink = status.flatMap { try? system.statx($0) }?.kind == .symbolicLink
      if let status { system.close(status) }
      do throws(Errno) {
        try system.faccessat2(top, walk.question.need(on: try? system.kind(of: top)))
      } catch {
        report(.refused(error), "", isLink: isLink)
      }
    }
  }
}

// The way back to the folders above.
extension TreeWorker {
  /// Closes the outermost open folder, to save a descriptor; `leave` opens it again.
  mutating func closeFirst() {
    while firstOpen < levels.count - 1, levels[firstOpen].descriptor == nil { firstOpen += 1 }
    guard firstOpen < levels.count - 1 else { return }
    close(levels[firstOpen].descriptor)
    levels[firstOpen].descriptor = nil
    open -= 1
  }

  /// Goes back to the nearest folder above that has names to enter.
  mutating func leave() {
    let left = levels.removeLast()
    names.removeLast(names.count - left.start)
    open -= 1
    var steps = 1
    while let level = levels.last {
      if level.descriptor != nil { break }
      if !level.isSpent, let descriptor = climb(from: left.descriptor, steps, to: level) {
        levels[levels.count - 1].descriptor = descriptor
        firstOpen = min(firstOpen, levels.count - 1)
        open += 1
        break
      }
      path.removeLast(path.count - level.length)
      if !level.isSpent { report(.changed, "") }
      names.removeLast(names.count - level.start)
      levels.removeLast()
      steps += 1
    }
    close(left.descriptor)
    if let level = levels.last { path.removeLast(path.count - level.length) }
  }

  /// Opens a folder above again; nil if another one is there now.
  private func climb(from start: Int32?, _ steps: Int, to level: Level) -> Int32? {
    guard let start else { return nil }
    var current = Descriptor(rawValue: start)
    defer { if current.rawValue != start { system.close(current) } }
    for _ in 0..<steps {
      guard let above = try? system.openat(current, "..", [.path, .directory], mode: 0) else {
        return nil
      }
      if current.rawValue != start { system.close(current) }
      current = above
    }
    guard let status = try? system.statx(current),
      Place(fileSystem: status.fileSystem, inode: status.inode) == level.place,
      let folder = try? system.openat(current, ".", [.directory, .nonBlocking], mode: 0)
    else { return nil }
    if !level.isRead { _ = lseek(folder.rawValue, Int(level.offset), SEEK_SET) }
    return folder.rawValue
  }
}

// Doing something with a tree instead of asking about it.
extension TreeWorker {
  /// Visits the names of one read.
  mutating func visitNames(_ count: Int, _ visitor: TreeVisitor) {
    guard let folder = levels.last?.descriptor else { return }
    let visited = levels[levels.count - 1].visited
    var asked = 0
    for index in 0..<count {
      let fields = named[index]
      let start = Int(fields.name)
      if fields.error == ENOENT {
        visitor.didMiss()
        continue
      }
      asked += 1
      if fields.error != 0 {
        report(
          fields.error == EXDEV ? .remote : .failed(Errno(rawValue: fields.error)), name(start))
        continue
      }
      if fields.mode & 0o170000 == 0o040000 { wait(for: start) }
      // A link has no ACL.
      if fields.mode & 0o170000 == 0o120000 { continue }
      visit(start, fields.inode, folder, visitor, visited)
    }
    walk.count(asked: asked)
  }

  private mutating func visit(
    _ start: Int, _ number: UInt64, _ folder: Int32, _ visitor: TreeVisitor,
    _ visited: (any Sendable)?
  ) {
    let length = aclOfName(start)
    if length <= 0 {
      let errno = Errno(rawValue: Int32(-length))
      if length < 0, errno != .ENODATA, errno != .EOPNOTSUPP, errno != .ENOENT {
        report(.failed(errno), name(start))
      }
      return
    }
    guard visitor.wants(Array(found[..<length]), number, visited) else { return }
    let inode = unsafe buffer.withUnsafeBytes {
      unsafe ccap_open_name(
        folder, $0.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start })
    }
    if inode == -ENOENT { return visitor.didMiss() }
    guard inode >= 0 else {
      return report(inode == -EXDEV ? .remote : .failed(Errno(rawValue: -inode)), name(start))
    }
    let slash: [UInt8] = path.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
    visitor.take(
      Descriptor(rawValue: inode), { PathBytes(path + slash + name(start).bytes) }, visited)
  }

  /// Reads the access ACL of a name in the working directory; returns its length, or -errno.
  private mutating func aclOfName(_ start: Int) -> Int {
    unsafe buffer.withUnsafeBytes { names in
      let name = unsafe names.bindMemory(to: CChar.self).baseAddress.map { unsafe $0 + start }
      return unsafe found.withUnsafeMutableBytes { value in
        // The kernel clears as much memory as it is offered, so it is first offered little.
        let length = unsafe ccap_lgetxattr_acl(name, value.baseAddress, 256)
        return length == -Int(ERANGE)
          ? unsafe ccap_lgetxattr_acl(name, value.baseAddress, value.count) : length
      }
    }
  }
}
