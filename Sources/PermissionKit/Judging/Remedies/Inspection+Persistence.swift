// How long changes last, by the place of what is changed.
extension Inspection {
  /// Returns how long mode and ACL of an inode last.
  func persistence(of index: Int) -> Persistence {
    let inode = facts.inodes[index]
    let mount = facts.mounts[inode.mount]
    let lasting = Persistence(inode.kind, on: mount.fileSystem, at: mount.point)
    guard !isSaved, context.root == "/" else { return lasting }
    if lasting == .permanent, isInSnapshot(index) { return .untilSnapshotIsDeleted }
    guard lasting == .permanent || mount.fileSystem == "tmpfs", let side = ownSide(mount) else {
      return lasting
    }
    return .shortest(of: [lasting, side])
  }

  /// Returns how long the options of a mount last.
  func persistence(ofMount mount: Int) -> Persistence {
    if processWithOwnMounts != nil { return .untilProcessEnds }
    guard !isSaved, context.root == "/", let side = ownSide(facts.mounts[mount]) else {
      return .untilReboot
    }
    return .shortest(of: [.untilReboot, side])
  }

  /// Returns how long the container, sandbox or service of a mount lasts; nil for a mount of the
  /// machine.
  private func ownSide(_ mount: MountFacts) -> Persistence? {
    // What is mounted at / of a machine is the top of a file system, or a subvolume.
    guard HostSide.isOwn(mount), mount.point != "/" || HostSide.mayBeRoot(mount) else { return nil }
    for (place, _) in confinement.found {
      switch place {
      case .docker, .podman, .container, .flatpak, .snap, .bubblewrap, .firejail, .privateDevices:
        return .untilContainerEnds
      case .service: return .untilServiceRestart
      case .wsl: continue
      }
    }
    return nil
  }

  /// Whether an inode is in a snapshot of btrfs that lies within another subvolume.
  private func isInSnapshot(_ index: Int) -> Bool {
    guard let own = facts.inodes[index].subvolume else { return false }
    var (top, isWithin) = (index, false)
    for _ in facts.inodes.indices {
      let above = facts.inodes[top].parent
      if above == top { break }
      if facts.inodes[above].subvolume?.device != own.device {
        isWithin = facts.inodes[above].mount == facts.inodes[top].mount
        break
      }
      top = above
    }
    guard isWithin,
      let folder = try? system.openat(
        .currentDirectory, facts.path(of: top), [.readOnly, .directory], mode: 0)
    else { return false }
    defer { system.close(folder) }
    return (try? system.isSnapshot(folder)) == true
  }
}
