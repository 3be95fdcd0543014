#!/usr/bin/env python3
"""Checks random paths while one or two things cannot be read: blind.py FOLDER PERMCHECK SEED SCENES.

Makes random files, folders, links and devices, and asks as a process that is confined or not, for itself, for another
user or about another process. The kernel is the judge: the same credentials in the same place open each path. What the
kernel refuses may not be authorized; what it grants, not denied or unavailable; and open is only what depends on the
hidden thing. Wants root, in mount and pid namespaces of its own.
"""
import ctypes, json, os, random, stat, struct, sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)) + "/../Storage")
import database, server

base, permcheck, seed, scenes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
libc = ctypes.CDLL(None, use_errno=True)
NEEDS = ["r", "w", "rw", "x"]
USERS = {"blinda": (4001, [4101]), "blindb": (4002, [4101, 4102]), "blindc": (4003, [])}


def call(*arguments):
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(arguments[0]))
    return result


def mount(source, target, kind=None, flags=0, data=None):
    encode = lambda text: None if text is None else text.encode()
    if libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(data)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


BIND, REMOUNT, READ_ONLY, NO_DEV, NO_EXEC = 4096, 32, 1, 4, 8
database.add(
    "".join(f"{n}:x:{u}:{u}::/:/bin/sh\n" for n, (u, _) in USERS.items()),
    "".join(f"{n}:x:{u}:\n" for n, (u, _) in USERS.items()) + "".join(
        f"g{g}:x:{g}:{','.join(n for n, (_, all) in USERS.items() if g in all)}\n" for g in (4101, 4102)))
base += "/blind"
os.mkdir(base)
mount("none", base, "tmpfs", 0, "mode=755")
with open(base + "/closed", "w") as file:
    os.fchmod(file.fileno(), 0)
os.mkdir(base + "/home", 0o777)
os.chmod(base + "/home", 0o777)


def acl(entries):
    """The bytes of system.posix_acl_access; entries are (tag, id, permissions)."""
    order = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4, 32: 5}
    entries = sorted(entries, key=lambda e: (order[e[0]], e[1]))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", t, p, i & 0xFFFFFFFF) for t, i, p in entries)


OWNERS, GROUPS = [0, 0, 4001, 4002], [0, 4101, 4102, 4001]
FILE_MODES = [0o777, 0o755, 0o644, 0o640, 0o600, 0o664, 0o604, 0o066, 0o700, 0]
FOLDER_MODES = [0o755, 0o755, 0o755, 0o711, 0o750, 0o700, 0o777]


def entries():
    """A random ACL."""
    entries = [(1, -1, rng.randrange(8)), (4, -1, rng.randrange(8)), (32, -1, rng.choice([0, 4, 5, 7])),
               (16, -1, rng.choice([7, 7, 6, 5, 4, 0]))]
    for user in rng.sample([4001, 4002, 4003], rng.randrange(3)):
        entries.append((2, user, rng.randrange(8)))
    for group in rng.sample([4101, 4102], rng.randrange(2)):
        entries.append((8, group, rng.randrange(8)))
    return entries


def spoil_mode(path, bits):
    os.chown(path, rng.choice(OWNERS), rng.choice(GROUPS))
    os.chmod(path, rng.choice(bits))
    if rng.random() < 0.35:
        os.setxattr(path, "system.posix_acl_access", acl(entries()))


def tree(root):
    """Makes files, folders, devices and links; some are on a mount that forbids something."""
    os.mkdir(root)
    places, paths = [root], []
    for number in range(3):
        place = f"{rng.choice(places)}/d{number}"
        os.mkdir(place)
        places.append(place)
    flagged = None
    if rng.random() < 0.6:
        flagged = root + "/m"
        os.mkdir(flagged)
        mount("none", flagged, "tmpfs", 0, "mode=755")
        places += [flagged, flagged]
    for number in range(14):
        path = f"{rng.choice(places)}/f{number}"
        kind = rng.random()
        if kind < 0.6:
            with open(path, "w") as file:
                file.write("#!/bin/sh\n")
        elif kind < 0.75:
            os.mknod(path, 0o020600, os.makedev(*rng.choice([(1, 3), (1, 7), (81, 77), (4, 64)])))
        elif kind < 0.85:
            os.mkdir(path)
        else:
            os.symlink(rng.choice(paths) if paths else "nowhere", path)
            paths.append(path)
            continue
        spoil_mode(path, FILE_MODES)
        paths.append(path)
    for place in places[1:]:
        if place != flagged:
            spoil_mode(place, FOLDER_MODES)
    if flagged:
        flags = sum(flag for flag in [READ_ONLY, NO_DEV, NO_EXEC] if rng.random() < 0.5)
        mount(None, flagged, None, BIND | REMOUNT | flags)
    return paths + places[1:] + [f"{rng.choice(places)}/missing"]


class Broken:
    """A FUSE file system with modes and ACLs, in which one or two questions about one node end with EIO.

    A link that cannot be read, an ACL, attributes, a name, the list of names: each alone.
    """

    QUESTIONS = {"lookup": server.LOOKUP, "getattr": server.GETATTR, "readlink": 5, "getxattr": server.GETXATTR,
                 "listxattr": server.LISTXATTR, "opendir": server.OPENDIR, "statfs": server.STATFS, "open": 14}

    def __init__(self, point, targets):
        """Node 1 is the root; a node is (parent, name, mode, uid, gid, ACL or None, target or None)."""
        self.point, self.nodes = point, {1: (0, "", 0o040755, 0, 0, None, None)}
        folders = [1]
        for number in range(2, 10):
            kind = rng.choice(["file", "file", "file", "folder", "link"])
            mode = {"file": 0o100000, "folder": 0o040000, "link": 0o120777}[kind]
            if kind != "link":
                mode |= rng.choice(FILE_MODES if kind == "file" else FOLDER_MODES)
            bytes, target = None, None
            if kind == "link":
                target = rng.choice([*targets, *(self.path(n) for n in self.nodes if n > 1), "nowhere"])
            elif rng.random() < 0.5:
                rows = entries()
                bytes = acl(rows)
                bits = {tag: bits for tag, _, bits in rows}
                mode = mode & ~0o777 | bits[1] << 6 | bits[16] << 3 | bits[32]
            self.nodes[number] = (rng.choice(folders), f"n{number}", mode, rng.choice(OWNERS), rng.choice(GROUPS), bytes, target)
            if kind == "folder":
                folders.append(number)
        questions = sorted(self.QUESTIONS.values())
        self.broken = {(rng.choice(questions), rng.randrange(2, 10)) for _ in range(rng.choice([1, 1, 2]))}
        # Links and ACLs alone, as often as all the rest.
        marked = [n for n, node in self.nodes.items() if node[5] or node[6]]
        if marked and rng.random() < 0.6:
            number = rng.choice(marked)
            self.broken.add((server.GETXATTR if self.nodes[number][5] else 5, number))
        self.knowsACLs = rng.random() < 0.7

    def path(self, number):
        parent, name = self.nodes[number][:2]
        return self.point if number == 1 else f"{self.path(parent)}/{name}"

    def paths(self):
        return [self.path(number) for number in self.nodes if number > 1]

    def decides(self, path):
        """Whether the path leads through a node that is broken, or cannot be told to lead past them."""
        try:
            ends = [path, os.path.realpath(path)]
        except OSError:
            return True
        return any(f"{self.point}/" in f"{end}/" for end in ends)

    def attributes(self, number):
        _, _, mode, uid, gid, _, target = self.nodes[number]
        return struct.pack("<6Q10I", number, len(target or ""), 0, 0, 0, 0, 0, 0, 0, mode, 1, uid, gid, 0, 512, 0)

    def answer(self, operation, number, body):
        node = self.nodes.get(number)
        if operation == server.INIT:
            flags = 1 << 20 if self.knowsACLs else 0  # FUSE_POSIX_ACL
            return 0, struct.pack("<4I2H2I2H8I", 7, 31, 0, flags, 8, 8, 4096, 1, 0, 0, *[0] * 8)
        if operation == server.LOOKUP:
            name = body.rstrip(b"\0").decode()
            found = next((n for n, other in self.nodes.items() if other[:2] == (number, name)), None)
            if found is None:
                return server.ENOENT, b""
            if (operation, found) in self.broken:
                return 5, b""
            return 0, struct.pack("<4Q2I", found, 0, 0, 0, 0, 0) + self.attributes(found)
        if (operation, number) in self.broken:
            return 5, b""
        if operation == server.GETATTR:
            return 0, struct.pack("<Q2I", 0, 0, 0) + self.attributes(number)
        if operation == 5:  # READLINK
            return 0, node[6].encode()
        if operation == server.GETXATTR:
            size, name = struct.unpack_from("<I", body)[0], body[8:].rstrip(b"\0")
            if name != b"system.posix_acl_access" or not node[5]:
                return server.ENODATA, b""
            return (0, node[5]) if size else (0, struct.pack("<II", len(node[5]), 0))
        if operation == server.LISTXATTR:
            return server.ENODATA, b""
        if operation in (14, server.OPENDIR):
            return 0, bytes(16)
        if operation in (15, 25, server.READDIR, server.RELEASEDIR, server.RELEASE):
            return 0, b""
        if operation == server.STATFS:
            return 0, bytes(80)
        return server.ENOSYS, b""

    def start(self):
        os.mkdir(self.point)
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(write, 1)
            server.serve(self.point, 0, ["default_permissions", "allow_other"], self.answer, lambda _: None)
        os.close(write)
        with open(read) as file:
            if file.readline() != "mounted\n":
                raise SystemExit("the FUSE server was not mounted")

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        libc.umount2(self.point.encode(), 2)


# What a process is confined by; each is called after it took on its ids.
def no_new_privs():
    libc.prctl(38, 1, 0, 0, 0)


def landlock(allowed):
    """Only below `allowed` is everything allowed; `allowed` are open folders, each with its rights."""
    all = (1 << 13) - 1
    attribute = ctypes.create_string_buffer(struct.pack("<QQ", all, 0))
    ruleset = call(444, attribute, 8, 0)
    for parent, rights in allowed:
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, parent))
        call(445, ruleset, 1, rule, 0)
    no_new_privs()
    call(446, ruleset, 0)
    os.close(ruleset)


def seccomp(number, errno):
    """The system call of this number fails."""
    code = struct.pack("<HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, number, 6, 0, 0, 0x50000 | errno, 6, 0, 0, 0x7FFF0000)
    code = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(code)))
    no_new_privs()
    if libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def drop(uid, gid, groups):
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def cover(path, mode=755):
    if os.path.isdir(path):
        mount("none", path, "tmpfs", 0, f"mode={mode}")


def hide(path, fromRoot):
    if fromRoot:
        fail(path)
    elif os.path.exists(path):
        mount(base + "/closed", path, None, BIND)


def fail(path):
    """Reading fails with EIO: address 0 of a process is not mapped."""
    mount(f"/proc/{os.getpid()}/mem", path, None, BIND)


me = lambda name: f"/proc/{os.getpid()}/{name}"
# Each blinder with what it hides: the rest of the driver asks only for these words.
BLINDERS = {
    "proc empty": (lambda _, r: cover("/proc"), {"proc"}),
    "proc closed": (lambda _, r: cover("/proc", 700), {"proc"}),
    "hidepid": (lambda _, r: mount("proc", "/proc", "proc", 0, "hidepid=" + rng.choice(["1", "2"])), {"processes"}),
    "status": (lambda _, r: hide(me("status"), r), {"status"}),
    "status EIO": (lambda _, r: fail(me("status")), {"status"}),
    "mountinfo": (lambda _, r: hide(me("mountinfo"), r), {"mounts"}),
    "mountinfo EIO": (lambda _, r: fail(me("mountinfo")), {"mounts"}),
    "maps": (lambda _, r: (hide(me("uid_map"), r), hide(me("gid_map"), r)), {"maps"}),
    "passwd": (lambda _, r: hide("/etc/passwd", r), {"users"}),
    "passwd EIO": (lambda _, r: fail("/etc/passwd"), {"users"}),
    "group": (lambda _, r: hide("/etc/group", r), {"users"}),
    "group EIO": (lambda _, r: fail("/etc/group"), {"users"}),
    "nsswitch": (lambda _, r: hide("/etc/nsswitch.conf", r), {"users"}),
    "sys": (lambda _, r: cover("/sys"), {"sys"}),
    "sys closed": (lambda _, r: cover("/sys", 700), {"sys"}),
    "udev": (lambda _, r: cover("/run", 700), {"run"}),
    "sysctl": (lambda _, r: cover("/proc/sys"), {"sysctl"}),
    "their status": (lambda pid, r: pid and hide(f"/proc/{pid}/status", r), {"processes"}),
    "their mounts": (lambda pid, r: pid and hide(f"/proc/{pid}/mountinfo", r), {"processes"}),
    "their root": (lambda pid, r: pid and hide(f"/proc/{pid}/uid_map", r), {"processes"}),
}
# System calls that fail, as a filter of a container makes them: the program itself is blind.
CALLS = {"getxattr": 191, "lgetxattr": 192, "fgetxattr": 193, "statx": 332, "readlinkat": 267, "faccessat2": 439,
         "fstatfs": 138, "getdents64": 217, "lsm_list_modules": 461, "landlock": 444}


def child(work):
    """Runs `work` in a process, and returns what it returned."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 0
        try:
            os.close(read)
            text = json.dumps(work()).encode()
            with open(write, "wb") as file:
                file.write(text)
        except BaseException as error:
            print("child:", repr(error), file=sys.stderr, flush=True)
            status = 1
        os._exit(status)
    os.close(write)
    with open(read, "rb") as file:
        text = file.read()
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("a child failed")
    return json.loads(text)


def works(path, need):
    """Whether the kernel grants it to this process."""
    try:
        if need == "x":
            kind = os.stat(path).st_mode
            return (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) and os.access(path, os.X_OK, effective_ids=True)
        if os.path.isdir(path) and need != "r":
            # To write a folder is to make and remove names in it; reading is another call.
            return all(os.access(path, {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}[one], effective_ids=True)
                       for one in need + "x" * ("w" in need))
        flags = {"r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR}[need]
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY))
        return True
    except OSError:
        return False


totals = {"checks": 0, "open": 0, "may": 0, "silent": 0, "wrong": 0}


def ask(arguments, before):
    """The statuses that permcheck gives, by path, from a process that `before` prepared; None without an answer."""
    result = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(result[0])
            before()
            os.chdir("/")
            os.dup2(result[1], 1)
            os.execve(permcheck, ["permcheck", *arguments], {"HOME": base + "/home", "PATH": "/usr/bin:/bin"})
        except BaseException as error:
            print("before:", repr(error), file=sys.stderr, flush=True)
        os._exit(97)
    os.close(result[1])
    with open(result[0], "rb") as file:
        text = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == 97:
        raise SystemExit("the program was not started")
    try:
        document = json.loads(text)
    except ValueError:
        return status, None
    if "reports" not in document:
        return status, None
    return status, {r["resources"][0]["path"]: r["status"] for r in document["reports"] if r.get("resources")}


def scene(number):
    root = f"{base}/s{number}"
    paths = tree(root)
    fuse = Broken(root + "/u", paths) if rng.random() < 0.3 else None
    if fuse:
        fuse.start()
        paths += fuse.paths()
    name = rng.choice([*USERS, *USERS, "root"])
    uid, groups = USERS.get(name, (0, []))
    subject = (uid, uid, [*groups, uid])
    confine = rng.choice([None, None, "nnp", "landlock", "seccomp"])
    all = (1 << 13) - 1
    allowed = [("/", all - rng.choice([2, 4, 6]))] + [(p, all) for p in ["/usr", "/proc", "/etc"]]
    allowed.append((permcheck, 1 | 4))
    if rng.random() < 0.7:
        allowed.append((rng.choice([p for p in paths if os.path.isdir(p) and not os.path.islink(p)]), all))
    allowed = [(os.open(path, os.O_PATH), rights) for path, rights in allowed]
    blocked = rng.choice([(21, 13), (439, 1), (191, 38), (161, 1)])
    who = rng.choice(["self", "self", "self", "user", "ids", "pid"])
    if who in ("user", "ids"):
        confine = None
    if who == "user" and name == "root":
        name, (uid, groups) = "blinda", USERS["blinda"]
        subject = (uid, uid, [*groups, uid])

    def become():
        drop(*subject)
        if confine == "nnp":
            no_new_privs()
        elif confine == "landlock":
            landlock(allowed)
        elif confine == "seccomp":
            seccomp(*blocked)

    need = rng.choice(NEEDS)
    reached, truth = child(lambda: (become(), ({p: os.path.exists(p) for p in paths}, {p: works(p, need) for p in paths}))[1])
    other = None
    if who == "pid":
        read, write = os.pipe()
        other = os.fork()
        if other == 0:
            become()
            os.write(write, b"x")
            os.execv("/bin/sleep", ["sleep", "100"])
        os.read(read, 1)
        os.close(read)
        os.close(write)
    blinders = rng.sample(sorted(BLINDERS), rng.choice([1, 1, 2]))
    if {"proc empty", "proc closed"} & set(blinders):
        blinders = blinders[:1] if blinders[0].startswith("proc") else blinders[1:]
    if "hidepid" in blinders:
        blinders.sort(key=lambda b: b != "hidepid")
    failing = rng.choice(sorted(CALLS)) if rng.random() < 0.25 else None
    # Who asks: the subject itself; of others, root or somebody else.
    asker = subject if who == "self" else rng.choice([(0, 0, []), (4003, 4003, []), (4999, 4999, [])])

    def before(isBlind):
        call(272, 0x20000)  # unshare(CLONE_NEWNS)
        if isBlind:
            for blinder in blinders:
                BLINDERS[blinder][0](other, asker[0] == 0)
        if who == "self":
            become()
        else:
            drop(*asker)
        if isBlind and failing:
            seccomp(CALLS[failing], rng.choice([1, 13, 5]))

    arguments = [*paths, "--need", need, "--json"]
    arguments += {"self": [], "user": ["--user", name], "pid": ["--pid", str(other)],
                  "ids": ["--uid", str(uid), "--gid", str(uid), "--groups", ",".join(map(str, subject[2]))]}[who]
    method = rng.choice([None, None, "none", "access", "open"])
    arguments += ["--probe", method] if method else []
    state = rng.getstate()
    _, seen = ask(arguments, lambda: before(False))
    rng.setstate(state)
    status, blind = ask(arguments, lambda: before(True))
    label = (f"scene {number}: {who} {name} of {asker[0]}, {need}, {confine}, probe {method}, "
             f"blind: {', '.join(blinders)}, failing: {failing}, broken: {fuse and sorted(fuse.broken)}")
    if blind is None:
        # Without the subject's ids or the program's own calls there is no report, but a clear refusal.
        if status in (0, 1, 3):
            totals["wrong"] += 1
            print(label, ": exit", status, "without a report")
        blind = {}
        totals["silent"] += 1
    hidden = set().union(*(BLINDERS[b][1] for b in blinders)) | ({"calls"} if failing else set())
    if confine == "landlock" and "hidepid" in blinders:
        hidden.add("proc")  # Its rule is about the /proc below.
    for path in paths:
        if path not in blind:
            continue
        totals["checks"] += 1
        got, was = blind[path], (seen or {}).get(path)
        wrong = (got == "authorized" and not truth[path]
                 or got in ("denied", "unavailable", "restricted") and truth[path])
        mayBeOpen = fuse and fuse.decides(path) or was is None or was == "notDetermined" or depends(hidden, who, uid, method, need, path, reached[path])
        totals["may"] += mayBeOpen
        totals["open"] += got == "notDetermined"
        if got == "notDetermined" and not mayBeOpen:
            wrong = True
        if wrong:
            totals["wrong"] += 1
            print(f"{label}: {path[len(base):]} is {got}, was {was}, the kernel {'grants' if truth[path] else 'refuses'}; "
                  + " ".join(arguments[len(paths):]))
    for folder, _ in allowed:
        os.close(folder)
    if other:
        os.kill(other, 9)
        os.waitpid(other, 0)
    if fuse:
        fuse.end()
    if os.path.ismount(root + "/m"):
        libc.umount2((root + "/m").encode(), 2)


HARMLESS = [os.makedev(1, 3), os.makedev(1, 7)]


def depends(hidden, who, uid, method, need, path, isReached):
    """Whether the answer depends on what is hidden; what the kernel answers to an open depends on nothing.

    Root opens nothing whose path others can change, and nobody a terminal, or what cannot be reached.
    """
    try:
        status = os.stat(path)
    except OSError:
        return True
    isDevice, isFolder = stat.S_ISCHR(status.st_mode), stat.S_ISDIR(status.st_mode)
    isOpened = (who == "self" and uid != 0 and isReached and method in (None, "open") and "x" not in need
                and not (isFolder and "w" in need) and (not isDevice or status.st_rdev in HARMLESS))
    return ("calls" in hidden  # A filter confines the process, besides.
            or bool(hidden & {"proc", "mounts"}) and not isOpened
            or "status" in hidden and who == "self" and not isOpened
            or "users" in hidden and who == "user"
            or bool(hidden & {"sys", "run"}) and isDevice and not isOpened
            or "processes" in hidden and who == "pid")


for number in range(scenes):
    scene(number)
print("blinded: {checks} checks, {open} open of {may} that may be, {silent} without a report; {wrong} wrong".format(**totals), f", seed {seed}", sep="")
sys.exit(totals["wrong"] > 0)
