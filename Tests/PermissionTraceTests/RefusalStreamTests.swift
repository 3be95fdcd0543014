import Foundation
@_spi(SystemCalls) import PermissionKit
import PermissionTrace
import TestSupport
import Testing

/// Refusals of real programs, as the kernel gave them.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "BPF wants root"))
struct RefusalStreamTests {
  /// How refusals are seen, and from when on.
  enum Way: CaseIterable {
    case bpf
    /// By ptrace, from the first call on.
    case started
    /// By ptrace, when it runs already.
    case attached
  }

  /// Follows a script of an ordinary user in an empty folder; returns `errno operation path [second path]` lines.
  private func refusals(_ script: String, _ way: Way = .bpf) throws -> [String] {
    let tree = try Tree()
    try tree.folder("place", mode: 0o777)
    let stream = try RefusalStream(by: way == .bpf ? .bpf : .ptrace)
    func words(_ begin: String) -> [String] {
      [
        "setpriv", "--reuid", "54321", "--regid", "54321", "--groups", "54322,54323",
        "--inh-caps=-all", "sh", "-c",
        "\(begin)cd \(tree.path("place")) || exit 9; PATH=/usr/bin:/bin\n\(script)",
      ]
    }
    if way == .started {
      let system = LinuxSystem()
      let place = ["env", "-C", "/", "PWD=/", "PATH=/usr/bin:/bin"]
      let command = (place + words("exec >/dev/null 2>&1; ")).map {
        PathBytes($0)
      }
      let pid = try stream.starting(getpid()) { preparation in
        Result {
          try system.spawn(command, output: .standardOutput, blocking: 0, after: preparation)
        }
      }.get()
      _ = try system.waitpid(pid, waits: true)
    } else {
      // The shell waits until it is followed.
      let command = try LiveCommand(words("echo ready; read go; "), input: "")
      #expect(command.line() == "ready")
      try stream.follow(command.pid)
      try stream.begin()
      _ = try command.finish(within: 600)
    }
    var lines: [String] = []
    try stream.read { refusal in
      // What setpriv(1) itself asks for.
      if way == .started, refusal.credentials.user.fileSystem != 54321 { return }
      #expect(refusal.credentials.user.fileSystem == 54321)
      #expect(refusal.credentials.groups == [54322, 54323] && refusal.groupsAreComplete)
      #expect(refusal.credentials.effective.isEmpty)
      let paths = [refusal.path, refusal.secondPath].compactMap { $0?.description }
      let line = ([refusal.errno.description, refusal.operation ?? "?"] + paths).joined(
        separator: " ")
      lines.append(line.replacingOccurrences(of: tree.path("place"), with: "PLACE"))
    }
    #expect(stream.lost == 0)
    return lines
  }

  @Test(arguments: Way.allCases)
  func `Files are named as the kernel finds them`(_ way: Way) throws {
    let lines = try refusals(
      """
      cat /etc/shadow; cd /etc; cat shadow ssl/../shadow; cd /proc/1; cat environ
      """, way)
    #expect(
      lines == [
        "EACCES openat /etc/shadow", "EACCES openat /etc/shadow",
        "EACCES openat /etc/ssl/../shadow",
        "EACCES openat /proc/1/environ",
      ])
  }

  @Test(arguments: Way.allCases)
  func `Calls with two paths name both`(_ way: Way) throws {
    let lines = try refusals(
      "touch a; mv a /etc/b; ln a /etc/c; ln -s a /etc/d; mkdir /etc/e; rm /etc/passwd", way)
    #expect(
      lines.contains { $0.hasPrefix("EACCES rename") && $0.hasSuffix(" PLACE/a /etc/b") },
      "\(lines)")
    #expect(lines.contains("EACCES linkat PLACE/a /etc/c"), "\(lines)")
    #expect(lines.contains("EACCES symlinkat /etc/d"), "\(lines)")
    #expect(lines.contains { $0.hasPrefix("EACCES mkdir") && $0.hasSuffix("/etc/e") }, "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("EACCES unlink") && $0.hasSuffix("/etc/passwd") }, "\(lines)")
  }

  @Test(arguments: Way.allCases)
  func `Only names in dev count where nothing is`(_ way: Way) throws {
    let lines = try refusals(
      "cat /nowhere /dev/nowhere; cat <>/dev/nowhere2; cd /dev; cat nowhere3; cat pts/../nowhere4",
      way)
    #expect(
      lines == [
        "ENOENT openat /dev/nowhere", "EACCES openat /dev/nowhere2", "ENOENT openat /dev/nowhere3",
        "ENOENT openat /dev/pts/../nowhere4",
      ], "\(lines)")
  }

  @Test(arguments: Way.allCases)
  func `Calls without a path are seen`(_ way: Way) throws {
    let lines = try refusals("kill -9 1; chgrp 0 .; chmod 777 /etc", way)
    #expect(lines.first == "EPERM kill", "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("EPERM fchownat PLACE") || $0.hasPrefix("EPERM chown") },
      "\(lines)")
    #expect(lines.contains("EPERM fchmodat /etc"), "\(lines)")
  }

  @Test(arguments: Way.allCases)
  func `A socket without a listener is refused`(_ way: Way) throws {
    let lines = try refusals(
      """
      exec python3 -c '
      import socket
      a = socket.socket(socket.AF_UNIX); a.bind("old"); a.close()
      for name in "old", "\\0nobody":
          try: socket.socket(socket.AF_UNIX).connect(name)
          except OSError: pass
      '
      """, way)
    #expect(
      lines.filter { $0.contains("connect") } == [
        "ECONNREFUSED connect PLACE/old", "ECONNREFUSED connect @nobody",
      ])
  }

  @Test(arguments: Way.allCases)
  func `Threads and grandchildren are followed`(_ way: Way) throws {
    let lines = try refusals(
      """
      (sh -c 'cat /etc/shadow' & wait)
      exec python3 -c '
      import threading
      def one():
          try: open("/etc/gshadow")
          except OSError: pass
      all = [threading.Thread(target=one) for i in range(50)]
      [a.start() for a in all]; [a.join() for a in all]
      '
      """, way)
    #expect(lines.filter { $0 == "EACCES openat /etc/shadow" }.count == 1, "\(lines)")
    #expect(lines.filter { $0 == "EACCES openat /etc/gshadow" }.count == 50, "\(lines)")
  }

  @Test(arguments: Way.allCases)
  func `Long and bad paths do no harm`(_ way: Way) throws {
    let lines = try refusals(
      """
      exec python3 -c '
      import ctypes, os
      libc = ctypes.CDLL(None)
      os.mkdir("d", 0o700); os.chmod("d", 0)
      long = b"d/" + b"./" * 2046 + b"x"
      libc.open(long, 0); libc.open(long + b"yy", 0); libc.open(ctypes.c_void_p(1), 0)
      libc.rename(b"d/a", ctypes.c_void_p(-4096))
      '
      """, way)
    #expect(
      lines.map(\.count).max() == "EACCES openat PLACE/d/".count + 2 * 2046 + 1,
      "\(lines.map(\.count))")
  }

  /// Calls that a tracer of system calls easily overlooks, see Tests/Support/Refused/main.c.
  @Test(arguments: [
    ("i386", ["EACCES open /etc/shadow"]), ("uring", ["EACCES openat /etc/shadow"]),
    ("vfork", ["EACCES openat /etc/shadow", "EACCES openat /etc/gshadow"]),
    ("thread", ["EACCES openat /etc/shadow"]), ("socketcall", ["EACCES connect /root/socket"]),
  ])
  func `No way to the kernel is overlooked`(_ call: String, _ expected: [String]) throws {
    // io_uring makes no system calls.
    for way in call == "uring" ? [.bpf] : Way.allCases {
      #expect(try refusals("exec \(Self.program) \(call)", way) == expected, "\(way)")
    }
  }

  @Test func `Programs of 32 bits and static ones are seen`() throws {
    let tree = try Tree()
    try tree.file(
      "small.c",
      """
      void _start(void) {
        int result;
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(5), "b"("/etc/shadow"), "c"(0), "d"(0) : "memory");
        __asm__ volatile("int $0x80" : : "a"(1), "b"(result != -13));
      }
      """)
    let built = try Command.run([
      "sh", "-c",
      "exec \"$(dirname \"$(readlink -f \"$(command -v swift)\")\")/clang\" -m32 -static -nostdlib -ffreestanding -fuse-ld=lld -O1 -o \"$1\" \"$2\"",
      "sh", tree.path("small"), tree.path("small.c"),
    ])
    #expect(built.status == 0, "\(built)")
    for way in Way.allCases {
      let small = try refusals("exec \(tree.path("small"))", way)
      #expect(small == ["EACCES open /etc/shadow"], "\(way)")
      let lines = try refusals("exec /sbin/ldconfig", way)
      #expect(
        lines.contains { $0.hasPrefix("EACCES open") && $0.contains("/etc/ld.so.cache") },
        "\(lines)")
    }
  }

  @Test(
    .full("it starts thousands of processes"),
    arguments: [
      ("threads", 2_000, Way.bpf), ("storm", Effort.of(10_000, atLeast: 1_000), .bpf),
      ("threads", 2_000, .started), ("storm", Effort.of(5_000, atLeast: 1_000), .started),
      ("threads", 2_000, .attached),
    ])
  func `No process and no thread is lost`(_ what: String, _ count: Int, _ way: Way) throws {
    let lines = try refusals("exec \(Self.program) \(what) \(count)", way).filter {
      $0.hasSuffix("shadow")
    }
    #expect(lines.count == count)
    #expect(Set(lines) == ["EACCES openat /etc/shadow"])
  }

  /// The kernel keeps a few thousand until they are read; what does not fit is counted.
  @Test func `A flood of refusals is counted`() throws {
    let count = Effort.of(1_000_000, atLeast: 100_000)
    let stream = try RefusalStream()
    let command = try LiveCommand(
      [
        "setpriv", "--reuid", "54321", "--clear-groups", "sh", "-c",
        "read go; exec \(Self.program) flood \(count)",
      ],
      input: "")
    try stream.follow(command.pid)
    _ = try command.finish(within: 600)
    var seen = 0
    var totals = RefusalTotals(limit: 500)
    try stream.read { refusal in
      guard refusal.path?.description.hasPrefix("/root/") == true else { return }
      seen += 1
      totals.add(refusal)
      totals.add(refusal)
    }
    #expect(totals.entries.count == 500 && totals.entries.allSatisfy { $0.count == 2 })
    #expect(totals.dropped == 2 * (seen - 500))
    #expect(totals.entries.first?.first.path == "/root/0")
    #expect(seen > 1_000 && UInt64(seen) + stream.lost >= UInt64(count))
  }

  /// A copy of Tests/Support/Refused that every user may run.
  private static let program: String = {
    let copy = "/tmp/permissionkit-trace-\(ProcessInfo.processInfo.processIdentifier)/refused"
    let file = Command.products.appending(path: "refused").path
    guard (try? Command.run(["install", "-D", "-m", "755", file, copy]))?.status == 0 else {
      fatalError("\(file) cannot be copied to \(copy)")
    }
    atexit {
      try? FileManager.default.removeItem(
        atPath: "/tmp/permissionkit-trace-\(ProcessInfo.processInfo.processIdentifier)")
    }
    return copy
  }()

  @Test func `Two processes are told apart`() throws {
    let stream = try RefusalStream()
    let other = try LiveCommand(
      ["setpriv", "--reuid", "54321", "--clear-groups", "sh", "-c", "read go; cat /etc/shadow"],
      input: "")
    _ = try other.finish()
    var count = 0
    try stream.read { _ in count += 1 }
    #expect(count == 0)
  }
}
