@_spi(SystemCalls) import PermissionKit

/// The user whom root runs a command as.
struct OtherUser {
  /// The user.
  let subject: Subject
  /// The variables of this process that the command gets in addition to those of a session.
  let kept: [String]

  /// The variables for the terminal and the language.
  private static let ofSession = ["TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ"]
  /// The categories of locale(7).
  private static let ofLocale = [
    "ALL", "ADDRESS", "COLLATE", "CTYPE", "IDENTIFICATION", "MEASUREMENT", "MESSAGES", "MONETARY",
    "NAME",
    "NUMERIC", "PAPER", "TELEPHONE", "TIME",
  ]

  /// Returns the command line with setpriv(1), which takes on the ids of the user.
  ///
  /// No data of this process is in the memory that has these ids before the command starts.
  ///
  /// - Parameters:
  ///   - words: The command as it was given.
  ///   - holdsGrants: Whether grants end with this process, also if it is killed.
  ///   - system: The system.
  /// - Returns: The command.
  /// - Throws: The errno of a look into the data base of users.
  func command(
    _ words: [PathBytes], holdsGrants: Bool, _ system: LinuxSystem
  ) throws(Errno) -> SessionCommand {
    let ids = subject.credentials
    let groups =
      ids.groups.isEmpty
      ? ["--clear-groups"] : ["--groups", ids.groups.map(String.init).joined(separator: ",")]
    let start: [PathBytes] =
      [system.program("setpriv")]
      + (["--reuid", "\(ids.user.real)", "--regid", "\(ids.group.real)"] + groups
      + ["--inh-caps=-all", "--ambient-caps=-all", "--"]).map { PathBytes($0) }
    let directory = (try? system.getcwd()) ?? ""
    let place = directory.isEmpty ? "a folder that is gone" : directory.description
    return SessionCommand(
      arguments: start + words, environment: try environment(system), directory: directory,
      notice:
        "permcheck: \(subject.displayName) may not enter \(Sanitizer.clean(place)), so the command starts in /\n",
      credentials: ids,
      afterwards: holdsGrants ? ["/proc/self/exe", "revoke", "--expired", "--quiet"] : [])
  }

  /// The environment of a session, see environ(7), login(1) and `ENV_PATH` of login.defs(5).
  private func environment(_ system: LinuxSystem) throws(Errno) -> [PathBytes] {
    let uid = subject.credentials.user.real
    var variables: [String: PathBytes] = [:]
    for name in Self.ofSession + Self.ofLocale.map({ "LC_\($0)" }) + kept {
      variables[name] = system.getenv(name)
    }
    if !kept.contains("PATH") { variables["PATH"] = path(system) }
    if !kept.contains("HOME") { variables["HOME"] = subject.home ?? "/" }
    let shell = (try system.shell(ofUser: uid)) ?? ""
    if !kept.contains("SHELL") { variables["SHELL"] = shell.isEmpty ? "/bin/sh" : shell }
    for name in ["USER", "LOGNAME"] where !kept.contains(name) {
      variables[name] = PathBytes(subject.name ?? String(uid))
    }
    return variables.sorted { $0.key < $1.key }
      .map { PathBytes(Array("\($0.key)=".utf8) + $0.value.bytes) }
  }

  private func path(_ system: LinuxSystem) -> PathBytes {
    let isRoot = subject.credentials.user.real == 0
    let name = isRoot ? "ENV_SUPATH" : "ENV_PATH"
    let lines = (try? system.contents(of: "/etc/login.defs")) ?? []
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      guard words.count == 2, words[0].elementsEqual(name.utf8) else { continue }
      let prefix = Array("PATH=".utf8)
      return PathBytes(Array(words[1].starts(with: prefix) ? words[1].dropFirst(5) : words[1]))
    }
    return isRoot
      ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
      : "/usr/local/bin:/usr/bin:/bin"
  }
}
