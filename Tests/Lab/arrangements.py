"""Arranges devices, users and confinements at random, and judges permcheck by real use.

    arrangements.py SEED COUNT [ONLY]

An arrangement is a state of a camera, a sound card and a folder, a user, and what a process of this user is
confined by: settings of its unit, its session, a namespace, Landlock, seccomp, a security module. The process
itself uses all three; then permcheck is asked by the process, by root about it (--pid, with --probe enter too), by its
user from outside (--pid), and by root about the user (--user), which is held against use by the user without
confinements. ONLY is the number of one arrangement of SEED, which is what a failure prints.

A "granted" that use refutes fails, and so does a "refused" that use refutes; what is not determined is counted.
"""
import collections
import glob
import json
import os
import pwd
import random
import shlex
import signal
import subprocess
import sys
import time

CAMERA, CONTROL, PCM, FOLDER = "/dev/video0", "/dev/snd/controlC0", "/dev/snd/pcmC0D0c", "/srv/arranged/pictures"
RESOURCES = ["camera", "mic", f"photos={FOLDER}"]
USE = ["use", "all", CAMERA, CONTROL, PCM, FOLDER]
HOMES = {"root": "/root", "tester": "/home/tester", "member": "/home/member", "other": "/home/other"}
GROUP = "/sys/fs/cgroup/lab-arranged"
systemd = os.path.isdir("/run/systemd/system")
selinux = os.path.exists("/sys/fs/selinux/enforce")

# The settings of a unit, of which each service has a few.
SETTINGS = """
PrivateDevices=yes
DevicePolicy=closed
DevicePolicy=strict
DeviceAllow=char-video4linux rw
DeviceAllow=char-alsa r
DeviceAllow=/dev/video0 rw
Slice=lab-closed.slice
ProtectClock=yes
InaccessiblePaths=/dev/video0
InaccessiblePaths=/dev/snd
BindPaths=/dev/null:/dev/snd/pcmC0D0c
TemporaryFileSystem=/dev/snd
ReadOnlyPaths=/srv/arranged
TemporaryFileSystem=/srv
InaccessiblePaths=/srv/arranged
ProtectSystem=strict
SupplementaryGroups=video
SupplementaryGroups=audio
AmbientCapabilities=CAP_DAC_OVERRIDE
CapabilityBoundingSet=~CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH
PrivateUsers=yes
NoNewPrivileges=yes
SystemCallFilter=~ioctl:EPERM
RestrictNamespaces=yes
ProtectProc=invisible
ProcSubset=pid
DynamicUser=yes
PrivateMounts=yes
RestrictSUIDSGID=yes
UMask=0077
""".strip().splitlines()


def in_mounts(script):
    """Runs a command in a mount namespace that a script has changed."""
    return ["unshare", "-m", "--propagation", "slave", "sh", "-c", f'{script} && exec "$@"', "sh"]


# What confines a process before it becomes the user. Each is (name, words before the command).
BY_ROOT = [
    ("device cgroup", ["confine", "devices", GROUP]),
    ("Landlock, as root", ["confine", "landlock-root"]),
    ("/dev/null over the camera", in_mounts(f"mount --bind /dev/null {CAMERA}")),
    ("/dev without devices", in_mounts("mount --bind /dev /dev && mount -o remount,bind,nodev /dev")),
    ("an empty /dev/snd", in_mounts("mount -t tmpfs none /dev/snd")),
    ("new nodes", in_mounts(f"mount -t tmpfs none /dev/snd && mknod -m 666 {CONTROL} c $CONTROL && mknod -m 660 {PCM} c $PCM")),
    ("a folder for reading", in_mounts("mount --bind /srv/arranged /srv/arranged && mount -o remount,bind,ro /srv/arranged")),
    ("an empty /srv", in_mounts("mount -t tmpfs none /srv")),
    ("hidepid", in_mounts("mount -t proc -o hidepid=2 proc /proc")),
    ("no /sys", in_mounts("mount -t tmpfs none /sys")),
    ("a process namespace", ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]),
    ("another root", in_mounts("mount --rbind / /run/lab-root && set -- chroot /run/lab-root \"$@\"")),
]
# What a process confines itself by as the user.
BY_USER = [
    ("Landlock", ["confine", "landlock"]),
    ("seccomp", ["confine", "seccomp"]),
    ("seccomp, openat2 too", ["confine", "seccomp-all"]),
    ("a user namespace", ["unshare", "-U", "-r"]),
    ("a user namespace without ids", ["unshare", "-U"]),
    ("no new privileges", ["setpriv", "--no-new-privs"]),
]
if os.path.exists("/usr/bin/bwrap"):
    box = ["bwrap", "--bind", "/", "/", "--proc", "/proc"]
    BY_USER += [
        ("bubblewrap", box + ["--dev", "/dev"]),
        ("bubblewrap with the camera", box + ["--dev", "/dev", "--dev-bind", CAMERA, CAMERA]),
        ("bubblewrap with /dev", box + ["--dev-bind", "/dev", "/dev"]),
        ("bubblewrap without devices", ["bwrap", "--bind", "/", "/"]),
    ]
PROFILES = {
    "lab-arranged-devices": "file, deny /dev/video* rw, deny /dev/snd/* rw,",
    "lab-arranged-sound": "file, deny /dev/snd/pcm* w,",
    "lab-arranged-free": "file,",
}
CONTEXTS = [f"{who}:lab_t:s0" for who in ("system_u:system_r", "unconfined_u:system_r", "unconfined_u:unconfined_r")]
CONTEXTS += ["system_u:system_r:lab_permissive_t:s0"]


class Arrangement:
    """One drawn arrangement: `nodes` and `taken` are what the devices are like, `kind` and the lists what the process is."""

    def __init__(self, seed, number):
        self.name = f"{seed} {number}"
        self.chance = chance = random.Random(f"{seed}/{number}")
        self.user = chance.choice(["root", "tester", "tester", "member", "member", "member", "other"])
        kinds = ["session"] * 4
        if systemd:
            kinds += ["service"] * 5 + ["su"] + ["seat"] * 3 * (self.user == "tester")
        self.kind = chance.choice(kinds)
        self.terminal = chance.choice([1, 1, 2])
        self.nodes = chance.choice(["udev", "udev", "drawn"])
        self.taken = chance.random() < 0.1
        self.draw_files()
        self.settings = chance.sample(SETTINGS, chance.randint(1, 4)) if self.kind == "service" else []
        self.groups = chance.choice(["--init-groups"] * 3 + ["--clear-groups", "--groups=44", "--groups=29,44"])
        self.capabilities = chance.choice([None] * 5 + ["ambient", "bounded"])
        self.by_root = chance.sample(BY_ROOT, chance.choice([0, 0, 1, 1, 2])) if self.kind == "session" else []
        # Of the user's own login, or of root's, which took the user's ids; a login has no domain of Landlock.
        self.login = chance.choice([self.user, "root"]) if self.kind == "session" else None
        if any(name.startswith("Landlock") for name, _ in self.by_root):
            self.login = "root"
        self.by_user = chance.sample(BY_USER, chance.choice([0, 0, 1, 1, 2]))
        self.module = None
        if selinux and chance.random() < 0.7:
            self.module = ("SELinux", ["runcon", chance.choice(CONTEXTS)])
        elif systemd and chance.random() < 0.25:
            profile = chance.choice(sorted(PROFILES))
            self.module = (f"AppArmor {profile}", ["aa-exec", "-p", profile, "--"])

    def draw_files(self):
        chance, modes = self.chance, [0o660, 0o660, 0o600, 0o666, 0o640, 0o606, 0o060]
        self.files = []
        for path in (CAMERA, CONTROL, PCM):
            owner, group = chance.choice(["root", "root", "tester"]), chance.choice(["video", "audio", "root"])
            self.files.append((path, chance.choice(modes), owner, group, self.draw_acl()))
        mode, owner = chance.choice([0o755, 0o700, 0o777, 0o750, 0o500]), chance.choice(["member", "tester", "other"])
        self.files.append((FOLDER, mode, owner, "users", self.draw_acl()))
        self.sound = chance.choice([0o755] * 5 + [0o700, 0o711])

    def draw_acl(self):
        chance = self.chance
        if chance.random() < 0.6:
            return []
        entry = f"{chance.choice(['u:tester', 'u:member', 'u:other', 'g:video', 'g:users'])}:{chance.choice(['rw', 'r', 'rwx', '-'])}"
        return [entry] + chance.choice([[], ["m::rw"], ["m::r"]])

    def words(self):
        """What is drawn, in one line."""
        said = [self.user, self.kind, *self.settings, *(name for name, _ in self.by_root + self.by_user)]
        if self.module:
            said.append(self.module[0] + (" " + self.module[1][1] if self.module[0] == "SELinux" else ""))
        if self.kind == "session":
            said += [f"login of {self.login}", self.groups, f"capabilities {self.capabilities}"]
        if self.kind == "seat":
            said.append(f"terminal {self.terminal}")
        said.append("nodes as udev makes them" if self.nodes == "udev" else f"/dev/snd {self.sound:o}")
        for path, mode, owner, group, acl in self.files if self.nodes == "drawn" else self.files[3:]:
            said.append(f"{path} {mode:o} {owner}:{group} {','.join(acl)}".rstrip())
        return "; ".join(said + ["camera taken"] * self.taken)

    def command(self, command):
        """The command in its place."""
        words = [*(w for _, words in self.by_user for w in words), *command]
        if self.module:
            words = self.module[1] + words
        home = HOMES[self.user]
        environment = ["env", f"HOME={home}", f"USER={self.user}"]
        if self.kind == "service":
            options = [o for s in ["WorkingDirectory=/", f"User={self.user}", *self.settings] for o in ("-p", s)]
            return ["systemd-run", "-q", "--wait", "--pipe", "--collect", *options, *words]
        if self.kind == "seat":
            return ["lab-seat", *words]
        if self.kind == "su":
            return ["su", "-l", self.user, "-s", "/bin/sh", "-c", "exec " + shlex.join(words)]
        ids = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", self.groups]
        if self.capabilities == "ambient":
            ids += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        elif self.capabilities == "bounded":
            ids += ["--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]
        return [*environment, *(w for _, words in self.by_root for w in words), *ids, *words]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, **more)


def as_user(user, command):
    ids = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
    return ["env", f"HOME={HOMES[user]}", f"USER={user}", *ids, *command]


def log_in(user):
    """What pam_loginuid(8) does."""
    if user:
        with open("/proc/self/loginuid", "w") as file:
            file.write(str(pwd.getpwnam(user).pw_uid))


def number_of(node):
    device = os.stat(node).st_rdev
    return f"{os.major(device)} {os.minor(device)}"


def switch_to(terminal):
    import fcntl
    with open("/dev/tty0", "wb") as console:
        fcntl.ioctl(console, 0x5606, terminal)  # VT_ACTIVATE
        fcntl.ioctl(console, 0x5607, terminal)  # VT_WAITACTIVE


def enter_session():
    """Moves this process out of the lab's own service: a service can have Landlock, which nobody can see."""
    run(["busctl", "-q", "call", *"org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager".split(),
         *f"StartTransientUnit ssa(sv)a(sa(sv)) session-lab.scope fail 2 PIDs au 1 {os.getpid()} Slice s user-1001.slice 0".split()])
    for _ in range(100):
        with open("/proc/self/cgroup") as file:
            if "session-lab.scope" in file.read():
                return
        time.sleep(0.1)
    sys.exit("this process could not be moved into a session")


def prepare():
    """What all arrangements stand on."""
    os.environ["CONTROL"], os.environ["PCM"] = number_of(CONTROL), number_of(PCM)
    os.makedirs(FOLDER, exist_ok=True)
    os.makedirs("/run/lab-root", exist_ok=True)
    with open(f"{FOLDER}/a.jpg", "w") as file:
        file.write("x")
    if systemd:
        os.makedirs(GROUP, exist_ok=True)
        with open("/run/systemd/system/lab-closed.slice", "w") as file:
            file.write("[Slice]\nDevicePolicy=closed\n")
        run(["systemctl", "daemon-reload"])
        enter_session()
        text = "".join(f"profile {name} {{\n {rules}\n capability, network, unix, signal, ptrace, dbus, userns, mount, pivot_root,\n}}\n"
                       for name, rules in PROFILES.items())
        done = run(["apparmor_parser", "-r"], input=text.replace(" userns,", ""))
        if done.returncode:
            sys.exit(f"apparmor_parser: {done.stderr}")
    if selinux:
        BY_USER[:] = [each for each in BY_USER if each[1][0] != "bwrap"]


def clean_up():
    """Leaves nothing for the next scenario of the boot."""
    os.chmod("/dev/snd", 0o755)
    run(["rm", "-rf", "/srv/arranged", "/run/lab-root", "/run/lab-arranged.out"])
    if systemd:
        switch_to(1)
        os.remove("/run/systemd/system/lab-closed.slice")
        run(["systemctl", "daemon-reload"])


def arrange(a):
    """Makes the devices and the folder what was drawn."""
    drawn = a.files if a.nodes == "drawn" else a.files[3:]
    os.chmod("/dev/snd", a.sound if a.nodes == "drawn" else 0o755)
    run(["setfacl", "-b", CAMERA, CONTROL, PCM, FOLDER])
    for node, group in ((CAMERA, "video"), (CONTROL, "audio"), (PCM, "audio")):
        run(["chown", f"root:{group}", node])
        os.chmod(node, 0o660)
    if systemd:
        switch_to(a.terminal)
        run(["udevadm", "trigger", "--action=change", CAMERA, CONTROL, PCM])
        run(["udevadm", "settle"])
    for path, mode, owner, group, acl in drawn:
        run(["chown", f"{owner}:{group}", path])
        if acl:
            run(["setfacl", "-b", "-m", ",".join(acl), path])
        else:
            run(["setfacl", "-b", path])
        os.chmod(path, mode)


def truth_of(lines):
    """What use said: 0 or the errno for each device; what is possible in the folder."""
    camera, microphone, listed, created = (int(line) for line in lines)
    if listed:
        return {"camera": camera, "microphone": microphone, "photos": listed}
    return {"camera": camera, "microphone": microphone, "photos": "limited" if created else 0}


def host_pid(word):
    """The process that stays, as the lab sees it."""
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{folder}/cmdline", "rb") as file:
                if file.read() == f"use\0stay\0{word}\0".encode():
                    return int(folder[6:])
        except OSError:
            pass
    return None


def answers(text):
    """The reports of a document of permcheck, by accessor; None where there is no document."""
    try:
        return {report["accessor"]: report for report in json.loads(text)["reports"]}
    except (ValueError, KeyError):
        return None


class Driver:
    def __init__(self):
        self.counts = collections.Counter()
        self.open = collections.Counter()
        self.why_open = collections.Counter()
        self.failed = 0

    def judge(self, a, way, truth, reports, text):
        if reports is None:
            self.failed += 1
            print(f"WRONG {a.name} {way}: no answer: {text[:500]}\n    {a.words()}")
            return
        for name, really in truth.items():
            report = reports[name]
            said = report["status"]
            self.counts["verdicts"] += 1
            if said == "notDetermined":
                self.open[way] += 1
                codes = {r["code"] for x in report["resources"] for r in x.get("reasons", [])}
                self.why_open[f"{way}: {' '.join(sorted(codes))}"] += 1
                continue
            right = {0: ["authorized"], "limited": ["limited"]}.get(really, ["denied", "restricted", "unavailable"])
            if said in right:
                continue
            self.failed += 1
            self.counts["false authorized" if said == "authorized" else "wrong otherwise"] += 1
            reasons = [f"{r['code']}: {r['message']}" for x in report["resources"] for r in x.get("reasons", [])]
            told = really if really in (0, "limited") else os.strerror(really)
            print(f"WRONG {a.name} {way}: {name} {said}, really {told or 'granted'}; {reasons}\n    {a.words()}", flush=True)

    def one(self, seed, number):
        a = Arrangement(seed, number)
        arrange(a)
        holder = None
        if a.taken:
            holder = subprocess.Popen(["use", "hold", CAMERA], stdout=subprocess.PIPE)
            holder.stdout.readline()
        word = f"lab-{seed}-{number}"
        script = f"{shlex.join(USE)}; echo; {shlex.join(['permcheck', *RESOURCES, '--json'])} 2>&1; echo; echo READY; exec use stay {word}"
        with open("/run/lab-arranged.out", "w+") as output:
            place = subprocess.Popen(a.command(["sh", "-c", script]), stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=subprocess.STDOUT, cwd="/", preexec_fn=lambda: log_in(a.login))
        seen = f"/run/lab-seat/{place.pid}.out" if a.kind == "seat" else "/run/lab-arranged.out"
        pid = text = None
        try:
            for _ in range(300):
                time.sleep(0.1)
                try:
                    with open(seen, errors="replace") as file:
                        text = file.read()
                except FileNotFoundError:
                    continue
                if "\nREADY\n" in text or place.poll() is not None:
                    break
            for _ in range(30 if text and "\nREADY\n" in text else 0):
                pid = host_pid(word)
                if pid:
                    break
                time.sleep(0.1)
            parts = (text or "").split("\n\n", 1)
            lines = parts[0].splitlines()
            if pid is None or len(lines) != 4:
                self.counts["could not be arranged"] += 1
                print(f"    {a.name} cannot be: {(text or '').strip()[:200]!r} {a.words()}")
                return
            self.counts["arrangements"] += 1
            truth = truth_of(lines)
            said = parts[1].rsplit("\nREADY\n", 1)[0]
            self.judge(a, "self", truth, answers(said), said)
            ways = {
                "pid": ["permcheck", *RESOURCES, "--pid", str(pid), "--json"],
                "enter": ["permcheck", *RESOURCES, "--pid", str(pid), "--probe", "enter", "--json"],
                "peer": as_user(a.user, ["permcheck", *RESOURCES, "--pid", str(pid), "--json"]),
            }
            for way, command in ways.items():
                done = run(command, cwd="/")
                self.judge(a, way, truth, answers(done.stdout), done.stdout + done.stderr)
            free = truth_of(run(as_user(a.user, USE), cwd="/").stdout.split())
            done = run(["permcheck", *RESOURCES, "--user", a.user, "--json"], cwd="/")
            self.judge(a, "user", free, answers(done.stdout), done.stdout + done.stderr)
            for name, really in truth.items():
                self.counts[f"{name} {'granted' if really == 0 else 'refused'}"] += 1
        finally:
            if pid:
                os.kill(pid, signal.SIGKILL)
            else:
                place.kill()
            try:
                place.wait(timeout=30)
            except subprocess.TimeoutExpired:
                place.kill()
            if holder:
                holder.kill()
                holder.wait()


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    numbers = [int(sys.argv[3])] if len(sys.argv) > 3 else range(count)
    prepare()
    driver = Driver()
    for number in numbers:
        driver.one(seed, number)
    clean_up()
    for name, figure in sorted(driver.counts.items()):
        print(f"{figure:6} {name}")
    for way in ("self", "pid", "enter", "peer", "user"):
        print(f"{driver.open[way]:6} not determined, {way}")
    for why, figure in driver.why_open.most_common(20):
        print(f"{figure:6} not determined, {why}")
    few = driver.counts["arrangements"] < 0.6 * len(numbers)
    print(f"seed {seed}: {driver.counts['arrangements']} arrangements, {driver.counts['verdicts']} verdicts, "
          f"{driver.failed} wrong, {driver.counts['false authorized']} false authorized" + ", too few could be arranged" * few)
    sys.exit(driver.failed > 0 or few)


main()
