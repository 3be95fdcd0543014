extension NamedOperation {
  /// Reads an operation and what goes with it.
  ///
  /// - Parameters:
  ///   - name: What to do.
  ///   - target: The new path of `rename` and `link`; `USER`, `USER:GROUP` or `:GROUP` of `chown`.
  ///   - context: The system with the names of users, and the folder that stands for `/`.
  /// - Throws: If the target is missing, is not wanted, or there is no such user or group.
  package init(
    _ name: Name, target: PathBytes?, _ context: AccessContext
  ) throws(PermissionError) {
    var users: UserDatabase { UserDatabase(context.system, root: context.root) }
    self.init(name)
    switch (name, target) {
    case (.rename, let path?), (.link, let path?):
      self.target = path.isAbsolute ? context.belowRoot(path) : path
    case (.rename, nil), (.link, nil):
      throw PermissionError(.invalidArgument, "\(name.rawValue) needs the new path")
    case (.chown, let owner?):
      let parts = owner.description.parts(
        by: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if let user = parts.first, !user.isEmpty { uid = try Self.user(String(user), users) }
      if parts.count > 1 { gid = try Self.group(String(parts[1]), users) }
      self.owner = owner.description
    case (_, nil): break
    case (_, let path?):
      throw PermissionError(
        .invalidArgument, "\(name.rawValue) takes one path, so \(path) has no meaning here")
    }
  }

  private static func user(
    _ text: String, _ users: UserDatabase
  ) throws(PermissionError) -> UInt32 {
    if let uid = UInt32(text), uid != .max { return uid }
    return try users.subject(.user(text)).credentials.user.fileSystem
  }

  private static func group(
    _ text: String, _ users: UserDatabase
  ) throws(PermissionError) -> UInt32 {
    if let gid = UInt32(text), gid != .max { return gid }
    do throws(Errno) {
      if let gid = try users.gid(of: text) { return gid }
    } catch {
      throw PermissionError(
        .system, "the group data base cannot be searched for \(text)", call: "getent", errno: error)
    }
    throw PermissionError(.unknownUser, "there is no group \(text)")
  }

  /// Returns the question whether the operation on a resource is allowed.
  func ask(_ resource: Resource, _ facts: AccessFacts) -> ResourceQuery {
    var ask = ResourceQuery(
      resource: resource, need: [], isDirectory: false, isSocket: name == .connect)
    ask.named = self
    ask.operation = OperationQuestion(call(at: resource.path, facts))
    return ask
  }

  /// Returns the system call of the operation on a path.
  private func call(at path: PathBytes, _ facts: AccessFacts) -> FileOperation {
    switch name {
    case .create: .create
    case .write: .write
    case .mkdir: .makeDirectory
    case .mkfifo: .makeNode(.fifo)
    case .mknod: .makeNode(.characterDevice)
    case .symlink: .makeLink
    case .link: .link(to: target ?? "")
    // As remove(3) does.
    case .delete:
      facts.inode(named: path).map { facts.inodes[$0].kind } == .directory
        ? .removeDirectory : .unlink
    case .rmdir: .removeDirectory
    case .rename: .rename(to: target ?? "")
    case .chmod: .changeMode
    case .chown: .changeOwner(uid: uid, gid: gid)
    case .touch: .touch
    case .utimes: .setTimes
    case .truncate: .truncate
    case .chdir: .changeDirectory
    case .setxattr: .setAttribute
    case .exec: .execute
    case .connect: .connect
    }
  }
}

extension AccessFacts {
  /// Returns the inode at a path, for any subject; a link at the end is not followed.
  func inode(named path: PathBytes) -> Int? {
    let anybody = Credentials(uid: 0, gid: 0, groups: [])
    var call = KernelCall(AccessEvaluator(facts: self, credentials: anybody), path)
    call.grantsEverything = true
    let decision = call.run(.open([.path, .noFollow]))
    return decision.isGranted ? decision.inode : nil
  }
}
