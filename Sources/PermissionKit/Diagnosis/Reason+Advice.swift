extension Reason.Code {
  /// What to do about it, where no change of bits would help; nil where there is nothing general.
  public var advice: String? {
    switch self {
    case .deviceCgroup:
      "give the container the device (docker run --device=…) or the service DeviceAllow=…"
    case .landlockOrLSM: "look for a sandbox or a security profile around this process"
    case .seccomp:
      "start it without that filter (docker run --security-opt seccomp=FILE, or SystemCallFilter= of the service)"
    case .driver: "see what its driver asks for: most often a capability"
    case .noDriver: "load the device's driver, or remove the stale node"
    case .readOnlyMount: "remount it read-write, or choose another folder"
    case .nodevMount: "use the node in /dev itself"
    case .immutable: "chattr -i, as root"
    case .appendOnly: "chattr -a, as root"
    case .busy: "close the program that uses it, or wait"
    case .notConfigured: "xdg-user-dirs-update --set PICTURES ~/Pictures"
    case .danglingSymlink: "repair or remove the link"
    case .usernsUnmapped: "ask outside the container or user namespace"
    case .networkFS: "ask as that user, on the machine that serves it"
    case .unreadableFacts: "ask as root"
    default: nil
    }
  }
}
