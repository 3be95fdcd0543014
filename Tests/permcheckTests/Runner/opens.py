#!/usr/bin/env python3
"""Runs every command of permcheck as root about what belongs to another user: opens.py FOLDER PERMCHECK N.

FOLDER is a mount of its own. Of the commands, each Nth is run. Prints each command with what it opened there, other than with O_PATH: as the
kernel tells by inotify(7), which is silent about O_PATH.
"""
import ctypes, os, signal, socket, struct, subprocess, sys

base, permcheck, step = sys.argv[1], sys.argv[2], int(sys.argv[3])
OPEN, ACCESS, MODIFY = 0x20, 0x1, 0x2
FOLDER = 0x40000000
tree, out = base + "/tree", base + "/out"
os.mkdir(out)
os.makedirs(tree + "/folder/below")
nodes = {  # What root can open, and what an open of does something.
    "null": (1, 3), "watchdog": (10, 130), "ttyUSB0": (188, 0), "video0": (81, 0), "pcmC0D0c": (116, 24),
    "loop": (7, 0), "nothing": (10, 77),
}
for name, (major, minor) in nodes.items():
    block = name == "loop"
    os.mknod(f"{out}/{name}", (0o060666 if block else 0o020666), os.makedev(major, minor))
os.mkfifo(out + "/fifo", 0o666)
open(out + "/file", "w").write("text\n")
server = socket.socket(socket.AF_UNIX)
server.bind(out + "/socket")
server.listen()
names = [*nodes, "fifo", "file", "socket"]
for name in names:
    os.symlink(f"../out/{name}", f"{tree}/{name}-link")
    os.link(f"{out}/{name}", f"{tree}/{name}")
os.symlink("../out", tree + "/out")
# A machine below another root, each of whose files is somebody's device or leads to one.
machine = tree + "/machine"
for name, target in {
    "dev/video0": "null", "dev/video1": "watchdog", "dev/snd/pcmC0D0c": "watchdog", "etc/passwd": "null", "etc/group": "fifo",
    "proc/asound/cards": "watchdog", "proc/asound/pcm": "fifo", "proc/sys/kernel/osrelease": "null", ".flatpak-info": "null",
    "run/.containerenv": "fifo", "run/systemd/container": "watchdog", "run/host/container-manager": "null",
    "sys/class/video4linux/video0/name": "null", "sys/class/video4linux/video0/index": "watchdog",
    "sys/class/video4linux/video0/dev": "null", "sys/class/sound/card0/id": "fifo", "run/udev/data/c81:0": "null",
    "run/systemd/seats/seat0": "fifo", "run/udev/data/c1:3": "watchdog",
}.items():
    os.makedirs(os.path.dirname(f"{machine}/{name}"), exist_ok=True)
    os.symlink(f"{out}/{target}", f"{machine}/{name}")
# The files that root reads about a user, and a container that is another user's.
home = tree + "/home"
os.makedirs(home + "/.config")
os.symlink(out + "/watchdog", home + "/.config/user-dirs.dirs")
for folder, _, files in os.walk(base):
    for name in [folder, *(os.path.join(folder, file) for file in files)]:
        os.chown(name, 4321, 4321, follow_symlinks=False)
os.chmod(base, 0o755)

libc = ctypes.CDLL(None)
notify = libc.inotify_init1(0o4000)
watched = {}
for folder in [base, tree, out, tree + "/folder", tree + "/folder/below"]:
    # A watch of a folder tells of what is in it, too.
    watched[libc.inotify_add_watch(notify, folder.encode(), OPEN | ACCESS | MODIFY)] = folder


def events():
    found = set()
    while True:
        try:
            data = os.read(notify, 1 << 16)
        except BlockingIOError:
            return found
        at = 0
        while at < len(data):
            watch, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16:at + 16 + length].rstrip(b"\0").decode()
            at += 16 + length
            # A folder may be opened, and read.
            if mask & FOLDER == 0 and name:
                found.add(f"{os.path.relpath(watched[watch], base)}/{name}")


with open(out + "/file") as file:
    file.read()
print("seen" if events() else "NOT SEEN")
paths = [f"{tree}/{name}{end}" for name in names for end in ("", "-link")]
paths += [tree, tree + "/folder", tree + "/out", tree + "/out/watchdog", tree + "/missing"]
with open(base + "/expect.toml", "w") as file:
    for path in paths:
        for need in ["r", "w", "rw"]:
            print(f'[[expect]]\npath = "{path}"\nneed = "{need}"\nis = "granted"', file=file)
commands = [["verify", base + "/expect.toml"], ["audit", tree], ["audit", tree, "--need", "rw"], ["list"]]
for path in paths:
    commands += [["explain", path], ["explain", path, "--probe", "open"], ["explain", path, "--need", "rwx"]]
    commands += [["check", path], ["watch", path, "--for", "100ms"], ["run", path, "--", "true"]]
    commands += [["request", path, "--user", "nobody", "--dry-run"], ["revoke", path]]
    commands += [["check", f"{name}={path}"] for name in ["camera", "mic", "photos", "serial", "docker", "input", "kvm"]]
    commands += [["explain", f"camera={path}", "--probe", "open"], ["explain", f"serial={path}", "--probe", "open"]]
    commands += [["explain", path, "--user", "nobody"]]
every = ["camera", "mic", "photos", "serial", "input", "docker", "kvm"]
commands += [["check", name, "--root", tree] for name in every]
below = [["check", *every, "--root", machine, *more] for more in ([], ["--user", "root"], ["--probe", "open"])]
below += [["explain", "camera", "--root", machine], ["watch", *every, "--root", machine, "--for", "100ms"]]
# A process of its user's own root, of which that user chose every file.
ready, writer = os.pipe()
contained = os.fork()
if contained == 0:
    os.setgroups([])
    os.setresgid(4321, 4321, 4321)
    os.setresuid(4321, 4321, 4321)
    ended = libc.unshare(0x10000000) or libc.chroot(machine.encode()) or os.chdir("/")
    os.write(writer, b"no" if ended else b"ok")
    signal.pause()
    os._exit(0)
if os.read(ready, 2) != b"ok":
    print("NO CONTAINER")
below += [["check", *every, "--pid", str(contained), *more] for more in ([], ["--probe", "open"])]
below += [["explain", "camera", "--pid", str(contained)], ["watch", *every, "--pid", str(contained), "--for", "100ms"]]
count = 0
for command in commands[:4] + below + commands[4::step]:
    subprocess.run([permcheck, *command], timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    found = events()
    found.discard("./expect.toml")
    if found:
        print(" ".join(command), "opened", " ".join(sorted(found)))
    count += 1
os.kill(contained, signal.SIGKILL)
server.setblocking(False)
try:
    server.accept()
    print("somebody connected")
except BlockingIOError:
    pass
print(f"{count} commands")
