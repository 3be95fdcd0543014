/// What an accessor is asked about, and by which means.
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
  /// How missing access is asked for.
  public var grants = GrantOptions()
  /// Say also what a grant rests on and how long it holds, which takes more questions.
  public var wantsDetail = false
  /// The facts come from elsewhere: nothing about this machine may be asked.
  var isOffline = false

  /// Makes one of its parts; by default this process asks about itself.
  public init(
    system: any System = LinuxSystem(), subject: Subject? = nil, root: PathBytes = "/",
    probe: Probe.Method = .open, need: Permissions? = nil, path: PathBytes? = nil
  ) {
    self.system = system
    self.subject = subject
    self.root = root
    self.probe = probe
    self.need = need
    self.path = path
  }

  /// Where an absolute path of the system below `root` really is.
  public func belowRoot(_ path: PathBytes) -> PathBytes {
    guard root != "/", path.isAbsolute else { return path }
    return root.appending(PathBytes(Array(path.bytes.drop { $0 == UInt8(ascii: "/") })))
  }

  /// Whether the kernel may be asked: only on behalf of this very process.
  var probesAsSelf: Probe.Method {
    subject == nil || subject?.source == .current ? probe : .none
  }
}
