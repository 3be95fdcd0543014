/// The names of users and groups by id, as the machine that the ids belong to knows them.
package struct IDNames: Hashable, Sendable {
  /// Login names by uid.
  package var users: [UInt32: String]
  /// Group names by gid.
  package var groups: [UInt32: String]

  /// Creates names; an id without a name is shown as a number.
  package init(users: [UInt32: String] = [:], groups: [UInt32: String] = [:]) {
    self.users = users
    self.groups = groups
  }

  /// Adds the names of a subject of another machine, where its ids have none here.
  package mutating func add(_ other: IDNames, of subject: Credentials) {
    let uid = subject.user.fileSystem
    users[uid] = users[uid] ?? other.users[uid]
    for gid in subject.groups + [subject.group.fileSystem] {
      groups[gid] = groups[gid] ?? other.groups[gid]
    }
  }
}
