import ArgumentParser
import PermissionKit

/// The verb of a command in the help of `--user`.
protocol WhoVerb {
  /// `Judge for`, before "this user".
  static var words: String { get }
}

enum Judging: WhoVerb { static let words = "Check for" }
enum Granting: WhoVerb { static let words = "Grant to" }

/// The options of a command that judges.
typealias WhoOptions = WhoArguments<Judging>

/// The options that choose the subject and the permissions.
struct WhoArguments<Verb: WhoVerb>: ParsableArguments {
  @Option(
    name: .customLong("user"),
    help: ArgumentHelp(
      "\(Verb.words) this user, as after a new login.", valueName: "name|uid"),
    completion: .users)
  var userNames: [TextArgument] = []

  /// The first user; nil without the option.
  var user: TextArgument? { userNames.first }

  @Option(
    help: "\(Verb.words) this uid, with --gid and --groups; the user need not exist.",
    completion: .userNumbers)
  var uid: UInt32?

  @Option(help: "The primary group that goes with --uid.", completion: .groupNumbers)
  var gid: UInt32?

  @Option(
    help: "The supplementary groups that go with --uid, separated by commas.",
    completion: .groupNumbers)
  var groups: String?

  @Option(
    help: ArgumentHelp(
      "The access to check: r, w, rw, rx, …; by default what the accessor or path needs; r for audit.",
      valueName: "rwx"),
    completion: .permissions)
  var need: TextArgument?

  func validate() throws {
    if uid != nil, gid == nil { throw ValidationError("--uid requires --gid") }
    if uid == nil, gid != nil || groups != nil {
      throw ValidationError("--gid and --groups require --uid")
    }
    if let need, wanted == nil {
      throw ValidationError("--need \(need.text): expected a combination of r, w and x")
    }
    if [uid, gid].contains(UInt32.max) {
      // For setuid(2) and similar calls, -1 means "no change".
      throw ValidationError("4294967295 is not a valid id of a process")
    }
    if groups != nil, supplementary == nil {
      throw ValidationError(
        "--groups \(Sanitizer.clean(groups ?? "")): expected group numbers separated by commas; getent group shows them"
      )
    }
  }

  /// Throws an error if the options and `--pid` name more than one subject.
  func requireOne(_ pid: Int32?) throws {
    if [user != nil, uid != nil, pid != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--user, --uid and --pid cannot be combined")
    }
  }

  /// Returns the subjects: this process unless the options and `--pid` name others.
  func chosen(_ pid: Int32? = nil) -> [Who] {
    if let pid { return [.process(pid)] }
    if !userNames.isEmpty { return userNames.map { .user($0.text) } }
    guard let uid, let gid else { return [.current] }
    return [.ids(uid: uid, gid: gid, groups: supplementary ?? [])]
  }

  /// Returns what these options and `view` choose.
  func choice(_ view: ViewOptions) -> SubjectChoice {
    SubjectChoice(
      who: chosen(view.pid), need: wanted, probe: view.probe,
      through: view.through, root: view.root)
  }

  /// The permissions of `--need`; nil without the option.
  var wanted: Permissions? {
    need.flatMap { Permissions($0.text) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The groups of `--groups`; nil if they are malformed.
  var supplementary: [UInt32]? {
    let parts = (groups ?? "").parts(by: ",", omittingEmptySubsequences: false)
    if parts == [""] { return [] }
    let numbers = parts.compactMap { UInt32($0) }.filter { $0 != .max }
    return numbers.count == parts.count ? numbers : nil
  }
}

/// The options that choose the root directory and the probe; a request refuses most of them.
struct ViewOptions: ParsableArguments {
  @Option(
    help: "Check for this running process, by its credentials, root directory and mounts.",
    completion: .processes)
  var pid: Int32?

  @Option(
    help:
      "How to ask the kernel: auto (open, but access for devices that an open may disturb), open, access, none, or write, which also creates and removes a file in a folder; for --pid and root: enter, a child that takes on the process's cgroup, namespaces and ids, but not its seccomp filter, Landlock rules and security label."
  )
  var probe: Probe.Method = .automatic

  @Option(
    name: [.customLong("through"), .customLong("route")],
    help: ArgumentHelp(
      "How the program records sound: alsa (device nodes), server (PipeWire, PulseAudio), or any: one of the two is enough.",
      valueName: "route"))
  var through: AudioRoute = .alsa

  @Option(
    help: ArgumentHelp(
      "Read /dev, /sys, /proc, /etc and /run below this folder.", valueName: "dir"),
    completion: .directory)
  var root: PathBytes = "/"

  func validate() throws {
    if probe == .enter, pid == nil { throw ValidationError("--probe enter requires --pid") }
    if through != .alsa, root != "/" {
      throw ValidationError("--through works only on this system, not with --root")
    }
  }
}
