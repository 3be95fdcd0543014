extension InodeChange {
  /// Returns the shell command that makes this change to `path`.
  func command(_ path: PathBytes) -> [PathBytes] {
    switch attribute {
    case .mode:
      let added = after.mode & ~before.mode
      let who = added & 0o700 != 0 ? "u" : added & 0o070 != 0 ? "g" : "o"
      return ["chmod", PathBytes("\(who)+\(permissions.letters)"), path]
    case .accessACL: return setfacl([], before.acl, after.acl, path)
    case .defaultACL: return setfacl(["-d"], before.defaultACL, after.defaultACL, path)
    }
  }

  private func setfacl(
    _ options: [PathBytes], _ before: AccessControlList?, _ after: AccessControlList?,
    _ path: PathBytes
  ) -> [PathBytes] {
    let none = attribute == .accessACL ? AccessControlList(mode: self.before.mode) : .init([])
    let old = (before ?? none).entries
    let new = after?.entries ?? []
    let isRemoved = old.contains { entry in
      !new.contains { $0.tag == entry.tag && $0.id == entry.id }
    }
    let text = AccessControlList(isRemoved ? new : new.filter { !old.contains($0) }).text
    return ["setfacl"] + options + ["-n", isRemoved ? "--set" : "-m", PathBytes(text), path]
  }
}
