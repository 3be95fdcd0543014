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

  /// Adds the names of ids that have none here.
  package mutating func add(_ other: IDNames) {
    users.merge(other.users) { own, _ in own }
    groups.merge(other.groups) { own, _ in own }
  }
}
