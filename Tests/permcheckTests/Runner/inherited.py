#!/usr/bin/env python3
"""Holds that a lease takes back what was inherited from it: inherited.py FOLDER PERMCHECK SEED TREES [--only N].

Each history happens in two trees: in one, users have leases on folders, recursively; in the other there is no
permcheck. Meanwhile others make, move, rename and chown files, and change ACLs. Every revocation is killed at
random and finished by another run. Afterwards the kernel must give every class of user the same in both trees,
and nobody else's rights may have changed by a revocation. What somebody set to the very value that a lease gave is
left out, since an ACL has no author. Wants root, in a mount namespace of its own with an empty /var/lib.
"""
import ctypes, json, os, random, shutil, signal, subprocess, sys, time

import database

base, permcheck, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
only = int(sys.argv[6]) if len(sys.argv) > 5 and sys.argv[5] == "--only" else None
USERS = {"ada": 61001, "bob": 61002, "eve": 61003, "mia": 61004, "immich": 61005, "kodi": 61006}
FAMILY, CLUB = 62001, 62002
GROUPS = {"ada": [FAMILY], "bob": [CLUB], "eve": [], "mia": [FAMILY, CLUB], "immich": [], "kodi": [CLUB]}
LEASED = ["immich", "kodi"]
libc = ctypes.CDLL(None, use_errno=True)


def sh(*words, may_fail=False):
    done = subprocess.run(words, capture_output=True, text=True)
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


def as_user(name, work):
    """What WORK returns in a child that has the ids of a user."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            if name != "root":
                uid = USERS[name]
                os.setgroups([uid, *GROUPS[name]])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            with os.fdopen(write, "w") as out:
                json.dump(work(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def walk(top):
    found = ["."]
    for folder, folders, files in os.walk(top):
        found += [os.path.relpath(os.path.join(folder, n), top) for n in folders + files]
    return sorted(found)


def answers(top):
    """What the kernel gives each user on each inode itself, whatever is above it: {path: {user: "rwx"}}."""
    paths = walk(top)
    ends = [os.open(f"{top}/{p}", os.O_PATH | os.O_NOFOLLOW) for p in paths]

    def ask():
        # faccessat2(2) with AT_EACCESS and AT_EMPTY_PATH
        return ["".join(
            letter for letter, bit in [("r", 4), ("w", 2), ("x", 1)]
            if libc.syscall(439, end, b"", bit, 0x200 | 0x1000) == 0) for end in ends]
    try:
        by_user = {name: as_user(name, ask) for name in USERS}
    finally:
        for end in ends:
            os.close(end)
    return {p: {name: by_user[name][i] for name in USERS} for i, p in enumerate(paths)}


def defaults(top):
    """The entries of the users with leases in default ACLs: {path: [line]}."""
    found = {}
    for p in walk(top):
        if os.path.isdir(f"{top}/{p}") and not os.path.islink(f"{top}/{p}"):
            lines = sh("getfacl", "-dcpnE", f"{top}/{p}").stdout.splitlines()
            mine = [line for line in lines if line.split(":")[:2] in [["user", str(USERS[u])] for u in LEASED]]
            if mine:
                found[p] = mine
    return found


class History:
    def __init__(self, number):
        self.number = number
        self.chance = random.Random(f"{seed}-{number}")
        place = f"{base}/{self.chance.choice(PLACES)}/{number}"
        self.tops = [f"{place}/leased", f"{place}/free"]
        self.place, self.names, self.leases, self.told = place, 0, [], []
        # The inodes with a lease of their own, where a mask that somebody sets later finds other entries.
        self.touched = set()
        os.makedirs(place)

    def tell(self, text):
        self.told.append(text)

    def both(self, words, work):
        """Does the same in both trees; the result must be the same."""
        results = [work(top) for top in self.tops]
        self.tell(f"{words}: {results[0]}")
        if results[0] != results[1]:
            raise Fault(f"{words}: {results}")
        return results[0]

    # Beginning: folders and files of ada, default ACLs, and entries that somebody set before the lease.

    def begin(self):
        chance = self.chance
        for top in self.tops:
            os.mkdir(top)
            os.chown(top, USERS["ada"], FAMILY)
            os.chmod(top, 0o755)
        self.allows_others = chance.random() < 0.15
        if not self.allows_others:
            self.acl(".", self.list(True))
        for _ in range(chance.randrange(2, 7)):
            self.make()
        for _ in range(chance.randrange(0, 3)):
            self.acl(self.any(), f"u:{USERS[chance.choice(LEASED)]}:{chance.choice(['r--', 'r-x', 'rwx'])}")
        # Made elsewhere, before: brought in later with its entry.
        for top in self.tops:
            old = f"{os.path.dirname(top)}/old-{os.path.basename(top)}"
            os.mkdir(old)
            with open(f"{old}/file", "w"):
                pass
            os.chown(f"{old}/file", USERS["ada"], FAMILY)
            sh("setfacl", "-m", f"u:{USERS['immich']}:r-x", f"{old}/file")
        time.sleep(0.03)

    def list(self, is_default):
        """An ACL with an entry for bob, perhaps for others, whose mask hides nothing."""
        chance = self.chance
        entries = {f"u:{USERS['bob']}": chance.choice(["r--", "r-x", "rwx"])}
        for who in [f"u:{USERS['eve']}", f"g:{CLUB}", f"u:{USERS['immich']}"]:
            if chance.random() < 0.25:
                entries[who] = chance.choice(["r--", "r-x", "rwx"])
        entries["g:"] = chance.choice(["r-x", "r--", "---"])
        mask = "".join(c if any(c in e for e in entries.values()) else "-" for c in "rwx")
        entries |= {"u:": "rwx", "o:": chance.choice(["---", "r-x"]), "m:": mask}
        return ",".join(("d:" if is_default else "") + f"{k}:{v}" for k, v in entries.items())

    def any(self, is_folder=None):
        paths = [p for p in walk(self.tops[0]) if os.path.lexists(f"{self.tops[1]}/{p}")]
        if is_folder is not None:
            paths = [p for p in paths if os.path.isdir(f"{self.tops[0]}/{p}") == is_folder]
        return self.chance.choice(paths) if paths else "."

    def make(self):
        chance = self.chance
        self.names += 1
        who, folder, is_folder = chance.choice(["ada", "ada", "root", "bob"]), self.any(True), chance.random() < 0.45
        # Not without rights of the group: under an empty mask a lease on the file leaves out others' entries.
        mode = chance.choice([0o777, 0o750, 0o770] if is_folder else [0o666, 0o640, 0o660])
        path = f"{folder}/{'folder' if is_folder else 'file'}{self.names}"

        def work(top):
            os.umask(0o022)
            if is_folder:
                os.mkdir(f"{top}/{path}", mode)
            else:
                os.close(os.open(f"{top}/{path}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
            if who != "root":
                os.chown(f"{top}/{path}", USERS[who], USERS[who])
        self.both(f"{who} makes {path} {mode:o}", work)

    def acl(self, path, entries):
        options = ["-n"] if "m::" in entries else []
        self.both(f"setfacl -m {entries} {path}",
                  lambda top: sh("setfacl", *options, "-m", entries, f"{top}/{path}", may_fail=True).returncode)

    # What others do meanwhile.

    def move(self):
        path, to = self.any(), self.any(True)
        if path == "." or f"{to}/".startswith(f"{path}/"):
            return
        # What leaves the folder of a lease is out of its reach.
        for _, _, _, folder in self.leases:
            top = os.path.relpath(folder, self.tops[0])
            if top != "." and f"{path}/".startswith(f"{top}/") and not f"{to}/".startswith(f"{top}/"):
                return
        self.names += 1

        def work(top):
            try:
                os.rename(f"{top}/{path}", f"{top}/{to}/moved{self.names}")
                return 0
            except OSError as error:
                return error.errno
        self.both(f"mv {path} {to}/moved{self.names}", work)

    def own(self):
        path, uid, gid = self.any(), self.chance.choice([0, *list(USERS.values())[:4]]), self.chance.choice([FAMILY, CLUB])
        self.both(f"chown {uid}:{gid} {path}", lambda top: os.chown(f"{top}/{path}", uid, gid))

    def mode(self):
        path, less = self.any(), self.chance.choice([0o020, 0o030, 0o010, 0o007, 0o002])
        if os.path.isdir(f"{self.tops[0]}/{path}") and less & 0o700:
            return

        def work(top):
            os.chmod(f"{top}/{path}", os.stat(f"{top}/{path}").st_mode & 0o7777 & ~less)
        self.both(f"chmod ={less:o} less {path}", work)

    def entry(self):
        """Somebody else's entry, never of the value that a lease gives."""
        chance = self.chance
        who = chance.choice(["eve", "mia", *LEASED])
        rights = [r for r in ["r--", "r-x", "rwx", "rw-"] if who not in LEASED or r not in self.given(who)]
        if not rights:
            return
        rights = chance.choice(rights)
        is_default = chance.random() < 0.35
        path = self.any(True) if is_default else self.any()
        if is_default and who in LEASED and path in self.leased_folders():
            return
        self.acl(path, f"{'d:' if is_default else ''}u:{USERS[who]}:{rights}")

    def given(self, who):
        """Every value that an entry of the user may have by leases, and by what was there before."""
        needs = {"r": {"r", "x"}, "rx": {"r", "x"}, "rwx": {"r", "w", "x"}}
        values = {"".join(c if c in needs[need] else "-" for c in "rwx") for _, user, need, *_ in self.leases if user == who}
        values |= {v[:2] + "-" for v in values}
        return values | {"r--", "r-x", "rwx"} if values else set()

    def leased_folders(self):
        return [p for p in walk(self.tops[0]) if os.path.isdir(f"{self.tops[0]}/{p}")]

    def bring(self):
        """A file from before, with the entry that it had."""
        self.names += 1
        to = self.any(True)

        def work(top):
            old = f"{os.path.dirname(top)}/old-{os.path.basename(top)}/file"
            if not os.path.exists(old):
                return 1
            os.rename(old, f"{top}/{to}/brought{self.names}")
            return 0
        self.both(f"mv old {to}/brought{self.names}", work)

    def bar(self):
        path = self.any()
        self.both(f"setfacl -x bob {path}",
                  lambda top: sh("setfacl", "-x", f"u:{USERS['bob']}", f"{top}/{path}", may_fail=True).returncode)

    def meanwhile(self):
        for _ in range(self.chance.randrange(2, 9)):
            self.chance.choice([self.make] * 6 + [self.move, self.move, self.own, self.mode, self.entry, self.entry, self.bring, self.bar])()

    # Leases.

    def request(self):
        chance = self.chance
        user, need = chance.choice(LEASED), chance.choice(["r", "rx", "rwx"])
        path = "." if not self.leases or chance.random() < 0.5 else self.any(True)
        folder = os.path.normpath(f"{self.tops[0]}/{path}")
        words = [permcheck, "request", f"photos={folder}", "--need", need, "--user", user, "--recursive", "--yes"]
        if self.allows_others:
            words.append("--allow-others")
        before = set(self.open())
        done = sh(*words, may_fail=True)
        grants = self.grants()
        new = {g["request"] for g in grants} - before
        self.touched |= {os.lstat(g["place"]).st_ino for g in grants if "default" not in g["change"] and os.path.lexists(g["place"])}
        self.tell(f"request {path} {need} {user}: {done.returncode} {new}")
        if done.returncode not in (0, 1) and "others" not in done.stderr:
            raise Fault(f"{words}: {done.returncode} {done.stderr}")
        if new:
            self.leases.append((new.pop(), user, need, folder))

    def grants(self):
        return json.loads(sh(permcheck, "list", "--grants", "--json", may_fail=True).stdout)["grants"]

    def open(self):
        return sorted({g["request"] for g in self.grants()})

    def revoke(self):
        chance = self.chance
        lease = self.leases.pop(chance.randrange(len(self.leases)))
        before = answers(self.tops[0])
        words = [permcheck, "revoke", "--request", lease[0]]
        kills = 0
        while kills < 6 and chance.random() < 0.6:
            kills += 1
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.random() * 0.045)
            process.send_signal(signal.SIGKILL)
            process.wait()
        done = sh(*words, may_fail=True)
        self.tell(f"revoke {lease} after {kills} kills: {done.returncode} {done.stdout} {done.stderr}")
        if lease[0] in self.open():
            raise Fault(f"{lease} is still open: {done.stdout}{done.stderr}")
        after = answers(self.tops[0])
        for path in before:
            for user in USERS:
                if user == lease[1]:
                    continue
                if before[path][user] != after[path][user]:
                    raise Fault(f"{path}: {user} had {before[path][user]} and has {after[path][user]}")
        # What another lease of the same user gives stays.
        for _, user, need, folder in self.leases:
            if user != lease[1]:
                continue
            top = os.path.relpath(folder, self.tops[0])
            for path in before:
                if top != "." and path != top and not path.startswith(f"{top}/"):
                    continue
                if os.lstat(f"{self.tops[0]}/{path}").st_ino in self.touched:
                    continue
                wanted = set(need) & set(before[path][user])
                if not wanted <= set(after[path][user]):
                    raise Fault(f"{path}: {user} keeps {after[path][user]} of {wanted} by the lease on {top}")

    def play(self):
        self.begin()
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            self.request()
            self.meanwhile()
        while self.leases:
            self.revoke()
            if self.leases and self.chance.random() < 0.5:
                self.meanwhile()
        leased, free = (answers(top) for top in self.tops)
        if leased.keys() != free.keys():
            raise Fault("other files")
        for path in leased:
            own = os.lstat(f"{self.tops[0]}/{path}").st_ino in self.touched
            for user in USERS:
                has, right = set(leased[path][user]), set(free[path][user])
                # Where there was no default ACL, one kept the umask out: that others gain was agreed to.
                if self.allows_others or (has <= right if own else has == right):
                    continue
                raise Fault(f"{path}: {user} has {leased[path][user]} and should have {free[path][user]}")
            if self.allows_others:
                mine, right = (
                    [line for line in sh("getfacl", "-cpnE", f"{top}/{path}").stdout.splitlines()
                     if any(f":{USERS[u]}:" in line for u in LEASED)] for top in self.tops)
                if mine != right:
                    raise Fault(f"{path}: {mine}, should be {right}")
        if (kept := defaults(self.tops[0])) != (right := defaults(self.tops[1])):
            raise Fault(f"default ACLs: {kept}, should be {right}")
        shutil.rmtree(self.place)
        return len(leased)


class Fault(Exception):
    pass


PLACES = ["tmpfs", "ext4"]
data_base()
for name in PLACES:
    os.mkdir(f"{base}/{name}")
    if name == "tmpfs":
        sh("mount", "-t", "tmpfs", "none", f"{base}/{name}")
    else:
        with open(f"{base}/image", "w") as file:
            file.truncate(64 << 20)
        sh("mkfs.ext4", "-q", f"{base}/image")
        sh("mount", "-o", "loop", f"{base}/image", f"{base}/{name}")
    os.chmod(f"{base}/{name}", 0o755)
os.environ["PERMCHECK_LOG"] = "none"
wrong, inodes = 0, 0
for number in range(count) if only is None else [only]:
    history = History(number)
    try:
        inodes += history.play()
    except Fault as fault:
        wrong += 1
        print(f"tree {number}: {fault}")
        print("  " + "\n  ".join(history.told))
        print(f"  repeat: {sys.argv[0]} FOLDER PERMCHECK {seed} {count} --only {number}")
        sh(permcheck, "revoke", "--all", may_fail=True)
print(f"inherited: {count} trees, {inodes} files and folders at the end, seed {seed}; {wrong} wrong")
sys.exit(wrong != 0)
