import Foundation
import Glibc
@_spi(SystemCalls) import PermissionKit
import PermissionKitPlugins
import TestSupport
import Testing

/// Programs as accessors, well and ill-behaved.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "whose programs root runs wants root"))
struct ExecutableAccessorTests {
  private static let good = #"{"version":1,"status":"authorized","message":"yes"}"#

  /// A folder where root alone can write, unlike below /tmp.
  private final class Place {
    let root = "/run/permissionkit-accessors-\(UUID().uuidString)"
    init() { mkdir(root, 0o755) }
    deinit { try? FileManager.default.removeItem(atPath: root) }
    func write(_ body: String) throws -> PathBytes {
      let path = root + "/permcheck-accessor-thing"
      try Command.write(program: "#!/bin/sh\n\(body)\n", to: path)
      return PathBytes(path)
    }
  }

  /// Returns a program that root may run: it and its folders belong to root.
  private func program(_ body: String) throws -> (Place, PathBytes) {
    let place = Place()
    return (place, try place.write(body))
  }

  private func runProgram(
    _ body: String, timeout: Int32 = 5_000, mayGain: Bool = false
  ) throws -> ProgramOutput {
    let (tree, path) = try program(body)
    defer { withExtendedLifetime(tree) {} }
    return try LinuxSystem().runProgram(
      [path], environment: ["PATH=/usr/bin:/bin"], input: Array("question\n".utf8),
      timeout: timeout, size: 1 << 16, mayGainPrivileges: mayGain)
  }

  @Test func `A program reads and answers`() throws {
    let output = try runProgram(
      "read line; echo \"<$line>\"; env | sort; ls /proc/self/fd | wc -l")
    let lines = String(decoding: output.output, as: UTF8.self).split(separator: "\n")
    #expect(output.end == .ended(.exited(0)))
    #expect(lines.first == "<question>")
    #expect(lines.contains("PATH=/usr/bin:/bin") && !lines.contains { $0.hasPrefix("HOME") })
    // 0, 1, 2 and the folder itself.
    #expect(lines.last == "4", "\(lines)")
  }

  @Test func `Every program ends in time`() throws {
    #expect(try runProgram("kill -9 $$").end == .ended(.signalled(9)))
    #expect(try runProgram("exit 3").end == .ended(.exited(3)))
    #expect(try runProgram("sleep 600", timeout: 300).end == .late)
    #expect(try runProgram("exec >&-; sleep 600", timeout: 300).end == .late)
    #expect(try runProgram("trap '' TERM HUP INT; while :; do :; done", timeout: 300).end == .late)
    #expect(try runProgram("head -c 1000000 /dev/zero").end == .long)
    #expect(try runProgram("yes").end == .long)
    #expect(try runProgram("exec 0<&-; echo answer").output == Array("answer\n".utf8))
    // It cannot join the group of this process, which is of another session.
    let join = "exec python3 -c 'import os, time; os.setpgid(0, \(getpgrp())); time.sleep(600)'"
    #expect(try runProgram(join, timeout: 5_000).end == .ended(.exited(1)))
    // It leaves a process behind that keeps the pipe open, and another one that is a zombie.
    let left = try runProgram("sleep 600 & echo answer")
    #expect(left.end == .ended(.exited(0)) && left.output == Array("answer\n".utf8))
    #expect(try runProgram("(exit 1) & sleep 0.1; echo answer").end == .ended(.exited(0)))
  }

  @Test func `A program that leaves its group and session ends with its time`() throws {
    let tree = try Tree()
    let escape =
      "exec python3 -c 'import os, time; os.setsid(); open(\"\(tree.path("pid"))\", \"w\").write(str(os.getpid())); time.sleep(600)'"
    #expect(try runProgram(escape, timeout: 1_500).end == .late)
    let pid = try #require(
      Int32(String(contentsOfFile: tree.path("pid").description, encoding: .utf8)))
    for _ in 0..<100 where kill(pid, 0) == 0 { usleep(20_000) }
    #expect(kill(pid, 0) == -1 && errno == ESRCH)
  }

  /// Nothing of the group goes on.
  @Test func `The children of a program end with it`() throws {
    let tree = try Tree()
    _ = try runProgram(
      "(sleep 1; touch \(tree.path("late"))) & (sleep 1; touch \(tree.path("late"))) & sleep 600",
      timeout: 300)
    usleep(1_500_000)
    #expect(!FileManager.default.fileExists(atPath: tree.path("late")))
  }

  @Test func `A program that cannot be started is reported`() throws {
    let (place, path) = try program("")
    func errno(_ path: PathBytes) -> Errno? {
      do throws(Errno) {
        _ = try LinuxSystem().runProgram(
          [path], environment: ["A=b"], input: [], timeout: 5_000, size: 1, mayGainPrivileges: false
        )
        return nil
      } catch {
        return error
      }
    }
    #expect(errno(path) == nil)
    #expect(errno(PathBytes(place.root + "/nothing")) == .ENOENT)
    chmod("\(path)", 0o644)
    #expect(errno(path) == .EACCES)
    try Command.write(program: "no program", to: place.root + "/text")
    #expect(errno(PathBytes(place.root + "/text"))?.rawValue == ENOEXEC)
  }

  @Test func `Only a request may gain privileges`() throws {
    let flag = "grep NoNewPrivs /proc/self/status"
    #expect(try runProgram(flag).output == Array("NoNewPrivs:\t1\n".utf8))
    #expect(try runProgram(flag, mayGain: true).output == Array("NoNewPrivs:\t0\n".utf8))
  }

  /// The kernel ends a program with the thread that started it, so no answer may be cut by a thread
  /// that ends early.
  @Test func `The threads of a batch live as long as their programs`() throws {
    let (place, path) = try program("sleep 0.$(($$ % 4)); echo '\(Self.good)'")
    var batch = AccessBatch(.concurrent)
    for _ in 0..<12 {
      batch.add {
        ExecutableAccessor(
          name: "thing", program: path, AccessContext(), analytics: .inMemory)
      }
    }
    let result = try batch.check()
    withExtendedLifetime(place) {}
    #expect(result.reports.map(\.status) == Array(repeating: .authorized, count: 12))
  }

  private func report(_ path: PathBytes) -> AccessReport {
    ExecutableAccessor(
      name: "thing", program: path, AccessContext(), analytics: .inMemory
    ).checkAccess()
  }

  @Test func `An answer is a report`() throws {
    let (place, path) = try program("echo '\(Self.good)'")
    let report = report(path)
    #expect(report.status == .authorized && report.mainReason?.message == "yes")
    #expect(report.mainReason?.code == .byAccessor)
    _ = try place.write("echo nonsense")
    let failed = self.report(path)
    #expect(failed.status == .notDetermined && failed.mainReason?.code == .accessorFailed)
  }

  /// Root runs no program that another user could have written.
  @Test func `Root runs only what root owns`() throws {
    let (tree, path) = try program("echo '\(Self.good)'; touch \"$0.ran\"")
    func ran() -> Bool { FileManager.default.fileExists(atPath: "\(path).ran") }
    for spoil in [
      { chown("\(path)", 61000, 0) }, { chmod("\(path)", 0o775) }, { chmod(tree.root, 0o777) },
      { chmod(tree.root, 0o1777) }, { chown(tree.root, 61000, 0) },
    ] {
      #expect(spoil() == 0)
      let report = report(path)
      #expect(report.status == .notDetermined && !ran(), "\(report)")
      #expect(report.mainReason?.message.contains("is not run") == true)
      chown(tree.root, 0, 0)
      chmod(tree.root, 0o755)
      chown("\(path)", 0, 0)
      chmod("\(path)", 0o755)
    }
  }

  @Test func `Names are narrow`() {
    for name in ["a", "vpn", "low-ports", "x2"] { #expect(ExecutableSearch.isName(name)) }
    for name in [
      "", "-a", "A", "a/b", "../a", "a b", "ä", "a.b", String(repeating: "a", count: 33),
    ] {
      #expect(!ExecutableSearch.isName(name))
    }
  }
}
