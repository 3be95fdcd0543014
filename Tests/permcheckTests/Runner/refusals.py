#!/usr/bin/env python3
"""Random refusals, each with its printed fix: refusals.py FOLDER PERMCHECK SEED REFUSALS [--only N].

Files, folders, devices, sockets and links with odd modes, ACLs and attributes, on mounts that forbid something, in sticky
folders, on FUSE, in /proc and sysfs. What the kernel refuses to a user is explained, and one of the printed fixes is typed:
then the kernel allows it. Where no command is printed, a line says why or what to do. Wants root, in mount, pid and network
namespaces of its own.
"""
import os, random, re, shutil, socket, struct, subprocess, sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)) + "/../Storage")
import database, server

base, permcheck, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
only = int(sys.argv[6]) if len(sys.argv) > 5 and sys.argv[5] == "--only" else None
ADA, BOB, FAMILY = 61001, 61002, 62001
database.add(
    f"ada:x:{ADA}:{ADA}::{base}:/bin/sh\nbob:x:{BOB}:{BOB}::{base}:/bin/sh\n",
    f"ada:x:{ADA}:\nbob:x:{BOB}:\nfamily:x:{FAMILY}:ada,bob\n")
os.environ.update(PERMCHECK_LOG="none", HOME=base, LC_ALL="C.UTF-8", COLUMNS="4000")
base += "/x"
os.mkdir(base)
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", base], check=True)
subprocess.run(["mount", "-t", "sysfs", "none", "/sys"], check=True)
subprocess.run("ip link add v0 type veth peer name v1", shell=True, check=True)
AS = {name: ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={uid},{FAMILY}"] for name, uid in
      [("ada", ADA), ("bob", BOB)]}


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, cwd="/", **more)


def sh(line):
    return run("sh", "-ec", line)


def doing(what, path):
    """A Python line that does it."""
    line = {
        "r": "(os.listdir(p) if os.path.isdir(p) else os.close(os.open(p, os.O_RDONLY | os.O_NONBLOCK)))",
        "w": "os.close(os.open(p + '/.new', os.O_WRONLY | os.O_CREAT)) if os.path.isdir(p)"
             " else os.close(os.open(p, os.O_WRONLY | os.O_NONBLOCK))",
        "rw": "os.close(os.open(p, os.O_RDWR | os.O_NONBLOCK))",
        "x": "1 / os.access(p, os.X_OK, effective_ids=True)",
        "create": "os.close(os.open(p, os.O_WRONLY | os.O_CREAT | os.O_EXCL))",
        "mkdir": "os.mkdir(p)",
        "delete": "os.unlink(p)",
        "rmdir": "os.rmdir(p)",
        "rename": "os.rename(p, p + '.new')",
        "link": "os.link(p, p + '.new')",
        "truncate": "os.truncate(p, 0)",
        "chmod": "os.chmod(p, os.stat(p).st_mode & 0o777)",
        "touch": "os.utime(p)",
        "exec": "os.execv(p, [p])",
        "connect": "socket.socket(socket.AF_UNIX).connect(p)",
    }[what]
    return f"import os, socket, sys\np = sys.argv[1]\n{line}"


def done(who, what, path):
    return run(*AS[who], "/usr/bin/python3", "-c", doing(what, path), path).returncode == 0


def spoil(path, rng, modes):
    os.chown(path, rng.choice([0, 0, BOB, ADA]), rng.choice([0, FAMILY, BOB]))
    os.chmod(path, rng.choice(modes))
    if rng.random() < 0.3:
        entries = [f"u:{rng.choice(['ada', 'bob'])}:{rng.choice(['r', 'rw', 'x', 'rwx', '-'])}"]
        if rng.random() < 0.5:
            entries.append(f"g:family:{rng.choice(['r', 'w', 'rx', '-'])}")
        if rng.random() < 0.5:
            entries.append(f"m::{rng.choice(['r', 'rwx', '-', 'x'])}")
        run("setfacl", "-m", ",".join(entries), path)


class Scene:
    """A scene can be made again, for each of the fixes that are printed for it."""

    def __init__(self, number):
        self.number, self.root = number, f"{base}/s{number}"

    def make(self):
        rng = self.rng = random.Random(f"{seed}.{self.number}")
        self.clean = []
        self.who = rng.choice(["ada", "ada", "bob"])
        place = rng.random()
        if place < 0.06:
            return self.inProc()
        if place < 0.09:
            return self.onFUSE()
        if place < 0.13:
            self.path, self.what = "/sys/class/net/v0/" + rng.choice(["ifalias", "mtu", "address"]), "w"
            sh("chgrp 0 /sys/class/net/v0/*; chmod 644 /sys/class/net/v0/ifalias /sys/class/net/v0/mtu")
            return
        os.mkdir(self.root)
        top = self.root
        if rng.random() < 0.5:
            top += "/m"
            os.mkdir(top)
            run("mount", "-t", rng.choice(["tmpfs", "tmpfs", "ramfs"]), "-o", "mode=755", "none", top)
            self.clean.append(["umount", "-l", top])
            self.mount = top
        else:
            self.mount = None
        folder = top
        for depth in range(rng.randrange(3)):
            folder += f"/d{depth}"
            os.mkdir(folder)
        kind = rng.choice(["file", "file", "file", "folder", "folder", "device", "socket", "fifo"])
        path = self.path = folder + "/" + rng.choice(["f", "a b", "ü", "-x"])
        if kind == "file":
            with open(path, "w") as file:
                file.write("#!/bin/true\n")
        elif kind == "folder":
            os.mkdir(path)
        elif kind == "device":
            os.mknod(path, 0o020600, os.makedev(1, 3))
        elif kind == "fifo":
            os.mkfifo(path)
        else:
            self.server = socket.socket(socket.AF_UNIX)
            here = os.getcwd()
            os.chdir(folder)
            self.server.bind("./" + os.path.basename(path))
            os.chdir(here)
            self.server.listen(9)
        spoil(path, rng, [0o777, 0o755, 0o644, 0o600, 0o640, 0o660, 0o620, 0o711, 0, 0o066])
        above = path
        while (above := os.path.dirname(above)) != top:
            spoil(above, rng, [0o755, 0o755, 0o750, 0o700, 0o711, 0o1777, 0o777, 0o770])
        operations = {
            "file": ["r", "w", "rw", "x", "delete", "rename", "link", "truncate", "chmod", "touch", "exec"],
            "folder": ["r", "w", "x", "create", "mkdir", "rmdir", "rename", "chmod"],
            "device": ["r", "w", "rw", "delete", "rename"], "socket": ["connect", "delete"],
            "fifo": ["r", "rw", "delete"]}[kind]
        self.what = rng.choice(operations)
        if self.what in ("create", "mkdir"):
            self.path = path = path + "/new"
        spoiled = [p for p in (path, os.path.dirname(path)) if os.path.isfile(p) or os.path.isdir(p)]
        if rng.random() < 0.15:
            target = rng.choice(spoiled)
            run("chattr", rng.choice(["+i", "+a"]), target)
            self.clean.insert(0, ["chattr", "-i", "-a", target])
        if self.mount and rng.random() < 0.5:
            run("mount", "-o", "remount,bind," + rng.choice(["ro", "nodev", "noexec", "ro,noexec"]), self.mount)

    def inProc(self):
        self.process = subprocess.Popen([*AS["bob"], "sleep", "100"])
        self.who = "ada"
        self.path = f"/proc/{self.process.pid}/" + self.rng.choice(["environ", "fd", "maps", "cwd/.", "mem"])
        self.what = "r"

    def onFUSE(self):
        """A daemon that changes nothing."""
        point = self.root
        os.mkdir(point)
        read, write = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, server.__file__, point, "0", "all", "default_permissions", "allow_other"],
            stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.clean = [["umount", "-l", point]]
        self.mount = None
        self.path, self.what = point + "/album/new", self.rng.choice(["create", "mkdir"])

    def end(self):
        if getattr(self, "process", None):
            self.process.kill()
            self.process.wait()
            self.process = None
        run("chattr", "-i", "-a", self.path)
        run("chattr", "-i", "-a", os.path.dirname(self.path)) if self.path.startswith(base) else None
        if self.path.startswith(base) and self.mount:
            run("mount", "-o", "remount,bind,rw", self.mount)
        for words in self.clean:
            run(*words)
        shutil.rmtree(self.root, ignore_errors=True)

    def ask(self):
        words = [permcheck, "explain", self.path]
        if self.what in ("r", "w", "rw", "x"):
            words += ["--need", "rwx" if self.what == "w" and os.path.isdir(self.path) else self.what]
        elif self.what in ("rename", "link"):
            words += [self.path + ".new", "--to", self.what]
        else:
            words += ["--to", self.what]
        return run(*words, "--user", self.who)


def fixes(text):
    """The printed fixes: for each its heading and its commands."""
    found = []
    for line in text.splitlines():
        if re.match(r"(smallest fix|fix|or|a suggestion|or, a suggestion)\b.*\):$", line):
            found.append((line, []))
        elif line.startswith("  ") and found:
            found[-1][1].append(line[2:])
        elif re.match(r"fix: ", line):
            found.append((line, None))
    return found


tally, wrong, refused, number = {}, 0, 0, 0
numbers = [only] if only is not None else iter(lambda: None, 0)
while refused < count:
    if only is not None and number > 0:
        break
    scene = Scene(only if only is not None else number)
    number += 1
    scene.make()
    if done(scene.who, scene.what, scene.path):
        scene.end()
        continue
    refused += 1
    said = scene.ask()
    label = f"scene {scene.number}: {scene.who} {scene.what} {scene.path}"
    printed = fixes(said.stdout)
    if only is not None:
        print(said.stdout, said.stderr)
    if said.returncode == 0:
        wrong += 1
        print(label, "is granted, and the kernel refuses", said.stdout)
    commands = [one for one in printed if one[1] is not None and "suggestion" not in one[0]]
    if commands:
        heading, lines = scene.rng.choice(commands)
        for line in lines:
            result = sh(line.removeprefix("sudo "))
            if result.returncode:
                break
        allowed = done(scene.who, scene.what, scene.path)
        if result.returncode or not allowed:
            wrong += 1
            print(label, "fix does not help:", heading, lines, result.stderr.strip(), "\n", said.stdout)
        tally["command"] = tally.get("command", 0) + 1
    elif printed:
        tally["advice"] = tally.get("advice", 0) + 1
    else:
        tally["none"] = tally.get("none", 0) + 1
        wrong += 1
        print(label, "no fix, and no word why:\n", said.stdout, said.stderr)
    scene.end()
print(f"refusals: {refused},", ", ".join(f"{value} {key}" for key, value in sorted(tally.items())), f"; {wrong} wrong, seed {seed}", sep=" ")
sys.exit(wrong > 0)
