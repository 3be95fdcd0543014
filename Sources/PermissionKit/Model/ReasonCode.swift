extension Reason {
  /// The code of a reason, stable across versions.
  public enum Code: String, Hashable, Sendable, CaseIterable, Codable {
    /// The subject owns the file, and the owner bits refuse, whatever other bits allow.
    case ownerBits = "owner-bits"
    /// The subject is in the group of the file, and the group bits refuse.
    case groupBits = "group-bits"
    /// The subject is neither owner nor in the group, and the other bits refuse.
    case otherBits = "other-bits"
    /// An ACL entry for the subject or one of the subject's groups refuses.
    case aclEntry = "acl-entry"
    /// An ACL entry would grant access, but the mask takes the right away.
    case aclMask = "acl-mask"
    /// A group has access, but the subject is not in the group.
    case notInGroup = "not-in-group"
    /// In a container, the group of a device has another name than on the machine, or none.
    case foreignGroup = "foreign-gid"
    /// The subject joined the group after this login session began; log in again.
    case staleGroups = "stale-groups"
    /// A directory or link on the path refuses search.
    case parentSearch = "parent-search"
    /// The directory that holds a name, or is to hold it, refuses changes.
    case parentWrite = "parent-write"
    /// In a sticky directory only the owner of a file, or of the directory, removes or renames it.
    case sticky
    /// Only the owner of the file, or root, may do this.
    case notOwner = "not-owner"
    /// A user who cannot read and write another user's file may not link it.
    case protectedHardlink = "protected-hardlink"
    /// The kernel refuses O_CREAT on another user's file or FIFO in a sticky folder (fs.protected_regular,
    /// fs.protected_fifos).
    case protectedFile = "protected-file"
    /// The operation is impossible for this kind of file, whatever the permissions are.
    case notPossible = "not-possible"
    /// The file is on a file system that is mounted read-only.
    case readOnlyMount = "read-only-mount"
    /// The subvolume of btrfs is read-only, as most snapshots are.
    case readOnlySubvolume = "read-only-subvolume"
    /// The device node is on a mount that disables device nodes (nodev).
    case nodevMount = "nodev-mount"
    /// The file is on a mount that executes no files (noexec).
    case noexecMount = "noexec-mount"
    /// The file is immutable (chattr +i): nobody can write to it, not even root.
    case immutable
    /// The file is append-only (chattr +a): writers can only add to the end.
    case appendOnly = "append-only"
    /// The container or service of the process was not given this device.
    case deviceCgroup = "device-cgroup"
    /// A security module or a sandbox refuses, although mode and ACL grant access.
    case landlockOrLSM = "landlock-or-lsm"
    /// Another process may have restricted itself by Landlock, which does not show from outside.
    case landlockUnseen = "landlock-unseen"
    /// A filter on the system calls of this process refuses the open.
    case seccomp
    /// The open reached the device, and its driver refuses.
    case driver
    /// Access is granted, but another process uses the device now.
    case busy
    /// The node exists, but no driver answers for it.
    case noDriver = "no-driver"
    /// There is no such device or path, or the path is a different kind of file.
    case noDevice = "no-device"
    /// There are nodes of that kind, but none that captures, or the capture node is missing.
    case noCaptureNode = "no-capture-node"
    /// No such folder is configured for the user.
    case notConfigured = "not-configured"
    /// A symbolic link leads to a missing file or in a circle.
    case danglingSymlink = "dangling-symlink"
    /// An id of the file or of the subject has no meaning in this container, user namespace or
    /// mount.
    case usernsUnmapped = "userns-unmapped"
    /// The file is on a network file system or FUSE, where a server or daemon decides.
    case networkFS = "network-fs"
    /// The mode bits grant access, and a server or daemon decides.
    case serverDecides = "server-decides"
    /// The server or daemon of a mount does not answer.
    case notAnswering = "not-answering"
    /// An automount on the path is not mounted yet.
    case automount
    /// The file or folder is encrypted, and its key is not there.
    case locked
    /// The file system shows an ACL that the kernel may ignore.
    case aclNotHonoured = "acl-not-honoured"
    /// udev does not run, so the node is as the kernel created it: for root alone.
    case noUdev = "no-udev"
    /// Only the active user of the seat gets this device, and the subject is another one.
    case noSeatACL = "no-seat-acl"
    /// systemd or PAM gives groups or devices, and these differ between kinds of logins.
    case loginPolicy = "login-policy"
    /// The process is in a container that does not have the device or path.
    case container
    /// The process is in an application sandbox, such as Flatpak or Snap, that has no such device
    /// or path.
    case sandbox
    /// A setting of the systemd unit hides or protects the path (ProtectHome=, InaccessiblePaths=, …).
    case serviceSandbox = "service-sandbox"
    /// The subject is root without the capability that lets root pass.
    case rootWithoutCapability = "root-without-capability"
    /// ALSA's default device is not plainly a node of a card.
    case soundDefault = "sound-default"
    /// A server of the session, such as PipeWire, offers the device or may offer it.
    case mediaServer = "media-server"
    /// Permissions allow connect(2) to a socket, and no program listens, or none is visible.
    case noListener = "no-listener"
    /// An accessor of another program gave the reason in its message.
    case byAccessor = "by-accessor"
    /// The program of an accessor failed, did not answer in time, or gave an invalid answer.
    case accessorFailed = "accessor-failed"
    /// The mode or the ACL that a new file or folder will get refuses.
    case futureFiles = "future-files"
    /// The creator of new files may not create any in the folder.
    case cannotCreate = "cannot-create"
    /// The umask of the creator of new files decides, and is not known.
    case unknownUmask = "unknown-umask"
    /// Something in the folder is refused or unknown.
    case folderContents = "folder-contents"
    /// The file system has no room for another file, or the user is at a limit of a quota.
    case noSpace = "no-space"
    /// A program refuses the file by its own rule on owners and modes, whatever the kernel grants.
    case programRule = "program-rule"
    /// A fact that decides could not be read, so access is unknown.
    case unreadableFacts = "unreadable-facts"
  }
}

extension Reason {
  /// The advice if no change of permissions helps; nil if there is no general advice.
  public var advice: String? { ownAdvice ?? code.advice }
}

extension Reason.Code {
  /// The one whose refusal such a reason mostly is.
  var whose: Refuser? {
    switch self {
    case .ownerBits, .groupBits, .otherBits, .aclEntry, .aclMask, .notInGroup, .staleGroups,
      .notOwner, .immutable, .appendOnly, .locked, .noUdev, .noSeatACL:
      .file
    case .parentSearch, .parentWrite, .sticky, .cannotCreate, .folderContents, .futureFiles: .folder
    case .noSpace, .readOnlyMount, .readOnlySubvolume, .nodevMount, .noexecMount, .aclNotHonoured:
      .mount
    case .sandbox: .sandbox
    case .container, .foreignGroup, .usernsUnmapped, .rootWithoutCapability: .container
    case .serviceSandbox, .loginPolicy: .service
    case .landlockOrLSM: .securityModule
    case .landlockUnseen: .landlock
    case .seccomp: .seccomp
    case .deviceCgroup: .deviceCgroup
    case .driver, .noDriver: .driver
    case .networkFS, .serverDecides, .notAnswering, .mediaServer: .server
    case .busy, .noListener, .byAccessor, .accessorFailed, .programRule: .program
    case .protectedHardlink, .protectedFile: .kernelSetting
    case .notPossible, .automount, .noDevice, .noCaptureNode, .notConfigured, .danglingSymlink,
      .soundDefault, .unknownUmask,
      .unreadableFacts:
      nil
    }
  }

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
    case .noSpace: "remove files there, or raise the limit (see df -i and quota)"
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
      .serviceSandbox, .mediaServer, .byAccessor, .programRule, .protectedFile,
      .rootWithoutCapability:
      nil
    }
  }

  /// The statuses of the resources that can have such a reason.
  ///
  /// Granted access has a reason only if mode and ACL do not give it; `limited` has the reason of
  /// the missing part.
  package var statuses: Set<AuthorizationStatus> {
    switch self {
    case .ownerBits, .groupBits, .otherBits, .aclEntry, .aclMask, .notInGroup, .foreignGroup,
      .staleGroups, .rootWithoutCapability, .noUdev:
      [.denied, .restricted, .limited]
    case .parentSearch, .parentWrite, .protectedHardlink: [.denied, .restricted]
    case .sticky, .notOwner, .protectedFile: [.restricted]
    case .notPossible: [.restricted, .unavailable]
    case .readOnlyMount, .readOnlySubvolume, .noexecMount, .immutable, .appendOnly:
      [.restricted, .limited]
    case .nodevMount, .deviceCgroup, .busy, .locked, .noSpace: [.restricted]
    case .landlockOrLSM, .seccomp, .usernsUnmapped, .networkFS, .serverDecides, .aclNotHonoured:
      [.denied, .restricted, .limited, .notDetermined]
    case .driver: [.restricted, .notDetermined]
    case .futureFiles: [.denied]
    case .programRule: [.denied, .authorized]
    case .folderContents: [.limited, .notDetermined]
    case .unknownUmask, .loginPolicy, .landlockUnseen, .soundDefault: [.notDetermined]
    case .noDriver, .noDevice, .noCaptureNode, .danglingSymlink, .cannotCreate: [.unavailable]
    case .notConfigured, .noListener: [.unavailable, .notDetermined]
    case .automount, .notAnswering, .accessorFailed: [.notDetermined]
    case .noSeatACL, .container, .sandbox, .serviceSandbox:
      [.denied, .restricted, .limited, .unavailable, .notDetermined]
    case .mediaServer, .byAccessor, .unreadableFacts: Set(AuthorizationStatus.allCases)
    }
  }
}
