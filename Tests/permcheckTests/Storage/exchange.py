"""Exchanges each name below a folder, over and over, for what its owner could put there; for tests of what root reads.

exchange.py FOLDER UID SECRETS COUNT NAME=TEXT...

FOLDER is UID's. Each NAME below it becomes by turns a file with TEXT, links to SECRETS/NAME with all slashes of NAME as
underscores, a FIFO, a node of /dev/zero, a folder, a file of 1 TiB, a file of root's, a loop, links to /proc; and each
folder on the way to it becomes a link to SECRETS. After COUNT exchanges it prints how often somebody had a FIFO open.
"""
import os
import random
import stat
import sys
import time

folder, uid, secrets, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
names = dict(name.split("=", 1) for name in sys.argv[5:])
os.chdir(folder)
os.mkdir(".kinds")
drawn = random.Random(1)


def place(name, make):
    """Puts in place of `name` what `make` makes under another name."""
    make(".kinds/new")
    os.chown(".kinds/new", uid, uid, follow_symlinks=False)
    try:
        os.rename(".kinds/new", name)
    except OSError:  # a folder is there
        os.rename(name, f".kinds/{done}")
        os.rename(".kinds/new", name)


def write(text, mode=0o644, size=None):
    def make(new):
        with open(new, "w") as file:
            file.write(text.replace("\\n", "\n"))
            os.fchmod(file.fileno(), mode)
            if size:
                file.truncate(size)
    return make


def kinds(name):
    secret = f"{secrets}/{name.replace('/', '_')}"
    up = "../" * 40
    return [
        write(names[name]), write(names[name], size=1 << 40), write("SECRET", mode=0),
        *(lambda new, to=to: os.symlink(to, new) for to in (
            secret, up + secret, "/etc/shadow", name.split("/")[-1], "/proc/self/environ", "/proc/self/fd/0",
            "/proc/1/root" + secret, "/dev/zero", "/dev/tty")),
        lambda new: os.mkfifo(new, 0o666), lambda new: os.mknod(new, 0o20666, os.makedev(1, 5)), os.mkdir,
    ]


made = {name: kinds(name) for name in names}
opened = done = 0
for name in names:
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
for path, _, _ in os.walk("."):
    os.chown(path, uid, uid)
print("ready", flush=True)
while done < count:
    name = drawn.choice(list(names))
    done += 1
    try:
        place(name, drawn.choice(made[name]))
    except OSError:
        continue  # the folder is a link just now
    time.sleep(0.002)
    above = os.path.dirname(name)
    if done % 20 == 0 and above:
        os.rename(above, ".kinds/above")
        os.symlink(secrets, above)
        time.sleep(0.002)
        os.unlink(above)
        os.rename(".kinds/above", above)
    try:
        opened_now = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        opened += stat.S_ISFIFO(os.fstat(opened_now).st_mode)
        os.close(opened_now)
    except OSError:
        pass  # no FIFO that somebody reads
print(done, opened, flush=True)
