#!/usr/bin/env python3
"""Runs programs alone and under a runner, and compares what they see: transparent.py FOLDER PREFIX...

PREFIX is what runs a command, up to `--`: also `env`, to be compared with itself. Prints what differs, and last how
much was compared. Wants process and mount namespaces of its own.
"""
import concurrent.futures, os, re, resource, shutil, signal, subprocess, sys, time

import screen
from screen import LIMIT

folder, prefix = sys.argv[1], sys.argv[2:]
count = wrong = 0


def hold(what, alone, beside):
    global count, wrong
    count += 1
    if alone != beside:
        wrong += 1
        print(f"{what}:\n  alone {alone!r}\n  with  {beside!r}")


# --- What a program has from its parent -----------------------------------------------------------

PROBE = r"""
ls -l /proc/self/fd | sed 's/.* \([0-9]* -> [^[]*\).*/\1/; s,/proc/[0-9]*/,/proc/N/,'
grep -E '^(Umask|TracerPid|Uid|Gid|Groups|Sig|Shd|Cap|NoNewPrivs|Seccomp|Speculation|THP|Threads|NS)' /proc/$$/status |
  grep -v '^NS\|^SigQ\|Pnd$VISIBLE'
cat /proc/$$/limits /proc/$$/cgroup /proc/$$/oom_score_adj /proc/$$/personality /proc/self/timerslack_ns 2>/dev/null
for n in mnt net user pid ipc uts cgroup time; do readlink /proc/$$/ns/$n; done
tr '\0' ' ' </proc/$$/cmdline; pwd; nice; env | sort | grep -v '^_=\|^__LLVM_PROFILE'
set -- $(sed 's/.*) //' /proc/$$/stat); echo session $4 tty $5
"""


# A process that is traced by ptrace shows its tracer and its filter, and no_new_privs if it is not root's.
VISIBLE = r"\|^TracerPid\|^Seccomp" + ("" if os.geteuid() == 0 else r"\|^NoNewPrivs") if "ptrace" in prefix or os.geteuid() != 0 else ""
PROBE = PROBE.replace("$VISIBLE", VISIBLE)


def seen(words, before=lambda: None, **options):
    done = subprocess.run(words, capture_output=True, preexec_fn=before, timeout=LIMIT, **options)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def unusual():
    os.umask(0o027)
    os.nice(3)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGWINCH])
    for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, 400))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 16, 1 << 20))
    os.dup2(os.open("/dev/zero", os.O_RDONLY), 9)


def usual():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def closed(numbers):
    def close():
        usual()
        for number in numbers:
            os.close(number)
    return close


def processes():
    odd = {**os.environ, "A B": "c\nd", "EMPTY": "", "LD_LIBRARY_PATH": "/nowhere", "PERMCHECK_X": "1"}
    for name, before, options in [
        ("a usual start", usual, {}),
        ("an unusual start", unusual, {"pass_fds": [9], "env": odd}),
        ("an empty environment", usual, {"env": {}}),
        ("another folder", usual, {"cwd": "/usr"}),
        ("no input", closed([0]), {}),
    ]:
        if "pass_fds" in options:
            os.dup2(os.open("/dev/zero", os.O_RDONLY), 9)
        alone, beside = seen(["/bin/sh", "-c", PROBE], before, **options), seen([*prefix, "/bin/sh", "-c", PROBE], before, **options)
        for one, other in zip(alone[1].splitlines(), beside[1].splitlines()):
            hold(f"{name}: {one}", one, other)
        hold(name, (alone[0], len(alone[1].splitlines()), alone[2]), (beside[0], len(beside[1].splitlines()), beside[2]))
    for text, words in [
        ("a status", ["sh", "-c", "exit 3"]), ("status 255", ["sh", "-c", "exit 255"]), ("a signal", ["sh", "-c", "kill -9 $$"]),
        ("SIGSEGV", ["sh", "-c", "kill -SEGV $$"]), ("SIGTERM", ["sh", "-c", "kill $$"]), ("no program", ["/nowhere/at/all"]),
        ("a folder", ["/etc"]), ("no name", ["no-such-program-anywhere"]), ("a script without #!", [f"{folder}/plain"]),
        ("real-time signal", ["sh", "-c", "kill -40 $$"]),
    ]:
        # As a shell says it.
        def status(words):
            return seen(["sh", "-c", '"$@" 2>/dev/null; echo $?', "sh", *words], usual)[1]
        hold(text, status(words), status([*prefix, *words]))
    for text in ["yes | PREFIX head -n 2", "PREFIX yes | head -n 1; echo ${PIPESTATUS[0]}", "echo a | PREFIX cat -", "PREFIX sh -c 'echo a; echo b >&2' 2>&1",
                 "PREFIX cat <<<hallo", "PREFIX sh -c 'exec >&-; echo lost'; echo $?"]:
        def shown(words):
            return seen(["bash", "-c", text.replace("PREFIX", " ".join(words))], usual)
        hold(text, shown([]), shown(prefix))


# --- Signals --------------------------------------------------------------------------------------

def wait_for(path):
    end = time.time() + LIMIT
    while not os.path.exists(path):
        if time.time() > end:
            raise RuntimeError(f"no {path}")
        time.sleep(0.01)


def signals():
    script = "trap 'echo got NAME; exit 7' NAME; : >READY; while :; do sleep 0.05; done"
    for name in ["TERM", "HUP", "INT", "USR1", "USR2", "ALRM", "QUIT", "WINCH"]:
        found = []
        for words in [], prefix:
            ready = f"{folder}/ready-{name}-{len(words)}"
            text = script.replace("NAME", name).replace("READY", ready)
            child = subprocess.Popen([*words, "sh", "-c", text], stdout=subprocess.PIPE, preexec_fn=usual)
            wait_for(ready)
            child.send_signal(getattr(signal, f"SIG{name}"))
            found.append((child.communicate(timeout=LIMIT)[0], child.returncode))
        hold(f"SIG{name}", *found)
    for name in ["TERM", "HUP", "INT", "KILL"]:
        # Without a handler the same signal ends both.
        found = []
        for words in [], prefix:
            if name == "KILL" and words:
                continue
            ready = f"{folder}/end-{name}-{len(words)}"
            child = subprocess.Popen([*words, "sh", "-c", f": >{ready}; exec sleep 60"], preexec_fn=usual)
            wait_for(ready)
            child.send_signal(getattr(signal, f"SIG{name}"))
            found.append(child.wait(timeout=LIMIT))
        hold(f"SIG{name} ends it", found[0], found[-1])
    # The runner is killed: the program goes on.
    ready, end = f"{folder}/killed", f"{folder}/went-on"
    child = subprocess.Popen([*prefix, "sh", "-c", f": >{ready}; sleep 0.5; cat /etc/shadow >/dev/null; echo on >{end}"], preexec_fn=usual)
    wait_for(ready)
    child.kill()
    child.wait()
    if prefix[0] != "env":
        wait_for(end)
        hold("a killed runner", "went on", "went on")


# --- A terminal -----------------------------------------------------------------------------------

class Screen(screen.Screen):
    def missing(self, pattern, text):
        return f"NOT {pattern} IN {text!r}"


# A program that starts no other: a child that is stopped between vfork(2) and execve(2) holds up its parent for ever.
PERL = "perl -e '$| = 1; $SIG{CONT} = sub { print \"on\\n\" }; print \"go\\n\"; select undef, undef, undef, 0.05 while 1'\n"
# Each step types a text and waits for a pattern.
TERMINAL = {
    "its terminal": [("PREFIX sh -c 'tty >/dev/null && stty size && stty -g && ps -o tpgid= -o pgid= -p $$ | (read a b; test $a = $b; echo in=$?)'\n", "in=\\d+"), ("", "ready> ")],
    "Ctrl-C": [("PREFIX sh -c 'echo go; exec sleep 50'\n", "go"), ("\x03", "ready> "), ("echo =$?=\n", "=\\d+="), ("", "ready> ")],
    "Ctrl-\\": [("PREFIX sh -c 'echo go; exec sleep 50'\n", "go"), ("\x1c", "ready> "), ("echo =$?=\n", "=\\d+="), ("", "ready> ")],
    "Ctrl-C that is caught": [("PREFIX sh -c 'trap \"echo caught; exit 4\" INT; echo go; while :; do sleep 0.05; done'\n", "go"), ("\x03", "caught"), ("", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "Ctrl-Z, fg, Ctrl-D": [("PREFIX sh -c 'echo go; exec cat'\n", "go"), ("one\n", "one"), ("\x1a", "Stopped"), ("", "ready> "), ("fg\n", "cat"), ("two\n", "two"), ("\x04", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "Ctrl-Z, bg, a signal": [("PREFIX sh -c 'echo go; exec sleep 50'\n", "go"), ("\x1a", "Stopped"), ("", "ready> "), ("bg\n", "ready> "), ("kill %1; wait %1; echo =$?=\n", "=\\d+="), ("", "ready> ")],
    "Ctrl-Z that is ignored": [("PREFIX sh -c 'trap \"\" TSTP; echo go; sleep 0.7; echo gone'\n", "go"), ("\x1a", "gone"), ("", "ready> "), ("jobs; echo =$?=\n", "=\\d+=")],
    "a stop by itself": [("PREFIX sh -c 'echo go; kill -STOP $$; echo again; exit 6'\n", "Stopped"), ("", "ready> "), ("fg\n", "again"), ("", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "two stops": [("PREFIX sh -c 'kill -STOP $$; kill -TSTP $$; echo again; exit 6'\n", "Stopped"), ("", "ready> "), ("fg\n", "Stopped"), ("", "ready> "), ("fg\n", "again"), ("", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "one that reads in the background": [("PREFIX cat & sleep 0.7; fg\n", "cat\r\n"), ("mine\n", "mine"), ("\x04", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "one in the background": [("PREFIX sh -c 'exit 5' & wait $!; echo =$?=\n", "=\\d+="), ("", "ready> ")],
    "a shell with jobs": [("PREFIX bash --norc --noprofile -i\n", "ready> "), ("stty -echo; PS1='inner> '\n", "inner> "), (PERL, "go"), ("\x1a", "Stopped"), ("", "inner> "), ("fg\n", "while 1'\r\non\r\n"), ("\x03", "inner> "), ("exit 8\n", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "a suspended shell with jobs": [("PREFIX bash --norc --noprofile -i\n", "ready> "), ("stty -echo; PS1='inner> '\n", "inner> "), ("suspend\n", "ready> "), ("fg\n", "inner> "), ("exit 8\n", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "raw mode": [("PREFIX sh -c 'stty raw -echo; echo go; dd bs=1 count=1 2>/dev/null | od -An -tx1; stty sane -echo'\n", "go"), ("\x03", "03"), ("", "ready> "), ("echo =$?=\n", "=\\d+=")],
    "a pipeline": [("PREFIX cat | stdbuf -o0 tr a b\nabc\n", "bbc"), ("\x1a", "Stopped"), ("", "ready> "), ("fg\n", "tr a b"), ("aaa\n", "bbb"), ("\x04", "ready> "), ("echo =${PIPESTATUS[0]}=\n", "=\\d+=")],
    "exec": [("exec PREFIX sh -c 'echo last; exit 3'\n", "last")],
}
ZSH = {
    "Ctrl-C": [("PREFIX sh -c 'echo go; exec sleep 50'\n", "go"), ("\x03", "ready> "), ("echo is$?.\n", "is\\d+\\."), ("", "ready> ")],
    "Ctrl-Z, fg, Ctrl-D": [("PREFIX sh -c 'echo go; exec cat'\n", "go"), ("one\n", "one"), ("\x1a", "suspended"), ("", "ready> "), ("fg\n", "continued"), ("two\n", "two"), ("\x04", "ready> "), ("echo is$?.\n", "is\\d+\\.")],
    "Ctrl-Z, bg, a signal": [("PREFIX sh -c 'echo go; exec sleep 50'\n", "go"), ("\x1a", "suspended"), ("", "ready> "), ("bg\n", "ready> "), ("kill %1; wait\n", "terminated")],
    "a stop by itself": [("PREFIX sh -c 'echo go; kill -STOP $$; echo again; exit 6'\n", "suspended"), ("", "ready> "), ("fg\n", "again\r\n"), ("", "ready> "), ("echo is$?.\n", "is\\d+\\.")],
    "one in the background": [("PREFIX sh -c 'exit 5' & wait $!; echo is$?.\n", "is\\d+\\."), ("", "ready> ")],
    "a pipeline": [("PREFIX cat | stdbuf -o0 tr a b\nabc\n", "bbc"), ("\x1a", "suspended"), ("", "ready> "), ("fg\n", "continued"), ("aaa\n", "bbb"), ("\x04", "ready> "), ("echo is$pipestatus[1].\n", "is\\d+\\.")],
}


def play(steps, words, shell=("bash", "--norc", "--noprofile", "-i")):
    screen = Screen(shell, LC_ALL="C")
    if shell[0] == "zsh":
        screen.type(f"cd {folder}; echo $((6 * 7))=\n")
        screen.until("42=\r\nready> ")
    seen = []
    for text, pattern in steps:
        # zsh shows only the beginning of a command.
        runner = ("./with " if words else "") if shell[0] == "zsh" else "".join(f"{word} " for word in words)
        screen.type(text.replace("PREFIX ", runner))
        found = screen.until(pattern)
        # What a shell prints of a job has its command.
        found = found.replace(" ".join(words) + " ", "") if words else found
        if shell[0] == "zsh":
            found = re.sub(r"(\./with )?sh -c *('[^']*')?|\./with ", "", found)
        seen.append(re.sub(r"\s+", " ", re.sub(r"\[\d+\] *[+-]? *\d*", "[]", found)).strip())
    screen.close()
    return seen


def terminal():
    # Most of the time goes into waiting.
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        played = [(name, pool.submit(play, steps, []), pool.submit(play, steps, prefix)) for name, steps in TERMINAL.items()]
        zsh = ("zsh", "-f", "-i")
        played += [(f"zsh, {name}", pool.submit(play, steps, [], zsh), pool.submit(play, steps, prefix, zsh)) for name, steps in ZSH.items() if shutil.which("zsh")]
        for name, alone, beside in played:
            hold(name, alone.result(), beside.result())
            hold(f"{name}: all of it comes", [], [text for text in alone.result() if text.startswith("NOT ")])
    # The size: the program is told once.
    for words in [], prefix:
        screen = Screen(LC_ALL="C")
        screen.type(" ".join([*words, "sh -c 'trap \"echo resized; stty size\" WINCH; echo go; i=0; while [ $i -lt 12 ]; do sleep 0.1; i=$((i+1)); done; echo end'\n"]))
        screen.until("go")
        screen.size(30, 90)
        text = screen.until("end")
        screen.close()
        hold(f"its size, {' '.join(words)}", (1, True), (text.count("resized"), "30 90" in text))


with open(f"{folder}/plain", "w") as file:
    file.write("echo plain\n")
os.chmod(f"{folder}/plain", 0o755)
with open(f"{folder}/with", "w") as file:
    file.write("#!/bin/sh\nexec " + " ".join(prefix) + " \"$@\"\n")
os.chmod(f"{folder}/with", 0o755)
processes()
signals()
terminal()
print(f"{count} compared; {wrong} wrong")
sys.exit(wrong > 0)
