import Foundation
import Glibc
import TestSupport
import Testing

/// What permcheck says of the socket of a declared accessor, against connect(2) itself.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids and namespaces wants root"))
struct ListenerTests {
  /// A folder where root alone can write, with a socket `s` that everybody may write to.
  private final class Place {
    let root = "/run/permissionkit-listener-\(UUID().uuidString)"
    let socket: String

    init(_ more: String = "") throws {
      socket = root + "/s"
      let folder = root + "/permcheck/accessors.d"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      try "name = \"daemon\"\nsummary = \"d\"\nsocket = \"\(socket)\"\n\(more)\n".write(
        toFile: folder + "/daemon.toml", atomically: false, encoding: .utf8)
    }
    deinit { try? FileManager.default.removeItem(atPath: root) }

    func permcheck(_ arguments: [String], as account: Account?) throws -> Outcome {
      try Command.permcheck(arguments, environment: ["XDG_CONFIG_HOME": root], as: account)
    }
  }

  private static let root = Account(uid: 0, gid: 0)

  /// Makes the socket and says `ready`; a line of its own says what its first connection sent.
  private static let server = """
    import os, signal, socket, sys, time
    kind, path = sys.argv[1:]
    types = {"seqpacket": socket.SOCK_SEQPACKET, "datagram": socket.SOCK_DGRAM}
    s = socket.socket(socket.AF_UNIX, types.get(kind, socket.SOCK_STREAM))
    signal.signal(signal.SIGUSR1, lambda *_: s.listen())
    s.bind(path)
    os.chmod(path, 0o666)
    if kind == "stale": os._exit(0)
    if kind == "full":
        s.listen(0)
        waiting = []
        while True:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            try: waiting[-1].connect(path)
            except BlockingIOError: break
    elif kind not in ("bound", "datagram"): s.listen()
    if kind == "shut": s.shutdown(socket.SHUT_RD)
    print("ready", flush=True)
    if kind in ("stream", "seqpacket"): print("got", s.accept()[0].recv(9).decode(), flush=True)
    while True: time.sleep(60)
    """

  private func serve(
    _ kind: String, _ place: Place, in namespaces: [String] = []
  ) throws -> LiveCommand {
    let live = try LiveCommand(
      namespaces + ["/usr/bin/python3", "-c", Self.server, kind, place.socket])
    if kind == "stale" {
      #expect(try live.finish().status == 0)
    } else {
      #expect(live.line() == "ready")
    }
    return live
  }

  /// Connects as permcheck would have to: prints 0, or the number of the error.
  private static let client = """
    import socket, sys
    for type in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_UNIX, type)
        s.setblocking(False)
        try: s.connect(sys.argv[1])
        except BlockingIOError: print(0)
        except OSError as e:
            if e.errno == 91: continue
            print(e.errno)
        else:
            s.send(b"marker")
            print(0)
        break
    """

  private func connect(_ place: Place, as account: Account) throws -> Int32 {
    let outcome = try Command.run(
      ["/usr/bin/python3", "-c", Self.client, place.socket], as: account)
    return try #require(Int32(outcome.output.dropLast()), "\(outcome.errors)")
  }

  @Test(
    arguments: Effort.some(
      ["stream", "seqpacket", "datagram", "full", "stale", "bound", "shut"],
      of: "ListenerTests The connect", atLeast: 3))
  func `The status is the answer of connect`(_ kind: String) throws {
    for account in [stranger, Self.root] {
      let place = try Place()
      let live = try serve(kind, place)
      let outcome = try place.permcheck(["daemon", "--json"], as: account)
      let truth = try connect(place, as: account)
      #expect(truth == 0 || truth == ECONNREFUSED, "\(kind): \(truth)")
      #expect(outcome.status == (truth == 0 ? 0 : 3), "\(kind): \(outcome.output)")
      #expect(outcome.output.contains(#""code":"no-listener""#) == (truth != 0))
      #expect(try Validator.check(outcome.output).output == "")
      // Permissions go first.
      chmod(place.socket, 0o600)
      #expect(try place.permcheck(["daemon"], as: stranger).status == 1)
      // No connection was made before that of the client.
      if ["stream", "seqpacket"].contains(kind) { #expect(live.line() == "got marker") }
      withExtendedLifetime(live) {}
    }
  }

  /// Where nothing may be connected to, only what the kernel lists is authorized.
  @Test func `Without connecting nothing is guessed`() throws {
    for (kind, spaces, isListed) in [
      ("stream", [], true), ("datagram", [], true), ("stale", [], false),
      ("stream", ["unshare", "--net"], false), ("seqpacket", ["unshare", "--net"], false),
    ] as [(String, [String], Bool)] {
      let place = try Place("probe = \"none\"")
      let live = try serve(kind, place, in: spaces)
      for (arguments, account) in [
        (["daemon"], stranger), (["daemon"], Self.root),
        (["daemon", "--user", "daemon"], Self.root),
      ] {
        let outcome = try place.permcheck(arguments + ["--json"], as: account)
        #expect(outcome.status == (isListed ? 0 : 2), "\(kind) \(spaces): \(outcome.output)")
        #expect(outcome.output.contains(#""code":"no-listener""#) == !isListed)
      }
      #expect(try connect(place, as: stranger) == (kind == "stale" ? ECONNREFUSED : 0))
      if kind != "stale", kind != "datagram" { #expect(live.line() == "got marker") }
    }
  }

  /// The kernel does not list what listens in another network namespace, and connect(2) reaches it.
  @Test func `A listener in another network namespace is not seen`() throws {
    for account in [stranger, Self.root] {
      let place = try Place()
      let live = try serve("stream", place, in: ["unshare", "--net"])
      #expect(try place.permcheck(["daemon", "--probe", "none"], as: account).status == 2)
      #expect(try place.permcheck(["daemon", "--probe", "access"], as: account).status == 2)
      #expect(try place.permcheck(["daemon"], as: account).status == 0)
      #expect(live.line() == "got ")
    }
  }

  /// Anybody can bind the same path in a mount namespace of their own.
  @Test func `A listener of the same name elsewhere is ignored`() throws {
    let place = try Place()
    _ = try serve("stale", place)
    let other = "mount -t tmpfs none '\(place.root)'; exec \"$@\""
    let live = try serve("stream", place, in: ["unshare", "--mount", "sh", "-c", other, "sh"])
    let table = try String(contentsOfFile: "/proc/net/unix", encoding: .utf8)
    #expect(table.contains("00010000 0001 01") && table.contains(place.socket))
    #expect(try connect(place, as: stranger) == ECONNREFUSED)
    #expect(try place.permcheck(["daemon"], as: stranger).status == 3)
    #expect(try place.permcheck(["daemon", "--probe", "none"], as: stranger).status == 2)
    withExtendedLifetime(live) {}
  }

  /// Root connects to nothing because of a file that another user can write.
  @Test func `Root does not connect for another`() throws {
    let place = try Place()
    let live = try serve("stream", place, in: ["unshare", "--net"])
    let file = place.root + "/permcheck/accessors.d/daemon.toml"
    chown(file, stranger.uid, 0)
    #expect(try place.permcheck(["daemon"], as: Self.root).status == 2)
    chown(file, 0, 0)
    // Nor where another process has its root.
    let sleep = try LiveCommand(["sleep", "60"])
    #expect(
      try place.permcheck(["daemon", "--pid", "\(sleep.pid)"], as: Self.root).status == 2)
    #expect(try connect(place, as: stranger) == 0)
    #expect(live.line() == "got marker")
  }

  /// Of another user the listener is known, whoever asks.
  @Test func `The connection of another user is not tried`() throws {
    let place = try Place("hint = \"start it so\"")
    let live = try serve("stale", place)
    for account in [stranger, Self.root] {
      let outcome = try place.permcheck(["daemon", "--user", "daemon", "-v"], as: account)
      #expect(outcome.status == 3 && outcome.output.contains("start it so"), "\(outcome)")
    }
    // What this process may not reach, it cannot tell for another.
    chmod(place.socket, 0o660)
    chown(place.socket, 1, 1)
    #expect(try place.permcheck(["daemon", "--user", "daemon"], as: stranger).status == 2)
    withExtendedLifetime(live) {}
  }

  @Test func `A wait ends when a program listens`() throws {
    let place = try Place()
    let live = try serve("bound", place)
    let waiting = try LiveCommand(
      [Command.permcheck, "daemon", "--wait", "60s"], environment: ["XDG_CONFIG_HOME": place.root],
      as: stranger)
    usleep(300_000)
    live.send(SIGUSR1)
    #expect(try waiting.finish(within: 50).status == 0)
  }

  @Test func `The report says that a program listens`() throws {
    let place = try Place()
    let live = try serve("stream", place)
    let outcome = try place.permcheck(["daemon", "-v"], as: stranger)
    #expect(outcome.output.contains("and a program listens"), "\(outcome.output)")
    withExtendedLifetime(live) {}
  }
}
