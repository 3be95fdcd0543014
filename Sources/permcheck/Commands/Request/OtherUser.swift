import ArgumentParser
@_spi(SystemCalls) import PermissionKit

/// The options of `run` of earlier versions that started the command as another user.
///
/// They are refused, so that no old script runs its command as root instead.
struct OtherUser: ParsableArguments {
  @Option(name: .customLong("user"))
  var users: [TextArgument] = []

  @Option var uid: TextArgument?
  @Option var gid: TextArgument?
  @Option var groups: TextArgument?
  @Option var env: [TextArgument] = []

  private var isGiven: Bool {
    !users.isEmpty || !env.isEmpty || [uid, gid, groups].contains { $0 != nil }
  }

  /// Throws an error if one of the options is given, after the lines to type on standard error.
  ///
  /// - Parameters:
  ///   - first: The command that checks or requests access, without options for the user.
  ///   - last: The options of that command after those for the user.
  ///   - command: The command to run.
  ///   - system: The system.
  /// - Throws: The status 64.
  func refuse(
    _ first: [PathBytes], _ last: [PathBytes], _ command: [PathBytes], _ system: any System
  ) throws {
    guard isGiven else { return }
    let text = "run starts the command as who calls it, and nobody else"
    var lines: [String] = []
    if let identity, !first.isEmpty {
      let way = system.rootWay
      lines = [way.line(first + identity + last), start(way, command, system)].compactMap { $0 }
    }
    Console.report(text + (lines.count == 2 ? "; for another user:" : ""), system)
    if lines.count == 2 {
      try system.writeAll(.standardError, Array(lines.map { "  \($0)\n" }.joined().utf8))
    }
    throw ForegroundCommand.NotStarted(status: ExitStatus.usage.rawValue)
  }

  /// The options of `check` and `request` that name the user; nil if they do not name one.
  private var identity: [PathBytes]? {
    let ids = [("--uid", uid), ("--gid", gid), ("--groups", groups)]
    if users.count == 1, ids.allSatisfy({ $1 == nil }) {
      return ["--user=" + users[0].text].map { PathBytes($0) }
    }
    guard users.isEmpty, uid != nil, gid != nil else { return nil }
    return ids.compactMap { option, value in value.map { PathBytes("\(option)=\($0.text)") } }
  }

  /// The line that runs a command as the user: by runuser(1), or by setpriv(1) for numbers and where there is no
  /// runuser; nil if there is neither.
  private func start(
    _ way: RootWay, _ command: [PathBytes], _ system: any System
  ) -> String? {
    guard let user = users.first?.text else {
      guard let uid, let gid, system.program("setpriv") != nil else { return nil }
      let more = groups.map { "--groups=\($0.text)" } ?? "--clear-groups"
      let words = ["setpriv", "--reuid=\(uid.text)", "--regid=\(gid.text)", more, "--"]
      return way.line(words.map { PathBytes($0) } + command)
    }
    let isNumber = user.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if !isNumber, system.program("runuser") != nil {
      return way.line(["runuser", PathBytes("--user=\(user)"), "--"] + command)
    }
    guard system.program("setpriv") != nil else { return nil }
    let words = ["setpriv", "--reuid=\(user)", "--regid", "--init-groups", "--"]
    let line = way.line(words.map { PathBytes($0) } + command)
    // The group is what id(1) says of the user; no other word before the command is this one.
    let group = ShellCommand.line(["id", "-g", "--", PathBytes(user)])
    return line.replacingFirst(" --regid ", by: " --regid \"$(\(group))\" ")
  }
}

extension String {
  /// Returns the text with another one in the place of the first occurrence of a text.
  fileprivate func replacingFirst(_ text: String, by other: String) -> String {
    let (all, wanted) = (Array(utf8), Array(text.utf8))
    guard let start = all.indices.first(where: { all[$0...].starts(with: wanted) }) else {
      return self
    }
    return String(
      decoding: all[..<start] + other.utf8 + all[(start + wanted.count)...], as: UTF8.self)
  }
}
