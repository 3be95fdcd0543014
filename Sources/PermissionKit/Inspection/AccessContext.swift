/// How a program reaches microphones.
public enum AudioRoute: String, Hashable, Sendable, CaseIterable {
  /// By the device nodes of ALSA.
  case alsa
  /// Through the sound server of the session: PipeWire or PulseAudio.
  case server
  /// By whichever of both works.
  case any
}

/// The input of a check: subject, system, root directory, and the way to ask the kernel.
public struct AccessContext: Sendable {
  /// The system that facts and answers come from: the running Linux, or a fake in tests.
  public var system: any System
  /// The subject; nil stands for the calling process, which each check reads again.
  public var subject: Subject?
  /// The folder that contains /dev, /sys, /proc, /etc, /run and the home directories.
  public var root: PathBytes
  /// How the kernel is asked, if the subject is the calling process.
  public var probe: Probe.Method
  /// The permissions to check on each resource; nil stands for the accessor's own needs.
  public var need: Permissions?
  /// The only node or directory to check; nil stands for all that the accessor finds.
  public var path: PathBytes?
  /// The way to microphones that the status is about.
  public var through = AudioRoute.alsa
  /// The kinds of devices that a node, given only by its path, can belong to.
  public var families = DeviceFamily.builtIn
  /// Whether a report also has the rule that grants access and how long it lasts (more system calls).
  public var wantsDetail = false
  /// The question about each resource.
  package var question = Question.permissions
  /// The files in a folder that a check of it is about as well.
  package var contents = Contents.none
  /// Returns more kinds of devices, for a device that belongs to none of `families`; it may read
  /// files.
  package var otherFamilies: (@Sendable () -> [DeviceFamily])?

  /// Creates a context; by default this process checks itself.
  ///
  /// - Parameters:
  ///   - system: The system that facts and answers come from.
  ///   - subject: The subject; nil for the calling process.
  ///   - root: The folder that stands for `/`.
  ///   - probe: How the kernel is asked.
  ///   - need: The permissions to check on each resource; nil for the accessor's own needs.
  ///   - path: The only node or directory to check; nil for all.
  public init(
    system: any System = Systems.running, subject: Subject? = nil, root: PathBytes = "/",
    probe: Probe.Method = .automatic, need: Permissions? = nil, path: PathBytes? = nil
  ) {
    self.system = system
    self.subject = subject
    self.root = root
    self.probe = probe
    self.need = need
    self.path = path
  }

  /// Makes checks with this context also check everything in a folder, for the permissions that a
  /// recursive request would give; a refusal there makes the folder `limited`.
  ///
  /// Links, special files and other file systems in the folder do not count.
  public mutating func includeContents() { contents = .all }

  /// Returns the path that an absolute path has below `root`.
  public func belowRoot(_ path: PathBytes) -> PathBytes { path.below(root) }

  /// The way to ask the kernel, which is possible only if the subject is this process.
  package var probesAsSelf: Probe.Method {
    subject == nil || subject?.source == .current ? probe : .none
  }
}

extension AccessContext {
  /// Creates a context for a subject.
  ///
  /// - Parameters:
  ///   - who: Whose access is judged.
  ///   - path: The only node or directory to check; nil for all.
  ///   - system: The system that facts and answers come from.
  /// - Throws: If there is no such user or process, or several users are meant.
  public init(
    for who: Who, path: String? = nil, system: any System = Systems.running
  ) throws(PermissionError) {
    self.init(system: system, path: path.map { PathBytes($0) })
    try judge(who)
  }

  /// Looks up the subject; if it is the calling process, each check reads it again.
  package mutating func judge(_ who: Who) throws(PermissionError) {
    subject = who == .current ? nil : try UserDatabase(system, root: root).subject(who)
  }
}

extension AccessContext {
  /// The files in a folder that a check of it is about as well.
  package enum Contents: Sendable {
    /// No files: the folder alone.
    case none
    /// Every file in it, which is walked.
    case all
    /// Every file in it, of which this is known.
    case known(ContentsReport)
  }
}
