#!/usr/bin/env python3
"""Verifies as root, again and again, what an unprivileged process swaps: swap.py FOLDER PERMCHECK ROUNDS.

Prints whether an open outside would be seen (inotify), how many were, and how many rounds took long.
"""
import ctypes, os, struct, subprocess, sys, time

base, permcheck, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
OPEN, NONBLOCK = 0x20, 0o4000
os.makedirs(base + "/tree/folder")
os.makedirs(base + "/out/folder")
for place in ["out/secret", "out/folder/secret", "tree/folder/secret", "tree/file"]:
    open(f"{base}/{place}", "w").close()
# What their owner may open himself, a process with his ids may open for him: these are root's alone.
for place in ["out/secret", "out/folder/secret"]:
    os.chmod(f"{base}/{place}", 0o600)
for place in ["", "/folder", "/folder/secret", "/file"]:
    os.chown(base + "/tree" + place, 4321, 4321)
os.chmod(base, 0o755)

libc = ctypes.CDLL(None)
notify = libc.inotify_init1(NONBLOCK)
for place in ["", "/folder", "/secret", "/folder/secret"]:
    libc.inotify_add_watch(notify, (base + "/out" + place).encode(), OPEN)


def opens():
    try:
        data = os.read(notify, 1 << 20)
    except BlockingIOError:
        return 0
    at = count = 0
    while at < len(data):
        at += 16 + struct.unpack_from("iIII", data, at)[3]
        count += 1
    return count


# Their owner cannot make devices, but move them.
for place in ["device", "spare"]:
    os.mknod(f"{base}/tree/{place}", 0o020666, os.makedev(1, 3))
    os.chown(f"{base}/tree/{place}", 4321, 4321)
    libc.inotify_add_watch(notify, f"{base}/tree/{place}".encode(), OPEN)

open(base + "/tree/device").close()
seen = opens() > 0
open(base + "/out/secret").close()
seen = opens() > 0 and seen

subjects = ["", 'user = ["nobody", "daemon"]', "uid = 4321\ngid = 4321"]
with open(base + "/expect.toml", "w") as file:
    for subject in subjects:
        for path in ["folder/secret", "file", "folder", "other", "link/secret"]:
            print(f'[[expect]]\npath = "{base}/tree/{path}"\n{subject}', file=file)
            print('is = ["granted", "refused", "unavailable"]', file=file)

swapper = os.fork()
if not swapper:
    os.setgid(4321)
    os.setuid(4321)
    os.chdir(base + "/tree")
    steps = [
        lambda: os.symlink("../out/folder", "link"), lambda: os.rename("folder", "other"),
        lambda: os.rename("link", "folder"), lambda: os.rename("folder", "link"),
        lambda: os.rename("other", "folder"), lambda: os.unlink("link"),
        lambda: os.symlink("../out/secret", "next"), lambda: os.rename("next", "file"),
        lambda: os.mkfifo("next"), lambda: os.rename("next", "file"),
        lambda: os.rename("file", "next"), lambda: os.rename("device", "file"),
        lambda: os.rename("file", "device"), lambda: os.rename("next", "file"),
        lambda: open("next", "w").close(), lambda: os.rename("next", "file"),
    ]
    while True:
        for step in steps:
            try:
                step()
            except OSError:
                pass
slow = 0
try:
    for _ in range(rounds):
        start = time.monotonic()
        subprocess.run([permcheck, "verify", base + "/expect.toml", "-q"], timeout=60)
        slow += time.monotonic() - start > 30
finally:
    os.kill(swapper, 9)
    os.wait()
print(f"seen {seen}, opened outside {opens()}, slow {slow}")
