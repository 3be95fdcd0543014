#!/usr/bin/env python3
"""Runs commands of another user as root at a pseudo-terminal, as somebody would: session.py SCENARIO COMMAND...

COMMAND is what runs a command as the user, up to `--`: also `sudo -u USER`, to be compared with. Wants root
and process and mount namespaces of its own. Prints what does not hold, and last how much was looked at.
"""
import os, re, signal, subprocess, sys, tempfile, time

import screen
from screen import LIMIT

scenario, run = sys.argv[1], sys.argv[2:]
command = " ".join(run)
count = 0
folder = tempfile.mkdtemp(prefix="session")
os.chmod(folder, 0o777)


def hold(what, whether, saw=""):
    global count
    count += 1
    if not whether:
        print(f"{scenario}: {what}: {saw!r}")


def sh(text):
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, timeout=LIMIT).stdout


class Screen(screen.Screen):
    def missing(self, pattern, text):
        hold(f"{pattern} comes", False, text[-500:])
        return text

    def runs(self, words, until=None):
        self.type(f"{command} {words}\n")
        return self.until(until) if until else ""

    def status(self):
        """The status of what the shell ran last, once it is back at its prompt."""
        self.until("ready> ")
        self.type('echo "status=$?="\n')
        text = self.until("status=([0-9]+)=")
        self.until("ready> ")
        found = re.findall("status=([0-9]+)=", text)
        return int(found[-1]) if found else None

    def settings(self):
        """The settings of the terminal as a command finds them."""
        self.type("echo settings=$(stty -g)=\n")
        text = self.until("settings=(.*)=")
        self.until("ready> ")
        return re.search("settings=(.*)=", text)[1]


def until(what, condition, limit=LIMIT):
    end = time.time() + limit
    while time.time() < end:
        if condition():
            return hold(what, True)
        time.sleep(0.05)
    hold(what, False)


def processes(word):
    """The ids of the processes whose arguments have the word, but for the shells of this script."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file, open(f"/proc/{pid}/stat") as stat:
                if word.encode() in file.read() and ") Z" not in stat.read():
                    found.append(int(pid))
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def attack_terminal():
    """The command types into the terminal of its caller, and finds it among its descriptors."""
    screen = Screen()
    with open(f"{folder}/type.py", "w") as file:
        file.write(
            "import fcntl, os, sys, termios\n"
            f"text = 'touch {folder}/typed\\n'\n"
            "for name in [0, 1, 2, '/dev/tty', *sys.argv[1:]]:\n"
            "    try:\n"
            "        end = name if isinstance(name, int) else os.open(name, os.O_RDWR | os.O_NOCTTY)\n"
            "        for letter in text: fcntl.ioctl(end, termios.TIOCSTI, letter.encode())\n"
            "    except OSError: pass\n"
            # TIOCL_SETSEL and TIOCL_PASTESEL of console_ioctl(2) type into a virtual console.
            "for name in [0, '/dev/tty']:\n"
            "    try:\n"
            "        end = name if isinstance(name, int) else os.open(name, os.O_RDWR | os.O_NOCTTY)\n"
            "        fcntl.ioctl(end, termios.TIOCLINUX, bytes([3]))\n"
            "        print('pasted')\n"
            "    except OSError: pass\n"
            "print('tty', os.ttyname(0), 'session', os.getsid(0))\n"
        )
    own = os.readlink(f"/proc/{screen.pid}/fd/0")
    text = screen.runs(f"python3 {folder}/type.py {own}", "session [0-9]+")
    # What was typed would be the shell's next line.
    hold("the command ends", screen.status() == 0)
    screen.type("\n")
    screen.until("ready> ")
    hold("nothing is typed into the terminal of root", not os.path.exists(f"{folder}/typed"))
    hold("nothing is pasted", "pasted" not in text, text)
    hold("the terminal is another", f"tty {own} " not in text, text)
    hold("the session is another", f"session {screen.pid}" not in text, text)


def attack_inherited():
    """The command has no descriptor and no variable of its caller."""
    with open(f"{folder}/env", "w") as file:
        file.write(f"touch {folder}/by-bash\n")
    screen = Screen(SECRET="of root", BASH_ENV=f"{folder}/env", LD_PRELOAD="", LD_LIBRARY_PATH="/tmp", HOME="/root")
    screen.type("exec 7</etc/shadow\n")
    screen.until("ready> ")
    text = screen.runs("bash -c 'cat <&7; ls /proc/self/fd; env; echo end=' 2>&1", "end=")
    hold("no descriptor is inherited", "root:" not in text and "7: Bad file descriptor" in text, text)
    hold("ls has its own alone", set(re.findall(r"^[0-9]+\s*$", text, re.M)) <= {f"{n}\r" for n in range(4)}, text)
    for name in ["SECRET", "BASH_ENV", "LD_PRELOAD", "LD_LIBRARY_PATH"]:
        hold(f"no {name}", f"{name}=" not in text, text)
    for name in ["TERM=xterm", "SHELL=", "PATH=/usr/local/bin:/usr/bin"]:
        hold(name, name in text, text)
    hold("another home", "HOME=/root" not in text and "HOME=" in text, text)
    hold("bash reads no file of root's choice", not os.path.exists(f"{folder}/by-bash"))


def attack_stopped():
    """A command that stops with the terminal raw, and one that ends so."""
    screen = Screen()
    before = screen.settings()
    screen.runs("sh -c 'stty raw -echo; echo stops=; kill -STOP $$; echo again=; exit 6'", "stops=")
    screen.until("Stopped")
    screen.until("ready> ")
    hold("the terminal is the shell's again", screen.settings() == before)
    screen.type("fg\n")
    screen.until("again=")
    hold("the command goes on", screen.status() == 6)
    hold("and leaves it so", screen.settings() == before)


def attack_left():
    """A child that is left behind has no terminal, and keeps nobody waiting."""
    screen = Screen()
    script = f"(trap \"\" HUP; sleep 1; head -c 1 >{folder}/stolen 2>/dev/null; echo late) & exit 5"
    screen.runs(f"sh -c '{script}'")
    hold("nobody waits for it", screen.status() == 5)
    screen.type("echo mine=\n")
    hold("what is typed is the shell's", "mine=" in screen.until("mine="))
    until("the child ends", lambda: not processes("stolen"))
    screen.type("echo then=\n")
    text = screen.until("then=")
    hold("the child prints nothing", "late" not in text, text)
    hold("the child reads nothing", not os.path.exists(f"{folder}/stolen") or os.path.getsize(f"{folder}/stolen") == 0)


def attack_killed():
    """What runs permcheck is killed: neither the relay nor the command is left."""
    screen = Screen()
    screen.runs("sh -c 'trap \"\" HUP TERM; echo on=; while :; do sleep 0.2; done; echo marked'", "on=")
    here = processes("marked")
    hold("it runs", len(here) >= 2, here)
    os.kill(min(here), signal.SIGKILL)
    screen.until("Killed")
    until("nothing is left", lambda: not processes("marked"))


def keys():
    """Ctrl-C, Ctrl-\\, Ctrl-Z, fg, bg, and a command in the background that wants to read."""
    screen = Screen()
    screen.runs("sh -c 'echo on=; exec sleep 1000'", "on=")
    screen.type("\x03")
    hold("Ctrl-C", screen.status() == 130)
    screen.runs("sh -c 'echo on=; exec sleep 1000'", "on=")
    screen.type("\x1c")
    hold("Ctrl-\\", screen.status() == 131)
    screen.runs("sh -c 'trap \"echo caught=; exit 9\" INT; echo on=; while :; do sleep 0.1; done'", "on=")
    screen.type("\x03")
    hold("a trap", "caught=" in screen.until("caught=") and screen.status() == 9)
    screen.runs("sh -c 'echo on=; exec cat'", "on=")
    screen.type("one\n")
    screen.until("one")
    screen.type("\x1a")
    screen.until("Stopped")
    screen.until("ready> ")
    screen.type("fg\n")
    screen.until("cat")
    screen.type("two\n")
    screen.until("two\r\ntwo\r\n|two\r\n")
    screen.type("\x04")
    hold("Ctrl-Z, fg, Ctrl-D", screen.status() == 0)
    # A shell whose child is stopped between vfork(2) and execve(2) waits for that for ever, under sudo too.
    with open(f"{folder}/wait.py", "w") as file:
        file.write(f"import os, sys, time\nprint('on=', flush=True)\nwhile not os.path.exists('{folder}/go'): time.sleep(0.1)\nprint('off=')\nsys.exit(4)\n")
    screen.runs(f"python3 {folder}/wait.py", "on=")
    screen.type("\x1a")
    screen.until("Stopped")
    screen.until("ready> ")
    screen.type("bg\n")
    screen.until("ready> ")
    open(f"{folder}/go", "w").close()
    screen.until("off=")
    screen.type("wait %1; echo bg=$?=\n")
    hold("bg", "bg=4=" in screen.until("bg=[0-9]+="))
    screen.until("ready> ")
    screen.runs("cat &", "ready> ")
    while True:
        screen.type("jobs\n")
        if "Stopped" in screen.until("ready> "):
            break
    hold("what wants to read in the background stops", True)
    screen.type("fg\n")
    screen.until("cat")
    screen.type("three\n")
    hold("and reads in the foreground", "three" in screen.until("three\r\nthree|three"))
    screen.type("\x03")
    hold("and ends", screen.status() == 130)


def programs():
    """Those who use the whole terminal: vi, less, a shell with jobs; and the size."""
    screen = Screen()
    before = screen.settings()
    screen.runs("sh -c 'trap \"stty size; exit 3\" WINCH; stty size; echo on=; while :; do sleep 0.1; done'")
    hold("the size", "40 100" in screen.until("on="))
    screen.size(50, 120)
    hold("another size", "50 120" in screen.until("50 120") and screen.status() == 3)
    screen.runs("env PS1='in> ' bash --norc --noprofile -i", "in> ")
    screen.type("stty -echo; echo $((6 * 7))=\n")
    screen.until("42=")
    screen.until("in> ")
    screen.type("sleep 100 & sh -c 'echo on=; exec sleep 200'\n")
    screen.until("on=")
    screen.type("\x1a")
    screen.until(r"\[2\].*Stopped")
    screen.until("in> ")
    screen.type("kill %1 %2; kill -CONT %2; wait; suspend\n")
    screen.until("Stopped")
    screen.until("ready> ")
    screen.type("fg\n")
    screen.type("exit 8\n")
    hold("a shell with jobs that is suspended", screen.status() == 8)
    with open(f"{folder}/long", "w") as file:
        file.write("".join(f"line {number}\n" for number in range(1000)))
    screen.runs(f"less {folder}/long", "line 20")
    screen.type("q")
    hold("less", screen.status() == 0)
    screen.runs("seq 5000 | less", "\n20\r")
    screen.type("Gq")
    hold("a pipe into less", screen.status() == 0)
    screen.runs(f"vi -u NONE -N {folder}/text", r"\[New")
    screen.type("ihello")
    screen.until("hello")
    # Ctrl-C ends the insert mode too, and is not the beginning of a longer key. It forgets what was typed after it.
    screen.type("\x03")
    screen.until(r"\[1;5H")
    screen.type("\x1a")
    screen.until("Stopped")
    screen.until("ready> ")
    screen.type("fg\n")
    screen.until("hello")
    screen.type(":wq\n")
    hold("vi, suspended", screen.status() == 0)
    with open(f"{folder}/text") as file:
        hold("what it wrote", file.read() == "hello\n")
    hold("the terminal is as before", screen.settings() == before)


def pipes():
    """A pipe on either side, both, or no terminal at all; much output; the status."""
    screen = Screen()
    screen.runs("seq 200000 | tail -n 1", "200000\r")
    hold("a pipe out", screen.status() == 0)
    screen.type(f"seq 200000 | {command} tail -n 1\n")
    screen.until("200000\r")
    hold("a pipe in", screen.status() == 0)
    screen.type(f"seq 200000 | {command} cat | tail -n 1\n")
    screen.until("200000\r")
    hold("both", screen.status() == 0)
    screen.runs(f"sh -c 'seq 100000; echo last=' >{folder}/out")
    hold("a file", screen.status() == 0 and sh(f"tail -n 1 {folder}/out") == "last=\n")
    screen.runs("sh -c 'seq 100000; echo last='")
    text = screen.until("last=")
    hold("all of much output", text.count("\n") >= 100000 and "99999\r\n100000\r\n" in text, len(text))
    screen.until("ready> ")
    outcome = subprocess.run(
        ["setsid", *run, "sh", "-c", "cat; tty; echo wrong >&2; exit 7"], input=b"typed\n", capture_output=True, timeout=LIMIT)
    hold("no terminal", outcome.returncode == 7 and outcome.stdout == b"typed\nnot a tty\n" and outcome.stderr == b"wrong\n", outcome)
    outcome = subprocess.run(["setsid", *run, "sh", "-c", "kill -TERM $$"], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    hold("ended by a signal", outcome.returncode in (-15, 143), outcome)
    outcome = subprocess.run(["setsid", *run, "./no-such-command"], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    hold("no such command", outcome.returncode == (1 if "sudo" in run[0] else 127), outcome)
    # The whole group has the signal, and dash(1) may say that its sleep(1) was terminated.
    child = subprocess.Popen(
        ["setsid", *run, "sh", "-c", "trap 'exit 3' TERM; echo on; while :; do sleep 0.1; done"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    hold("a signal is passed on", child.wait(LIMIT) == 3)


def closed():
    """The terminal is closed, at a command that heeds that and at one that does not."""
    for trap in [f"touch {folder}/hup; exit 1", ""]:
        screen = Screen()
        screen.runs(f"sh -c 'trap \"{trap}\" HUP; echo on=; while :; do sleep 0.2; done; echo marked'", "on=")
        os.close(screen.end)
        if trap:
            until("the command hears it", lambda: os.path.exists(f"{folder}/hup"))
            until("nothing is left", lambda: not processes("marked"))
        else:
            time.sleep(1)
            os.kill(min(processes("marked")), signal.SIGTERM)
            until("it ends with a signal", lambda: not processes("marked"))


def place():
    """The working directory is kept where the user may enter it."""
    os.makedirs("/mnt/closed/open")
    os.chmod("/mnt/closed", 0o700)
    os.chmod("/mnt/closed/open", 0o755)
    text = sh(f"cd {folder} && {command} pwd 2>&1")
    hold("kept", text == f"{folder}\n", text)
    text = sh(f"cd /mnt/closed/open && {command} pwd 2>&1")
    hold("said", re.fullmatch("permcheck: .* may not enter /mnt/closed/open, so the command starts in /\n/\n", text), text)
    text = sh(f"mkdir {folder}/gone && cd {folder}/gone && rmdir {folder}/gone && {command} pwd 2>&1")
    hold("gone", text.endswith("so the command starts in /\n/\n"), text)
    text = sh(f"cd / && {command} sh -c 'cat /proc/self/status; keyctl show @s 2>/dev/null || true'")
    hold("no capability", re.search("CapEff:\t0+\n", text) and re.search("CapInh:\t0+\n", text), text)


globals()[scenario.replace("-", "_")]()
print(f"{scenario}: {count} looked at")
