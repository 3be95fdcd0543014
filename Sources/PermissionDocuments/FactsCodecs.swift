internal import JSONSyntax
internal import PermissionKit

// Saved facts, version 1. A member that was added later has the default that decides least.

extension JSONCodec<AccessFacts> {
  static let facts = JSONRecord<AccessFacts>([
    .required("inodes", \.inodes, JSONCodec<InodeFacts>.inode.list),
    .required("mounts", \.mounts, JSONCodec<MountFacts>.mount.list),
    .required("root", \.root, .integer), .required("start", \.start, .integer),
    .required("sysctls", \.sysctls, sysctls),
    .optional("deviceCgroup", \.deviceCgroup, .deviceCgroup),
    .required("landlock", \.landlock, JSONCodec<LandlockRuleset>.ruleset.list),
    .defaulted("readerIsSubject", \.readerIsSubject, .bool),
    .optional("overflow", \.overflow, overflow),
    .optional("unresponsiveStart", \.unresponsiveStart, .path),
    .optional("startError", \.startError, .number),
    .optional("hasTerminal", \.hasTerminal, .bool),
    .optional("base", \.base, .integer),
  ]).codec(.blank)

  private static let sysctls = JSONRecord<AccessFacts.Sysctls>([
    .optional("protectedSymlinks", \.protectedSymlinks, .integer),
    .optional("protectedRegular", \.protectedRegular, .integer),
    .optional("protectedFIFOs", \.protectedFIFOs, .integer),
    .optional("protectedHardlinks", \.protectedHardlinks, .integer),
    .optional("dmesgRestrict", \.dmesgRestrict, .integer),
    .optional("kernelLogIsOff", \.kernelLogIsOff, .bool),
  ]).codec(AccessFacts.Sysctls())

  private static let overflow = JSONRecord<AccessFacts.Overflow>([
    .required("uid", \.uid, .integer), .required("gid", \.gid, .integer),
    .required("uidIsMapped", \.uidIsMapped, .bool),
    .required("gidIsMapped", \.gidIsMapped, .bool),
    .optional("mapping", \.mapping, .idMapping),
  ]).codec(
    AccessFacts.Overflow(uid: 65_534, gid: 65_534, uidIsMapped: true, gidIsMapped: true))
}

extension AccessFacts {
  /// The facts before the members of a document are read into them.
  fileprivate static var blank: AccessFacts {
    var facts = AccessFacts(inodes: [], mounts: [])
    facts.readerIsSubject = false
    return facts
  }
}

extension JSONCodec<InodeFacts> {
  fileprivate static let inode = JSONRecord<InodeFacts>([
    .required("kind", \.kind, .name), .required("mode", \.mode, .integer),
    .required("uid", \.uid, .integer), .required("gid", \.gid, .integer),
    .optional("acl", \.acl, .acl), .optional("defaultACL", \.defaultACL, .acl),
    .optional("aclError", \.aclError, .number), .optional("hasACLs", \.hasACLs, .bool),
    .required("isImmutable", \.isImmutable, .bool),
    .required("isAppendOnly", \.isAppendOnly, .bool),
    .optional("isLocked", \.isLocked.ifTrue, .bool),
    .optional("keyError", \.keyError, .number),
    .optional("subvolume", \.subvolume, subvolume),
    .optional("device", \.device, .deviceNumber),
    .optional("driverErrno", \.driverErrno, .number),
    .optional("hasNoListedDriver", \.hasNoListedDriver.ifTrue, .bool),
    .optional("driverError", \.driverError, .number),
    .required("mount", \.mount, .integer),
    .required("parent", \.parent, .integer), .required("entries", \.entries, entry.list),
    .required("entriesAreComplete", \.entriesAreComplete, .bool),
    .optional("isEmpty", \.isEmpty, .bool),
    .optional("isClosed", \.isClosed.ifTrue, .bool),
    .optional("target", \.target, .path), .optional("jump", \.jump, .integer),
    .optional("isOwnLink", \.isOwnLink.ifTrue, .bool),
  ]).codec(InodeFacts(kind: .regular, mode: 0, uid: .max, gid: .max))

  private static let subvolume = JSONRecord<InodeFacts.Subvolume>([
    .required("device", \.device, .deviceNumber), .optional("isReadOnly", \.isReadOnly, .bool),
  ]).codec(InodeFacts.Subvolume(device: DeviceNumber(major: 0, minor: 0), isReadOnly: nil))

  /// An entry of a directory: `{name, inode}`, `{name, errno}` if the lookup failed, or `{name}` if
  /// there is no such file.
  private static let entry = JSONRecord<InodeFacts.Entry>([
    .required("name", \.name, .path), .optional("inode", \.index, .integer),
    .optional("errno", \.errno, .number),
  ]).codec(InodeFacts.Entry(name: "", found: .missing))
}

extension InodeFacts.Entry {
  fileprivate var index: Int? {
    get { if case .inode(let index) = found { index } else { nil } }
    set { if let newValue { found = .inode(newValue) } }
  }

  fileprivate var errno: Errno? {
    get { if case .unreadable(let errno) = found { errno } else { nil } }
    set { if let newValue, index == nil { found = .unreadable(newValue) } }
  }
}

extension JSONCodec<MountFacts> {
  fileprivate static let mount = JSONRecord<MountFacts>([
    .required("id", \.id, .integer), .required("fileSystem", \.fileSystem, .string),
    .required("flags", \.flags, .number),
    .required("superblockIsReadOnly", \.superblockIsReadOnly, .bool),
    .optional("idMapping", \.idMapping, .idMapping),
    .required("idMappingIsUnreadable", \.idMappingIsUnreadable, .bool),
    .defaulted("mayBelongToNamespace", \.mayBelongToNamespace, .bool),
    .optional("hasLayerOnServer", \.hasLayerOnServer.ifTrue, .bool),
    .optional("isPart", \.isPart.ifTrue, .bool),
    .optional("isOfOtherMachine", \.isOtherMachine.ifTrue, .bool),
    .required("isUnreadable", \.isUnreadable, .bool), .required("point", \.point, .path),
    .required("superblockOptions", \.superblockOptions, .string),
  ]).codec(.blank)
}

extension MountFacts {
  /// A mount before the members of a document are read into it.
  fileprivate static var blank: MountFacts {
    var mount = MountFacts()
    mount.mayBelongToNamespace = true
    return mount
  }
}

extension JSONCodec<DeviceCgroup> {
  fileprivate static let deviceCgroup = JSONRecord<DeviceCgroup>([
    .required("allowsByDefault", \.allowsByDefault, .bool),
    .required("exceptions", \.exceptions, exception.list),
  ]).codec(DeviceCgroup(allowsByDefault: true, exceptions: []))

  private static let exception = JSONRecord<DeviceCgroup.Exception>([
    .required("kind", \.kind, .name), .optional("major", \.major, .integer),
    .optional("minor", \.minor, .integer), .required("access", \.access, .permissions),
  ]).codec(
    DeviceCgroup.Exception(kind: .characterDevice, major: nil, minor: nil, access: []))
}

extension JSONCodec<LandlockRuleset> {
  fileprivate static let ruleset = JSONRecord<LandlockRuleset>([
    .required("handled", \.handled, .number), .required("allowed", \.allowed, allowed),
  ]).codec(LandlockRuleset(handled: [], allowed: [:]))

  /// The rights by inode; the name of each member is the index of an inode.
  private static let allowed = JSONCodec<[Int: LandlockRights]>(
    JSONCodec<LandlockRights>.number.dictionary, expected: "members that are indices of inodes",
    to: { rights in
      Dictionary(uniqueKeysWithValues: rights.map { (String($0.key), $0.value) })
    }
  ) { members in
    var rights: [Int: LandlockRights] = [:]
    for (key, value) in members {
      guard let index = Int(key) else { return nil }
      rights[index] = value
    }
    return rights
  }
}

extension Bool {
  /// The value of a member that is written only if it is true.
  fileprivate var ifTrue: Bool? {
    get { self ? true : nil }
    set { self = newValue ?? false }
  }
}
