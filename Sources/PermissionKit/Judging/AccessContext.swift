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
  /// Whether a report also tells what a grant rests on and how long it lasts; costs more questions.
  public var wantsDetail = false
  /// Judges another question than that for permissions on what exists; nil for that one.
  ///
  /// A program that never asks for it does not contain it.
  package var question: OtherQuestion?
  /// Asks about everything in a folder, see `includeContents()`; nil for the folder alone.
  ///
  /// It is told whether the folder itself is refused, and returns nil for anything but a folder.
  package var examines: (@Sendable (Inspection, Ask, Bool) -> ContentsReport?)?
  /// Returns more kinds of devices, where a device may be of none of `families`; it may read files.
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

  /// Returns the path that an absolute path has below `root`.
  public func belowRoot(_ path: PathBytes) -> PathBytes { path.below(root) }

  /// How the kernel may be asked: only if the subject is this process.
  package var probesAsSelf: Probe.Method {
    subject == nil || subject?.source == .current ? probe : .none
  }
}

/// A question that is not for permissions on what exists: about files to come, or about an operation.
package struct OtherQuestion: Sendable {
  /// Reads what the facts lack, after the path of a resource was read up to an inode.
  var reads: @Sendable (inout FactsReader, Int?) -> Void
  /// Returns a report for each target.
  var reports: @Sendable (Inspection) -> [AccessReport]
}

extension AccessContext {
  /// Creates a context for somebody.
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

  /// Looks up the subject; the calling process stays open, so that each check reads it again.
  package mutating func judge(_ who: Who) throws(PermissionError) {
    subject = who == .current ? nil : try UserDatabase(system, root: root).subject(who)
  }
}
