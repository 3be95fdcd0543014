import Foundation
import TestSupport
import Testing

/// What a process has for itself, asked with `--pid`: its terminal, its standard streams, its folder in /proc.
@Suite(.blocking, .enabled(if: Kernel.canAsk, "taking on other ids wants root"))
struct OwnStreamTests {
  /// Each process opens its own streams, waits, and is asked about.
  private static let program = """
    import os, pty, subprocess, sys, json, time
    permcheck = sys.argv[1]
    paths = ["/dev/stdin", "/dev/stdout", "/dev/fd/2", "/proc/self/fd/1", "/proc/thread-self/fd/1", "/dev/tty", "/proc/self/environ"]
    os.mkdir("/srv/t"); os.chmod("/srv/t", 0o755)
    for name, mode, uid in (("closed", 0o600, 0), ("open", 0o666, 0), ("own", 0o600, 61004)):
        open(f"/srv/t/{name}", "w").close(); os.chmod(f"/srv/t/{name}", mode); os.chown(f"/srv/t/{name}", uid, uid)

    def streams(kind):
        if kind == "pipe":
            return os.pipe()
        if kind == "own pipe":
            pair = os.pipe()
            for one in pair: os.fchown(one, 61004, 61004)
            return pair
        if kind == "terminal":
            return None
        file = f"/srv/t/{kind}"
        return os.open(file, os.O_RDONLY), os.open(file, os.O_WRONLY)

    def child(kind, nested):
        read, write = os.pipe()
        pair = streams(kind)
        def inside():
            if pair:
                os.dup2(pair[0], 0); os.dup2(pair[1], 1); os.dup2(pair[1], 2)
                os.setsid()
            os.close(read)
            if nested:
                subprocess.run(["mount", "-t", "proc", "none", "/proc"], check=True)
            os.setgroups([]); os.setresgid(61004, 61004, 61004); os.setresuid(61004, 61004, 61004)
            answers = {}
            for path in paths:
                for need, flags in (("r", os.O_RDONLY), ("w", os.O_WRONLY)):
                    try:
                        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)); answers[f"{path} {need}"] = None
                    except OSError as error:
                        answers[f"{path} {need}"] = error.errno
            # A process that has changed its ids, and executed nothing since, has a folder of root in /proc.
            if kind == "own":
                os.write(write, json.dumps(answers).encode() + b"\\n"); os.close(write); time.sleep(30); os._exit(0)
            os.write(write, json.dumps(answers).encode() + b"\\n")
            os.set_inheritable(write, False)
            os.execv("/bin/sleep", ["sleep", "30"])
        pid = (pty.fork()[0] if kind == "terminal" else os.fork())
        if not pid:
            if nested:
                import ctypes
                assert ctypes.CDLL(None).unshare(0x20000000 | 0x20000) == 0
                if os.fork(): os.close(write); os.wait(); os._exit(0)
            inside()
        os.close(write)
        line = b""
        while not line.endswith(b"\\n"): line += os.read(read, 1 << 16)
        os.read(read, 1)
        if nested:
            pid = int(open(f"/proc/{pid}/task/{pid}/children").read().split()[0])
        return pid, json.loads(line)

    wrong = count = opened = 0
    for nested in (False, True):
        for kind in ("pipe", "own pipe", "closed", "open", "own", "terminal"):
            pid, answers = child(kind, nested)
            for probe in ("automatic", "enter"):
                for question, answer in answers.items():
                    path, need = question.split()
                    words = [permcheck, "explain", path, "--need", need, "--pid", str(pid), "--json"] + ([] if probe == "automatic" else ["--probe", probe])
                    done = subprocess.run(words, capture_output=True, text=True, env={"PERMCHECK_LOG": "none"})
                    status = done.returncode
                    count += 1
                    if path == "/proc/self/environ" or (kind == "terminal" and path != "/dev/tty" and status == 2):
                        opened += status == 2
                        continue
                    # The other end of a FIFO is no permission.
                    said = {0: None, 1: 13, 3: 6}.get(status, status)
                    if said != answer and not (answer == 6 and path != "/dev/tty"):
                        wrong += 1
                        print(nested, kind, probe, question, "said", status, "kernel", answer, done.stdout[:900])
            os.kill(pid, 9)
    print(f"{count} questions, {opened} open; {wrong} wrong")
    """

  @Test func `The streams and the terminal of another process`() throws {
    let outcome = try Command.run([
      "unshare", "-pfm", "--kill-child", "--mount-proc", "--propagation", "private", "timeout",
      "-k", "5", "120", "sh", "-ec",
      "mount -t tmpfs -o mode=755,dev none /srv; mount -t tmpfs -o mode=755 none /var/lib; exec /usr/bin/python3 -c \"$2\" \"$1\"",
      "sh", Command.permcheck, Self.program,
    ])
    print(outcome.output, terminator: "")
    #expect(outcome.status == 0 && outcome.output.contains("; 0 wrong"), "\(outcome)")
  }
}
