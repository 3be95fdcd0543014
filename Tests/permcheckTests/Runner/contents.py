#!/usr/bin/env python3
"""Holds what permcheck says of everything in a folder against the kernel: contents.py FOLDER PERMCHECK SEED TREES [--only N].

Each tree has random owners, modes, ACLs, links, special files and mounts. For each user, root's check and the
user's own check are compared with the kernel's answer on each file and folder; then root gives what is missing, and
the kernel must give that user everything and nobody else more. Wants root, in a mount namespace of its own with an
empty /var/lib.
"""
import ctypes, json, os, random, stat, subprocess, sys

import database

base, permcheck, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
only = int(sys.argv[6]) if len(sys.argv) > 5 and sys.argv[5] == "--only" else None
USERS = {"ada": 61001, "bob": 61002, "eve": 61003, "immich": 61005}
FAMILY, CLUB = 62001, 62002
GROUPS = {"ada": [FAMILY], "bob": [CLUB, FAMILY], "eve": [], "immich": [CLUB]}
MODES = [0o755, 0o755, 0o755, 0o750, 0o700, 0o711, 0o744, 0o775, 0o770, 0o705, 0o000, 0o2750, 0o1777]
libc = ctypes.CDLL(None, use_errno=True)
BITS = {"r": 4, "w": 2, "x": 1}


def sh(*words, may_fail=False, user=None):
    def become():
        if user:
            os.setgroups([USERS[user], *GROUPS[user]])
            os.setresgid(*[USERS[user]] * 3)
            os.setresuid(*[USERS[user]] * 3)

    done = subprocess.run(words, capture_output=True, text=True, errors="surrogateescape", preexec_fn=become, cwd="/")
    if done.returncode and not may_fail:
        raise RuntimeError(f"{words}: {done.returncode} {done.stderr}{done.stdout}")
    return done


def data_base():
    passwd, group = "", ""
    for name, uid in USERS.items():
        passwd += f"{name}:x:{uid}:{uid}::/:/bin/sh\n"
        group += f"{name}:x:{uid}:\n"
    for name, gid in [("family", FAMILY), ("club", CLUB)]:
        group += f"{name}:x:{gid}:{','.join(u for u in USERS if gid in GROUPS[u])}\n"
    database.add(passwd, group)
    open(f"{base}/linked", "w").close()


class Tree:
    def __init__(self, number):
        self.number, self.chance = number, random.Random(f"{seed}-{number}")
        self.top = f"{base}/{number}"
        self.mounts = []
        os.mkdir(self.top)
        folders = [self.top]
        for n in range(self.chance.randrange(1, 14)):
            path = f"{self.chance.choice(folders)}/{self.chance.choice(['a', 'é b', '-n', chr(10) + 'n', '%'])}{n}"
            self.make(path, folders)
        for path in [self.top, *self.below(everything=True)]:
            self.dress(path)
        # Most tops can be used, so that what is below counts.
        if self.chance.random() < 0.8:
            os.chmod(self.top, 0o777)

    def make(self, path, folders):
        kind = self.chance.choices(["file", "folder", "link", "fifo", "mount", "hard"], [10, 8, 1, 1, 0.5, 0.3])[0]
        if kind == "file":
            open(path, "w").close()
        elif kind == "folder":
            os.mkdir(path)
            folders.append(path)
        elif kind == "link":
            os.symlink(self.chance.choice(["/etc/shadow", "nowhere", "."]), path)
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "mount":
            os.mkdir(path)
            if self.chance.random() < 0.5:
                sh("mount", "-t", "tmpfs", "none", path)
            else:
                sh("mount", "--bind", base, path)
            self.mounts.append(path)
        elif kind == "hard":
            os.link(f"{base}/linked", path)

    def dress(self, path):
        chance = self.chance
        if os.path.islink(path) or path in self.mounts or os.stat(path).st_nlink > 1 and not os.path.isdir(path):
            return
        os.chown(path, chance.choice([0, *USERS.values()]), chance.choice([0, FAMILY, CLUB]))
        os.chmod(path, chance.choice(MODES) if os.path.isdir(path) else chance.choice([0o644, 0o664, 0o640, 0o600, 0o755, 0o604, 0]))
        for _ in range(chance.choice([0, 0, 0, 1, 2])):
            who = chance.choice([f"u:{chance.choice(list(USERS.values()))}", f"g:{FAMILY}", f"g:{CLUB}", "m:"])
            sh("setfacl", *chance.choice([[], [], ["-n"]]), "-m", f"{who}:{chance.choice(['---', 'r--', 'r-x', 'rwx', '-wx'])}",
               "--", path)

    def below(self, everything=False):
        """What a recursive request is about, below the top."""
        found = []
        for folder, folders, files in os.walk(self.top):
            folders[:] = [n for n in folders if f"{folder}/{n}" not in self.mounts]
            for name in folders + files:
                path = f"{folder}/{name}"
                mode = os.lstat(path).st_mode
                if everything or stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                    found.append(path)
        # A link to a folder is among the folders.
        return [p for p in found if everything or not os.path.islink(p)]

    def truth(self, user, need):
        """{path: whether the kernel gives a user what is needed}"""
        paths = [self.top, *self.below()]
        # A folder is opened for reading, and the rest is asked for alone.
        parts = {p: [n for n in (need.replace("w", "").replace("x", ""), need.replace("r", "")) if n]
                 if os.path.isdir(p) else [need.replace("x", "")] for p in paths}
        calls = {p: [sum(BITS[c] for c in part) for part in parts[p]] for p in paths}
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.setgroups([USERS[user], *GROUPS[user]])
                os.setresgid(*[USERS[user]] * 3)
                os.setresuid(*[USERS[user]] * 3)
                # faccessat2(2) with AT_EACCESS and AT_SYMLINK_NOFOLLOW
                answers = [all(libc.syscall(439, -100, os.fsencode(p), bits, 0x200 | 0x100) == 0 for bits in calls[p])
                           for p in paths]
                os.write(write, bytes(answers))
            finally:
                os._exit(0)
        os.close(write)
        answers = os.read(read, 1 << 16)
        os.close(read)
        os.waitpid(child, 0)
        return dict(zip(paths, map(bool, answers), strict=True))

    def check(self, need, *words, user=None):
        done = sh(permcheck, "check", self.top, "--need", need, "--recursive", "--json", *words, may_fail=True, user=user)
        if done.returncode not in (0, 1, 2):
            raise Fault(f"check: {done.returncode} {done.stderr}")
        report = json.loads(done.stdout)["reports"][0]
        return done.returncode, report["status"], report["resources"][0]

    def hold(self, what, is_so, *facts):
        if not is_so:
            raise Fault(f"{what}: {facts}")

    def run(self):
        user, need = self.chance.choice(list(USERS)), self.chance.choice(["r", "rx", "rx", "rw", "rwx", "w", "x"])
        self.told = f"{user} {need}"
        before = {name: self.truth(name, bit) for name in USERS for bit in "rwx"}
        truth = self.truth(user, need)
        refused, reached = [p for p in truth if not truth[p]], self.truth(user, "x")[self.top]
        status, word, resource = self.check(need, "--user", user)
        contents = resource.get("contents")
        if not refused:
            self.hold("all is granted", (status, word) == (0, "authorized"), status, word, resource)
        else:
            wanted = "denied" if len(refused) == len(truth) else "limited"
            self.hold("some is refused", (status, word) == (1, wanted), status, word, wanted, refused, resource)
        if reached:
            counts = (contents["asked"], contents["refused"], contents["undetermined"], contents["unlisted"])
            self.hold("counts", counts == (len(truth), len(refused), 0, 0), counts, len(truth), refused)
            top = 0 if truth[self.top] else 1
            self.hold("causes", sum(c["count"] for c in contents["causes"]) == len(refused) - top, contents, refused)
            self.hold("named", all(c["rule"] not in ("EACCES", "EPERM") for c in contents["causes"]), contents)
        self.ask_itself(user, need, truth, refused)
        if refused:
            self.give(user, need, truth, resource, word)

    def ask_itself(self, user, need, truth, refused):
        status, word, resource = self.check(need, user=user)
        contents = resource.get("contents")
        if word == "authorized":
            self.hold("own: authorized", status == 0 and not refused, refused, resource)
        elif not refused:
            # It cannot list what it may use.
            self.hold("own: not known", word == "notDetermined" and status == 2 and contents["unlisted"], word, resource)
        else:
            self.hold("own: refused", status == (2 if word == "notDetermined" else 1), status, word)
            if contents and not contents["unlisted"] and truth[self.top]:
                counts = (contents["asked"], contents["refused"])
                self.hold("own: counts", counts == (len(truth), len(refused)), counts, len(truth), refused)
            if word == "denied" and contents and not contents["unlisted"]:
                self.hold("own: all", len(refused) == len(truth), resource)

    def give(self, user, need, truth, resource, word):
        others = [name for name in USERS if name != user]
        before = {name: {bit: self.truth(name, bit) for bit in "rwx"} for name in others}
        plan = sh(permcheck, "request", self.top, "--need", need, "--user", user, "--recursive", "--dry-run", "--json",
                  may_fail=True)
        done = sh(permcheck, "request", self.top, "--need", need, "--user", user, "--recursive", "--yes", may_fail=True)
        after = self.truth(user, need)
        given.append(done.returncode == 0)
        if done.returncode == 0:
            self.hold("given", all(after.values()), [p for p in after if not after[p]], done.stdout)
            status, word, _ = self.check(need, "--user", user)
            self.hold("given: said", (status, word) == (0, "authorized"), status, word)
            steps = json.loads(plan.stdout)["plans"][0]["steps"]
            changes = {tuple(r["command"]) for r in resource["remedies"]}
            listed = {tuple(s["command"]) for s in steps if "-d" not in s["command"]}
            if word == "limited":
                self.hold("the changes of the check are those of the request", changes == listed, changes, listed)
            self.hold("only what is refused is changed",
                      all(not truth.get(s["place"], False) or os.path.isdir(s["place"]) for s in steps), steps)
        else:
            self.hold("nothing is given", after == truth, done, [p for p in after if after[p] != truth[p]])
        now = {name: {bit: self.truth(name, bit) for bit in "rwx"} for name in others}
        gains = [(n, b, p) for n in others for b in "rwx" for p in now[n][b] if now[n][b][p] and not before[n][b][p]]
        self.hold("nobody else gets access", not gains, gains, done.stdout)

    def end(self):
        for path in reversed(self.mounts):
            sh("umount", path)


class Fault(Exception):
    pass


os.environ.update(PERMCHECK_LOG="none", LC_ALL="C.UTF-8")
data_base()
wrong, given = [], []
for number in range(count) if only is None else [only]:
    tree = Tree(number)
    try:
        tree.run()
    except Fault as fault:
        wrong.append(number)
        if len(wrong) < 4:
            print(f"tree {number} ({tree.told}): {fault}\nrepeat: contents.py … {seed} {count} --only {number}")
            print(sh("getfacl", "-Rpn", tree.top).stdout)
    finally:
        tree.end()
print(f"contents: {count if only is None else 1} trees, {sum(given)} of {len(given)} given; {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
