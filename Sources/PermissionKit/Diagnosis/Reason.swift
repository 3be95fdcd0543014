/// Why, in words that stay the same from version to version.
public struct Reason: Hashable, Sendable {
  /// A stable code.
  public enum Code: String, Hashable, Sendable, Codable, CaseIterable {
    case ownerBits = "owner-bits"
    case groupBits = "group-bits"
    case otherBits = "other-bits"
    case aclEntry = "acl-entry"
    case aclMask = "acl-mask"
    case notInGroup = "not-in-group"
    case staleGroups = "stale-groups"
    case parentSearch = "parent-search"
    case readOnlyMount = "read-only-mount"
    case nodevMount = "nodev-mount"
    case noexecMount = "noexec-mount"
    case immutable
    case appendOnly = "append-only"
    case deviceCgroup = "device-cgroup"
    case landlockOrLSM = "landlock-or-lsm"
    case seccomp
    case driver
    case busy
    case noDriver = "no-driver"
    case noDevice = "no-device"
    case noCaptureNode = "no-capture-node"
    case notConfigured = "not-configured"
    case danglingSymlink = "dangling-symlink"
    case usernsUnmapped = "userns-unmapped"
    case networkFS = "network-fs"
    case noSeatACL = "no-seat-acl"
    case container
    case sandbox
    case rootWithoutCapability = "root-without-capability"
    case unreadableFacts = "unreadable-facts"
  }

  /// How sure the reason is.
  public enum Certainty: String, Hashable, Sendable, Codable {
    /// Follows from the facts or from the kernel's own answer.
    case proven
    /// The likeliest of what the facts allow.
    case suspected
  }

  public var code: Code
  public var certainty: Certainty
  public var message: String
  /// What was seen, raw.
  public var evidence: [String]

  public init(_ code: Code, _ certainty: Certainty, _ message: String, evidence: [String] = []) {
    self.code = code
    self.certainty = certainty
    self.message = message
    self.evidence = evidence
  }
}

/// A change that would flip the verdict.
public struct Remedy: Hashable, Sendable {
  /// What is changed.
  public enum Kind: String, Hashable, Sendable, Codable {
    case acl
    case mode
    case login
    case mount
    case file
  }

  /// How long the change lasts.
  public enum Persistence: String, Hashable, Sendable, Codable {
    case untilUdevEvent = "until-udev-event"
    case untilReboot = "until-reboot"
    case untilLogout = "until-logout"
    case permanent
  }

  /// What the evaluator says of the facts with the change made.
  public enum Outcome: String, Hashable, Sendable, Codable {
    case granted
    case refused
    case undetermined
  }

  public var kind: Kind
  /// What to type, an argument an element.
  public var command: [PathBytes]
  public var needsRoot: Bool
  public var persistence: Persistence
  /// Who else would gain access, for people; empty when nobody would.
  public var othersAffected: [String]
  public var outcome: Outcome

  public init(
    kind: Kind, command: [PathBytes], needsRoot: Bool, persistence: Persistence,
    othersAffected: [String], outcome: Outcome
  ) {
    self.kind = kind
    self.command = command
    self.needsRoot = needsRoot
    self.persistence = persistence
    self.othersAffected = othersAffected
    self.outcome = outcome
  }
}
