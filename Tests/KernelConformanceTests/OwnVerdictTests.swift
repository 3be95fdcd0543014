import Foundation
import Glibc
import TestSupport
import Testing

/// What permcheck predicts for itself against what the kernel answers it, without privileges: as an
/// ordinary user, and in user namespaces that such a user may make.
///
/// Prediction and answer stand side by side in the document of `permcheck explain`.
@Suite(.blocking) struct OwnVerdictTests {
  struct Document: Decodable {
    struct Report: Decodable {
      struct Resource: Decodable {
        struct Decision: Decodable {
          let verdict: String
          let errno: String?
          let rule: String
        }
        struct Probe: Decodable {
          let errno: String?
        }
        let path: String
        let need: String
        let decision: Decision
        let probe: Probe
      }
      let resources: [Resource]
    }
    let reports: [Report]
  }

  static let settings: [[String]] = [
    [], ["unshare", "--user", "--map-root-user"],
    ["unshare", "--user", "--map-root-user", "--mount"],
    ["unshare", "--user", "--map-root-user", "setpriv", "--bounding-set", "-dac_override"],
    ["unshare", "--user", "--map-user=1234", "--map-group=1234"],
  ]

  static let account = geteuid() == 0 ? Account(uid: 54_321, gid: 54_321, groups: [54_400]) : nil

  /// Whether this user may make user namespaces at all.
  static let mayUnshare: Bool =
    (try? Command.run(["unshare", "--user", "--map-root-user", "true"], as: account))?.status == 0

  /// Files and folders of the user's own, of all modes that matter, and of root.
  static func tree() throws -> (Tree, [String]) {
    let tree = try Tree()
    try tree.folder("mine", mode: 0o777)
    var script = "umask 0; cd '\(tree.path("mine"))'\n"
    var paths: [String] = []
    let modes = [
      0o000, 0o400, 0o200, 0o600, 0o040, 0o060, 0o004, 0o006, 0o644, 0o700, 0o100, 0o077,
    ]
    for mode in modes {
      let octal = String(mode, radix: 8)
      script += ": > f\(octal); chmod \(octal) f\(octal); mkdir d\(octal); : > d\(octal)/x\n"
      script += "ln -s '\(tree.path("mine"))/d\(octal)' l\(octal)\n"
      for (name, acl) in [("a", "u:0:rw,g::r"), ("b", "u:1234:r,m::-"), ("c", "g:0:rw,m::r")] {
        script +=
          ": > \(name)\(octal); setfacl -m \(acl) \(name)\(octal); chmod \(octal) \(name)\(octal)\n"
        paths.append(tree.path("mine/\(name)\(octal)"))
      }
      paths += [
        "f\(octal)", "d\(octal)", "d\(octal)/x", "d\(octal)/none", "l\(octal)/x", "f\(octal)/x",
      ]
      .map { tree.path("mine/\($0)") }
    }
    for mode in modes {
      let octal = String(mode, radix: 8)
      script += "chmod \(octal) d\(octal)\n"
    }
    let made = try Command.run(["sh", "-ec", script], as: account)
    try #require(made.status == 0, "\(made.errors)")
    paths += [
      "/", "/etc", "/etc/passwd", "/etc/shadow", "/root", "/root/x", "/tmp", "/dev/null", "/none",
    ]
    return (tree, paths)
  }

  static let needs = Effort.isFull ? ["r", "w", "rw", "x"] : ["rw"]

  @Test(.enabled(if: mayUnshare, "user namespaces are not allowed here"), arguments: settings)
  func `The prediction is the answer`(_ setting: [String]) throws {
    let (tree, paths) = try Self.tree()
    defer { _ = try? Command.run(["chmod", "-R", "u+rwx", tree.root], as: Self.account) }
    var asked = 0
    var open = 0
    var wrong: [String] = []
    for need in Self.needs {
      let outcome = try Command.run(
        setting + [Command.permcheck, "explain", "--json", "--need", need] + paths,
        as: Self.account)
      let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
      for resource in document.reports.flatMap(\.resources) {
        asked += 1
        let decision = resource.decision
        if decision.verdict == "undetermined" {
          open += 1
        } else if decision.errno != resource.probe.errno {
          wrong.append(
            "\(resource.path) \(resource.need): \(decision), kernel \(resource.probe.errno ?? "0")")
        }
      }
    }
    print(
      "own verdicts \(setting.dropFirst().joined(separator: " ")): \(asked) asked,"
        + " \(wrong.count) wrong, \(open) cannot be told")
    #expect(asked == Self.needs.count * paths.count)
    #expect(open < asked / 4)
    #expect(wrong.isEmpty, "\(wrong.prefix(10).joined(separator: "\n"))")
  }
}
