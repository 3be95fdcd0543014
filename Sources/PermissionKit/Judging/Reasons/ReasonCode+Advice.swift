extension Reason {
  /// The advice if no change of permissions helps; nil if there is no general advice.
  public var advice: String? { ownAdvice ?? code.advice }
}

extension Reason.Code {
  /// The advice if no change of permissions helps; nil if there is no general advice.
  public var advice: String? {
    switch self {
    case .deviceCgroup:
      "pass the device to the container (docker run --device=…), or set DeviceAllow=… of the service"
    case .landlockOrLSM: "find the sandbox or security profile that confines this process"
    case .landlockUnseen: "let the program itself check: nobody else sees its rules"
    case .seccomp:
      "start the program without that filter (docker run --security-opt seccomp=FILE, or SystemCallFilter= of the service)"
    case .driver: "find out what the driver requires, most often a capability"
    case .noDriver: "load the device's driver, or remove the stale node"
    case .readOnlyMount: "remount the file system read-write, or choose another folder"
    case .readOnlySubvolume: "choose another folder: a snapshot shows what was"
    case .nodevMount: "use the device node in /dev"
    case .sticky, .notOwner: "let the owner or root do it"
    case .protectedHardlink: "let the owner or root do it, or make a symbolic link"
    case .immutable: "run chattr -i as root"
    case .appendOnly: "run chattr -a as root"
    case .busy: "close the program that uses the device, or wait"
    case .notConfigured: "set another folder with xdg-user-dirs-update, or name the folder"
    case .danglingSymlink: "repair or remove the symbolic link"
    case .usernsUnmapped:
      "check outside; rootless Podman keeps the user's groups with --group-add=keep-groups"
    case .networkFS: "check as that user, on the machine that serves the file system"
    case .serverDecides:
      "check as that user by writing (write), or on the machine that serves the file system"
    case .notAnswering: "find out whether the server runs, or unmount it (umount -l)"
    case .automount: "use the folder once, which mounts it, and check again"
    case .locked: "unlock it, for example with fscrypt unlock, or by logging in as its owner"
    case .aclNotHonoured: "check as that user"
    case .unreadableFacts: "check as root"
    case .noListener: "start the program that listens there"
    case .unknownUmask:
      "name the umask (022 is usual), or the running process that makes the files"
    case .loginPolicy: "log in that way and check there, or name the process with --pid"
    case .soundDefault: "name the node"
    case .accessorFailed: "repair or remove the program of the accessor"
    case .ownerBits, .groupBits, .otherBits, .aclEntry, .aclMask, .notInGroup, .foreignGroup,
      .staleGroups,
      .futureFiles, .folderContents, .cannotCreate, .parentSearch, .parentWrite, .notPossible,
      .noexecMount, .noDevice,
      .noCaptureNode, .noSeatACL, .noUdev, .container, .sandbox,
      .serviceSandbox, .mediaServer, .byAccessor,
      .rootWithoutCapability:
      nil
    }
  }
}
