#!/usr/bin/env python3
"""Holds explain --to against the operations themselves: operations.py FOLDER PERMCHECK SEED TREES FIXES [--only N] [--on PLACE].

Makes random trees on tmpfs, overlay, ext4, xfs and btrfs, and of subvolumes of btrfs that may be read-only, and asks
what a random user may do there: root asks for the user, and the user asks. Then the operation is done, as that user. Up to FIXES of the fixes that are printed are carried
out: the operation must then work, nobody else may have gained, and what is printed as undo must bring back modes and
ACLs. Wants root, in a mount namespace of its own.
"""
import errno, fcntl, json, os, random, shutil, stat, struct, subprocess, sys

import database

base, permcheck, seed, trees, most = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
more = dict(zip(sys.argv[6::2], sys.argv[7::2]))
only = int(more["--only"]) if "--only" in more else None
USERS = {"ada": 61001, "bob": 61002, "immich": 61005}
FAMILY = 62001
GROUPS = {"ada": [FAMILY], "bob": [FAMILY], "immich": [], "root": [0]}
CALLS = ["create", "mkdir", "mkfifo", "symlink", "link", "delete", "delete", "delete", "rmdir", "rename", "rename", "rename",
         "chmod", "chown", "touch", "utimes", "truncate", "chdir", "setxattr", "exec"]


def sh(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def ids(user):
    return (0, [0]) if user == "root" else (USERS[user], [USERS[user], *GROUPS[user]])


def as_user(user, work):
    """What WORK returns, in a child that has the ids of the user; an errno if it fails."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        uid, groups = ids(user)
        os.setgroups(groups)
        os.setresgid(*[groups[0]] * 3)
        os.setresuid(*[uid] * 3)
        os.umask(0)
        try:
            answer = work()
        except OSError as error:
            answer = error.errno
        os.write(write, json.dumps(answer).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        answer = json.load(file)
    os.waitpid(child, 0)
    return answer


def attribute(path, letter):
    """Makes a file immutable ("i"), append-only ("a"), or neither ("")."""
    descriptor = os.open(path, os.O_RDONLY)
    flags = struct.unpack("l", fcntl.ioctl(descriptor, 0x80086601, struct.pack("l", 0)))[0]
    flags = flags & ~0x30 | {"i": 0x10, "a": 0x20, "": 0}[letter]
    fcntl.ioctl(descriptor, 0x40086602, struct.pack("l", flags))
    os.close(descriptor)


def places():
    found = {}
    for name in ["tmpfs", "overlay", "ext4", "xfs", "btrfs", "subvolumes"]:
        place = f"{base}/{name}"
        os.mkdir(place)
        try:
            if name == "tmpfs":
                sh("mount", "-t", "tmpfs", "-o", "mode=755", "none", place)
            elif name == "overlay":
                for part in ["lower", "upper", "work"]:
                    os.mkdir(f"{base}/tmpfs/{part}")
                layers = ",".join(f"{k}dir={base}/tmpfs/{k}" for k in ["lower", "upper", "work"])
                sh("mount", "-t", "overlay", "none", place, "-o", layers)
            elif name == "subvolumes":
                sh("mount", "--bind", f"{base}/btrfs", place)
            else:
                with open(f"{base}/{name}.image", "w") as file:
                    file.truncate((320 if name in ("xfs", "btrfs") else 64) << 20)
                sh(f"mkfs.{name}", "-q", f"{base}/{name}.image")
                sh("mount", "-o", "loop", f"{base}/{name}.image", place)
            os.chmod(place, 0o755)
            found[name] = place
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"without {name}: {getattr(error, 'stderr', error)}".strip(), file=sys.stderr)
    return found


class Fault(Exception):
    pass


class Tree:
    """Two folders with something in each, one operation, and who asks."""

    def __init__(self, number, place):
        self.number, self.chance, self.top = number, random.Random(f"{seed}-{number}"), f"{place}/t{number}"
        chance = self.chance
        self.user = chance.choice([*USERS, *USERS, *USERS, "root"])
        self.nodes = {"A": "d", "B": "d", "A/t": chance.choice("ffffddps"), "B/u": chance.choice("ffd-")}
        if self.nodes["A/t"] == "d" and chance.random() < 0.5:
            self.nodes["A/t/x"] = "f"
        if self.nodes["B/u"] == "d" and chance.random() < 0.3:
            self.nodes["B/u/x"] = "f"
        self.nodes = {path: kind for path, kind in self.nodes.items() if kind != "-"}
        self.owners = {path: chance.choice([0, *USERS.values(), *USERS.values()]) for path in self.nodes}
        self.groups = {path: chance.choice([0, FAMILY, *USERS.values()]) for path in self.nodes}
        self.modes = {path: self.mode(kind) for path, kind in self.nodes.items()}
        self.lists = {path: self.list() for path, kind in self.nodes.items() if chance.random() < 0.2}
        self.letters = {chance.choice([p for p, k in self.nodes.items() if k in "df"]): chance.choice("ia")} if chance.random() < 0.06 else {}
        # On btrfs a folder can be a subvolume, which can be read-only; a snapshot is one as well.
        self.has_subvolumes = place.endswith("/subvolumes")
        folders = [path for path, kind in self.nodes.items() if kind == "d"]
        self.subvolumes = [path for path in folders if self.has_subvolumes and chance.random() < 0.6]
        self.frozen = [path for path in self.subvolumes if chance.random() < 0.6]
        self.call = chance.choice(CALLS + ["write"] * 4 if self.has_subvolumes else CALLS)
        self.path = chance.choice(["A/t"] * 8 + ["A/n", "B/n", "A", "B/u", "A/t/x"])
        if self.call in ("create", "mkdir", "mkfifo", "symlink"):
            self.path = chance.choice(["A/n", "B/n", "A/t/n", "A/n", "A/t"])
        if self.call == "write":
            self.path = next((path for path in ["B/u", "A/t", "A/t/x"] if self.nodes.get(path) == "f"), "A/n")
        self.target = chance.choice(["A/n", "B/n", "B/n", "B/u", "B/u", "A", "A/t/n"]) if self.call in ("rename", "link") else None
        self.owner = (chance.choice([-1, *USERS.values()]), chance.choice([-1, FAMILY, 0]))

    def mode(self, kind):
        chance = self.chance
        if kind == "d":
            return chance.choice([0o755, 0o775, 0o777, 0o1777, 0o1777, 0o1775, 0o750, 0o770, 0o700, 0o711, 0o500, 0o2775, chance.randrange(0o2000)])
        return chance.choice([0o644, 0o664, 0o666, 0o600, 0o640, 0o400, 0o755, 0o000, 0o4755, 0o2755, 0o606, chance.randrange(0o1000)])

    def list(self):
        chance = self.chance
        who = chance.choice([*(f"u:{uid}" for uid in USERS.values()), f"g:{FAMILY}"])
        return f"{who}:{chance.choice(['---', 'r--', 'r-x', '-wx', 'rwx'])},m::{chance.choice(['rwx', 'r-x', 'rwx', '---', '-wx'])}"

    def build(self):
        os.mkdir(self.top, 0o755)
        for path, kind in self.nodes.items():
            full = f"{self.top}/{path}"
            if path in self.subvolumes:
                sh("btrfs", "subvolume", "create", full)
            elif kind == "d":
                os.mkdir(full)
            else:
                os.mknod(full, {"f": stat.S_IFREG, "p": stat.S_IFIFO, "s": stat.S_IFSOCK}[kind] | 0o600)
            os.chown(full, self.owners[path], self.groups[path])
            os.chmod(full, self.modes[path])
            if path in self.lists:
                sh("setfacl", "-n", "-m", self.lists[path], full)
        for path, letter in self.letters.items():
            attribute(f"{self.top}/{path}", letter)
        self.freeze(True)

    def freeze(self, is_read_only):
        """Makes the subvolumes read-only, or writable again, wherever they are now."""
        moved = self.target if self.call == "rename" else None
        for path in self.frozen:
            for where in (path, moved) if not is_read_only else (path,):
                full = f"{self.top}/{where}"
                if where and os.path.isdir(full) and os.stat(full).st_ino == 256:
                    sh("btrfs", "property", "set", full, "ro", str(is_read_only).lower())

    def remove(self):
        self.freeze(False)
        for path in self.letters:
            for where in (path, self.path, self.target):
                if where and os.path.lexists(f"{self.top}/{where}") and stat.S_IFMT(os.lstat(f"{self.top}/{where}").st_mode) in (stat.S_IFREG, stat.S_IFDIR):
                    attribute(f"{self.top}/{where}", "")
            if os.path.lexists(f"{self.top}/{path}"):
                attribute(f"{self.top}/{path}", "")
        shutil.rmtree(self.top)

    def state(self):
        paths = [f"{self.top}/{path}" for path in self.nodes]
        return [(s.st_mode, s.st_uid, s.st_gid) for s in map(os.lstat, paths)], sh("getfacl", "-pn", *paths)

    def rights(self):
        """What everybody but the user may do to each inode."""
        def look():
            return [[os.access(f"{self.top}/{path}", bit, effective_ids=True) for bit in (4, 2, 1)] for path in self.nodes]
        return {user: as_user(user, look) for user in USERS if user != self.user}

    def act(self):
        """Does it; returns the errno, 0 if it was done."""
        path, to = f"{self.top}/{self.path}", f"{self.top}/{self.target}"
        def work():
            match self.call:
                case "create": os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                case "mkdir": os.mkdir(path)
                case "mkfifo": os.mkfifo(path)
                case "symlink": os.symlink("nowhere", path)
                case "link": os.link(path, to)
                case "delete":
                    # remove(3): what it is, root sees.
                    os.rmdir(path) if self.is_folder else os.unlink(path)
                case "rmdir": os.rmdir(path)
                case "rename": os.rename(path, to)
                case "chmod": os.chmod(path, 0o640)
                case "chown": os.chown(path, *self.owner)
                case "touch": os.utime(path)
                case "utimes": os.utime(path, (1, 2))
                case "truncate": os.truncate(path, 0)
                case "chdir": os.chdir(path)
                case "setxattr": os.setxattr(path, "user.x", b"1")
                case "write": os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                case "exec":
                    if not os.path.exists(path): os.stat(path)
                    try: os.execv(path, ["x"])
                    except OSError as error:
                        # An empty file is no program, and may be executed.
                        if error.errno != errno.ENOEXEC: raise
            return 0
        self.is_folder = os.path.isdir(path)
        return as_user(self.user, work)

    def words(self, user=None):
        words = [permcheck, "explain", f"{self.top}/{self.path}"]
        if self.call == "write":
            return words + ["--need", "w", "--json"] + (["--user", user] if user else [])
        if self.target:
            words.append(f"{self.top}/{self.target}")
        if self.call == "chown" and self.owner != (-1, -1):
            uid, gid = ["" if number < 0 else str(number) for number in self.owner]
            words.append(uid + (":" + gid if gid else ""))
        return words + ["--to", self.call, "--json"] + (["--user", user] if user else [])

    def answer(self, user=None):
        """What permcheck says: an errno, 0 or "undetermined"; and the remedies."""
        def ask():
            done = subprocess.run(self.words(user), capture_output=True, text=True, env={"PERMCHECK_LOG": "none"})
            try:
                resource = json.loads(done.stdout)["reports"][0]["resources"][0]
            except (ValueError, LookupError):
                return [f"{done.stdout}{done.stderr}", []]
            verdict = resource["decision"]["verdict"]
            number = getattr(errno, resource["decision"].get("errno", ""), 0)
            return [number if verdict != "undetermined" else verdict, resource["remedies"]]
        return ask() if user else as_user(self.user, ask)

    def run(self, fixes):
        self.build()
        try:
            if self.call == "chown" and self.owner == (-1, -1):
                self.owner = (USERS["bob"], -1)
            told, remedies = self.answer(self.user)
            own, _ = self.answer()
            done = "unknown" if told == "undetermined" else "granted"
            # To move a folder of a lower layer is refused by overlayfs (EXDEV); this is told as not known.
            is_moved = self.call == "rename" and self.nodes.get(self.path) == "d" and "overlay" in self.top
            if told and remedies and fixes:
                self.fix(told, remedies)
                return "fixed"
            really = self.act()
            if told != really and not (told == "undetermined" and is_moved):
                raise Fault(f"told {told}, really {really}")
            if own not in (told, "undetermined"):
                raise Fault(f"the user is told {own}, root {told}")
            return "refused" if told and done != "unknown" else done
        finally:
            self.remove()

    def fix(self, told, remedies):
        changes = [one for one in remedies if one["kind"] in ("acl", "mode")]
        if not changes:
            return
        before, rights = self.state(), self.rights()
        for change in changes:
            sh(*change["command"])
        for user, after in self.rights().items():
            if after != rights[user]:
                raise Fault(f"{user} had {rights[user]}, has {after} after {changes}")
        for change in reversed(changes):
            sh(*change["undoCommand"])
        if self.state() != before:
            raise Fault(f"not undone by {[c['undoCommand'] for c in changes]}: {before}, {self.state()}")
        for change in changes:
            sh(*change["command"])
        really = self.act()
        if really:
            raise Fault(f"told {told}; after {[c['command'] for c in changes]} it still ends with {really}")


def main():
    passwd = "".join(f"{name}:x:{uid}:{uid}::/:/bin/sh\n" for name, uid in USERS.items())
    group = "".join(f"{name}:x:{uid}:\n" for name, uid in USERS.items()) + f"family:x:{FAMILY}:ada,bob\n"
    database.add(passwd, group)
    os.umask(0)
    found = places()
    if "--on" in more:
        found = {more["--on"]: found[more["--on"]]}
    counts, wrong, number = {}, [], 0
    for number in range(trees) if only is None else [only]:
        tree = Tree(number, list(found.values())[number % len(found)])
        try:
            result = tree.run(counts.get("fixed", 0) < most)
        except Fault as fault:
            result = "wrong"
            wrong.append(f"--only {number}: {tree.user} {' '.join(tree.words()[1:])} {tree.nodes} {tree.owners}: {fault}")
        counts[result] = counts.get(result, 0) + 1
    print("\n".join(wrong[:10]))
    told = ", ".join(f"{count} {result}" for result, count in sorted(counts.items()) if result != "wrong")
    print(f"operations: {number + 1} trees on {', '.join(found)}, {told}; {len(wrong)} wrong, seed {seed}")
    sys.exit(bool(wrong))


main()
