/// Why, in words that stay the same from version to version.
public struct Reason: Hashable, Sendable {
  /// A stable code.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// You own it, and the bits of the owner do not allow it, whatever others may.
    case ownerBits = "owner-bits"
    /// You are in its group, whose bits do not allow it.
    case groupBits = "group-bits"
    /// You are neither owner nor in the group, and the bits of others do not allow it.
    case otherBits = "other-bits"
    /// An entry of the ACL is about you or a group of yours, and does not allow it.
    case aclEntry = "acl-entry"
    /// The ACL would let you, but its mask takes that away.
    case aclMask = "acl-mask"
    /// A group may, but you are not in it.
    case notInGroup = "not-in-group"
    /// You were put into the group after this login began; log in again.
    case staleGroups = "stale-groups"
    /// A directory or link on the way there does not let you through.
    case parentSearch = "parent-search"
    /// It is on a file system that is mounted read-only.
    case readOnlyMount = "read-only-mount"
    /// It is on a mount whose device nodes are switched off (nodev).
    case nodevMount = "nodev-mount"
    /// It is on a mount that executes nothing (noexec).
    case noexecMount = "noexec-mount"
    /// It is marked immutable (chattr +i): nobody can write to it, root included.
    case immutable
    /// It is marked append-only (chattr +a): it can only be added to.
    case appendOnly = "append-only"
    /// The container or service you are in was not given this device.
    case deviceCgroup = "device-cgroup"
    /// A security module or a sandbox decides otherwise than mode and ACL.
    case landlockOrLSM = "landlock-or-lsm"
    /// A filter on system calls around this process refuses the open.
    case seccomp
    /// The device was reached, and its own driver refuses.
    case driver
    /// You may use it, but something else is using it now.
    case busy
    /// The node is there, but no driver answers for it.
    case noDriver = "no-driver"
    /// There is no such device or path, or it is something else.
    case noDevice = "no-device"
    /// There are nodes of that kind, but none that captures, or its node is missing.
    case noCaptureNode = "no-capture-node"
    /// No such folder is set up for you.
    case notConfigured = "not-configured"
    /// A symbolic link leads to what is not there, or round in circles.
    case danglingSymlink = "dangling-symlink"
    /// Its ids or yours have no meaning in this container, user namespace or mount.
    case usernsUnmapped = "userns-unmapped"
    /// It is on a network file system or FUSE, where somebody else has the last word.
    case networkFS = "network-fs"
    /// Only whoever sits at the machine is given this device, and you do not.
    case noSeatACL = "no-seat-acl"
    /// You are in a container, which does not have it.
    case container
    /// You are in an application sandbox, such as Flatpak or Snap, which does not have it.
    case sandbox
    /// You are root, but without the capability that lets root pass.
    case rootWithoutCapability = "root-without-capability"
    /// What decides could not be read, so it cannot be told.
    case unreadableFacts = "unreadable-facts"
  }

  /// How sure the reason is.
  public enum Certainty: String, Hashable, Sendable {
    /// Follows from the facts or from the kernel's own answer.
    case proven
    /// The likeliest of what the facts allow.
    case suspected
  }

  /// The code, for programs.
  public var code: Code
  /// Whether it is certain, or only the likeliest.
  public var certainty: Certainty
  /// The reason for people: a sentence without a period.
  public var message: String
  /// What was seen, raw.
  public var evidence: [String]

  /// Makes one of its parts.
  public init(_ code: Code, _ certainty: Certainty, _ message: String, evidence: [String] = []) {
    self.code = code
    self.certainty = certainty
    self.message = message
    self.evidence = evidence
  }
}
