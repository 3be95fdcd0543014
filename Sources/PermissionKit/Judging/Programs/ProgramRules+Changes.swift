extension ProgramRules {
  /// Returns the programs that accept an inode now, and no more after a change of its mode.
  ///
  /// The group bits of a file with an ACL are its mask, see acl(5): an entry for one user shows as a permission of the
  /// group.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - place: The path of the inode.
  ///   - names: Other paths by which it was asked for, over links.
  ///   - readsContents: Whether to look at the contents for a key.
  ///   - inspection: The names of users, and the system that has the file.
  /// - Returns: An objection for each rule.
  static func objections(
    to change: InodeChange, at place: PathBytes, named names: [PathBytes], readsContents: Bool,
    _ inspection: Inspection
  ) -> [ProgramObjection] {
    let added = change.after.mode & ~change.before.mode
    guard change.attribute != .defaultACL, added & 0o777 != 0 else { return [] }
    let isFolder = change.before.kind == .directory
    let paths = ([place] + names).map { inspection.system.absolute($0) ?? $0 }
    return all.compactMap { rule in
      let isAbove = isFolder && !(rule.isOfFolder && paths.contains { rule.home(of: $0) != nil })
      guard rule.concerns(added, isAbove: isAbove) else { return nil }
      let shown = paths.first { path in
        isAbove
          ? rule.counts(folder: path) { isThere($0, inspection) } : rule.home(of: path) != nil
      }
      let isKey =
        !isAbove && shown == nil && readsContents
        && rule.firstLine.map { begins(paths[0], $0, change.before, names, inspection) } == true
      guard let path = shown ?? (isKey ? paths[0] : nil) else { return nil }
      let user = user(rule, change.before, path, inspection)
      guard rule.fault(of: change.before, for: user, isAbove: isAbove, inspection) == nil,
        let fault = rule.fault(of: change.after, for: user, isAbove: isAbove, inspection)
      else { return nil }
      let who = inspection.users.userName(user)
      let why = fault.words(of: change.after, owner: who, expected: who)
      var objection = ProgramObjection(
        program: rule.program, path: path,
        message: "\(rule.program) then \(rule.effect) (\(path): \(why))",
        instead: rule.instead, source: rule.source)
      objection.onlyWarns = rule.onlyWarns
      return objection
    }
  }

  /// Returns the user who runs the program, or whose file it is.
  private static func user(
    _ rule: ProgramRule, _ inode: InodeFacts, _ path: PathBytes, _ inspection: Inspection
  ) -> UInt32 {
    if rule.owner == .root { return 0 }
    guard rule.trustsPrivateGroup, inode.uid == 0, inode.mode & 0o022 == 0 else { return inode.uid }
    // Root may own what is in a home.
    let homes = [path, path.parent, path.parent.parent]
    return (try? inspection.users.everyUser())?.first { homes.contains($0.home) }?.uid ?? inode.uid
  }

  private static func isThere(_ path: PathBytes, _ inspection: Inspection) -> Bool {
    if let reader = inspection.system.examiner(of: path) {
      do throws(Errno) {
        _ = try reader.status(of: path)
        return true
      } catch {
        if error == .ENOENT || error == .ENOTDIR { return false }
      }
    }
    // What cannot be seen may be there, in a home.
    let home = path.parent.parent
    return (try? inspection.users.everyUser())?.contains { $0.home == home } == true
  }

  /// Returns whether a file begins with a line; what is after a key may be anything.
  ///
  /// Its owner reads it; root's file is not read for whoever can change the way by which it was asked for.
  static func begins(
    _ path: PathBytes, _ line: String, _ inode: InodeFacts, _ asked: [PathBytes],
    _ inspection: Inspection
  ) -> Bool {
    guard inode.kind == .regular,
      inode.uid != 0 || asked.first.map(inspection.system.onlyRootChanges) == true
    else { return false }
    let owner =
      (try? inspection.users.subject(userID: inode.uid))?.credentials
      ?? Credentials(uid: inode.uid, gid: inode.gid, groups: [])
    let reader = inspection.system.door(below: "/", as: owner)
    let bytes = try? reader.contents(of: path, limit: 1 << 20)
    return bytes?.starts(with: line.utf8) == true
  }
}
