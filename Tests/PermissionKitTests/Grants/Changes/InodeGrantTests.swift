import PermissionKitTesting
import Testing

@_spi(SystemCalls) @testable import PermissionKit

/// One change of one inode: what it refuses to write, and what it says of a refusal.
@Suite struct InodeGrantTests {
  private static let plain = "u::rwx,g::r-x,o::---"
  private static let named = "u::rwx,u:5:r-x,g::r-x,m::r-x,o::---"

  /// A folder with an access ACL and a default ACL.
  private let system = FakeSystem(user: "root")
  private let folder: Descriptor

  init() throws {
    system.add("/folder", FakeNode(kind: .directory, mode: 0o750))
    folder = try system.openat(.currentDirectory, "/folder", .path, mode: 0)
    for name in [ExtendedAttribute.access, .default] {
      try system.setxattr(name, of: folder, list(Self.named).xattr)
    }
  }

  private func list(_ text: String) throws -> AccessControlList {
    try #require(AccessControlList(brief: text))
  }

  private func grant(_ attribute: InodeChange.Attribute) throws -> InodeGrant {
    InodeGrant(
      path: "/folder", identity: InodeIdentity(try system.statx(folder)), uid: 5, user: "games",
      permissions: .read, persistence: .permanent, attribute: attribute, arguments: [])
  }

  private func state(_ attribute: InodeChange.Attribute) throws -> InodeGrant.State {
    try InodeGrant.state(attribute, of: folder, system)
  }

  /// A list that the kernel would keep, and acl_valid(3) does not accept.
  private func doubled() throws -> AccessControlList {
    var list = try list(Self.named)
    list.entries.insert(.init(.user, id: 5, .read), at: 2)
    #expect(!list.isValid)
    return list
  }

  @Test(arguments: [InodeChange.Attribute.accessACL, .defaultACL])
  func `A list that is not valid is not written`(_ attribute: InodeChange.Attribute) throws {
    let (grant, old) = (try grant(attribute), try state(attribute))
    var new = old
    new.acl = try doubled()
    let error = #expect(throws: PermissionError.self) {
      try grant.set(new, from: old, folder, system)
    }
    #expect(error?.call == "acl_valid" && error?.message == "/folder cannot be changed")
    #expect(try state(attribute) == old)
    // What stood there before is put back as it was.
    try grant.set(new, from: old, isPutBack: true, folder, system)
    #expect(try state(attribute) == new)
    // And may be changed from there.
    try grant.set(old, from: new, folder, system)
    #expect(try state(attribute) == old)
  }

  @Test func `A default list is removed, an access list becomes the mode`() throws {
    let (grant, old) = (try grant(.defaultACL), try state(.defaultACL))
    var none = old
    none.acl = nil
    try grant.set(none, from: old, folder, system)
    #expect(try state(.defaultACL) == none)
    #expect(try state(.accessACL).acl == list(Self.named))
    let access = try self.grant(.accessACL)
    let was = try state(.accessACL)
    try access.set(was.setting(list(Self.plain), .accessACL), from: was, folder, system)
    let now = try state(.accessACL)
    #expect(now.acl == nil && now.mode == 0o750)
  }

  @Test func `Nothing is written over what somebody changed meanwhile`() throws {
    let (grant, old) = (try grant(.accessACL), try state(.accessACL))
    try system.chmod(folder, 0o700)
    let changed = try state(.accessACL)
    var new = old
    new.acl = try list("u::rwx,u:5:rwx,g::r-x,m::rwx,o::---")
    let error = #expect(throws: PermissionError.self) {
      try grant.set(new, from: old, folder, system)
    }
    #expect(error?.errno == .EAGAIN && error?.advice == "try again")
    #expect(try state(.accessACL) == changed)
  }

  @Test func `Only the owner or root may change it`() throws {
    let (grant, old) = (try grant(.accessACL), try state(.accessACL))
    var new = old
    new.acl = try list("u::rwx,u:5:rwx,g::r-x,m::rwx,o::---")
    for (errno, advice) in [(Errno.EPERM, "only its owner or root may change it"), (.EIO, nil)] {
      system.force("setxattr", errno)
      let error = #expect(throws: PermissionError.self) {
        try grant.set(new, from: old, folder, system)
      }
      #expect(error?.call == "setxattr" && error?.errno == errno && error?.advice == advice)
    }
  }

  @Test func `Another inode at the path is not opened`() throws {
    let grant = try grant(.accessACL)
    #expect(try grant.open(system) != nil)
    system.remove("/folder")
    #expect(try grant.open(system) == nil)
    system.add("/folder", FakeNode(kind: .directory))
    #expect(try grant.open(system) == nil)
    system.remove("/folder")
    system.add("/folder/below")
    var below = grant
    below.path = "/folder/below/deeper"
    #expect(try below.open(system) == nil)
    system.force("openat", .EMFILE)
    let error = #expect(throws: PermissionError.self) { try grant.open(system) }
    #expect(error?.message == "/folder cannot be read" && error?.errno == .EMFILE)
  }
}
