import Foundation
import TestSupport
import Testing

/// What `explain` says of a socket, against connect(2) itself.
@Suite(.blocking) struct SocketTests {
  /// The owner, mode and ACL of the socket, and the mode of its folder.
  static let scenes = [
    "chmod 666 s", "chmod 600 s", "chmod 620 s; chgrp 54400 s", "chmod 640 s; chgrp 54400 s",
    "chmod 200 s; chown 54321 s", "chmod 400 s; chown 54321 s",
    "chmod 606 s; chown 54321 s; chmod 066 s",
    "chmod 600 s; setfacl -m u:54321:rw s", "chmod 600 s; setfacl -m u:54321:r s",
    "chmod 666 s; chmod 700 .",
    "chmod 666 s; chmod 711 .", "ln s l; rm s; mv l s; chmod 602 s",
  ]

  static let connect = """
    import os, socket, sys
    os.setgroups([54400]); os.setresgid(*[54321] * 3); os.setresuid(*[54321] * 3)
    try: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    except OSError as e: print(e.errno)
    else: print(0)
    """

  @Test(
    .enabled(if: Kernel.canAsk, "taking on other ids wants root"),
    arguments: Effort.some(scenes, of: "SocketTests scenes"))
  func `The answer is that of connect`(_ scene: String) throws {
    let tree = try Tree()
    try tree.folder("d", mode: 0o755)
    let socket = tree.path("d/s")
    let server = try LiveCommand([
      "/usr/bin/python3", "-c",
      "import socket, sys, time\ns = socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\n"
        + "print('ready', flush=True)\ntime.sleep(60)", socket,
    ])
    defer {
      server.send(SIGKILL)
      _ = try? server.finish()
    }
    _ = server.line()
    let made = try Command.run(["sh", "-ec", "cd \"$0\"; \(scene)", tree.path("d")])
    #expect(made.status == 0, "\(made.errors)")
    let truth = try Command.run(["/usr/bin/python3", "-c", Self.connect, socket])
    let isAllowed = truth.output == "0\n"
    #expect(isAllowed || truth.output == "13\n", "\(truth.output) \(truth.errors)")
    let own = try Command.permcheck(["explain", socket], as: stranger)
    #expect(own.status == (isAllowed ? 0 : 1), "\(own.output)")
    #expect(own.output.contains("connect(2) is allowed") == isAllowed, "\(own.output)")
    let asked = try Command.permcheck(
      ["explain", socket, "--uid", "54321", "--gid", "54321", "--groups", "54400"])
    #expect(asked.status == (isAllowed ? 0 : 1), "\(asked.output)")
  }
}
