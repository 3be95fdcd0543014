"""System calls that Python has no function for, and locks on what all of the system shares."""

import ctypes
import errno
import fcntl
import os
import signal
import time

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_NODEV, MS_NOEXEC, MS_NOSYMFOLLOW = 1, 4, 8, 256
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MOUNT_FLAGS = {
    "ro": MS_RDONLY,
    "nodev": MS_NODEV,
    "noexec": MS_NOEXEC,
    "nosymfollow": MS_NOSYMFOLLOW,
}
MNT_DETACH = 2
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS = 0x80086601, 0x40086602
ATTRIBUTES = {"i": 0x10, "a": 0x20}  # FS_IMMUTABLE_FL, FS_APPEND_FL
SYSCTLS = ["protected_symlinks", "protected_regular", "protected_fifos", "protected_hardlinks"]


def check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def enter_private_mounts():
    """A mount namespace of our own: nothing mounted from now on is seen outside."""
    check(libc.unshare(CLONE_NEWNS), "unshare")
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


def mount(source, target, kind=None, flags=0, data=None):
    def encoded(text):
        return None if text is None else text.encode()

    arguments = encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags)
    patiently(lambda: libc.mount(*arguments, encoded(data)), f"mount {target}")


def unmount(path, detaches=False):
    flags = MNT_DETACH if detaches else 0
    patiently(lambda: libc.umount2(path.encode(), flags), f"umount {path}")


def patiently(call, what, seconds=60):
    """Repeats a call that another process makes fail with EBUSY for a moment.

    Whoever looks through /proc/PID/fd or /proc/PID/cwd holds an inode for as long, and a file
    system with an unlinked inode that is held does not become read-only (s_remove_count).
    """
    end = time.monotonic() + seconds
    while True:
        result = call()
        if result >= 0 or ctypes.get_errno() != errno.EBUSY or time.monotonic() > end:
            return check(result, what)
        time.sleep(0.02)


def user_namespace(users, groups):
    """A descriptor that holds a user namespace with these maps open."""
    ready, writer = os.pipe()
    child = os.fork()
    if child == 0:
        libc.unshare(CLONE_NEWUSER)
        os.write(writer, b"x")
        signal.pause()
        os._exit(0)
    os.read(ready, 1)
    os.close(ready)
    os.close(writer)
    try:
        for name, rows in (("uid_map", users), ("gid_map", groups)):
            with open(f"/proc/{child}/{name}", "w") as file:
                file.write("".join("%d %d %d\n" % tuple(row) for row in rows))
        descriptor = os.open(f"/proc/{child}/ns/user", os.O_RDONLY)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.set_inheritable(descriptor, True)
    return descriptor


class MountAttributes(ctypes.Structure):
    """struct mount_attr of linux/mount.h"""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def bind_idmapped(source, target, namespace):
    """Mounts `source` at `target` with the maps of a user namespace, see mount_setattr(2)."""
    open_tree, move_mount, mount_setattr = 428, 429, 442
    clone, empty_path, from_empty_path, idmap = 1 | os.O_CLOEXEC, 0x1000, 4, 0x100000
    tree = check(libc.syscall(open_tree, -100, source.encode(), clone), "open_tree")
    try:
        attributes = MountAttributes(idmap, 0, 0, namespace)
        size = ctypes.sizeof(attributes)
        arguments = tree, b"", empty_path, ctypes.byref(attributes), size
        check(libc.syscall(mount_setattr, *arguments), "mount_setattr")
        arguments = tree, b"", -100, target.encode(), from_empty_path
        check(libc.syscall(move_mount, *arguments), "move_mount")
    finally:
        os.close(tree)


def set_attribute(path, attribute):
    """Makes an inode immutable ("i"), append-only ("a") or neither (None), see ioctl_iflags(2)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        buffer = bytearray(8)
        fcntl.ioctl(descriptor, FS_IOC_GETFLAGS, buffer)
        flags = int.from_bytes(buffer[:4], "little") & ~sum(ATTRIBUTES.values())
        flags |= ATTRIBUTES.get(attribute, 0)
        fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, flags.to_bytes(8, "little"))
    finally:
        os.close(descriptor)


class Capabilities(ctypes.Structure):
    """struct __user_cap_header_struct and two __user_cap_data_struct of linux/capability.h"""

    VERSION_3 = 0x20080522
    _fields_ = [(name, ctypes.c_uint32) for name in ("version", "pid")]
    _fields_ += [(name, ctypes.c_uint32 * 3) for name in ("low", "high")]


def set_capabilities(effective, permitted):
    values = Capabilities(Capabilities.VERSION_3, 0)
    values.low[0], values.low[1] = effective & 0xFFFFFFFF, permitted & 0xFFFFFFFF
    values.high[0], values.high[1] = effective >> 32, permitted >> 32
    data = ctypes.addressof(values) + Capabilities.low.offset
    check(libc.capset(ctypes.byref(values), ctypes.c_void_p(data)), "capset")


def take_on(uids, gids, groups, capabilities, namespace=None):
    """Gives this process other credentials for good; ids are real, effective and file system's.

    The steps are kernel-asker's, see Tests/Support/KernelAsker/main.c.
    """
    with open("/proc/self/status") as status:
        permitted = next(int(line.split()[1], 16) for line in status if line.startswith("CapPrm"))
    os.setgroups(groups)
    os.setresgid(gids[0], gids[1], gids[1])
    check(libc.prctl(8, 1, 0, 0, 0), "PR_SET_KEEPCAPS")
    os.setresuid(uids[0], uids[1], uids[1])
    set_capabilities(permitted, permitted)
    libc.setfsgid(gids[2])
    libc.setfsuid(uids[2])
    set_capabilities(permitted, permitted)
    if namespace is not None:
        check(libc.setns(namespace, CLONE_NEWUSER), "setns")
    set_capabilities(capabilities, capabilities)


class Sysctls:
    """fs.protected_*, which are the whole system's: locked while in use, put back at the end.

    with Sysctls() as sysctls:
        sysctls.set([1, 0, 2, 1])
    """

    def __enter__(self):
        self.files = [open(f"/proc/sys/fs/{name}", "r+") for name in SYSCTLS]
        # Each pid namespace has a /proc of its own, and all have one /usr.
        self.lock = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.saved = self.current = [int(file.read()) for file in self.files]
        return self

    def set(self, values):
        for file, value, current in zip(self.files, values, self.current):
            if value != current:
                file.seek(0)
                file.write(str(value))
                file.flush()
        self.current = [*values, *self.current[len(values) :]]

    def still_hold(self):
        """Whether nobody else, such as a container on the same kernel, has set them meanwhile."""
        values = []
        for file in self.files:
            file.seek(0)
            values.append(int(file.read()))
        current, self.current = self.current, values
        return values == current

    def __exit__(self, *_):
        self.set(self.saved)
        for file in self.files:
            file.close()
        os.close(self.lock)
