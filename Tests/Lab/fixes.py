"""Carries out what permcheck prints, and uses everything again.

    fixes.py units|sandboxes

Each row is a place with some things refused in it. The process there uses a camera, a sound card and a folder; then
permcheck is asked in it, and the first fix of each thing refused is carried out to the letter. What was asked for
must work then, and everything that worked before.
"""
import json
import os
import pwd
import shlex
import signal
import subprocess
import sys
import time

CAMERA, CONTROL, PCM, FOLDER = "/dev/video0", "/dev/snd/controlC0", "/dev/snd/pcmC0D0c", "/srv/fixes/pictures"
ASKED = {"camera": "camera", "microphone": "mic", "photos": f"photos={FOLDER}"}
USE = ["use", "all", CAMERA, CONTROL, PCM, FOLDER]
OUT = "/run/lab-fixes"
failed = 0

# Uses and asks at the start, and whenever SIGUSR1 comes.
ASKS = f"""#!/bin/bash
ask() {{ {shlex.join(USE)}; echo; permcheck {' '.join(ASKED.values())} --json; echo; echo ANSWERED; }}
trap ask USR1
ask
while :; do sleep 0.1; done
"""


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30, **more)


def check(row, name, holds, *seen):
    global failed
    print(f"{'ok     ' if holds else 'FAIL   '} fixes: {row}: {name}", flush=True)
    for line in seen if not holds else ():
        print(f"          {str(line)[:900]!r}")
    failed += not holds


class Place:
    """Where a process uses and asks; `fixed` are the commands that were carried out in it."""

    def __init__(self, name):
        self.name, self.fixed = name, []

    def start(self):
        """Starts the process."""

    def again(self):
        """Has the process use and ask once more."""

    def stop(self):
        """Ends the process and takes away what was made."""

    def state(self):
        """Why the process may not run."""

    def output(self):
        if not os.path.exists(OUT):
            return ""
        """What the process has printed."""
        with open(OUT, errors="replace") as file:
            return file.read()

    def answer(self):
        """What use said for each thing, and what permcheck said."""
        for _ in range(300):
            if "\nANSWERED\n" in self.output():
                break
            time.sleep(0.1)
        use, _, rest = self.output().partition("\n\n")
        camera, microphone, listed, created = (int(line) for line in use.split())
        reports = json.loads(rest.split("\nANSWERED\n")[0])["reports"]
        self.said = rest
        return ({"camera": camera, "microphone": microphone, "photos": listed or created},
                {report["accessor"]: report for report in reports})

    def carry_out(self, remedy):
        """Does what a fix says, as the person who reads it."""
        command = remedy.get("shell", "")
        environment = dict(os.environ, HOME="/root")
        if "line" in remedy:
            with open("/run/lab-lines", "w") as file:
                file.write(remedy["line"] + "\n")
            environment["SYSTEMD_EDITOR"] = "/run/lab-editor"
        # systemctl edits only for somebody at a terminal.
        done = run(["script", "-qec", command, "/dev/null"], env=environment)
        after = run(["sh", "-c", remedy["after"]]) if "after" in remedy and done.returncode == 0 else done
        self.fixed.append(command)
        return done.returncode == 0 and after.returncode == 0, done.stdout + after.stdout


def ways(report):
    """The changes of the first fix, which belong together; none where there is only a suggestion."""
    remedies = [m for resource in report["resources"] for m in resource.get("remedies", []) if not m.get("suggestion")]
    unique = [m for i, m in enumerate(remedies) if m not in remedies[:i]]
    steps = [m for m in unique if m["kind"] in ("acl", "mode") or m["kind"] == "service" and "restart" not in m["command"][1:2]]
    return steps or unique[:1]


def try_row(place, refused, unfixed=()):
    """Carries out the first fix of everything that is refused. `unfixed` has no fix, and must print none."""
    try:
        place.start()
        truth, reports = place.answer()
        check(place.name, f"refused: {' '.join(refused) or 'nothing'}", {k for k, v in truth.items() if v} == set(refused), truth)
        for name in ASKED:
            check(place.name, f"{name}: permcheck says what use says",
                  (reports[name]["status"] == "authorized") == (truth[name] == 0) or reports[name]["status"] == "notDetermined",
                  truth, reports[name]["status"])
        for name in refused:
            before = dict(truth)
            changes = ways(reports[name])
            told = [m.get("shell", "") + " | " + m.get("line", "") for m in changes]
            if name in unfixed:
                check(place.name, f"{name}: no fix is printed", not changes, *told)
                continue
            if before[name] == 0:
                continue  # mended with another
            reasons = [r["message"] for x in reports[name]["resources"] for r in x["reasons"]]
            check(place.name, f"{name}: a fix is printed", bool(changes), *reasons)
            if not changes:
                continue
            for change in changes:
                worked, seen = place.carry_out(change)
                check(place.name, f"{name}: it runs as printed", worked, seen, change)
            place.again()
            truth, reports = place.answer()
            check(place.name, f"{name}: it works", truth[name] == 0, *told, *reasons, truth)
            check(place.name, f"{name}: permcheck says so", reports[name]["status"] == "authorized", reports[name])
            lost = [other for other in ASKED if before[other] == 0 and truth[other] != 0]
            check(place.name, f"{name}: what worked still does", not lost, *lost, *told)
    except Exception as error:
        check(place.name, f"ran to its end: {type(error).__name__}: {error}", False, place.output()[:600], place.state())
    finally:
        place.stop()


class Unit(Place):
    """A service of the system, or of a user's manager, with some settings."""
    unit = "lab-fix.service"

    def __init__(self, name, settings, user="member", slices=None, slice=None, of_user=False):
        super().__init__(name)
        self.settings, self.user, self.slices, self.slice = settings, user, slices or {}, slice
        self.uid = pwd.getpwnam("member").pw_uid if of_user else None
        self.folder = "/home/member/.config/systemd/user" if of_user else "/etc/systemd/system"

    def ctl(self, *words):
        if self.uid is None:
            return run(["systemctl", *words])
        return run(["setpriv", "--reuid=member", "--regid=member", "--init-groups", "env", "HOME=/home/member",
                    f"XDG_RUNTIME_DIR=/run/user/{self.uid}", "systemctl", "--user", *words])

    def start(self):
        os.makedirs(self.folder, exist_ok=True)
        who = "" if self.uid is not None else "" if any(s.startswith("DynamicUser") for s in self.settings) else f"User={self.user}\n"
        lines = [*self.settings] + ([f"Slice={self.slice}"] if self.slice else [])
        with open(f"{self.folder}/{self.unit}", "w") as file:
            file.write("[Service]\nExecStart=/usr/local/bin/lab-asks\nWorkingDirectory=/\n" + who
                       + f"StandardOutput=append:{OUT}\nStandardError=journal\n" + "".join(line + "\n" for line in lines))
        for name, text in self.slices.items():
            with open(f"/etc/systemd/system/{name}", "w") as file:
                file.write("[Slice]\n" + text + "\n")
        if self.uid is not None:
            run(["chown", "-R", "member:", "/home/member/.config"])
        self.ctl("daemon-reload")
        open(OUT, "w").close()
        self.ctl("start", self.unit)

    def state(self):
        return self.ctl("status", "-n", "5", self.unit).stdout

    def carry_out(self, remedy):
        if self.uid is None:
            done = super().carry_out(remedy)
        else:
            # The person is the user, in a session of theirs.
            for name in ("shell", "after"):
                if name in remedy:
                    remedy[name] = (f"setpriv --reuid=member --regid=member --init-groups env HOME=/home/member "
                                    f"XDG_RUNTIME_DIR=/run/user/{self.uid} SYSTEMD_EDITOR=/run/lab-editor " + remedy[name])
            done = super().carry_out(remedy)
        return done

    def again(self):
        # A unit that was started again has answered, or still does.
        time.sleep(1)
        self.answer()
        open(OUT, "w").close()
        self.ctl("kill", "-s", "USR1", "--kill-who=main", self.unit)

    def stop(self):
        self.ctl("stop", self.unit)
        for name in [self.unit, *self.slices]:
            run(["rm", "-rf", f"{self.folder}/{name}", f"{self.folder}/{name}.d", f"/etc/systemd/system.control/{name}.d"])
        self.ctl("daemon-reload")
        for name in self.slices:
            self.ctl("stop", name)
        open(OUT, "w").close()


class Box(Place):
    """A program that a sandbox starts; a fix is more options for it."""

    def __init__(self, name, command, user="member"):
        super().__init__(name)
        self.box, self.user, self.process = command, user, None

    def start(self):
        open(OUT, "w").close()
        ids = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--init-groups", "env", f"HOME=/home/{self.user}",
               f"USER={self.user}"] if self.user != "root" else []
        with open(OUT, "a") as output, open("/run/lab-errors", "w") as errors:
            self.process = subprocess.Popen([*ids, *self.box, "/usr/local/bin/lab-asks"], stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=errors, cwd="/", start_new_session=True)

    def carry_out(self, remedy):
        words = remedy["command"]
        self.fixed.append(shlex.join(words))
        if words[0] != self.box[0]:
            return False, f"{words} is no change of {self.box}"
        # What stands for the options that are there.
        place = words.index("…")
        self.box = words[:place] + self.box[1:] + [word for word in words[place + 1:] if word != "PROGRAM"]
        return True, ""

    def state(self):
        with open("/run/lab-errors") as file:
            return f"{self.box}: {file.read()}"

    def again(self):
        self.stop()
        self.start()

    def stop(self):
        if self.process:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
        run(["pkill", "-9", "-f", "lab-asks"])
        for _ in range(100):
            if run(["pgrep", "-f", "lab-asks"]).returncode:
                break
            time.sleep(0.1)


def sandboxes():
    everything = ["camera", "microphone"]
    bubble = ["bwrap", "--ro-bind", "/", "/", "--bind", "/srv", "/srv", "--proc", "/proc"]
    try_row(Box("bwrap with a /dev of its own", [*bubble, "--dev", "/dev"]), everything)
    try_row(Box("bwrap that binds all", ["bwrap", "--bind", "/", "/"]), everything)
    try_row(Box("bwrap with a folder for reading", ["bwrap", "--dev-bind", "/", "/", "--ro-bind", "/srv", "/srv"]), ["photos"])
    with open("/etc/firejail/lab.profile", "w") as file:
        file.write("novideo\nnosound\nprivate-dev\n")
    try_row(Box("firejail with a profile", ["firejail", "--quiet", "--profile=/etc/firejail/lab.profile"]), everything)
    with open("/etc/firejail/lab.profile", "w") as file:
        file.write("blacklist /dev/video0\nblacklist /dev/snd\n")
    try_row(Box("firejail with a blacklist", ["firejail", "--quiet", "--profile=/etc/firejail/lab.profile"]), everything)
    os.remove("/etc/firejail/lab.profile")
    os.makedirs("/run/lab-machine", exist_ok=True)
    run(["mount", "--bind", "/", "/run/lab-machine"])
    nspawn = ["systemd-nspawn", "-q", "-D", "/run/lab-machine", "--volatile=overlay", "--bind=/srv", "--pipe"]
    try_row(Box("systemd-nspawn", nspawn, user="root"), everything)
    run(["umount", "/run/lab-machine"])


def units():
    everything = ["camera", "microphone"]
    for settings, refused in [
        (["PrivateDevices=yes"], everything),
        (["PrivateDevices=yes", "DeviceAllow=/dev/fuse rw"], everything),
        (["DevicePolicy=closed"], everything),
        (["DevicePolicy=strict", "DeviceAllow=char-alsa rw", "DeviceAllow=/dev/null rw", "DeviceAllow=/dev/urandom r"], ["camera"]),
        (["DeviceAllow=char-video4linux rw"], ["microphone"]),
        (["DeviceAllow=char-video4linux r"], everything),
        (["DeviceAllow=/dev/video0 rw"], ["microphone"]),
        (["InaccessiblePaths=/dev/video0"], ["camera"]),
        (["InaccessiblePaths=/dev/snd /srv/other"], ["microphone"]),
        (["TemporaryFileSystem=/dev/snd"], ["microphone"]),
        (["TemporaryFileSystem=/dev/snd /srv:ro"], ["microphone", "photos"]),
        (["ProtectSystem=strict"], ["photos"]),
        (["ReadOnlyPaths=/srv"], ["photos"]),
        (["InaccessiblePaths=/srv/fixes"], ["photos"]),
        (["SystemCallFilter=~ioctl:EPERM"], everything),
        (["DynamicUser=yes"], [*everything, "photos"]),
        (["RootDirectory=/srv/root", "BindReadOnlyPaths=/usr /lib /lib64 /bin /etc /sys", "MountAPIVFS=no", "BindPaths=/proc /run /srv/fixes"], everything),
    ]:
        unfixed = ["photos"] if "DynamicUser=yes" in settings else []
        try_row(Unit(" ".join(settings), settings), refused, unfixed)
    closed = {"lab-closed.slice": "DevicePolicy=closed"}
    try_row(Unit("a closed slice", [], slices=closed, slice="lab-closed.slice"), everything)
    try_row(Unit("a closed slice, and a service that allows", ["DeviceAllow=char-video4linux rw", "DeviceAllow=char-alsa rw"],
                 slices=closed, slice="lab-closed.slice"), everything)
    try_row(Unit("a closed slice, and a private /dev", ["PrivateDevices=yes"], slices=closed, slice="lab-closed.slice"), everything)
    # Masked to save time at boot.
    run(["rm", "-f", "/etc/systemd/system/user@1001.service"])
    run(["systemctl", "daemon-reload"])
    run(["loginctl", "enable-linger", "member"])
    run(["systemctl", "start", "user@1001.service"])
    try_row(Unit("a unit of a user: PrivateDevices=yes", ["PrivateUsers=yes", "PrivateDevices=yes"], of_user=True), everything)
    try_row(Unit("a unit of a user: InaccessiblePaths=/dev/snd", ["PrivateUsers=yes", "InaccessiblePaths=/dev/snd"], of_user=True), ["microphone"])
    run(["loginctl", "disable-linger", "member"])
    run(["systemctl", "stop", "user@1001.service"])
    run(["systemctl", "mask", "user@1001.service"])


def prepare():
    os.makedirs(FOLDER, exist_ok=True)
    os.makedirs("/srv/other", exist_ok=True)
    for folder in ("usr", "lib", "lib64", "bin", "etc", "sys", "proc", "run", "srv/fixes", "dev", "tmp"):
        os.makedirs(f"/srv/root/{folder}", exist_ok=True)
    with open(f"{FOLDER}/a.jpg", "w") as file:
        file.write("x")
    run(["chown", "-R", "member:", FOLDER])
    os.chmod(FOLDER, 0o700)
    with open("/usr/local/bin/lab-asks", "w") as file:
        file.write(ASKS)
    # What a person types into the editor that systemctl opens.
    with open("/run/lab-editor", "w") as file:
        file.write('#!/bin/sh\nfor f; do case $f in +*) ;; *) d=${f%/*}; { cat "$d/override.conf"; echo; cat /run/lab-lines; } >"$f.lab" 2>/dev/null\n'
                   'cat "$f.lab" >"$f"; rm "$f.lab"; exit 0 ;; esac; done\n')
    with open("/etc/sudoers.d/lab-editor", "w") as file:
        file.write('Defaults env_keep += "SYSTEMD_EDITOR"\n')
    os.chmod("/usr/local/bin/lab-asks", 0o755)
    os.chmod("/run/lab-editor", 0o755)
    open(OUT, "w").close()
    os.chmod(OUT, 0o666)


def clean_up():
    """Leaves nothing for the next scenario of the boot."""
    run(["rm", "-rf", "/srv/fixes", "/srv/root", "/srv/other", "/etc/sudoers.d/lab-editor", "/usr/local/bin/lab-asks", OUT,
         "/run/lab-editor", "/run/lab-lines", "/run/lab-errors", "/run/lab-machine", "/home/member/.config/systemd"])


prepare()
{"units": units, "sandboxes": sandboxes}[sys.argv[1]]()
clean_up()
sys.exit(failed > 0)
