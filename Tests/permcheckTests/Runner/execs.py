#!/usr/bin/env python3
"""Holds explain --to exec to execve(2): execs.py FOLDER PERMCHECK SEED EXECS [--only N].

Makes random folders on tmpfs and ext4, one of them noexec, with programs and their loaders, and with scripts whose first
lines name each other, programs, folders, links, what is not there, and what is cut or blank. `permcheck verify` says of
random users, of itself and of processes (`pid`), also in mount and user namespaces of their own, whether `to = "exec"` is
granted; then each executes. Some programs are open for writing. The answers are compared errno for errno, until EXECS are
judged. Wants root, in a mount namespace of its own, and x86-64 or what has such programs.
"""
import ctypes, errno, json, os, random, shutil, signal, subprocess, sys


base, permcheck, seed, execs = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
only = int(sys.argv[6]) if len(sys.argv) > 5 else None
USERS = {0: [0], 61001: [61001, 62001], 61002: [61002]}
MODES = [0o755, 0o755, 0o755, 0o755, 0o755, 0o755, 0o755, 0o750, 0o700, 0o711, 0o555, 0o644, 0o111, 0o775, 0o000, 0o4755]
FOLDERS = [0o755, 0o755, 0o755, 0o755, 0o755, 0o755, 0o750, 0o700, 0o711, 0o744, 0o1777]
NEWNS, NEWUSER, MS_BIND, MS_REMOUNT, MS_NOEXEC, MS_NOSUID = 0x20000, 0x10000000, 4096, 32, 8, 2
libc = ctypes.CDLL(None, use_errno=True)
program = open("/bin/true", "rb").read()
LOADER = program[program.index(b"/lib"):program.index(b"\0", program.index(b"/lib"))]


def call(name, *values):
    if getattr(libc, name)(*values) != 0:
        raise OSError(ctypes.get_errno(), name)


def become(uid):
    os.setgroups(USERS[uid])
    os.setresgid(*[USERS[uid][0]] * 3)
    os.setresuid(*[uid] * 3)


def executed(path, uid):
    """The errno of execve(2) as that user, or as this process without one, or None; what runs is ended at once."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        if uid is not None:
            become(uid)
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        try:
            os.execve(path, [path], {})
        except OSError as error:
            os.write(write, errno.errorcode[error.errno].encode())
        os._exit(0)
    os.close(write)
    answer = os.read(read, 100).decode()
    os.close(read)
    try:
        os.kill(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(child, 0)
    return answer or None


class Process:
    """A process of a user, which executes what it is told; perhaps in namespaces of its own."""
    def __init__(self, uid, folders, chance):
        self.spaces = spaces = chance.choice([0, 0, NEWNS, NEWUSER, NEWUSER | NEWNS])
        options, folder, other = chance.choice([MS_NOEXEC, 0, MS_NOSUID, None]), *chance.sample(folders, 2)
        (here, self.out), (self.into, there) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(here), os.close(there)
            os.read(self.into, 1)
            if spaces & NEWUSER:
                groups = "".join(f"{gid} {gid} 1\n" for gid in USERS[uid] if gid) or "0 0 1\n"
                inside = chance.choice([0, uid])
                for name, text in (("uid_map", f"{inside} {uid} 1\n"), ("gid_map", groups)):
                    with open(f"/proc/{self.pid}/{name}", "w") as file:
                        file.write(text)
            os.write(self.out, b"\n")
            os.read(self.into, 1)
            return
        os.close(self.out), os.close(self.into)
        if spaces == NEWNS:
            call("unshare", NEWNS)
            self.mount(folder, other, options)
        become(uid)
        if spaces & NEWUSER:
            call("prctl", 4, 1, 0, 0, 0)
            call("unshare", spaces)
        os.write(there, b"+")
        os.read(here, 1)
        if spaces == NEWUSER | NEWNS:
            self.mount(folder, other, options)
        os.write(there, b"+")
        while True:
            path = os.read(here, 5000)
            if not path:
                os._exit(0)
            os.write(there, (executed(path, None) or "-").encode())

    @staticmethod
    def mount(folder, other, options):
        """Mounts a folder on itself with other options, or another one on it."""
        try:
            if options is None:
                call("mount", other.encode(), folder.encode(), None, MS_BIND, None)
            else:
                call("mount", folder.encode(), folder.encode(), None, MS_BIND, None)
                call("mount", None, folder.encode(), None, MS_REMOUNT | MS_BIND | options, None)
        except OSError:
            pass

    def executed(self, path):
        os.write(self.out, path.encode())
        answer = os.read(self.into, 100).decode()
        return None if answer == "-" else answer

    def end(self):
        os.close(self.out), os.close(self.into)
        os.waitpid(self.pid, 0)


def head(path):
    return open(path, "rb").read(300) if os.path.isfile(path) else b""


class Scene:
    def __init__(self, number):
        self.number, self.chance = number, random.Random(f"{seed}-{number}")
        chance = self.chance
        self.top = f"{base}/{chance.choice(['tmpfs', 'ext4'])}/s{number}"
        os.mkdir(self.top)
        os.chmod(self.top, 0o755)
        folders = [f"{self.top}/{name}" for name in "ab"] + [f"{base}/noexec/s{number}"]
        for folder in folders:
            os.mkdir(folder)
        self.folders = folders
        self.paths = [f"{folder}/{name}" for folder in folders for name in range(5)]
        for path in self.paths:
            self.make(path)
        for folder in folders:
            os.chown(folder, chance.choice(list(USERS)), chance.choice([0, 62001]))
            os.chmod(folder, chance.choice(FOLDERS))

    def make(self, path):
        chance = self.chance
        kind = chance.choice("sssssssppldfnxxx")
        if kind == "l":
            os.symlink(chance.choice([self.name(), "0", "../b/1", "no"]), path)
            return
        if kind == "d":
            os.mkdir(path)
        elif kind == "f":
            os.mkfifo(path)
        else:
            with open(path, "wb") as file:
                file.write(self.script() if kind == "s" else self.program() if kind == "p" else
                           chance.choice([b"", b"echo x\n", b"\x7fELF", program[:300], b"#", b"MZ", program[:18] + b"\x08\0" + program[20:]])
                           if kind == "n" else program)
        os.chown(path, chance.choice(list(USERS)), chance.choice([0, 62001]))
        os.chmod(path, chance.choice(MODES))

    def name(self):
        """What a first line or a link names."""
        chance = self.chance
        return chance.choice([*self.paths, *self.paths, "/bin/true", "/bin/true", "/no/such", "/etc/passwd/x", "a/1", "./b/2", "no", f"{self.top}/a"])

    def script(self):
        chance, name = self.chance, os.fsencode(self.name())
        blank = chance.choice([b"", b"", b"", b" ", b"\t", b"  \t"])
        rest = chance.choice([b"", b"", b" -x", b"\t-e a b", b" ", b"\r", b" \r"])
        end = chance.choice([b"\n", b"\n", b"\n", b"\necho\n", b"", b"\0\n"])
        line = b"#!" + blank + name + rest
        shape = chance.random()
        if shape < 0.05:
            line = b"#!" + b"/" * chance.randrange(200, 260) + name[1:]
        elif shape < 0.1:
            line = b"#!" + b" " * chance.randrange(180, 260) + name + rest
        elif shape < 0.15:
            line += b" " + b"y" * chance.randrange(100, 300)
        elif shape < 0.18:
            line = chance.choice([b"#!", b"#! ", b"#!\t \t", b"#!" + b" " * 300, b"# !" + name, b"#!\0" + name])
        return line + end

    def program(self):
        """A program whose loader is another file, a folder, or not there."""
        name = os.fsencode(self.name())
        if len(name) >= len(LOADER):
            name = self.chance.choice([b"/lib/no", LOADER, b"/etc", b"/bin/true", b"l"])
        return program.replace(LOADER, name + b"\0" * (len(LOADER) - len(name)), 1)

    def ask(self, uid, is_self, pid):
        who = "" if is_self else f"pid = {pid}\n" if pid else f"uid = {uid}\ngid = {USERS[uid][0]}\ngroups = {json.dumps(USERS[uid])}\n"
        text = "".join(f'[[expect]]\npath = {json.dumps(path)}\n{who}is = "granted"\nto = "exec"\n' for path in self.paths)
        ids = {"user": uid, "group": USERS[uid][0], "extra_groups": USERS[uid]} if is_self else {}
        done = subprocess.run([permcheck, "verify", "-", "--json"], input=text, capture_output=True, text=True, check=False,
                              cwd=self.top, env={"PATH": os.environ["PATH"], "PERMCHECK_LOG": "none"}, **ids)
        try:
            results = json.loads(done.stdout)["results"]
        except ValueError:
            sys.exit(f"scene {self.number}: {done}")
        return [(one["report"]["status"], one["report"]["resources"][0]) for one in results]

    def judge(self):
        os.chdir(self.top)
        for uid in USERS:
            is_self = uid == 0 or self.chance.random() < 0.3
            process = None if is_self or self.chance.random() < 0.4 else Process(uid, self.folders, self.chance)
            # Only root sees who has it open.
            path = self.chance.choice(self.paths)
            is_written = (uid == 0 or not is_self) and os.path.isfile(path) and not os.path.islink(path) and self.chance.random() < 0.5
            written = os.open(path, self.chance.choice([os.O_WRONLY, os.O_RDWR | os.O_APPEND])) if is_written else None
            who = "self" if is_self else f"pid {process.pid}" if process else "asked"
            for path, (status, resource) in zip(self.paths, self.ask(uid, is_self, process and process.pid)):
                answer = process.executed(path) if process else executed(path, uid)
                said = resource["decision"].get("errno") if resource["decision"]["verdict"] == "refused" else None
                codes = [reason["code"] for reason in resource["reasons"]]
                if codes == ["busy"]:
                    said = "ETXTBSY"
                totals["execs"] += 1
                totals["refused"] += answer is not None
                totals["processes"] += process is not None
                totals["busy"] += answer == "ETXTBSY"
                # A filter of another user namespace is not seen from outside; what the files say is there, too.
                if status == "notDetermined" and codes == ["landlock-unseen"]:
                    totals["open"] += 1
                    if answer:
                        yield f"scene {self.number}: {who} {uid} {path}: the files grant it, the kernel says {answer}"
                elif status == "notDetermined":
                    totals["open"] += 1
                    # Nobody but root reads every script and loader, and another user namespace may have its own binfmt_misc.
                    if (not is_self or uid == 0) and not (process and process.spaces & NEWUSER):
                        yield f"scene {self.number}: {who} {uid} {path} is not determined: {resource['reasons'][:1]}, the kernel says {answer}"
                elif said != answer:
                    yield f"scene {self.number}: {who} {uid} {path} is {status} {said}, the kernel says {answer}: {resource['reasons'][:1]}; {head(path)}"
            if process:
                process.end()
            if written is not None:
                os.close(written)
        os.chdir("/")
        shutil.rmtree(self.top)
        shutil.rmtree(f"{base}/noexec/s{self.number}")


for name, options in (("tmpfs", "mode=755"), ("noexec", "mode=755,noexec")):
    os.mkdir(f"{base}/{name}")
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", f"{base}/{name}"], check=True)
# What it may load is seen only here.
subprocess.run(["mount", "-t", "binfmt_misc", "none", "/proc/sys/fs/binfmt_misc"], check=False)
os.mkdir(f"{base}/ext4")
with open(f"{base}/image", "w") as file:
    file.truncate(64 << 20)
subprocess.run(["mkfs.ext4", "-q", f"{base}/image"], check=True)
subprocess.run(["mount", "-o", "loop", f"{base}/image", f"{base}/ext4"], check=True)
for place in (base, f"{base}/ext4"):
    os.chmod(place, 0o755)
totals = dict.fromkeys(["execs", "refused", "open", "processes", "busy"], 0)
wrong, number = 0, 0
while totals["execs"] < execs:
    number += 1
    if only and number != only:
        continue
    for line in Scene(number).judge():
        wrong += 1
        print(line)
    if only:
        break
print("execs: {execs} executed, {refused} refused, {busy} busy, {processes} of processes, {open} open; ".format(**totals) + f"{wrong} wrong, seed {seed}")
sys.exit(wrong > 0)
