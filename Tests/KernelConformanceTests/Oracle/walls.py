#!/usr/bin/env python3
"""Runs a command as an unprivileged user below walls that permission bits do not show.

  walls.py [--user UID] [--device MAJOR:MINOR] [--below FOLDER] [landlock|cgroup|seccomp]… -- COMMAND…

landlock    nothing at or below FOLDER can be opened
cgroup      a cgroup of version 1 refuses the character device
seccomp     openat(2) for reading and writing answers EPERM, and so does openat2(2)
seccomp-openat   openat(2) alone does
Wants root. Exit status: the command's; 120 when a wall could not be set up.
"""

import argparse
import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys

import kernel

UID, GROUP = 54321, 54400
CGROUPS = "/sys/fs/cgroup/devices"


class Walls:
    """Becomes the subject, below the walls that a stack wants."""

    def __init__(self, base):
        self.cgroup = None
        # Everything beside the way to `base`.
        self.allowed, folder = [], ""
        for step in base.strip("/").split("/"):
            names = os.listdir(folder or "/")
            self.allowed += [f"{folder}/{name}" for name in names if name != step]
            folder += "/" + step

    def make_cgroup(self, device):
        folder = f"{CGROUPS}/permissionkit-walls-{os.getpid()}"
        try:
            os.mkdir(folder)
            with open(f"{folder}/devices.deny", "w") as file:
                file.write("c %d:%d rwm" % device)
        except OSError as error:
            return str(error)
        self.cgroup = folder
        return None

    def remove_cgroup(self):
        if self.cgroup:
            os.rmdir(self.cgroup)

    def become(self, walls, uid=UID, groups=(GROUP,)):
        if "cgroup" in walls:
            with open(f"{self.cgroup}/tasks", "w") as file:
                file.write(str(os.getpid()))
        os.setgroups(groups)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        if "landlock" in walls:
            self.landlock()
        if "seccomp" in walls:
            self.seccomp(refused=437)
        if "seccomp-openat" in walls:
            self.seccomp(refused=0xFFFFFFFF)

    def landlock(self):
        rights = 1 << 1 | 1 << 2 | 1 << 3  # WRITE_FILE, READ_FILE, READ_DIR
        libc = kernel.libc
        attr = ctypes.c_uint64(rights)
        ruleset = kernel.check(libc.syscall(444, ctypes.byref(attr), ctypes.c_size_t(8), 0), "landlock")
        for path in self.allowed:
            try:
                descriptor = os.open(path, os.O_PATH)
            except OSError:
                continue
            of_kind = rights if stat.S_ISDIR(os.stat(descriptor).st_mode) else rights & ~8
            rule = struct.pack("=Qi", of_kind, descriptor)
            kernel.check(libc.syscall(445, ruleset, 1, rule, 0), f"landlock {path}")
            os.close(descriptor)
        kernel.check(libc.prctl(38, 1, 0, 0, 0), "no_new_privs")
        kernel.check(libc.syscall(446, ruleset, 0), "landlock_restrict_self")

    def seccomp(self, refused):
        """openat(2) for reading and writing answers EPERM, and so does the call `refused`."""
        number = {"x86_64": 257, "aarch64": 56}[os.uname().machine]
        program = [
            (0x20, 0, 0, 0),  # ld nr
            (0x15, 4, 0, refused),
            (0x15, 0, 4, number),  # not openat: allow
            (0x20, 0, 0, 32),  # ld args[2]
            (0x54, 0, 0, 3),  # and O_ACCMODE
            (0x15, 0, 1, 2),  # O_RDWR?
            (0x06, 0, 0, 0x00050000 | errno.EPERM),
            (0x06, 0, 0, 0x7FFF0000),
        ]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
        filters = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
        kernel.check(kernel.libc.prctl(38, 1, 0, 0, 0), "no_new_privs")
        kernel.check(kernel.libc.prctl(22, 2, filters, 0, 0), "seccomp")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", type=int, default=UID)
    parser.add_argument("--device", default="1:5")
    parser.add_argument("--below", default="/srv")
    parser.add_argument("walls", nargs="*")
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    walls = Walls(options.below)
    if "cgroup" in options.walls:
        missing = walls.make_cgroup(tuple(int(part) for part in options.device.split(":")))
        if missing:
            print(f"walls: cgroup: {missing}", file=sys.stderr)
            return 120
    try:
        return subprocess.run(
            sys.argv[split + 1 :],
            preexec_fn=lambda: walls.become(options.walls, options.user),
            check=False,
        ).returncode
    except (OSError, subprocess.SubprocessError) as error:
        print(f"walls: {error}", file=sys.stderr)
        return 120
    finally:
        walls.remove_cgroup()


if __name__ == "__main__":
    sys.exit(main())
