import Foundation
import Glibc

/// The kernel's own answers to a child process that has the credentials.
package enum Kernel {
  /// Whether this process may change its credentials.
  package static var canAsk: Bool { geteuid() == 0 }

  /// Whether execveat(2) knows AT_EXECVE_CHECK, as Linux 6.14 and later do.
  package static var checksExecution: Bool {
    let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    let numbers = (release ?? "").split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 14)
  }

  /// Returns the answer of open(2) of `path` with `flags` to `account`: 0, or the errno.
  package static func open(_ path: String, _ flags: Int32, as account: Account) throws -> Int32 {
    try ask(path, ["o\(flags)"], as: account)[0]
  }

  /// Returns the answer of faccessat2(2) with AT_EACCESS to `account`: 0, or the errno.
  package static func faccessat2(
    _ path: String, _ mode: Int32, as account: Account
  ) throws -> Int32 {
    try ask(path, ["f\(mode),512"], as: account)[0]
  }

  /// Asks kernel-asker, see Tests/Support/KernelAsker/main.c.
  package static func ask(
    _ path: String, _ questions: [String], as account: Account
  ) throws -> [Int32] {
    let groups =
      account.groups.isEmpty ? "-" : account.groups.map(String.init).joined(separator: ",")
    let (uid, gid) = (account.uid, account.gid)
    let fields =
      ["/", path, "\(uid),\(uid),\(uid)", "\(gid),\(gid),\(gid)", groups, "0", "0", "-1", "-", "-"]
      + questions
    let outcome = try Command.run(
      [Command.products.appending(path: "kernel-asker").path],
      input: fields.joined(separator: "\t") + "\n")
    let answers = outcome.output.split(separator: " ").compactMap {
      Int32($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    guard outcome.status == 0, answers.count == questions.count, !answers.contains(999) else {
      throw CocoaError(
        .executableLoad, userInfo: [NSLocalizedDescriptionKey: "kernel-asker: \(outcome.errors)"])
    }
    return answers
  }
}
