import Testing

@testable import PermissionKit

/// What is left of an ACL once the leases have ended from which it inherited an entry.
struct InheritanceTests {
  private static let minimal = "u::rwx,g::r-x,o::---"
  private static let bobs = "u::rwx,u:2:r-x,g::r-x,m::r-x,o::---"

  /// What a folder with a default ACL is known by, after user 5 had `r-x` there by leases since 100.
  private func inside(_ now: String?, origin: String? = nil) throws -> Inheritance {
    var record = LeasedACL(nil, owner: nil)
    record.given = [GivenEntry(uid: 5, since: 100, rights: [[.read, .execute]])]
    record.origin = try origin.map { try #require(AccessControlList(brief: $0)) }
    let list = try now.map { try #require(AccessControlList(brief: $0)) }
    return Inheritance().inside(list, record, of: [5], LinuxSystem())
  }

  @Test(
    arguments: [
      // The folder has no default ACL of its own: the mask that nothing needs is folded.
      (nil, "u::rw-,u:5:r-x,g::r-x,m::r--,o::---", 100, "u::rw-,g::r--,o::---"),
      (
        nil, "u::rw-,u:2:r--,u:5:r-x,g::r-x,m::r--,o::---", 100,
        "u::rw-,u:2:r--,g::r-x,m::r--,o::---"
      ),
      // It is older, or has another value.
      (nil, "u::rw-,u:5:r-x,g::r-x,m::r--,o::---", 99, nil),
      (nil, "u::rw-,u:5:rwx,g::r-x,m::rwx,o::---", 100, nil),
      (nil, "u::rw-,u:6:r-x,g::r-x,m::r-x,o::---", 100, nil),
      // With a mask of its own, the mask stays.
      (
        bobs, "u::rw-,u:2:r-x,u:5:r-x,g::r-x,m::---,o::---", 100,
        "u::rw-,u:2:r-x,g::r-x,m::---,o::---"
      ),
      // Another lease, or what was there before, gives less.
      (
        "u::rwx,u:5:r--,g::r-x,m::r-x,o::---", "u::rw-,u:5:r-x,g::r-x,m::r-x,o::---", 100,
        "u::rw-,u:5:r--,g::r-x,m::r-x,o::---"
      ),
      ("u::rwx,u:5:rwx,g::r-x,m::rwx,o::---", "u::rw-,u:5:r-x,g::r-x,m::r-x,o::---", 100, nil),
    ] as [(String?, String, Int64, String?)])
  func `An inherited entry goes, and nobody else's`(
    _ now: String?, _ list: String, _ birth: Int64, _ left: String?
  ) throws {
    let list = try #require(AccessControlList(brief: list))
    let released = try inside(now).released(list, birth: birth)
    #expect(released.brief == left ?? list.brief)
    #expect(try inside(now).released(released, birth: birth) == released)
  }

  @Test func `A default ACL that a lease created is removed with it`() throws {
    let made = try #require(AccessControlList(brief: "u::rwx,u:5:r-x,g::r-x,m::r-x,o::---"))
    let other = try #require(AccessControlList(brief: "u::rwx,u:5:r-x,g::rwx,m::rwx,o::---"))
    let inside = try inside(nil, origin: Self.minimal)
    #expect(inside.releasedDefault(made, birth: 100) == nil)
    #expect(inside.releasedDefault(other, birth: 100)?.brief == "u::rwx,g::rwx,o::---")
    #expect(inside.releasedDefault(made, birth: 99) == made)
  }

  @Test func `The entries of somebody's own default ACL stay`() throws {
    let top = try inside(Self.minimal)
    let theirs = try #require(AccessControlList(brief: "u::rwx,u:5:rwx,g::r-x,m::rwx,o::---"))
    let before = try #require(AccessControlList(brief: "u::rwx,u:5:r-x,g::r-x,m::r-x,o::---"))
    // Set meanwhile: files from before have the value of the lease, later ones that of the default ACL.
    let inside = top.inside(theirs, birth: 100)
    #expect(inside.released(before, birth: 100).brief == "u::rwx,g::r-x,m::r-x,o::---")
    #expect(inside.released(theirs, birth: 100) == theirs)
    // A folder that is older: its default ACL gives the same value by itself.
    #expect(top.inside(before, birth: 99).released(before, birth: 100) == before)
  }
}
