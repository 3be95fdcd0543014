import Foundation
import Glibc
@_spi(SystemCalls) import PermissionKit
import TestSupport
import Testing

/// What is predicted of the files that every machine has, against the running kernel.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other credentials wants root"))
struct SystemPathTests {
  /// Drivers whose open changes nothing; others may start something.
  static let devices = [
    "full", "hwrng", "kmsg", "mem", "null", "port", "random", "tty", "urandom", "zero",
  ].map { "/dev/\($0)" }

  static let subjects = [
    Credentials(uid: 0, gid: 0, groups: [0]), Credentials(uid: 65534, gid: 65534, groups: []),
    Credentials(uid: 12345, gid: 0, groups: [4, 27, 44]),
  ]

  static let questions: [(AccessQuestion, String)] = [
    (.open(.readOnly), "o0"), (.open(.writeOnly), "o1"), (.open(.readWrite), "o2"),
    (.faccessat2([], followsLink: true), "f0,512"),
    (.faccessat2(.write, followsLink: true), "f2,512"),
    (.faccessat2(.execute, followsLink: true), "f1,512"),
  ]

  /// Below a folder, in an order that the seed decides; processes but the first come and go.
  static func paths(
    below folder: String, depth: Int, _ generator: inout some RandomNumberGenerator
  ) -> [String] {
    var found: [String] = []
    var folders = [(folder, 0)]
    while let (folder, level) = folders.popLast() {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        let path = "\(folder)/\(name)"
        if folder == "/proc", Int(name) ?? 1 != 1 || name.hasSuffix("self") { continue }
        if path.hasPrefix("/proc/1/task/") || name.contains("debug") || name == "tracing" {
          continue
        }
        found.append(path)
        let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type]
        if kind as? FileAttributeType == .typeDirectory, level + 1 < depth {
          folders.append((path, level + 1))
        }
      }
    }
    return found.shuffled(using: &generator)
  }

  static func ask(_ paths: [String], _ subject: Credentials) throws -> [[Int32]] {
    let groups = subject.groups.map(String.init).joined(separator: ",")
    let ids = { (id: UInt32) in "\(id),\(id),\(id)" }
    // What this process has not it cannot give.
    let held = try LinuxSystem().credentials().effective
    let capabilities = String(subject.effective.intersection(held).rawValue, radix: 16)
    let lines = paths.map { path in
      ([
        "/", path, ids(subject.user.real), ids(subject.group.real), groups.isEmpty ? "-" : groups,
        capabilities, capabilities, "-1", "-", "-",
      ] + questions.map(\.1)).joined(separator: "\t") + "\n"
    }
    let asker = Command.products.appending(path: "kernel-asker").path
    let outcome = try Command.run([asker], input: lines.joined())
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map {
      $0.split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// The questions that are answered otherwise than predicted.
  static func wrong(_ paths: [String], told: inout Int) throws -> [String: String] {
    let facts = try FactsReader.facts(
      of: paths.map { PathBytes($0) }, LinuxSystem(), isSubject: false)
    let held = try LinuxSystem().credentials().effective
    var wrong: [String: String] = [:]
    for var subject in subjects {
      subject.effective.formIntersection(held)
      subject.permitted.formIntersection(held)
      let evaluator = AccessEvaluator(facts: facts, credentials: subject)
      let answers = try ask(paths, subject)
      for (path, answers) in zip(paths, answers) {
        for (question, answer) in zip(questions, answers) {
          let decision = evaluator.decide(question.0, path: PathBytes(path))
          // ETXTBSY: what somebody runs right now cannot be written, whatever its permissions.
          if decision.verdict == .undetermined || answer == ETXTBSY { continue }
          told += 1
          if decision.errno?.rawValue ?? 0 != answer {
            wrong[path] =
              "\(path) \(question.1) as \(subject.user.real): \(decision), the kernel \(answer)"
          }
        }
      }
    }
    return wrong
  }

  @Test func `Every prediction is the kernel's`() throws {
    var generator = SeededNumbers("system paths")
    var paths = Self.devices.filter { FileManager.default.fileExists(atPath: $0) }
    for (folder, depth) in [("/proc", 4), ("/sys", 6), ("/etc", 3), ("/run", 4), ("/var", 4)] {
      paths += Self.paths(below: folder, depth: depth, &generator).prefix(
        Effort.of(600, atLeast: 60))
    }
    paths += paths.prefix(50).map { $0 + "/" } + paths.suffix(50).map { $0 + "/.." }
    var told = 0
    var wrong = try Self.wrong(paths, told: &told)
    let all = told
    // What changed meanwhile is looked at again.
    for _ in 0..<3 where !wrong.isEmpty { wrong = try Self.wrong(wrong.keys.sorted(), told: &told) }
    print(
      "system paths: \(paths.count) paths, \(all) answers told, \(wrong.count) wrong, seed \(Effort.seed)"
    )
    #expect(wrong.isEmpty, "\(wrong.values.sorted().joined(separator: "\n"))")
    // Most of /proc decides by rules of its own; most of the rest is told.
    #expect(all * 2 > paths.count * Self.subjects.count * Self.questions.count)
  }
}
