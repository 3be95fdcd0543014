#!/usr/bin/env python3
"""Holds leases of owning groups to the kernel: groups.py FOLDER PERMCHECK SEED HISTORIES [--only N].

On ramfs, which has no ACLs, random users request random needs of files and folders, some for a second, some together with
others, some killed between two calls; grants are revoked by user, by file and by time. After each step everybody with an
open grant has what it is for, and nobody else has more than at first; after `revoke --all` all is as it was. Wants root, in
mount and pid namespaces of its own.
"""
import json, os, random, shutil, subprocess, sys, time

base, permcheck, seed, histories = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
only = int(sys.argv[6]) if len(sys.argv) > 5 else None
USERS = {"ga": (61001, 61001, [61001, 62001]), "gb": (61002, 61002, [61002, 62001]), "gc": (61003, 62002, [62002]), "gd": (61004, 62002, [62002])}
GROUPS = {"ga": (61001, []), "gb": (61002, []), "both": (62001, ["ga", "gb"]), "shared": (62002, [])}
MODES = [0o600, 0o600, 0o640, 0o644, 0o604, 0o000, 0o755, 0o700, 0o750, 0o711, 0o664, 0o2755, 0o4755]
BITS = {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}
for name, text in (("passwd", [f"{name}:x:{uid}:{gid}::/:/bin/sh" for name, (uid, gid, _) in USERS.items()]),
                   ("group", [f"{name}:x:{gid}:{','.join(members)}" for name, (gid, members) in GROUPS.items()])):
    with open(f"/etc/{name}") as file:
        known = file.read()
    with open(f"{base}/{name}", "w") as file:
        file.write(known + "".join(f"{line}\n" for line in text))
    subprocess.run(["mount", "--bind", f"{base}/{name}", f"/etc/{name}"], check=True)


def allowed(user, path):
    """What a user may do with a path, as the kernel says."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        uid, gid, groups = USERS[user]
        os.setgroups(groups)
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        os.write(write, "".join(name for name, bit in BITS.items() if os.access(path, bit)).encode() or b"-")
        os._exit(0)
    os.close(write)
    answer = os.read(read, 9).decode()
    os.close(read)
    os.waitpid(child, 0)
    return set(answer) - {"-"}


class History:
    def __init__(self, number):
        self.number, self.chance = number, random.Random(f"{seed}-{number}")
        self.top = f"{base}/r/h{number}"
        self.paths = [f"{self.top}/d", f"{self.top}/d/a", f"{self.top}/d/b", f"{self.top}/f"]
        os.mkdir(self.top)
        os.mkdir(self.paths[0])
        os.chmod(self.top, 0o755)
        for path in self.paths:
            if path != self.paths[0]:
                shutil.copy("/bin/true", path)
            owner, group = self.chance.choice([0, 0, 0, 61001, 61003]), self.chance.choice([0, 0, 0, 61001, 62001, 62002])
            os.chown(path, owner, group)
            os.chmod(path, self.chance.choice(MODES))
        self.first = {path: self.state(path) for path in self.paths}
        self.had = {(user, path): allowed(user, path) for user in USERS for path in self.paths}
        self.steps, self.opened = [], False

    @staticmethod
    def state(path):
        status = os.lstat(path)
        return status.st_uid, status.st_gid, oct(status.st_mode & 0o7777)

    def run(self, *words, tracer=()):
        self.steps.append(" ".join([*tracer[:1], *words]))
        done = subprocess.run([*tracer, permcheck, *words], capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "PERMCHECK_LOG": "none"})
        if done.returncode not in ((0, 1, 2, 3, 70, -9, 137) if tracer else (0, 1, 2, 3)) or "atal error" in done.stderr:
            self.fail(f"status {done.returncode}: {done.stderr[:300]}")
        return done

    def fail(self, text):
        self.wrong.append(f"history {self.number}: {text}\n    first {self.first}\n    " + "\n    ".join(self.steps))

    def grants(self):
        listed = json.loads(subprocess.run([permcheck, "list", "--grants", "--json"], capture_output=True, text=True, check=False).stdout)
        return listed["grants"]

    def step(self):
        chance, user, path = self.chance, self.chance.choice(list(USERS)), self.chance.choice(self.paths)
        kind = chance.choice("qqqqqqkuupeet")
        if kind in "qk":
            words = ["request", path, "--need", chance.choice(["r", "r", "w", "rw", "x", "rx", "rwx"]), "--user", user, "--yes"]
            if chance.random() < 0.3:
                words += ["--for", "1s"]
            if chance.random() < 0.2:
                words += ["--allow-others"]
                self.opened = True
            tracer = []
            if kind == "k":
                call, when = chance.choice([("chown", 1), ("chmod", 1), ("chown", 2), ("fsync", 2)])
                tracer = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{chance.choice(['signal=KILL', 'error=EIO'])}:when={when}"]
            done = self.run(*words, tracer=tracer)
            if done.returncode == 0 and not set(words[3]) <= allowed(user, path):
                self.fail(f"{user} was given {words[3]} of {path}, and has {allowed(user, path)}")
        elif kind == "u":
            self.run("revoke", "--user", user, path)
        elif kind == "p":
            self.run("revoke", path)
        elif kind == "e":
            self.run("revoke", "--expired")
        else:
            time.sleep(1.05)
            self.run("revoke", "--expired")
        self.judge()

    def judge(self):
        # What was killed is undone by the next command that may.
        self.run("revoke", "--expired")
        leased, holders = {}, set()
        for one in self.grants():
            totals["leases"] += 1
            # It may expire between two commands.
            holders.add(one["user"])
            if one["stage"] == "active" and not one["expired"]:
                leased.setdefault((one["user"], one["place"]), []).append(one["change"])
        for (user, place), changes in leased.items():
            want = {letter for change in changes for letter in change.split("+")[-1] if "+" in change and letter in "rwx"}
            # The folder above may be closed where this grant is alone.
            if self.reaches(user, place) and not want <= allowed(user, place):
                self.fail(f"{user} has {sorted(allowed(user, place))} of {place} by {changes}")
        if not self.opened:
            for (user, path), had in self.had.items():
                now = allowed(user, path)
                if user not in holders and not now <= had:
                    self.fail(f"{user}, who has no grant, has {sorted(now)} of {path} instead of {sorted(had)}")
                if not had <= now:
                    self.fail(f"{user} has {sorted(now)} of {path} instead of {sorted(had)}")

    def reaches(self, user, place):
        return place in (self.paths[0], self.paths[3]) or "x" in allowed(user, self.paths[0])

    def play(self):
        self.wrong = []
        for _ in range(self.chance.randrange(3, 9)):
            self.step()
            if self.wrong:
                break
        done = self.run("revoke", "--all")
        totals["histories"] += 1
        now = {path: self.state(path) for path in self.paths}
        if done.returncode == 0 and now != self.first:
            self.fail(f"after revoke --all: {now}")
        if done.returncode != 0:
            self.fail(f"revoke --all: {done.returncode} {done.stdout} {done.stderr}")
        shutil.rmtree(self.top)
        shutil.rmtree("/var/lib/permcheck", ignore_errors=True)
        return self.wrong


os.mkdir(f"{base}/r")
subprocess.run(["mount", "-t", "ramfs", "none", f"{base}/r"], check=True)
os.chmod(base, 0o755)
os.chmod(f"{base}/r", 0o755)
totals = dict.fromkeys(["histories", "leases"], 0)
wrong = 0
for number in range(1, histories + 1):
    if only and number != only:
        continue
    for line in History(number).play()[:1]:
        wrong += 1
        print(line)
print("groups: {histories} histories, {leases} leases looked at; ".format(**totals) + f"{wrong} wrong, seed {seed}")
sys.exit(wrong > 0)
