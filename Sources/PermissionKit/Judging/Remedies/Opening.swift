/// One thing that a change lets the subject do beyond what was asked; the worst comes first.
struct Opening: Sendable {
  /// The rank, from the worst on.
  enum Rank: Int, Sendable {
    /// The subject may become root.
    case root
    /// Secrets of everybody.
    case secrets
    /// A file by its other names.
    case links
    /// Names in a folder: to create, delete and replace files.
    case names
    /// The files below a folder.
    case below
  }

  let rank: Rank
  let path: PathBytes
  /// The words for people after `can then`, before and after the path; nil for no words after, and for no path.
  let words: (lead: String, end: String?)

  init(_ rank: Rank, _ path: PathBytes, _ lead: String, end: String? = "") {
    (self.rank, self.path, words) = (rank, path, (lead, end))
  }

  /// Returns the sentence about what changes open; nil if that is nothing.
  static func sentence(_ openings: [Opening], for subject: Subject) -> String? {
    var groups: [(words: (lead: String, end: String?), paths: [PathBytes])] = []
    var seen: [Set<PathBytes>] = []
    for one in worst(openings) {
      if let known = groups.firstIndex(where: { $0.words == one.words }) {
        if seen[known].insert(one.path).inserted { groups[known].paths.append(one.path) }
      } else {
        groups.append((one.words, [one.path]))
        seen.append([one.path])
      }
    }
    if groups.isEmpty { return nil }
    let clauses = groups.map { group in
      group.words.end.map { "\(group.words.lead) \(names(group.paths))\($0)" } ?? group.words.lead
    }
    return "\(subject.displayName) can then \(clauses.joined(separator: "; and "))"
  }

  /// Returns paths, for people: `/a, /b and 2 more`.
  static func names(_ paths: [PathBytes]) -> String {
    let shown = paths.prefix(paths.count > 3 ? 2 : 3).map(\.description)
    let rest = paths.count - shown.count
    let last = rest > 0 ? ["\(rest) more"] : []
    let all = shown + last
    return all.count == 1
      ? all[0] : "\(all.dropLast().joined(separator: ", ")) and \(all[all.count - 1])"
  }

  /// The openings without those inside of another one, the worst first.
  private static func worst(_ openings: [Opening]) -> [Opening] {
    openings.enumerated().filter { index, one in
      one.rank != .below
        || !openings.enumerated().contains { other, above in
          above.rank == .below && other != index && one.path != above.path
            && one.path.isBelow(above.path)
        }
    }
    .map(\.element).sorted { $0.rank.rawValue < $1.rank.rawValue }
  }
}

extension InodeChange {
  /// Returns what the subject can do after the change, beyond what was asked.
  ///
  /// - Parameters:
  ///   - path: The path of the inode.
  ///   - credentials: The subject; its capabilities do not count.
  /// - Returns: What nobody who reads the question expects.
  func openings(at path: PathBytes, for credentials: Credentials) -> [Opening] {
    var found: [Opening] = []
    if before.kind == .regular, before.hasOtherNames, attribute != .defaultACL {
      found.append(
        Opening(.links, path, "use the other hard links of", end: ", wherever they are"))
    }
    // A recursive request has many files.
    guard attribute != .defaultACL, before.kind != .regular || SystemPlaces.has(path) else {
      return found
    }
    let old = SubjectClasses.rights(of: credentials, on: before)
    let new = SubjectClasses.rights(of: credentials, on: after)
    let gained = new.subtracting(old)
    if gained.isEmpty { return found }
    let makesNames =
      before.kind == .directory && new.isSuperset(of: Self.names) && !old.isSuperset(of: Self.names)
    if let words = SystemPlaces.words(path, before, gained, makesNames: makesNames) {
      found.append(words)
    } else if makesNames {
      let what =
        before.mode & 0o1000 != 0 ? "create files" : "create, delete and replace every file"
      found.append(Opening(.names, path, "\(what) in"))
    }
    if before.kind == .directory, gained.contains(.execute) {
      found.append(
        Opening(.below, path, "reach what is below", end: ", as far as its own permissions allow"))
    }
    return found
  }

  private static let names: Permissions = [.write, .execute]

  /// Returns whether the subject had w on a folder, which did next to nothing without x, and has it no more.
  func losesIdleWrite(_ credentials: Credentials) -> Bool {
    attribute != .defaultACL && SubjectClasses.hasWrite(of: credentials, on: before)
      && !SubjectClasses.hasWrite(of: credentials, on: after)
  }
}

/// The places of a Linux system whose permissions are as much as root, or show secrets.
///
/// The folders are those of hier(7) and file-hierarchy(7).
private enum SystemPlaces {
  /// Whoever changes one of these files, or a name in one of these folders, is root when he wants to.
  private static let root: [PathBytes] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/etc/cron.d", "/etc/cron.daily", "/etc/cron.hourly",
    "/etc/crontab", "/etc/group", "/etc/gshadow", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
    "/etc/ld.so.preload", "/etc/pam.d", "/etc/passwd", "/etc/profile", "/etc/profile.d",
    "/etc/shadow", "/etc/ssh", "/etc/sudoers", "/etc/sudoers.d", "/etc/systemd/system",
    "/etc/udev/rules.d", "/lib", "/lib64", "/root", "/root/.ssh", "/run", "/sbin", "/usr",
    "/usr/bin",
    "/usr/lib", "/usr/lib/systemd/system", "/usr/local", "/usr/local/bin", "/usr/local/sbin",
    "/usr/sbin", "/var", "/var/lib", "/var/spool", "/var/spool/cron", "/var/spool/cron/crontabs",
  ]
  /// The folders of programs and of their configuration.
  private static let trusted: [PathBytes] = [
    "/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/root",
    "/run/systemd", "/run/udev", "/sbin", "/sys", "/usr", "/var/lib/dpkg", "/var/lib/rpm",
    "/var/lib/systemd", "/var/spool/cron",
  ]
  /// Files and folders that only root reads.
  private static let secrets: [(path: PathBytes, words: String)] = [
    ("/etc/shadow", "read the password hashes of everybody"),
    ("/etc/shadow-", "read the password hashes of everybody"),
    ("/etc/gshadow", "read the password hashes of groups"),
    ("/etc/gshadow-", "read the password hashes of groups"),
    ("/etc/ssl/private", "read the private keys of this machine"),
    ("/etc/ssh", "read the private keys of this machine"),
    ("/etc/sssd", "read the passwords of services"),
    ("/etc/NetworkManager/system-connections", "read the passwords of networks"),
    ("/root", "read the files of root"),
  ]
  /// Sockets of daemons that do for root whatever they are asked.
  private static let sockets: [PathBytes] = [
    "/run/docker.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
    "/run/podman/podman.sock", "/run/libvirt/libvirt-sock", "/run/lxd.socket",
    "/run/systemd/private", "/var/run/docker.sock", "/var/snap/lxd/common/lxd/unix.socket",
  ]

  /// Returns whether a file at the path is one of them.
  static func has(_ path: PathBytes) -> Bool {
    trusted.contains { path.isBelow($0) }
  }

  static func words(
    _ path: PathBytes, _ inode: InodeFacts, _ gained: Permissions, makesNames: Bool
  ) -> Opening? {
    func root(_ lead: String, _ end: String = ", and so become root") -> Opening {
      Opening(.root, path, lead, end: end)
    }
    func secret(_ lead: String, _ end: String? = nil) -> Opening {
      Opening(.secrets, path, lead, end: end)
    }
    func isIn(_ folder: PathBytes) -> Bool { path == folder || path.isBelow(folder) }
    let writes = inode.kind == .directory ? makesNames : gained.contains(.write)
    switch inode.kind {
    case .blockDevice:
      return writes
        ? root("change every file on the disk", ", and so become root if the system is on it")
        : secret("read every file on the disk", ", whoever owns it")
    case .characterDevice where memory.contains(path):
      return writes
        ? root("change the memory of the machine by") : secret("read the memory of every program")
    case .socket where sockets.contains(path) && writes:
      return root("have anything done by the daemon at")
    case .regular where writes && self.root.contains(path): return root("change")
    case .directory where writes && self.root.contains(path): return root("replace everything in")
    case .regular where writes && trusted.contains(where: isIn):
      return root("change", ", which root may run or read")
    case .directory where writes && trusted.contains(where: isIn):
      return root("replace everything in", ", which root may run or read")
    case .regular, .directory:
      guard gained.contains(.read), inode.mode & 0o004 == 0 else { return nil }
      return secrets.first { isIn($0.path) }.map { secret($0.words) }
    default: return nil
    }
  }

  private static let memory: [PathBytes] = ["/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"]
}
