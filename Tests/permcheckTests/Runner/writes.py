#!/usr/bin/env python3
"""Holds what permcheck says about writing to the kernel: writes.py FOLDER PERMCHECK SEED OPENS [--only N].

Makes random folders, sticky or not, with files, FIFOs, sockets, devices and links of several owners, on tmpfs, ext4 and
an idmapped mount, under all values of fs.protected_regular and fs.protected_fifos, which are put back. `permcheck verify`
says of random users and of itself what `to = "write"`, w on folders, and other needs give. Then each user opens with
O_WRONLY, O_CREAT and O_TRUNC, makes and removes names, and opens. What is granted must work, what is refused must not;
`caveat` must be there where w is granted and O_CREAT is refused, and only there; `limited` is an append-only folder. Goes on until OPENS opens with O_CREAT
are judged. Wants root, in a mount namespace of its own.
"""
import errno, fcntl, json, os, random, shutil, socket, stat, subprocess, sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../KernelConformanceTests/Oracle"))
import kernel

base, permcheck, seed, opens = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
only = int(sys.argv[6]) if len(sys.argv) > 5 else None
USERS = {0: [0], 61001: [61001, 62001], 61002: [61002, 62001], 61003: [61003]}
MAPPED = [(0, 0, 61002)]  # Of the idmapped mount: 61002 and 61003 have no id there.
FOLDERS = [0o1777, 0o1777, 0o1775, 0o1770, 0o1755, 0o3777, 0o777, 0o775, 0o755, 0o702, 0o703, 0o706, 0o722, 0o733, 0o766, 0o020, 0o730, 0o1733]
FILES = [0o666, 0o666, 0o664, 0o644, 0o660, 0o600, 0o622, 0o200, 0o400, 0o755, 0o777, 0]
NEEDS = ["r", "w", "rw", "x", "rx", "wx", "rwx"]


def as_user(uid, work):
    """What WORK returns, as that user, through JSON."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups(USERS[uid])
        os.setresgid(*[USERS[uid][0]] * 3)
        os.setresuid(*[uid] * 3)
        os.umask(0o022)
        with os.fdopen(write, "w") as pipe:
            json.dump(work(), pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def fails(call):
    try:
        call()
        return None
    except OSError as error:
        return errno.errorcode[error.errno]


def opened(path, flags):
    def call():
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, 0o666))
    error = fails(call)
    # Without O_NONBLOCK it waits for a reader.
    return None if error == "ENXIO" and flags & 3 == os.O_WRONLY and stat.S_ISFIFO(os.stat(path).st_mode) else error


def created(path):
    """The error of a shell's >."""
    return opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def needed(path, need):
    """The error of what NEED stands for, of what is there."""
    try:
        kind = os.stat(path).st_mode
    except OSError as error:
        return errno.errorcode[error.errno]
    if stat.S_ISDIR(kind):
        if "w" in need:
            name = f"{path}/.{os.getpid()}"
            error = fails(lambda: (os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)), os.unlink(name)))
            if error:
                return error
        error = fails(lambda: os.listdir(path)) if "r" in need else None
        return error or (fails(lambda: os.chdir(path)) if "x" in need else None)
    if stat.S_ISSOCK(kind) and need == "w":
        return None if os.access(path, os.W_OK) else "EACCES"
    flags = {"": None, "r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR}[need.replace("x", "")]
    error = None if flags is None else opened(path, flags)
    if error or "x" not in need:
        return error
    return None if stat.S_ISREG(kind) and os.access(path, os.X_OK) else "EACCES"


class Scene:
    def __init__(self, number, places):
        self.number, self.chance = number, random.Random(f"{seed}-{number}")
        place = self.chance.choice(places)
        # Behind the idmapped mount is ext4, where it is made.
        self.top = f"{place.replace('/mapped', '/ext4')}/s{number}"
        chance, owners = self.chance, list(USERS)
        self.sysctls = [chance.choice([0, 1, 2]), chance.choice([0, 1, 2])]
        os.mkdir(self.top)
        os.chmod(self.top, 0o755)
        self.paths, self.appended = [], None
        for folder in "abcd":
            place = f"{self.top}/{folder}"
            os.mkdir(place)
            os.chown(place, chance.choice(owners), chance.choice([0, 62001, 61003]))
            self.paths += [place, f"{place}/new"]
            for name in range(4):
                path, kind = f"{place}/{name}", chance.choice("fffffpscdl")
                if kind == "f":
                    open(path, "w").close()
                elif kind == "p":
                    os.mkfifo(path)
                elif kind == "s":
                    socket.socket(socket.AF_UNIX).bind(path)
                elif kind == "c":
                    os.mknod(path, 0o020666, os.makedev(1, 3))
                elif kind == "d":
                    os.mkdir(path)
                else:
                    os.symlink(chance.choice(["../a/0", "../b/1", "1", "no", "../c/no", "..", "/dev/null"]), path)
                os.lchown(path, chance.choice(owners), chance.choice([0, 62001, 61003]))
                if kind != "l":
                    os.chmod(path, chance.choice(FOLDERS if kind == "d" else FILES))
                    if chance.random() < 0.2:
                        entry = f"{chance.choice(['u:61001', 'u:61003', 'g:62001'])}:{chance.choice(['rwx', 'rw-', '-w-', 'r--', '---', '-wx'])}"
                        subprocess.run(["setfacl", "-m", entry, path], check=False, stderr=subprocess.DEVNULL)
                self.paths.append(path)
            os.chmod(place, chance.choice(FOLDERS))
            if chance.random() < 0.2:
                subprocess.run(["setfacl", "-m", f"u:61001:{chance.choice(['rwx', 'rw-', '-w-', '-wx'])}", place], check=False, stderr=subprocess.DEVNULL)
        self.shown = [path.replace("/ext4/", "/mapped/") if place.endswith("/mapped") else path for path in self.paths]
        if "/tmpfs/" not in self.top and chance.random() < 0.2:
            self.appended = f"{self.top}/{chance.choice('abcd')}"
            kernel.set_attribute(self.appended, "a")

    def ask(self, uid, questions, is_self):
        """The answers of permcheck: the status, and whether there is a caveat."""
        who = "" if is_self else f"uid = {uid}\ngid = {USERS[uid][0]}\ngroups = {json.dumps(USERS[uid])}\n"
        text = "".join(f'[[expect]]\npath = {json.dumps(path)}\n{who}is = "granted"\n' + ('to = "write"\n' if need is None else f'need = "{need}"\n')
                       for path, need in questions)
        ids = {"user": uid, "group": USERS[uid][0], "extra_groups": USERS[uid]} if is_self else {}
        done = subprocess.run([permcheck, "verify", "-", "--json"], input=text, capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "PERMCHECK_LOG": "none"}, **ids)
        try:
            results = json.loads(done.stdout)["results"]
        except ValueError:
            sys.exit(f"scene {self.number}: {done}")
        return [(one["report"]["status"], one["report"]["resources"][0].get("caveat"),
                 one["report"]["resources"][0]["reasons"][:1]) for one in results]

    def remove(self, path):
        if self.appended:
            kernel.set_attribute(self.appended, None)
        os.unlink(path.replace("/mapped/", "/ext4/"))
        if self.appended:
            kernel.set_attribute(self.appended, "a")

    def judge(self):
        wrong = []
        for uid in USERS:
            is_self = self.chance.random() < 0.5
            if uid == 0 and not is_self:
                is_self = True  # Another root would have no capabilities.
            questions = [(path, None) for path in self.shown] + [(path, self.chance.choice(NEEDS)) for path in self.shown]
            with kernel.Sysctls() as sysctls:
                # Those of links stay, since other tests ask for them.
                sysctls.set([sysctls.saved[0], *self.sysctls, sysctls.saved[3]])
                wrong += self.judge_user(uid, is_self, questions, sysctls)
        if self.appended:
            kernel.set_attribute(self.appended, None)
        shutil.rmtree(self.top)
        return wrong

    def judge_user(self, uid, is_self, questions, sysctls):
        wrong, said = [], self.ask(uid, questions, is_self)
        for (path, need), (status, caveat, reasons) in zip(questions, said):
            was_there = os.path.lexists(path), os.path.exists(path)
            def work():
                plain = needed(path, need) if need else created(path)
                without = created(path) if need and "w" in need and was_there[1] and not os.path.isdir(path) else None
                return plain, without
            error, without = as_user(uid, work)
            if not was_there[1] and os.path.exists(path):
                self.remove(os.path.realpath(path))
            if not sysctls.still_hold():
                continue
            totals["opens" if need is None else "folders" if os.path.isdir(path) else "others"] += 1
            totals["refused"] += error is not None
            what = f"scene {self.number}: {'self' if is_self else 'asked'} {uid}, {self.sysctls}, {need or 'to write'}: {path}"
            if status == "notDetermined":
                totals["open"] += 1
                wrong.append(f"{what}: not determined {reasons}") if not is_self or uid else None
            elif status == "limited" and os.path.realpath(path).replace("/mapped/", "/ext4/") == self.appended and error == "EPERM":
                totals["limited"] += 1  # Names are made there, and not removed.
            elif (status == "authorized") != (error is None):
                wrong.append(f"{what} is {status} {reasons}, the kernel says {error}")
            elif error is None and need and "w" in need:
                isSocket = was_there[1] and stat.S_ISSOCK(os.stat(path).st_mode)
                expected = without is not None and not isSocket
                totals["caveats"] += expected
                if expected != (caveat is not None):
                    wrong.append(f"{what}: caveat {caveat}, the kernel says {without} of O_CREAT")
        return wrong


def places():
    os.mkdir(f"{base}/tmpfs")
    kernel.mount("none", f"{base}/tmpfs", "tmpfs", data="mode=755")
    found = [f"{base}/tmpfs"]
    os.mkdir(f"{base}/ext4")
    with open(f"{base}/image", "w") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", f"{base}/image"], check=True)
    subprocess.run(["mount", "-o", "loop", f"{base}/image", f"{base}/ext4"], check=True)
    os.chmod(f"{base}/ext4", 0o755)
    return [*found, f"{base}/ext4"]


def mapped():
    """A bind mount on which 61002 and 61003 have no ids, so that they make nothing."""
    namespace = kernel.user_namespace(MAPPED, [(0, 0, 65535)])
    os.mkdir(f"{base}/mapped")
    kernel.bind_idmapped(f"{base}/ext4", f"{base}/mapped", namespace)
    return f"{base}/mapped"


totals = dict.fromkeys(["opens", "folders", "others", "refused", "open", "caveats", "limited"], 0)
wrong, number = [], 0
os.chmod(base, 0o755)
found = places()
found.append(mapped())
while totals["opens"] < opens:
    number += 1
    if only and number != only:
        continue
    for line in Scene(number, found).judge():
        wrong.append(line)
        print(line)
    if only:
        break
print("writes: {opens} opens with O_CREAT, {folders} needs of folders, {others} of others, {refused} refused, {open} open, {limited} limited, {caveats} caveats; ".format(**totals)
      + f"{len(wrong)} wrong, seed {seed}")
sys.exit(bool(wrong))
