#!/usr/bin/env python3
"""Holds how long a fix lasts to reality: durations.py FOLDER PERMCHECK SEED.

In each place the printed fix is typed; what does not end it is done, and the user has access; what is printed as its end
is done, and the user has none. Wants root, in mount, pid and network namespaces of its own.
"""
import json, os, shutil, subprocess, sys, time

base, permcheck = sys.argv[1] + "/u", sys.argv[2]
UID = 61001
os.mkdir(base)
os.environ.update(PERMCHECK_LOG="none", HOME=base, LC_ALL="C.UTF-8")
wrong, held = 0, 0
sh = lambda text: subprocess.run(["sh", "-ec", text], check=True, stdout=subprocess.DEVNULL, cwd=base)


def works(path, need):
    """Whether the user may, in the mount namespace of `inside` if there is one."""
    enter = ["nsenter", "-t", str(inside.pid), "-m"] if inside else []
    test = {"r": "cat", "w": "/usr/bin/python3 -c 'import os,sys; os.open(sys.argv[1], os.O_WRONLY)'",
            "c": "/usr/bin/python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'"}[need]
    ids = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    return subprocess.run([*enter, *ids, "sh", "-c", f'{test} "$0" >/dev/null 2>&1', path], cwd="/").returncode == 0


def place(name, lasts, make, path, need, keeps, ends):
    """One place: shell lines that make it, that do not end a fix, and that end it."""
    global wrong, held, inside
    inside = None
    make() if callable(make) else sh(make)
    if works(path, need):
        raise SystemExit(f"{name}: the user has access before")
    who = ["--pid", str(subject.pid)] if inside else ["--uid", str(UID), "--gid", str(UID)]
    how = ["--to", "connect"] if need == "c" else ["--need", need]
    result = subprocess.run([permcheck, "explain", path, *how, *who, "--json"], capture_output=True, text=True)
    remedies = json.loads(result.stdout)["reports"][0]["resources"][0]["remedies"]
    told = [remedy["lasts"] for remedy in remedies]
    for remedy in remedies:
        sh(remedy["shell"])
    # Where this machine is a container itself, what is in its memory goes with it.
    expected = {lasts, "until the container or sandbox ends" if lasts == "until the next boot" else lasts}
    problems = [] if told and set(told) <= expected else [f"prints {told}"]
    if not works(path, need):
        problems.append("the fix gives no access")
    keeps() if callable(keeps) else sh(keeps)
    if not works(path, need):
        problems.append("it is gone too early")
    ends() if callable(ends) else sh(ends)
    if works(path, need):
        problems.append("it is there after its end")
    if inside:
        inside.kill()
        inside.wait()
    wrong += bool(problems)
    held += not problems
    for problem in problems:
        print(f"{name}: {problem}", [remedy.get("shell") for remedy in remedies], result.stderr)


inside = subject = None
FILE = "echo x >{0}/f; chmod 600 {0}/f"


def listen():
    global server
    server = subprocess.Popen([sys.executable, "-c", f"""
import os, socket
s = socket.socket(socket.AF_UNIX); os.umask(0o117); s.bind({base!r} + "/s"); s.listen(9); print(flush=True)
while True: s.accept()"""], stdout=subprocess.PIPE)
    server.stdout.readline()


def restart():
    server.kill()
    server.wait()
    os.remove(base + "/s")
    listen()


def within(script):
    """A process with mounts of its own, and its user inside."""
    def make():
        global inside, subject
        inside = subprocess.Popen(["unshare", "-m", "sh", "-ec", script + f"""
setpriv --reuid={UID} --regid={UID} --clear-groups sleep 500 & echo $!; wait"""], stdout=subprocess.PIPE, text=True, cwd=base)
        class Subject: pid = int(inside.stdout.readline())
        subject = Subject
    return make


def again(make):
    """The process ends, and another one is made as it was."""
    def end():
        inside.kill()
        inside.wait()
        os.kill(subject.pid, 9)
        make()
    return end


place("a socket", "until the service starts again", listen, base + "/s", "c", "sleep .2", restart)
server.kill()
for kind in ["tmpfs", "ramfs"]:
    make = f"mkdir -p m; mount -t {kind} -o mode=755 none m; " + FILE.format("m")
    place(kind, "until the next boot", make, base + "/m/f", "r", "touch m/f; echo y >>m/f", "umount m; " + make)
    sh("umount m")
user = f"/run/user/{UID}"
make = f"mount -t tmpfs -o mode=755 none /run; mkdir -p {user}; mount -t tmpfs -o mode=755 none {user}; " + FILE.format(user)
place("the folder of a session", "until logout", make, user + "/f", "r", f"echo y >>{user}/f", f"umount {user} /run; " + make)
sh(f"umount {user} /run")
for kind, options in [("ext4", "-F -q"), ("xfs", "-f -q"), ("btrfs", "-f -q")]:
    if not shutil.which("mkfs." + kind):
        continue
    sh(f"truncate -s 320M d.{kind}; mkfs.{kind} {options} d.{kind}; mkdir -p {kind}; mount -o loop d.{kind} {kind}")
    place(kind, "until you undo it", FILE.format(kind), f"{base}/{kind}/f", "r",
          f"umount {kind}; mount -o loop d.{kind} {kind}", f"setfacl -b {kind}/f; chmod 600 {kind}/f")
make = "chattr -i ext4/i 2>/dev/null || :; echo x >ext4/i; chmod 666 ext4/i; chattr +i ext4/i"
place("an attribute", "until you undo it", make, base + "/ext4/i", "w", "umount ext4; mount -o loop d.ext4 ext4", "chattr +i ext4/i")
make = "mount -o remount,rw ext4; echo x >ext4/w; chmod 666 ext4/w; mount -o remount,ro ext4"
place("the options of a mount", "until the next boot", make, base + "/ext4/w", "w", "sync",
      "umount ext4; mount -o loop d.ext4 ext4; mount -o remount,ro ext4")
if shutil.which("mkfs.btrfs"):
    make = ("btrfs subvolume create btrfs/v >/dev/null; " + FILE.format("btrfs/v") + "; btrfs subvolume snapshot btrfs/v btrfs/s >/dev/null")
    place("a snapshot", "until the snapshot is deleted", make, base + "/btrfs/s/f", "r",
          "umount btrfs; mount -o loop d.btrfs btrfs",
          "btrfs subvolume delete btrfs/s >/dev/null; btrfs subvolume snapshot btrfs/v btrfs/s >/dev/null")
make = within(f"mount -t tmpfs -o mode=755 none {base}/m; " + FILE.format(base + "/m"))
place("a tmpfs of one process", "until the process ends", make, base + "/m/f", "r", "sleep .1", again(make))
sh("echo x >m/f; chmod 666 m/f")
make = within(f"mount --bind {base}/m {base}/m; mount -o remount,bind,ro {base}/m")
place("a mount of one process", "until the process ends", make, base + "/m/f", "w", "sleep .1", again(make))
make = "mount -t sysfs none /sys; ip link add v0 type veth peer name v1"
place("an attribute of a device", "until the device is re-plugged or changed", make, "/sys/class/net/v0/ifalias", "w",
      "ip link set v1 up", "ip link delete v0; ip link add v0 type veth peer name v1")
sh("mkdir cg; mount -t cgroup -o blkio none cg 2>/dev/null || :")
if os.path.ismount(base + "/cg"):
    group = base + "/cg/permcheck-x"
    place("a file of a control group", "until the control group is removed", f"mkdir {group}", group + "/tasks", "w",
          f"mkdir {group}y; rmdir {group}y", f"rmdir {group}; mkdir {group}")
    sh(f"rmdir {group}; umount cg")
print(f"durations: {held} places; {wrong} wrong")
sys.exit(wrong > 0)
