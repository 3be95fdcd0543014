#!/usr/bin/env python3
"""Compares permcheck audit with find(1) on a large tree of one file system; needs root.

  unshare --mount storage.py TYPE FOLDER PERMCHECK FILES SEED

Mounts a file system of TYPE (ext4, xfs, btrfs, tmpfs, overlay) below FOLDER, in the mount namespace that it
was started in, fills it with about FILES names (ACLs on one in a hundred, a third of foreign owners,
folders that refuse, links, FIFOs, devices, sockets), and asks as several users, as root for them, and by
the evaluator alone. Prints how many lists were compared, and every difference.
"""
import errno, fcntl, os, random, socket, stat, struct, subprocess, sys, time

KIND, FOLDER, PERMCHECK, FILES = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
# uid, gid, supplementary groups
USERS = [(61234, 61234, [44]), (61001, 61001, []), (61234, 44, [61000, 61001])]
OWNERS = [(61000, 61000), (61001, 44), (61234, 61001)]
# Of a folder w is asked for with x.
TESTS = {"r": ["-readable"], "w": ["(", "-writable", "(", "!", "-xtype", "d", "-o", "-executable", ")", ")"], "x": ["-executable"]}


def run(*command, **more):
    return subprocess.run(command, check=True, **more)


def loop(image):
    """A loop device of the image, see loop(4), that frees itself; its node is in FOLDER, as /dev may lack it."""
    with open("/dev/loop-control") as control, open(image, "r+b") as file:
        end = time.monotonic() + 60
        while True:
            number = fcntl.ioctl(control, 0x4C82)  # LOOP_CTL_GET_FREE
            node = f"{FOLDER}/loop{number}"
            if not os.path.exists(node):
                os.mknod(node, 0o600 | stat.S_IFBLK, os.makedev(7, number))
            device = open(node, "r+b")
            try:
                # LOOP_CONFIGURE: struct loop_config with LO_FLAGS_AUTOCLEAR.
                info = bytearray(232)
                struct.pack_into("<I", info, 52, 4)
                fcntl.ioctl(device, 0x4C0A, struct.pack("<II", file.fileno(), 0) + bytes(info) + bytes(64))
                # Open until the mount holds it.
                opened.append(device)
                return node
            except OSError as error:
                device.close()
                # Another process may take the free device first.
                if error.errno != errno.EBUSY or time.monotonic() > end:
                    raise
                time.sleep(0.05)


opened = []


def mount():
    top = f"{FOLDER}/m"
    os.mkdir(top)
    if KIND in ("tmpfs", "overlay"):
        run("mount", "-t", "tmpfs", "-o", "mode=755,nr_inodes=0", "tmpfs", top)
    else:
        image = f"{FOLDER}/image"
        with open(image, "wb") as file:
            file.truncate(2 << 30)
        force = [] if KIND == "ext4" else ["-f"]
        inodes = ["-N", "200000"] if KIND == "ext4" else []
        run(f"mkfs.{KIND}", "-q", *force, *inodes, image, stderr=subprocess.DEVNULL)
        run("mount", loop(image), top)
    os.chmod(top, 0o755)
    if KIND != "overlay":
        return top, [top]
    for name in ("lower", "upper", "work", "both"):
        os.mkdir(f"{top}/{name}", 0o755)
    # The first half is filled below, the second through the overlay.
    return f"{top}/both", [f"{top}/lower", f"{top}/both"]


def acl(random):
    """The bytes of an ACL as system.posix_acl_access, see acl(5) and linux/posix_acl_xattr.h."""
    bits = lambda: random.choice([0, 1, 4, 5, 6, 7])
    entries = [(0x01, bits(), 0xffffffff), (0x02, bits(), random.choice([61234, 61001, 61999])),
               (0x04, bits(), 0xffffffff), (0x08, bits(), random.choice([44, 61000])),
               (0x10, bits(), 0xffffffff), (0x20, bits(), 0xffffffff)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def fill(top, files, random):
    folders, made = [top], 0
    while made < files:
        folder = f"{random.choice(folders[-200:])}/d{made}"
        os.mkdir(folder, 0o755)
        folders.append(folder)
        made += 1
        for number in range(random.randrange(60)):
            path, kind = f"{folder}/n{number}", random.randrange(40)
            if kind == 0:
                os.symlink(random.choice(["..", "n0", "none", "/etc/shadow", "n1", path]), path)
            elif kind == 1:
                os.mkfifo(path, random.choice([0o600, 0o644, 0o622]))
            elif kind == 2:
                os.mknod(path, stat.S_IFCHR | random.choice([0o600, 0o666]), os.makedev(1, 3))
            elif kind == 3:
                # The path of a socket is short.
                os.chdir(folder)
                with socket.socket(socket.AF_UNIX) as listener:
                    listener.bind(f"n{number}")
            else:
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
                os.chmod(path, random.choice([0o644, 0o644, 0o600, 0o640, 0o604, 0o755, 0o060, 0]))
            made += 1
            if random.random() < 0.3:
                os.lchown(path, *random.choice(OWNERS))
            if random.random() < 0.01 and kind > 3:
                os.setxattr(path, "system.posix_acl_access", acl(random))
    os.chdir("/")
    # Closed last, so that everything below could be made.
    for folder in folders[1:]:
        chance = random.random()
        if chance < 0.1:
            os.chmod(folder, random.choice([0o700, 0o711, 0o744, 0o750, 0o733, 0]))
        elif chance < 0.12:
            os.setxattr(folder, "system.posix_acl_access", acl(random))
        if chance < 0.3:
            os.chown(folder, *random.choice(OWNERS))


def listed(command, user=None):
    ids = {} if user is None else dict(user=user[0], group=user[1], extra_groups=user[2])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **ids)
    if done.returncode not in (0, 1) or command[0] != "find" and done.stderr:
        sys.exit(f"{command}: {done.returncode} {done.stderr[:500]!r}")
    return sorted(done.stdout.split(b"\0"))


def main():
    os.umask(0)
    os.chmod(FOLDER, 0o755)
    chance = random.Random(f"{KIND} {sys.argv[5]}")
    top, parts = mount()
    for number, part in enumerate(parts):
        if number == 1:
            below = os.path.dirname(top)
            run("mount", "-t", "overlay", "-o",
                f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work", "o", top)
            os.mkdir(f"{top}/second")
            part = f"{top}/second"
        fill(part, FILES // len(parts), chance)
    names = len(listed(["find", top, "-print0"])) - 1
    lists = refused = differ = 0
    for user in USERS:
        ids = ["--uid", str(user[0]), "--gid", str(user[1]), "--groups", ",".join(map(str, user[2]))]
        for need, test in TESTS.items():
            expected = listed(["find", top, "!", *test, "-print0"], user)
            refused += len(expected) - 1
            audit = [PERMCHECK, "audit", top, "--null", "--need", need]
            unable = ["setpriv", "--bounding-set", "-setuid", "--inh-caps=-all"]
            for way, command, account in (
                    ("self", audit, user), ("root", audit + ids, None),
                    ("evaluator", unable + audit + ids, None)):
                found = listed(command, account)
                lists += 1
                if found != expected:
                    differ += 1
                    odd = set(found) ^ set(expected)
                    print(f"{KIND} {user} {need} {way}: {len(odd)} differ: {sorted(odd)[:3]}")
    print(f"audit on {KIND}: {names} names, {lists} lists, {refused} refused, {differ} differ")


main()
