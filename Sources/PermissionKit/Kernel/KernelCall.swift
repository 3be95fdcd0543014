/// The state of one decision, which mirrors one system call of the kernel.
struct KernelCall {
  /// The facts, with the values that every question derives from them.
  ///
  /// Shared by reference, because copying them takes more time than a decision.
  final class Input: Sendable {
    let facts: AccessFacts
    /// The inodes of `facts`, stored again because each access through `facts` would copy them.
    let inodes: [InodeFacts]
    let mounts: [MountFacts]
    /// The traits of each mount, by index of the mount.
    let traits: [MountTraits]

    init(_ facts: AccessFacts) {
      self.facts = facts
      inodes = facts.inodes
      mounts = facts.mounts
      traits = mounts.map(MountTraits.init)
    }
  }

  let basis: Input
  var path: PathBytes
  var subject: Credentials

  // The state of the walk, see KernelCall+Walk.swift.
  var current = 0
  /// The inode that stands for `/`: the root of the facts, or their `base` once the walk has reached it.
  var root = 0
  var links = 0
  var source = KernelCall.questionPath
  var offset = 0
  var suspended: [(source: Int, offset: Int)] = []
  var followsLast = true
  var wantsDirectory = false
  var lastStart = 0
  var lastEnd = 0
  var lastHasSlash = false
  var lastSource = KernelCall.questionPath
  var isRootOnly = false
  /// The owner and mode of the last component's directory, `nd->dir_vfsuid` and `nd->dir_mode`.
  var directoryOwner: UInt32?
  var directoryMode: UInt16 = 0

  /// The answers assumed where facts are open, see `assume()` in KernelCall+InodePermission.swift.
  var assumptions: UInt16 = 0
  var assumed = 0
  /// Whether ACLs are ignored, to find out whether they matter where it is unknown if the kernel
  /// uses them.
  var ignoresACLs = false

  /// The first component where the bits may grant access and a server decides.
  ///
  /// The walk goes on, because a later component may refuse without a server.
  var doubt: Decision?

  /// Whether every permission counts as granted, so that only names and links decide.
  var grantsEverything = false

  /// Whether the open of a FIFO for writing waits for a reader, as it does without O_NONBLOCK.
  var waitsForReader = false

  /// Whether to find out who could have created each name on the path, see
  /// `AccessEvaluator.place(of:)`.
  var tracksMakers = false
  /// Whether somebody other than root could have created a name, or a process has chosen where a
  /// link leads.
  var hasOtherMakers = false

  var steps: [WalkStep]?

  /// An error that ends the call with a decision.
  struct Stop: Error {
    var decision: Decision
  }

  /// The rules that depend on the file system of a mount.
  struct MountTraits: Sendable {
    let rules: FileSystemRules
    /// Whether a lookup below the mount would mount something.
    let isTrigger: Bool
    /// SB_I_NODEV: the superblock has no devices, whatever the flags of the mount are.
    let hasNoDevices: Bool
    /// Whether this is proc, which has its own rules: /proc/sys, ptrace access, hidepid.
    let isProc: Bool
    /// Whether proc is, or may be, mounted with hidepid: /proc/PID then needs ptrace access, see
    /// proc(5).
    let hidesProcesses: Bool
    /// Whether every inode has S_IMMUTABLE, which statx(2) does not show: fs/nsfs.c.
    let isImmutable: Bool
    /// Whether a write first copies the file up, with the credentials of the user who mounted it.
    let copiesUp: Bool
    /// The error of open(2) with O_CREAT and a new name, where a file system has only the files that the kernel makes.
    let creationErrno: Errno?
    let makesFolders: Bool
    /// KERNFS_ROOT_EXTRA_OPEN_PERM_CHECK, which only sysfs sets.
    let checksModeAtOpen: Bool

    init(_ mount: MountFacts) {
      rules = mount.rules
      isTrigger = mount.isTrigger
      hasNoDevices = mount.fileSystem == "proc" || mount.fileSystem == "sysfs"
      isProc = mount.fileSystem == "proc"
      hidesProcesses =
        isProc
        && (mount.superblockOptions.isEmpty
          || mount.superblockOptions.parts(by: ",").contains {
            $0.hasPrefix("hidepid=") && $0 != "hidepid=0" && $0 != "hidepid=off"
          })
      isImmutable = mount.fileSystem == "nsfs"
      copiesUp = mount.fileSystem == "overlay"
      checksModeAtOpen = mount.fileSystem == "sysfs"
      makesFolders = mount.fileSystem == "cgroup" || mount.fileSystem == "cgroup2"
      creationErrno =
        switch mount.fileSystem {
        case "sysfs", "cgroup", "cgroup2", "devpts", "debugfs", "tracefs", "binfmt_misc",
          "securityfs", "pstore", "fusectl":
          .EACCES
        // Of a name that is not there its lookup says so.
        case "proc": .ENOENT
        default: nil
        }
    }
  }

  init(_ evaluator: AccessEvaluator, _ path: PathBytes) {
    basis = evaluator.basis
    subject = evaluator.credentials
    self.path = path
  }

  var facts: AccessFacts { _read { yield basis.facts } }
  var inodes: [InodeFacts] { _read { yield basis.inodes } }
  var mounts: [MountFacts] { _read { yield basis.mounts } }
  var traits: [MountTraits] { _read { yield basis.traits } }

  mutating func run(_ question: AccessQuestion) -> Decision {
    do throws(Stop) {
      let rule: Rule
      switch question {
      case .open(let flags): rule = try open(flags, executes: false)
      case .execute: rule = try open(.readOnly, executes: true)
      case .createInside: rule = try createInside()
      case .faccessat2(let want, let followsLink):
        rule = try access(want, followsLink: followsLink)
      case .access(let want):
        subject = subject.forAccess
        rule = try access(want, followsLink: true)
      case .operation(let question): rule = try question.decide(&self)
      }
      if let doubt { return doubt }
      // Only a grant depends on the flags of the mount at the end of the path.
      if mounts[mount(current)].isUnreadable { throw undetermined(.unreadable, current) }
      return Decision(.granted, rule, step: .target, inode: current)
    } catch {
      return error.decision
    }
  }

  func refuse(
    _ errno: Errno, _ rule: Rule, _ inode: Int?, _ step: Decision.Step = .target
  ) -> Stop {
    Stop(decision: Decision(.refused(errno), rule, step: step, inode: inode))
  }

  func undetermined(_ rule: Rule, _ inode: Int?, _ step: Decision.Step = .target) -> Stop {
    Stop(decision: Decision(.undetermined, rule, step: step, inode: inode))
  }

  func mount(_ inode: Int) -> Int { inodes[inode].mount }

  func mountIsReadOnly(_ inode: Int) -> Bool { mounts[mount(inode)].isReadOnly }

  func mountHas(_ flag: MountFacts.Flags, _ inode: Int) -> Bool {
    mounts[mount(inode)].flags.contains(flag)
  }
}
