"""What the histories stand on: file systems that go and come back, ACLs, the kernel's answers."""

import errno
import fcntl
import json
import os
import stat
import struct
import subprocess
import sys
import traceback
from collections import Counter
from pathlib import Path

ORACLE = Path(__file__).resolve().parents[2] / "KernelConformanceTests" / "Oracle"
sys.path.insert(0, str(ORACLE))

import kernel  # noqa: E402
from common import acl_decode, acl_encode  # noqa: E402

ACCESS = "system.posix_acl_access"
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LOOP_CLR_FD, LO_FLAGS_AUTOCLEAR = 0x4C82, 0x4C0A, 0x4C01, 4
CLONE_NEWPID, PR_SET_PDEATHSIG, SIGKILL = 0x20000000, 1, 9
R, W, X = 4, 2, 1


def letters(rights):
    return "".join(letter if rights & bit else "-" for letter, bit in zip("rwx", (R, W, X)))


def need_letters(rights):
    return letters(rights).replace("-", "")


class State:
    """Owner, mode and ACL of one inode; `entries` maps ("u", id or "") and so on to rights."""

    def __init__(self, mode, uid, gid, stored, entries):
        self.mode, self.uid, self.gid, self.stored = mode, uid, gid, stored
        self.entries = entries or {
            ("u", ""): mode >> 6 & 7, ("g", ""): mode >> 3 & 7, ("o", ""): mode & 7,
        }  # fmt: skip

    @classmethod
    def read(cls, path):
        status = os.stat(path, follow_symlinks=False)
        stored, entries = None, None
        try:
            stored = os.getxattr(path, ACCESS, follow_symlinks=False)
            rows = [entry.split(":") for entry in acl_decode(stored).split(",")]
            entries = {(kind, int(who) if who else ""): int(rights) for kind, who, rights in rows}
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
        return cls(stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, stored, entries)

    @classmethod
    def of(cls, mode, uid, gid, rows):
        """From the rows of an ACL as [tag, id, rights], see posix_acl.h; None without an ACL."""
        kinds = {1: "u", 2: "u", 4: "g", 8: "g", 16: "m", 32: "o"}
        entries = {
            (kinds[tag], who if tag in (2, 8) else ""): rights for tag, who, rights in rows or []
        }
        return cls(mode, uid, gid, str(rows), entries)

    @property
    def exact(self):
        return self.mode, self.stored, self.uid, self.gid

    @property
    def chosen(self):
        """The entries that chmod(1) never changes."""
        return {
            (kind, who): rights
            for (kind, who), rights in self.entries.items()
            if kind in "ug" and (who != "" or kind == "g" and ("m", "") in self.entries)
        }

    @property
    def owner_rights(self):
        return self.entries["u", ""]

    @property
    def mask(self):
        return self.entries.get(("m", ""), 7)

    def entry_rights(self, uid):
        """What a user has by an entry if not as the owner; nothing without one."""
        if ("u", uid) not in self.entries:
            return 0
        if not self.mask:
            return self.entries["o", ""] if uid != self.gid else 0
        return self.entries["u", uid] & self.mask

    def allows(self, uid, gid, wanted):
        """acl(5), access check algorithm, for a user without supplementary groups.

        Unlike acl(5), Linux does not look at the ACL if the mask is empty: it takes the mode bits.
        """
        if uid == self.uid:
            return not wanted & ~self.owner_rights
        if not self.mode & 0o070:
            return not wanted & ~(0 if gid == self.gid else self.entries["o", ""])
        if ("u", uid) in self.entries:
            return not wanted & ~self.entry_rights(uid)
        groups = [self.entries["g", ""]] if gid == self.gid else []
        groups += [self.entries["g", gid]] if ("g", gid) in self.entries else []
        if groups:
            return any(not wanted & ~(rights & self.mask) for rights in groups)
        return not wanted & ~self.entries["o", ""]

    def rights(self, uid, gid):
        return sum(bit for bit in (R, W, X) if self.allows(uid, gid, bit))

    def __str__(self):
        return acl_text(self.entries) + f" {self.mode:o} {self.uid}:{self.gid}"


def sorted_entries(entries):
    order = ["u", "g", "m", "o"]
    return sorted(entries.items(), key=lambda row: (order.index(row[0][0]), row[0][1] or 0))


def acl_text(entries):
    return ",".join(
        f"{kind}:{who}:{letters(rights)}" for (kind, who), rights in sorted_entries(entries)
    )


def write_entries(path, entries):
    """Sets the whole ACL; one without named entries and mask becomes mode bits, as setfacl does."""
    if len(entries) == 3:
        mode = stat.S_IMODE(os.stat(path).st_mode) & ~0o777
        try:
            os.removexattr(path, ACCESS)
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
        bits = [entries["u", ""], entries["g", ""], entries["o", ""]]
        os.chmod(path, mode | bits[0] << 6 | bits[1] << 3 | bits[2])
    else:
        text = ",".join(f"{kind}:{who}:{rights}" for (kind, who), rights in sorted_entries(entries))
        os.setxattr(path, ACCESS, acl_encode(text))


def kernel_rights(path, uid, gid, wanted=None):
    """What the kernel lets a user do; with `wanted`, whether it lets all of it through at once."""
    os.setegid(gid)
    os.seteuid(uid)
    try:
        if wanted is not None:
            return os.access(path, wanted, effective_ids=True)
        bits = [bit for bit in (R, W, X) if os.access(path, bit, effective_ids=True)]
        return sum(bits)
    finally:
        os.seteuid(0)
        os.setegid(0)


def attach_loop(image):
    """The path of a loop device for an image; it is let go with its last use."""
    control = os.open("/dev/loop-control", os.O_RDWR)
    backing = os.open(image, os.O_RDWR)
    try:
        for _ in range(100):
            number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
            device = f"/dev/loop{number}"
            if not os.path.exists(device):
                os.mknod(device, stat.S_IFBLK | 0o600, os.makedev(7, number))
            descriptor = os.open(device, os.O_RDWR)
            # struct loop_config: fd, block size, struct loop_info64 with lo_flags at 52, reserved
            settings = bytearray(8 + 232 + 64)
            struct.pack_into("<II", settings, 0, backing, 0)
            struct.pack_into("<I", settings, 8 + 52, LO_FLAGS_AUTOCLEAR)
            try:
                fcntl.ioctl(descriptor, LOOP_CONFIGURE, bytes(settings))
            except OSError as error:
                os.close(descriptor)
                if error.errno not in (errno.EBUSY, errno.ENXIO):
                    raise
                continue
            return device, descriptor
        raise OSError(errno.EBUSY, "no free loop device")
    finally:
        os.close(backing)
        os.close(control)


class Image:
    """An ext4 file system in a file: its inode numbers are used again, and it can go and come."""

    def __init__(self, file, point):
        self.file, self.point, self.is_mounted = file, point, False
        with open(file, "wb") as image:
            image.truncate(4 << 20)
        made = subprocess.run(
            ["mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "nodiscard", file],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            raise OSError(f"mkfs.ext4: {made.stderr}")

    def mount(self, takes_other_number=False):
        """`takes_other_number`: not through the first free loop device, but another one."""
        decoy = attach_loop(self.file)[1] if takes_other_number else None
        try:
            device, descriptor = attach_loop(self.file)
            try:
                kernel.mount(device, self.point, "ext4")
            finally:
                os.close(descriptor)
        finally:
            if decoy is not None:
                os.close(decoy)
        os.chmod(self.point, 0o755)
        self.is_mounted = True

    def unmount(self):
        kernel.unmount(self.point)
        self.is_mounted = False


def enter_own_world():
    """Mounts and processes of our own, which end with us. Returns in the first such process.

    The caller gets the id of that process, the process itself gets 0.
    """
    kernel.check(kernel.libc.unshare(kernel.CLONE_NEWNS | CLONE_NEWPID), "unshare")
    child = os.fork()
    if child:
        return child
    kernel.libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc")
    kernel.mount("tmpfs", "/var/lib", "tmpfs", data="mode=755")
    os.setgroups([])
    os.umask(0o022)
    return 0


def report_from_own_world(writer, work):
    """Calls `work` with the pipe in a world of our own; returns an exit status."""
    inner = enter_own_world()
    if inner:
        os.close(writer)
        return os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    with os.fdopen(writer, "w") as report:
        work(report)
    return 0


def collect(numbers, options, work, title):
    """Does the numbered work in a world of our own, and prints each fault; returns counts, how many were done, faults.

    `work` gets the numbers, the options and a file for a line of JSON each: number, fault, commands, counts.
    """
    reader, writer = os.pipe()
    if not os.fork():
        os.close(reader)
        status = 1
        try:
            status = report_from_own_world(writer, lambda report: work(numbers, options, report))
        except BaseException:
            traceback.print_exc()
        os._exit(abs(status))
    os.close(writer)
    counts, done, faults = Counter(), 0, 0
    with os.fdopen(reader) as lines:
        for line in lines:
            told = json.loads(line)
            done += 1
            counts.update(told["counts"])
            if told["commands"]:
                print(f"--- {title} {told['number']} of seed {options.seed}", *told["commands"], sep="\n")
            if told["fault"]:
                faults += 1
                print(f"FAULT: {told['fault']}", flush=True)
    _, status = os.wait()
    return counts, done, faults + bool(status) + (done != len(numbers))
