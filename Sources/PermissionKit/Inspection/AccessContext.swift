/// What is judged: on whose behalf, on which system, below which root, and how the kernel is asked.
public struct AccessContext: Sendable {
  /// What facts and answers come from: the running Linux, or a stand-in in tests.
  public var system: any System
  /// On whose behalf; nil stands for the calling process, read anew at each check.
  public var subject: Subject?
  /// The folder below which /dev, /sys, /proc, /etc, /run and homes are looked for.
  public var root: PathBytes
  /// How the kernel is asked, when the subject is the calling process.
  public var probe: Probe.Method
  /// What is wanted of each resource; nil stands for what the accessor needs.
  public var need: Permissions?
  /// The one node or directory to look at; nil stands for all that the accessor finds.
  public var path: PathBytes?
  /// The kinds of devices that a node which is named by its path alone may belong to.
  public var families = DeviceFamily.builtIn
  /// Say also what a grant rests on and how long it holds, which takes more questions.
  public var wantsDetail = false

  /// Creates a context; by default this process asks about itself.
  ///
  /// - Parameters:
  ///   - system: What facts and answers come from.
  ///   - subject: On whose behalf; nil for the calling process.
  ///   - root: The folder that stands for `/`.
  ///   - probe: How the kernel is asked.
  ///   - need: What is wanted of each resource; nil for what the accessor needs.
  ///   - path: The one node or directory to look at; nil for all.
  public init(
    system: any System = Systems.running, subject: Subject? = nil, root: PathBytes = "/",
    probe: Probe.Method = .open, need: Permissions? = nil, path: PathBytes? = nil
  ) {
    self.system = system
    self.subject = subject
    self.root = root
    self.probe = probe
    self.need = need
    self.path = path
  }

  /// Returns where an absolute path of the system below `root` really is.
  public func belowRoot(_ path: PathBytes) -> PathBytes { path.below(root) }

  /// How the kernel may be asked: only on behalf of this very process.
  package var probesAsSelf: Probe.Method {
    subject == nil || subject?.source == .current ? probe : .none
  }
}
