import Foundation
import TestSupport
import Testing

/// `--probe enter` against what the process itself can open: namespaces, root, ids, capabilities.
///
/// Device cgroups of version 2 and frozen ones are in the lab's scenario `processes`.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "entering another process wants root"))
struct EnterTests {
  struct Place: CustomTestStringConvertible {
    var testDescription: String
    /// What runs the process; `$T` is the folder of the files.
    var run: String
  }

  static let places = [
    Place(testDescription: "root", run: "exec"),
    Place(
      testDescription: "a user",
      run: "exec setpriv --reuid 54321 --regid 54321 --groups 54400 --inh-caps=-all"),
    Place(
      testDescription: "root without capabilities",
      run: "exec setpriv --bounding-set=-all --inh-caps=-all"),
    Place(
      testDescription: "a user with a capability",
      run:
        "exec setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
    ),
    Place(testDescription: "a user namespace", run: "exec unshare --user --map-root-user"),
    Place(
      testDescription: "a user namespace of a user",
      run:
        "exec setpriv --reuid 54321 --regid 54321 --groups 54400 --inh-caps=-all unshare --user --map-root-user"
    ),
    Place(
      testDescription: "mounts of its own",
      run: "exec unshare --mount sh -c 'mount -t tmpfs -o mode=755 none \"$T/d\"; exec \"$@\"' -"),
    Place(
      testDescription: "a read-only mount of its own",
      run:
        "exec unshare --mount sh -c 'mount --bind -o ro \"$T\" \"$T\" 2>/dev/null || { mount --bind \"$T\" \"$T\"; mount -o remount,bind,ro \"$T\"; }; exec \"$@\"' -"
    ),
  ]

  /// Opens each path for reading and writing, prints the errnos and stays.
  static let opener = """
    import os, sys, time
    for path in sys.argv[1:]:
        try: os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK)); print(0)
        except OSError as error: print(error.errno)
    sys.stdout.flush()
    time.sleep(60)
    """

  @Test(arguments: Effort.some(places, of: "EnterTests places"))
  func `The answer is that of the process itself`(_ place: Place) throws {
    let tree = try Tree()
    try tree.folder("d", mode: 0o755)
    for (name, mode, uid, gid) in [
      ("open", 0o666, 0, 0), ("root", 0o600, 0, 0), ("user", 0o600, 54_321, 54_321),
      ("group", 0o660, 0, 54_400), ("none", 0o000, 54_321, 54_400), ("read", 0o644, 0, 0),
    ] {
      for folder in ["", "d/"] {
        try tree.file(folder + name, "x")
        chmod(tree.path(folder + name), mode_t(mode))
        chown(tree.path(folder + name), uid_t(uid), gid_t(gid))
      }
    }
    try tree.device("node", mode: 0o666)
    let paths = [
      "open", "root", "user", "group", "none", "read", "d/open", "d/root", "d/user", "node",
    ]
    .map(tree.path)
    let process = try LiveCommand(
      ["sh", "-c", "\(place.run) \"$@\"", "-", "/usr/bin/python3", "-c", Self.opener] + paths,
      environment: ["T": tree.root])
    defer {
      process.send(SIGKILL)
      _ = try? process.finish()
    }
    for path in paths {
      let truth = try #require(process.line().flatMap { Int32($0) })
      let outcome = try Command.permcheck([
        "explain", path, "--need", "rw", "--pid", "\(process.pid)", "--probe", "enter", "--json",
      ])
      let resource = try #require(try outcome.report().resources.first)
      let seen = "\(path): \(truth), \(outcome.output)"
      #expect(resource.probe?.method == "enter", "\(seen)")
      #expect((resource.probe?.errno == nil) == (truth == 0), "\(seen)")
      // Whoever is root in a user namespace may have a Landlock domain, which nobody can take on.
      let granted = place.run.contains("--user") ? "notDetermined" : "authorized"
      #expect((resource.status == granted) == (truth == 0), "\(seen)")
    }
  }

  @Test func `Only root may enter, and only a process`() throws {
    let process = try LiveCommand(["sleep", "60"])
    defer {
      process.send(SIGKILL)
      _ = try? process.finish()
    }
    let arguments = ["explain", "/dev/null", "--probe", "enter"]
    let refused = try Command.permcheck(
      arguments + ["--pid", "\(process.pid)", "--json"], as: stranger)
    #expect(refused.status == 2, "\(refused.output)")
    #expect(try refused.report().resources.first?.probe == nil)
    let wrong = try Command.permcheck(arguments)
    #expect(wrong.status == 64 && wrong.errors.contains("--pid"), "\(wrong.errors)")
  }
}
