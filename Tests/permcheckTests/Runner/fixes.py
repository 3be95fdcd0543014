#!/usr/bin/env python3
"""Holds that printed fixes work when they are typed: fixes.py FOLDER PERMCHECK SEED REFUSALS [--only N].

Each refusal is of a file or folder with an odd name, below folders that may be closed. What check or explain prints
is run by dash, exactly as it stands there, as the one who asked; a line with sudo runs as root. Then the kernel must
give access. What request gives is revoked, and modes and ACLs must be what they were. Wants root, in a mount namespace
of its own with an empty /var/lib.
"""
import os, random, re, subprocess, sys

import database

base, permcheck, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
only = int(sys.argv[6]) if len(sys.argv) > 5 and sys.argv[5] == "--only" else None
USERS = {"ada": 61001, "bob": 61002, "immich": 61005}
FAMILY = 62001
GROUPS = {"ada": [FAMILY], "bob": [FAMILY], "immich": []}


def run(words, user="root", **more):
    def become():
        if user != "root":
            os.setgroups([USERS[user], *GROUPS[user]])
            os.setresgid(*[USERS[user]] * 3)
            os.setresuid(*[USERS[user]] * 3)

    environment = {"PATH": f"{base}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "PERMCHECK_LOG": "none",
                   "HOME": f"{base}/home/{user}"}
    return subprocess.run(words, capture_output=True, preexec_fn=become, env=environment, **more)


def data_base():
    passwd, group = "", ""
    for name, uid in USERS.items():
        passwd += f"{name}:x:{uid}:{uid}::{base}/home/{name}:/bin/sh\n"
        group += f"{name}:x:{uid}:\n"
        os.makedirs(f"{base}/home/{name}")
        os.chown(f"{base}/home/{name}", uid, uid)
    group += f"family:x:{FAMILY}:ada,bob\n"
    database.add(passwd, group)
    os.mkdir(f"{base}/bin")
    # Whoever may become root types a password here.
    with open(f"{base}/bin/sudo", "w") as file:
        file.write('#!/bin/sh\nexec "$@"\n')
    os.chmod(f"{base}/bin/sudo", 0o755)
    os.link(permcheck, f"{base}/bin/permcheck")


class Refusal:
    def __init__(self, number):
        self.number, self.chance = number, random.Random(f"{seed}-{number}")
        chance = self.chance
        self.user, self.asker = chance.choice(list(USERS)), chance.choice(["root", "root", *USERS])
        self.top = f"{base}/{number}".encode()
        os.mkdir(self.top)
        self.folders, path = [self.top], self.top
        for _ in range(chance.randrange(0, 3)):
            path += b"/" + self.name()
            os.mkdir(path)
            self.folders.append(path)
        self.path = path + b"/" + self.name()
        self.is_folder = chance.random() < 0.4
        if self.is_folder:
            os.mkdir(self.path)
        else:
            open(self.path, "w").close()
        for path in [*self.folders[1:], self.path]:
            owner = USERS.get(self.asker if chance.random() < 0.5 else chance.choice(["root", *USERS]), 0)
            os.chown(path, owner, chance.choice([0, FAMILY]))
            os.chmod(path, chance.choice([0o755, 0o750, 0o700, 0o711, 0o500, 0o600, 0o640]))
            if chance.random() < 0.3:
                who = chance.choice([f"u:{chance.choice(list(USERS.values()))}", f"g:{FAMILY}"])
                subprocess.run([b"setfacl", b"-m", f"{who}:{chance.choice(['---', 'r--', 'r-x', 'rwx'])}".encode(), b"--", path])
        self.need = chance.choice(["r", "rx", "rwx", "wx"] if self.is_folder else ["r", "w", "rw"])

    def name(self):
        chance = self.chance
        pieces = [lambda: bytes([chance.randrange(1, 256)]), lambda: chance.choice([b" ", b"'", b"\\", b'"', b"$(x)", b"`", b"%", b"-", b"\n", b"\t", b"*", b";", b"!"]),
                  lambda: chance.choice("\u00ad\u200b\u202e\ufeff\u2028\u0301é日\U0001f4f7".strip("\n")).encode(), lambda: b"a"]
        while True:
            name = b"".join(chance.choice(pieces)() for _ in range(chance.randrange(1, 9))).replace(b"/", b"x")
            if name not in (b".", b"..") and not os.path.lexists(self.folders[-1] + b"/" + name):
                return name

    def kernel(self):
        """Whether the kernel gives the user what is needed, as it is used."""
        if self.is_folder:
            script = "import os, sys; p, n = os.fsencode(sys.argv[1]), sys.argv[2]\nif 'r' in n: os.listdir(p)\nif not os.access(p, sum({'w': os.W_OK, 'x': os.X_OK}.get(c, 0) for c in n), effective_ids=True): sys.exit(1)"
        else:
            script = "import os, sys; os.open(os.fsencode(sys.argv[1]), {'r': os.O_RDONLY, 'w': os.O_WRONLY, 'rw': os.O_RDWR}[sys.argv[2]])"
        return run(["/usr/bin/python3", "-c", script, self.path, self.need], self.user).returncode == 0

    def state(self):
        paths = [*self.folders, self.path]
        return [(os.lstat(p).st_mode, os.lstat(p).st_uid, os.lstat(p).st_gid, os.lstat(p).st_mtime_ns) for p in paths], \
            run([b"getfacl", b"-pn", *paths]).stdout

    def hold(self, what, is_so, *facts):
        if not is_so:
            raise Fault(f"{what}: {facts}")

    def run(self):
        self.told = f"{self.user} {self.need}, asked by {self.asker}: {self.path!r}"
        if self.kernel():
            return "granted"
        before = self.state()
        words = [permcheck, self.chance.choice(["check", "explain"]), self.path, "--need", self.need]
        if self.asker != self.user or self.chance.random() < 0.5:
            words += ["--user", self.user]
        asked = run(words, self.asker)
        self.hold("status", asked.returncode in (1, 2), asked)
        if asked.returncode == 2:
            # Who cannot look below a closed folder is told nothing.
            self.hold("unknown", self.asker != "root", asked)
            return "unknown"
        lines = self.fix(asked.stdout.decode())
        self.hold("a fix", lines or self.asker != "root", asked)
        for line in lines:
            who = "root" if line.startswith("sudo ") or "; sudo " in line else self.asker
            if "permcheck request" in line or "/pc request" in line:
                line += " --yes"
            done = run(["dash", "-c", line], who, cwd="/")
            self.hold("typed", done.returncode == 0 or "request" in line, line, done)
        if not lines:
            return "no fix"
        self.hold("works", self.kernel(), lines, asked.stdout.decode())
        undone = [run([permcheck, "revoke", "--all"], who) for who in {"root", self.asker}]
        if all(" request " in line for line in lines):
            self.hold("revoked", self.state() == before, before, self.state(), undone)
        return "fixed"

    @staticmethod
    def fix(text):
        lines, depth = [], None
        for line in text.split("\n"):
            indent = len(line) - len(line.lstrip(" "))
            if re.match(r" *(smallest )?fix( \(.*\))?:$", line):
                depth = indent
                lines = []
            elif depth is not None and indent > depth and line.strip():
                lines.append(line.strip(" "))
            else:
                depth = None
        return lines


class Fault(Exception):
    pass


data_base()
wrong, outcomes = 0, {}
for number in range(count) if only is None else [only]:
    refusal = Refusal(number)
    try:
        outcome = refusal.run()
    except Fault as fault:
        wrong, outcome = wrong + 1, "wrong"
        if wrong < 4:
            print(f"refusal {number} ({refusal.told}): {fault}\nrepeat: fixes.py … {seed} {count} --only {number}")
    outcomes[outcome] = outcomes.get(outcome, 0) + 1
print(f"fixes: {', '.join(f'{n} {o}' for o, n in sorted(outcomes.items()))}; {wrong} wrong")
sys.exit(1 if wrong else 0)
