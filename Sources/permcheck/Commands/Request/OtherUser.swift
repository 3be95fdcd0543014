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
    guard let start = starter(system) else {
      Console.report(text, system)
      throw ForegroundCommand.NotStarted(status: ExitStatus.usage.rawValue)
    }
    let sudo = system.isRoot ? "" : "sudo "
    let lines = [
      sudo + ShellCommand.line(first + identity + last),
      sudo + start + " -- " + ShellCommand.line(command),
    ]
    Console.report("\(text); for another user:", system)
    try system.writeAll(
      .standardError, Array(lines.map { "  \($0)\n" }.joined().utf8))
    throw ForegroundCommand.NotStarted(status: ExitStatus.usage.rawValue)
  }

  /// The options of `check` and `request` that name the user.
  private var identity: [PathBytes] {
    var words: [PathBytes] = users.prefix(1).flatMap { ["--user", PathBytes($0.text)] }
    for (option, value) in [("--uid", uid), ("--gid", gid), ("--groups", groups)] {
      if let value { words += [PathBytes(option), PathBytes(value.text)] }
    }
    return words
  }

  /// The start of a line that runs a command as the user: runuser(1), or setpriv(1) for numbers and where there
  /// is no runuser; nil if no user is named.
  private func starter(_ system: any System) -> String? {
    if let user = users.first?.text {
      let word = PathBytes(user)
      let isNumber = user.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      if !isNumber, system.program("runuser") != nil {
        return ShellCommand.line(["runuser", "-u", word])
      }
      return ShellCommand.line(["setpriv", "--reuid", word])
        + " --regid \"$(\(ShellCommand.line(["id", "-g", "--", word])))\" --init-groups"
    }
    guard let uid else { return nil }
    var words: [PathBytes] = ["setpriv", "--reuid", PathBytes(uid.text)]
    if let gid { words += ["--regid", PathBytes(gid.text)] }
    if let groups {
      words += ["--groups", PathBytes(groups.text)]
    } else {
      words.append("--clear-groups")
    }
    return ShellCommand.line(words)
  }
}
