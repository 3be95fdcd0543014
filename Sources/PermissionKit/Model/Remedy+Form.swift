extension Remedy {
  /// The kinds of remedies; each is a row of Documentation/remedies.md, which names the test that
  /// carries it out.
  package enum Form: String, CaseIterable, Sendable {
    /// Entries of an ACL.
    case entry
    /// Bits of a mode.
    case mode
    /// The owning group of an inode without ACLs.
    case owningGroup = "owning-group"
    /// The owner or the mode that a program wants.
    case programMode = "program-mode"
    /// The umask of one shell.
    case umask
    /// A group for one shell.
    case newGroup = "new-group"
    /// A service that starts again, with the groups of its user.
    case restart
    /// Lines for the unit of a service.
    case unitSettings = "unit-settings"
    /// A device for the device policy of a unit.
    case unitDevice = "unit-device"
    /// Options of a mount that stores no owners.
    case mountOptions = "mount-options"
    /// Options of a mount, changed while it is mounted.
    case remount
    /// An attribute of an inode.
    case attribute
    /// A subvolume of btrfs that is read-only.
    case subvolume
    /// An option by which FUSE mounts admit other users.
    case allowOther = "allow-other"
    /// The driver of the hardware.
    case driver
    /// A driver that needs no hardware.
    case testDriver = "test-driver"
    /// The start of udev.
    case udev
    /// A rule that gives a device to the active user of its seat.
    case seatRule = "seat-rule"
    /// A folder that the settings of a user name.
    case userFolder = "user-folder"
    /// A capability for root in a container.
    case capability
    /// A device or folder for a container.
    case containerPath = "container-path"
    /// A group for a container.
    case containerGroup = "container-group"
    /// Entries of an ACL on the machine that runs a container.
    case hostEntry = "host-entry"
    /// The groups of the user who starts a container.
    case keepGroups = "keep-groups"
    /// A group for a pod.
    case podGroup = "pod-group"
    /// A permission of a Flatpak.
    case flatpak
    /// A plug of a snap that is to be connected.
    case snapPlug = "snap-plug"
    /// A plug that a snap is to declare.
    case snapDeclaration = "snap-declaration"
    /// A node or folder for a bubblewrap sandbox.
    case bubblewrap
    /// A node or folder for a firejail sandbox.
    case firejail
    /// A node or folder for a container of systemd-nspawn.
    case nspawn
    /// Lines for the configuration of a container of LXC.
    case lxc
    /// A USB device for WSL.
    case wslDevice = "wsl-device"
    /// A line of an AppArmor profile.
    case profile
    /// A boolean of SELinux's policy.
    case policyBoolean = "policy-boolean"

    /// The object of the change.
    var kind: Kind {
      switch self {
      case .entry: .acl
      case .mode: .mode
      case .umask, .newGroup: .login
      case .restart, .unitSettings, .unitDevice, .udev: .service
      case .mountOptions, .remount, .allowOther: .mount
      case .attribute, .owningGroup, .programMode, .seatRule, .subvolume, .userFolder: .file
      case .driver, .testDriver, .wslDevice: .driver
      case .nspawn, .lxc, .capability, .containerPath, .containerGroup, .hostEntry, .keepGroups,
        .podGroup:
        .container
      case .flatpak, .snapPlug, .snapDeclaration, .bubblewrap, .firejail, .profile, .policyBoolean:
        .sandbox
      }
    }

    /// Whether no test has carried it out.
    var isSuggestion: Bool {
      switch self {
      case .allowOther, .capability, .driver, .lxc, .podGroup, .policyBoolean, .profile,
        .snapDeclaration, .snapPlug, .testDriver, .userFolder, .wslDevice:
        true
      default: false
      }
    }
  }

  /// Whether it is printed as a suggestion, because no test has carried it out.
  package var isSuggestion: Bool { form.isSuggestion }

  /// Whether it is one of several steps that must all be made.
  package var isStep: Bool {
    isGrant || isFirstStep || [.programMode, .unitDevice, .unitSettings].contains(form)
  }

  /// Whether it is for the machine that runs a container, or for the user who starts it: nothing
  /// inside changes.
  package var isOutside: Bool { kind == .container }

  /// Whether it comes before a change of permissions, because it outlives that change or makes it
  /// unnecessary.
  package var comesFirst: Bool { isOutside || form == .udev }

  /// Whether it is a command for the machine that runs the container.
  package var isOnHost: Bool { form == .hostEntry }
}

extension ResourceReport {
  /// The changes of which a request makes the like; empty where something that is no change of permissions comes first.
  package var grants: [Remedy] {
    remedies.contains { $0.isFirstStep && $0.form != .owningGroup }
      ? [] : remedies.filter(\.isGrant)
  }
}
