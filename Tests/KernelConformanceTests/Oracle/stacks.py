#!/usr/bin/env python3
"""Puts one to three causes of a refusal on top of each other, and takes away what permcheck names.

  stacks.py --permcheck .build/debug/permcheck [--seed 1] [--stacks 1000]

Each stack is a node, a file or a folder that several things refuse at once: bits, ACL, mask, a
parent, a mount, an attribute, Landlock, a device cgroup, seccomp. permcheck, as the subject, names a
first cause. The kernel judges it: with that cause alone it must refuse with the same errno; with it
taken away the answer must change; and when all that was named is gone, it must grant.
Wants root. Prints each fault and `stacks: S stacks, Q steps, F faults`.
"""

import argparse
import errno
import fcntl
import json
import os
import random
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field

import kernel
from walls import UID, GROUP, Walls

DEVICE = (1, 5)  # /dev/zero: what runs under the cgroup still has /dev/null
BITS = ["owner", "group", "other", "entry", "group entry"]
CAUSES = {
    "device": ["bits", "mask", "parent", "nodev", "landlock", "cgroup", "seccomp"],
    "file": ["bits", "mask", "parent", "ro", "immutable", "append", "landlock", "seccomp"],
    "folder": ["bits", "mask", "parent", "ro", "immutable", "landlock"],
    "program": ["bits", "parent", "noexec"],
}
NEEDS = {"device": "rw", "file": "rw", "folder": "rwx", "program": "x"}
OF_PROCESS = {"landlock", "cgroup", "seccomp"}
NAMED = {
    "owner-bits": "bits", "group-bits": "bits", "other-bits": "bits", "not-in-group": "bits",
    "acl-entry": "bits", "acl-mask": "mask", "parent-search": "parent", "nodev-mount": "nodev",
    "noexec-mount": "noexec", "read-only-mount": "ro", "immutable": "immutable",
    "append-only": "append", "landlock-or-lsm": "landlock", "device-cgroup": "cgroup",
    "seccomp": "seccomp",
}  # fmt: skip


@dataclass
class Stack:
    number: int
    kind: str
    causes: set
    bits: str
    folder: str
    steps: list = field(default_factory=list)
    is_mounted: bool = False
    has_acl: bool = False

    @property
    def path(self):
        return f"{self.folder}/way/target"

    @property
    def confinement(self):
        return frozenset(self.causes & OF_PROCESS)

    def __str__(self):
        return f"stack {self.number} ({self.kind}, {', '.join(sorted(self.causes))}; {self.bits})"


def attribute(path, bits):
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, kernel.FS_IOC_SETFLAGS, struct.pack("i", bits))
    finally:
        os.close(descriptor)


def setfacl(path, text):
    """An ACL by its xattr: `u::7,u:5:6,g::0,m::7,o::0`."""
    tags = {"u": 1, "g": 4, "m": 0x10, "o": 0x20}
    entries = []
    for part in text.split(","):
        tag, name, bits = part.split(":")
        code = tags[tag] * (2 if name and tag in "ug" else 1)
        entries.append((code, int(name) if name else 0xFFFFFFFF, int(bits)))
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", c, b, i) for c, i, b in sorted(entries))
    os.setxattr(path, "system.posix_acl_access", data)


def build(stack):
    """Makes the target with the causes that are files' and mounts' own."""
    os.makedirs(stack.folder, mode=0o755)
    if stack.causes & {"nodev", "noexec", "ro"}:
        kernel.mount(stack.folder, stack.folder, flags=kernel.MS_BIND)
        stack.is_mounted = True
    os.mkdir(os.path.dirname(stack.path), 0o755)
    if stack.kind == "device":
        os.mknod(stack.path, stat.S_IFCHR | 0o666, os.makedev(*DEVICE))
    elif stack.kind == "folder":
        os.mkdir(stack.path)
    else:
        with open(stack.path, "w"):
            pass
    apply(stack)


def apply(stack):
    """Brings bits, ACL, attributes, the parent and the mount's flags to what `causes` says."""
    causes, path = stack.causes, stack.path
    if stack.is_mounted:
        remount(stack.folder, 0)
    if stack.kind in ("file", "folder"):
        attribute(path, 0)
    if stack.has_acl:
        os.removexattr(path, "system.posix_acl_access")
        stack.has_acl = False
    uid, gid, mode = 0, 0, 0o777
    if "bits" in causes and "mask" not in causes:
        none = {"owner": 0o077, "group": 0o707, "other": 0o770}.get(stack.bits)
        if none is not None:
            uid = UID if stack.bits == "owner" else 0
            gid = GROUP if stack.bits == "group" else 0
            mode = none
    os.chown(path, uid, gid)
    os.chmod(path, mode)
    acl = None
    if "mask" in causes:
        # With bits too: the entry itself would not do either.
        acl = f"u::7,u:{UID}:{0 if 'bits' in causes else 7},g::7,m::0,o::0"
        if "bits" in causes:
            acl = f"u::7,u:{UID}:0,g::7,m::1,o::7"
    elif "bits" in causes and stack.bits == "entry":
        acl = f"u::7,u:{UID}:0,g::7,m::7,o::7"
    elif "bits" in causes and stack.bits == "group entry":
        acl = f"u::7,g::7,g:{GROUP}:0,m::7,o::7"
    if acl:
        setfacl(path, acl)
        stack.has_acl = True
    os.chmod(os.path.dirname(path), 0o700 if "parent" in causes else 0o755)
    flags = 0
    for cause, flag in (("nodev", kernel.MS_NODEV), ("noexec", kernel.MS_NOEXEC)):
        flags |= flag if cause in causes else 0
    flags |= kernel.MS_RDONLY if "ro" in causes else 0
    bits = (kernel.ATTRIBUTES["i"] if "immutable" in causes else 0) | (
        kernel.ATTRIBUTES["a"] if "append" in causes else 0
    )
    if bits:
        attribute(path, bits)
    if stack.is_mounted:
        remount(stack.folder, flags)


def remount(folder, flags):
    kernel.mount("none", folder, flags=kernel.MS_REMOUNT | kernel.MS_BIND | flags)


# --- asking ---------------------------------------------------------------------------------------


def ask_kernel(walls, stacks):
    """What the kernel answers the subject about each of `stacks`, which have the same walls."""
    if not stacks:
        return []
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            walls.become(stacks[0].confinement)
            with os.fdopen(writer, "w") as file:
                file.write(" ".join(str(answer(stack)) for stack in stacks))
        except BaseException as error:
            print(f"asking the kernel: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answers = [int(word) for word in file.read().split()]
    _, status = os.waitpid(child, 0)
    if status or len(answers) != len(stacks):
        raise SystemExit("the kernel could not be asked")
    return answers


def answer(stack):
    flags = {"device": os.O_RDWR, "file": os.O_RDWR, "folder": os.O_RDONLY | os.O_DIRECTORY}
    try:
        if stack.kind in flags:
            os.close(os.open(stack.path, flags[stack.kind] | os.O_NONBLOCK))
        mode = {"folder": os.W_OK | os.X_OK, "program": os.X_OK}.get(stack.kind)
        if mode is not None:
            result = kernel.libc.syscall(439, -100, stack.path.encode(), mode, 0x200)
            kernel.check(result, "faccessat2")
    except OSError as error:
        return error.errno
    return 0


def ask_permcheck(permcheck, walls, stacks):
    """permcheck's resource of each of `stacks`, which have the same walls and need."""
    command = [permcheck, "explain", "--json", "--need", NEEDS[stacks[0].kind]]
    outcome = subprocess.run(
        command + [stack.path for stack in stacks],
        preexec_fn=lambda: walls.become(stacks[0].confinement),
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": "/", "PERMCHECK_LOG": "none"},
        check=False,
    )
    try:
        reports = json.loads(outcome.stdout)["reports"]
    except ValueError:
        raise SystemExit(f"permcheck: {outcome.returncode} {outcome.stderr.decode()}") from None
    return [report["resources"][0] for report in reports]


# --- peeling -------------------------------------------------------------------------------------


def by_walls(stacks):
    groups = {}
    for stack in stacks:
        groups.setdefault((stack.confinement, NEEDS[stack.kind]), []).append(stack)
    return groups.values()


class Run:
    def __init__(self, permcheck, base, seed, has_cgroup, walls):
        self.permcheck, self.base, self.walls = permcheck, base, walls
        self.random = random.Random(seed)
        self.left_out = set() if has_cgroup else {"cgroup"}
        self.faults, self.steps, self.changed = [], 0, 0
        self.named = Counter()

    def draw(self, number):
        kind = self.random.choices(list(CAUSES), [4, 4, 3, 1])[0]
        possible = [cause for cause in CAUSES[kind] if cause not in self.left_out]
        causes = set(self.random.sample(possible, self.random.randint(1, min(3, len(possible)))))
        if causes >= {"immutable", "append"}:
            causes.discard("append")
        return Stack(number, kind, causes, self.random.choice(BITS), f"{self.base}/s{number}")

    def alone(self, stack, cause):
        """A twin with that cause alone, and what the kernel says of it."""
        twin = Stack(
            stack.number, stack.kind, {cause}, stack.bits, f"{self.base}/t{stack.number}-{cause}"
        )
        build(twin)
        answer = ask_kernel(self.walls, [twin])[0]
        clear(twin)
        return answer

    def fault(self, stack, text):
        self.faults.append(f"{stack}: {text}")

    def peel(self, stacks):
        """One round: asks about all, and takes the first named cause of each away."""
        rest = []
        for group in by_walls(stacks):
            answers = ask_kernel(self.walls, group)
            resources = ask_permcheck(self.permcheck, self.walls, group)
            for stack, number, resource in zip(group, answers, resources, strict=True):
                if self.step(stack, number, resource):
                    rest.append(stack)
        return rest

    def step(self, stack, number, resource):
        self.steps += 1
        codes = [reason["code"] for reason in resource["reasons"]]
        seen = (number, codes[0] if codes else None)
        if stack.steps and stack.steps[-1] == seen:
            self.fault(stack, f"the answer stays {seen}")
            return False
        if stack.steps and stack.steps[-1][0] != number:
            self.changed += 1
        stack.steps.append(seen)
        if number == 0:
            if resource["status"] != "authorized":
                self.fault(stack, f"the kernel grants, permcheck says {resource['status']} {codes}")
            if stack.causes:
                self.fault(stack, f"granted with {sorted(stack.causes)} left")
            return False
        if resource["status"] == "authorized" or not codes:
            self.fault(stack, f"the kernel says {errno.errorcode[number]}, permcheck {resource['status']}")
            return False
        cause = NAMED.get(codes[0])
        if cause not in stack.causes:
            self.fault(stack, f"{codes[0]} is named, which is none of its causes; {resource['reasons'][0]}")
            return False
        alone = self.alone(stack, cause)
        if alone != number:
            self.fault(
                stack, f"{codes[0]} is named for {errno.errorcode[number]}; alone it answers {alone}"
            )
        self.named[codes[0]] += 1
        stack.causes.discard(cause)
        apply(stack)
        return True


def clear(stack):
    if stack.is_mounted:
        remount(stack.folder, 0)
    if stack.kind in ("file", "folder"):
        attribute(stack.path, 0)
    if stack.is_mounted:
        kernel.unmount(stack.folder, detaches=True)
    shutil.rmtree(stack.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--permcheck", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stacks", type=int, default=1000)
    options = parser.parse_args()

    kernel.enter_private_mounts()
    # A tmpfs of this mount namespace alone: nothing of it is seen outside or left behind.
    base = "/srv"
    if not os.path.isdir(base):
        base = tempfile.mkdtemp(prefix="permissionkit-stacks-", dir="/var")
    kernel.mount("none", base, "tmpfs", data="mode=755")
    walls = Walls(base)
    missing = walls.make_cgroup(DEVICE)
    if missing:
        print(f"left out: device cgroup: {missing}", file=sys.stderr)
        if os.environ.get("CI") == "true":
            return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        run = Run(options.permcheck, base, options.seed, not missing, walls)
        stacks = [run.draw(number) for number in range(options.stacks)]
        for stack in stacks:
            build(stack)
        rest = stacks
        for _ in range(6):
            rest = run.peel(rest)
            if not rest:
                break
        for stack in rest:
            run.fault(stack, "never granted")
    finally:
        walls.remove_cgroup()
    for text in run.faults[:40]:
        print(text)
    print("stacks: named " + ", ".join(f"{code} {count}" for code, count in sorted(run.named.items())))
    print(
        f"stacks: {len(stacks)} stacks, {run.steps} steps, {len(run.faults)} faults;"
        f" errno changed {run.changed} times; seed {options.seed}"
    )
    return 1 if run.faults else 0


if __name__ == "__main__":
    sys.exit(main())
