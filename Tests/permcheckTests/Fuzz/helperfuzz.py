#!/usr/bin/env python3
"""Starts permcheck-helper as a hostile user would, and looks at what it leaves behind.

  helperfuzz.py --helper FILE [--count 2000] [--seed N] [--jobs 2] [--only N[-M]]

Each case has its own arguments, environment, descriptors, limits, signals, timers, working folder
and more. The cases of a round (100) share the cameras and the journal. After each case:

- the helper has ended; or it waits for a reader of its answer, and holds up nobody
- nothing changed but the ACL entries of the user who asked, on cameras and microphones
- nobody has the journal locked, and there are no new files but those of the journal
- if the user or the arguments are wrong, nothing changed at all
- a process that it left behind, which will end the grant, kept nothing of the caller

After each round everything is revoked; then the nodes are as they were and no grant is open.

Wants root. Everything happens in a mount and pid namespace of its own, with other /dev, /sys, /etc,
/run and /var/lib. Prints each fault, and as the last line `helper fuzz: N cases, F faults, seed S`.
"""

import argparse
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import platform
import random
import re
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_TIMERSLACK = 1, 29
IOPRIO_SET, IOPRIO_GET = {"x86_64": (251, 252), "aarch64": (30, 31)}.get(
    platform.machine(), (None, None)
)
ACL_ACCESS, ACL_DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
OWNER, USER, GROUP_OBJ, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
READ, WRITE = 4, 2

ROUND = 100  # cases that share the cameras
LONGEST_CASE = 70  # seconds; the helper ends itself after 60
LONGEST_REVOKE = 10  # seconds that a revoke may take while another helper waits for its reader
STOP_SIGNALS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}

STATE = "/var/lib/permcheck"
JOURNAL = STATE + "/grants.jsonl"
CAMERAS = {"/dev/video0": (81, 0), "/dev/video1": (81, 1)}
# No driver registered this number. It counts as a camera whose device is gone, see
# DeviceFamily+Membership.swift.
CAMERAS["/dev/video9"] = (81, 9)
MICROPHONES = {"/dev/snd/pcmC0D0c": (116, 24), "/dev/snd/controlC0": (116, 0)}
NODES = {**CAMERAS, **MICROPHONES}
# What is in sysfs: class, name, number, index, label.
REGISTERED = [
    ("video4linux", "video0", "81:0", "0", "Lens"),
    ("video4linux", "video1", "81:1", "0", "Second lens"),
    ("video4linux", "video2", "81:2", "1", "Lens"),
    ("video4linux", "vbi0", "81:224", "0", "Teletext"),
    ("sound", "pcmC0D0c", "116:24", None, None),
    ("sound", "pcmC0D0p", "116:16", None, None),
    ("sound", "controlC0", "116:0", None, None),
    ("sound", "timer", "116:33", None, None),
]
# Nodes that are no cameras and no microphones. video2 does not capture.
DECOY_NODES = {
    "/dev/null": (1, 3, 0o666), "/dev/full": (1, 7, 0o666), "/dev/mem": (1, 1, 0o640),
    "/dev/video2": (81, 2, 0o660), "/dev/vbi0": (81, 224, 0o660),
    "/dev/snd/pcmC0D0p": (116, 16, 0o660), "/dev/snd/timer": (116, 33, 0o660),
    "/dev/shm/video0": (81, 0, 0o600),
}  # fmt: skip

# The users who ask, each with the gid. Uid 7 is in the group of the cameras.
USERS = {1: 1, 5: 60, 7: 7, 1000: 1000, 65534: 65534, 4294967294: 100}
NAMES = {1: "one", 5: "games", 7: "seven", 1000: "thousand", 65534: "nobody", 4294967294: "most"}
MEMBERS = {44: [7], 38: [1000]}
# The name of this user is the number of another one. Nobody grants anything to this user.
NUMBER_USER = 54399
# This user never has a grant, and revokes while others wait.
SPARE = 9
NEEDS = {b"r": READ, b"w": WRITE, b"rw": READ | WRITE}
ACCESSORS = {b"camera": CAMERAS, b"microphone": MICROPHONES, b"mic": MICROPHONES}


def check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def mount(source, target, kind=None, flags=0, data=None):
    def encoded(text):
        return None if text is None else text.encode()

    arguments = encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags)
    check(libc.mount(*arguments, encoded(data)), f"mount {target}")


# MARK: What the helper may do


@dataclass(frozen=True)
class Request:
    """What arguments ask for, if they are in the grammar of SECURITY.md."""

    action: bytes
    accessor: bytes
    need: int = READ | WRITE
    seconds: int = 0
    process: int = 0

    @property
    def is_lease(self):
        return self.action == b"grant" and (self.seconds > 0 or self.process > 0)


def number(word, most):
    if not re.fullmatch(rb"[1-9][0-9]{0,9}", word) or int(word) > most:
        return None
    return int(word)


def parsed(words):
    """The request of these arguments; None if they are not in the grammar."""
    if len(words) < 2 or words[0] not in (b"grant", b"revoke") or words[1] not in ACCESSORS:
        return None
    values, rest = {}, words[2:]
    options = [b"--need", b"--for", b"--while"] if words[0] == b"grant" else [b"--while"]
    for option in options:
        if len(rest) >= 2 and rest[0] == option:
            values[option], rest = rest[1], rest[2:]
    if rest:
        return None
    need = NEEDS.get(values.get(b"--need", b"rw"))
    seconds = number(values.get(b"--for", b"1"), 31_536_000)
    process = number(values.get(b"--while", b"1"), 1 << 22)
    if None in (need, seconds, process):
        return None
    return Request(
        words[0], words[1], need, seconds if b"--for" in values else 0,
        process if b"--while" in values else 0,
    )  # fmt: skip


def invoker(environment):
    """The uid that asks; None unless exactly one variable names one."""
    values = []
    for entry in environment:
        name, equals, value = entry.partition(b"=")
        if equals and name in (b"SUDO_UID", b"PKEXEC_UID"):
            values.append(value)
    return number(values[0], 0xFFFFFFFE) if len(values) == 1 else None


# MARK: Access


@dataclass(frozen=True)
class NodeState:
    kind: int
    device: int
    inode: int
    uid: int
    gid: int
    mode: int
    acl: tuple  # of (tag, permissions, id); empty without an ACL

    @staticmethod
    def of(path):
        status = os.lstat(path)
        try:
            acl = decoded(os.getxattr(path, ACL_ACCESS, follow_symlinks=False))
        except OSError as error:
            if error.errno not in (errno.ENODATA, errno.EOPNOTSUPP):
                raise
            acl = ()
        return NodeState(
            stat.S_IFMT(status.st_mode), status.st_rdev, status.st_ino, status.st_uid,
            status.st_gid, stat.S_IMODE(status.st_mode), acl,
        )  # fmt: skip

    def ids(self, tag):
        return {id for kind, _, id in self.acl if kind == tag}

    def access(self, uid, gids):
        """The sets of permissions, as bits, that the kernel grants without capabilities."""
        # The kernel does not read an ACL whose mask is empty, see acl_permission_check().
        entries = self.acl if self.mode & 0o070 else ()
        entries = entries or (
            (OWNER, self.mode >> 6 & 7, 0), (GROUP_OBJ, self.mode >> 3 & 7, 0),
            (OTHER, self.mode & 7, 0),
        )  # fmt: skip
        only = {tag: bits for tag, bits, _ in entries}
        mask = only.get(MASK, 7)
        own = [bits & mask for tag, bits, id in entries if tag == USER and id == uid]
        groups = [
            bits & mask for tag, bits, id in entries
            if tag == GROUP_OBJ and self.gid in gids or tag == GROUP and id in gids
        ]  # fmt: skip
        if uid == self.uid:
            found = [only[OWNER]]
        elif own:
            found = own[:1]
        else:
            found = groups or [only[OTHER]]
        return frozenset(want for want in range(1, 8) if any(want & ~bits == 0 for bits in found))

    def text(self):
        names = {OWNER: "u", USER: "u", GROUP_OBJ: "g", GROUP: "g", MASK: "m", OTHER: "o"}
        acl = ",".join(
            f"{names[tag]}:{id if tag in (USER, GROUP) else ''}:{bits}"
            for tag, bits, id in self.acl
        )
        return f"{self.uid}:{self.gid} {self.mode:o} [{acl}]"


def decoded(value):
    entries = [struct.unpack_from("<HHI", value, place) for place in range(4, len(value), 8)]
    return tuple(entries)


def encoded(acl):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in acl)


def bits(access):
    result = 0
    for want in access:
        result |= want
    return result


def groups_of(uid):
    return {USERS[uid]} | {gid for gid, members in MEMBERS.items() if uid in members}


def people(*states):
    """Everybody whose access can differ: a list of (uid, gids)."""
    uids = {0, NUMBER_USER, 60001}
    gids = {60001}
    for state in states:
        uids |= state.ids(USER) | {state.uid}
        gids |= state.ids(GROUP) | {state.gid}
    everybody = [(uid, groups_of(uid)) for uid in USERS]
    everybody += [(uid, {60001}) for uid in uids - set(USERS)]
    everybody += [(60002, {gid}) for gid in gids] + [(60003, gids)]
    return everybody


# MARK: The fixture


class Fixture:
    """Other /dev, /sys, /etc, /run and /var/lib, with cameras and decoys."""

    def __init__(self, lab):
        self.lab = lab
        self.home = lab + "/home"
        mount("none", "/", flags=MS_REC | MS_PRIVATE)
        mount("proc", "/proc", "proc")
        mount("tmpfs", lab, "tmpfs", data="mode=755")
        self.make_etc()
        for folder in ("/var/lib", "/run", "/sys", "/dev"):
            mount("tmpfs", folder, "tmpfs", data="mode=755")
        self.make_sys()
        self.make_dev()
        self.make_home()
        os.mkdir("/var/lib/other")
        self.write("/var/lib/other/file", "other\n", 0o600)
        self.states = {}
        self.remember()

    @staticmethod
    def write(path, text, mode=0o644):
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def make_etc(self):
        new = self.lab + "/etc"
        shutil.copytree("/etc", new, symlinks=True, copy_function=self.copy, dirs_exist_ok=True)
        rows = [("root", 0, 0)] + [(NAMES[uid], uid, gid) for uid, gid in USERS.items()]
        rows += [("5", NUMBER_USER, NUMBER_USER), ("spare", SPARE, SPARE)]
        passwd = "".join(f"{name}:x:{uid}:{gid}::{self.home}:/bin/sh\n" for name, uid, gid in rows)
        group = "".join(
            f"group{gid}:x:{gid}:{','.join(NAMES[uid] for uid in MEMBERS.get(gid, []))}\n"
            for gid in sorted({0, 44, 38} | set(USERS.values()))
        )
        self.write(new + "/passwd", passwd)
        self.write(new + "/group", group)
        self.write(new + "/shadow", "root:*:1::::::\n", 0o640)
        self.write(new + "/nsswitch.conf", "passwd: files\ngroup: files\n")
        mount(new, "/etc", flags=MS_BIND)

    @staticmethod
    def copy(source, target):
        # A socket or a pipe is of no use here.
        try:
            if stat.S_ISREG(os.lstat(source).st_mode):
                shutil.copy2(source, target)
        except FileNotFoundError:
            pass  # Others may add users meanwhile.

    @staticmethod
    def make_sys():
        os.makedirs("/sys/dev/char/1:3")
        for kind, name, device, index, label in REGISTERED:
            folder = f"/sys/class/{kind}/{name}"
            os.makedirs(folder)
            os.makedirs(f"/sys/dev/char/{device}", exist_ok=True)
            for file, text in (("dev", device), ("index", index), ("name", label)):
                if text is not None:
                    Fixture.write(f"{folder}/{file}", text + "\n")

    def make_dev(self):
        os.mkdir("/dev/snd")
        os.mkdir("/dev/shm")
        os.chmod("/dev/shm", 0o1777)
        os.mkdir("/dev/shm/private", 0o700)
        self.write("/dev/shm/private/file", "private\n", 0o600)
        for path, (major, minor, mode) in DECOY_NODES.items():
            self.node(path, major, minor, mode)
        for path, (major, minor) in NODES.items():
            self.node(path, major, minor, 0o660)
        self.write("/dev/video-file", "no device\n", 0o600)
        self.write("/dev/video3", "no device\n", 0o600)
        os.mkdir("/dev/video4", 0o700)
        os.symlink(self.home + "/secret", "/dev/video5")

    @staticmethod
    def node(path, major, minor, mode):
        os.mknod(path, stat.S_IFCHR | mode, os.makedev(major, minor))
        os.chmod(path, mode)

    def make_home(self):
        for folder in ("", "/.config", "/.ssh", "/locked"):
            os.mkdir(self.home + folder)
        self.write(self.home + "/.config/user-dirs.dirs", 'XDG_PICTURES_DIR="/etc"\n')
        self.write(self.home + "/.ssh/key", "key\n", 0o600)
        self.write(self.home + "/secret", "secret\n", 0o600)
        for folder in ("/.ssh", "/locked"):
            os.chmod(self.home + folder, 0o700)
        os.chmod(self.home + "/locked", 0)
        # What cases need for themselves, which is no decoy.
        os.mkdir(self.lab + "/scratch")

    def remember(self):
        """Notes what never changes: a few places for each case, and all for the end of a round."""
        self.near = sorted(
            [path for path in self.below("/dev") if path not in NODES]
            + self.below(self.home) + self.below("/var/lib/other")
            + ["/dev", "/dev/shm", "/dev/snd", "/etc", "/etc/passwd", "/etc/group", "/etc/shadow"]
            + ["/sys", "/run", self.lab, "/sys/class/video4linux/video0/dev"]
        )  # fmt: skip
        self.near_marks = {path: self.mark(path) for path in self.near}
        self.all_marks = self.marks_of_all()

    @staticmethod
    def below(folder):
        found = [folder]
        for parent, folders, files in os.walk(folder):
            found += [os.path.join(parent, name) for name in folders + files]
        return found

    def marks_of_all(self):
        paths = [path for path in self.below("/dev") if path not in NODES]
        paths += self.below("/etc") + self.below("/sys") + self.below("/run")
        paths += self.below(self.home) + self.below("/var/lib/other")
        return {path: (self.mark(path), self.contents(path)) for path in paths}

    @staticmethod
    def mark(path):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return "missing"
        acls = []
        if not stat.S_ISLNK(status.st_mode):
            for name in (ACL_ACCESS, ACL_DEFAULT):
                try:
                    acls.append(os.getxattr(path, name, follow_symlinks=False))
                except OSError:
                    acls.append(None)
        times = (status.st_mtime_ns, status.st_ctime_ns)
        if stat.S_ISCHR(status.st_mode):
            times = None  # a write to a device may set it
        identity = (status.st_mode, status.st_ino, status.st_uid, status.st_gid, status.st_rdev)
        return (*identity, status.st_nlink, times, *acls)

    @staticmethod
    def contents(path):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return os.readlink(path)
        if stat.S_ISDIR(status.st_mode):
            return tuple(sorted(os.listdir(path)))
        if stat.S_ISREG(status.st_mode):
            with open(path, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
        return None

    def changed_decoys(self):
        return [path for path in self.near if self.mark(path) != self.near_marks[path]]

    def changed_anywhere(self):
        now = self.marks_of_all()
        paths = set(now) | set(self.all_marks)
        return sorted(path for path in paths if now.get(path) != self.all_marks.get(path))

    def strange_files(self):
        """Files below /var/lib that are not those of the journal, or that others could change."""
        strange = [name for name in os.listdir("/var/lib") if name not in ("permcheck", "permcheck-users", "other")]
        if not os.path.isdir(STATE):
            return strange
        users = "|".join(str(uid) for uid in USERS)
        for name in os.listdir(STATE):
            path = os.path.join(STATE, name)
            found = re.fullmatch(rf"guardian|grants\.jsonl(?:\.new)?|({users})\.jsonl\.new", name)
            try:
                state = NodeState.of(path)
            except FileNotFoundError:
                continue  # a guardian removed it just now
            is_private = state.kind == stat.S_IFREG and state.uid == 0 and not state.ids(USER)
            if not found or not is_private or state.access(60001, {60001}):
                strange.append(f"{path} {state.text()}")
        folder = os.lstat(STATE)
        if folder.st_uid != 0 or stat.S_IMODE(folder.st_mode) != 0o700:
            strange.append(STATE)
        # What a user is shown nobody else can reach.
        shown = "/var/lib/permcheck-users"
        for name in os.listdir(shown) if os.path.isdir(shown) else []:
            state = NodeState.of(f"{shown}/{name}")
            if state.uid != 0 or state.ids(USER) != {int(name)} or state.access(60001, {60001}):
                strange.append(f"{shown}/{name} {state.text()}")
        return strange

    def begin_round(self, rng):
        """Gives the nodes the states from which the cases of a round begin."""
        # A node with the name of a camera and the number of something else: camera is refused.
        impostor = "/dev/video7"
        if os.path.lexists(impostor):
            os.unlink(impostor)
        if rng.random() < 0.15:
            self.node(impostor, 1, 1, 0o600)
        for path in NODES:
            uid = rng.choice([0, 0, 0, 0, 1000])
            mode = rng.choice([0o660] * 4 + [0o600, 0o640, 0o620, 0o666, 0o664, 0, 0o060, 0o2660])
            os.chown(path, uid, rng.choice([0, 44, 44, 38]))
            if rng.random() < 0.5:
                acl = minimal(mode)
            else:
                acl = random_acl(rng, mode)
            os.setxattr(path, ACL_ACCESS, encoded(acl), follow_symlinks=False)
            if len(acl) == 3:
                os.chmod(path, mode)
        self.states = {path: NodeState.of(path) for path in NODES}
        self.remember()

    def restore(self):
        """Puts the nodes back after a fault, so that it does not lead to others."""
        for path, state in self.states.items():
            acl = state.acl or minimal(state.mode)
            os.setxattr(path, ACL_ACCESS, encoded(acl), follow_symlinks=False)
            if not state.acl:
                os.chmod(path, state.mode)
        shutil.rmtree(STATE, ignore_errors=True)


NO_ID = 0xFFFFFFFF


def minimal(mode):
    return [
        (OWNER, mode >> 6 & 7, NO_ID), (GROUP_OBJ, mode >> 3 & 7, NO_ID), (OTHER, mode & 7, NO_ID)
    ]  # fmt: skip


def random_acl(rng, mode):
    def any_bits():
        return rng.choice([0, 4, 6, 6, 2, 7])

    users = sorted(rng.sample([5, 7, 10, 1000, NUMBER_USER], rng.randint(0, 3)))
    groups = sorted(rng.sample([38, 44, 100], rng.randint(0, 2)))
    acl = [(OWNER, mode >> 6 & 7, NO_ID)]
    acl += [(USER, any_bits(), uid) for uid in users]
    acl += [(GROUP_OBJ, any_bits(), NO_ID)]
    acl += [(GROUP, any_bits(), gid) for gid in groups]
    acl += [(MASK, any_bits(), NO_ID), (OTHER, mode & 7, NO_ID)]
    return acl


# MARK: Cases


@dataclass
class Case:
    number: int
    argv: list = field(default_factory=list)
    environment: list = field(default_factory=list)
    streams: list = field(default_factory=list)  # what descriptors 0, 1 and 2 are
    extra: int = 0  # further descriptors
    limits: list = field(default_factory=list)
    umask: int = 0o022
    cwd: str = "/"
    session: str = "same"
    blocked: list = field(default_factory=list)
    ignored: list = field(default_factory=list)
    pending: list = field(default_factory=list)
    timers: list = field(default_factory=list)
    nice: int = 0
    policy: str = "other"
    io_class: int = 0
    processor: bool = False  # whether it is bound to one processor
    slack: int = 0  # nanoseconds, see PR_SET_TIMERSLACK
    personality: int = 0
    signals: list = field(default_factory=list)  # (seconds after the start, number)
    companion: list = field(default_factory=list)  # uid and arguments of another call
    brief: float = 0.0  # when the process of --while @brief ends

    def text(self):
        fields = {name: value for name, value in vars(self).items() if value}
        fields["argv"] = [repr(word[:40]) for word in self.argv[:12]] + (
            [f"… {len(self.argv)}"] if len(self.argv) > 12 else []
        )
        own = [entry[:60] for entry in self.environment if b"UID" in entry]
        fields["environment"] = [repr(entry) for entry in own] + [f"… {len(self.environment)}"]
        return ", ".join(f"{name} {value}" for name, value in fields.items())

    @property
    def may_die(self):
        """The signals that can end the helper before it gives up what it inherited."""
        numbers = {number for _, number in self.signals} | set(self.pending)
        numbers |= {(signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF)[kind] for kind, _ in
                    self.timers}  # fmt: skip
        names = {name for name, _, _ in self.limits}
        crashes = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE}
        crashes.add(signal.SIGSEGV)
        if b"SWIFT_DEBUG_HELP=YES" in self.environment or numbers & crashes:
            # The runtime of Swift writes to standard error, before the program begins.
            numbers |= {signal.SIGPIPE, signal.SIGXFSZ}
        if "CPU" in names:
            numbers |= {signal.SIGXCPU, signal.SIGKILL}
        if self.is_cramped:
            numbers |= {signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT}
            numbers |= {signal.SIGTRAP, signal.SIGILL}
            # The dynamic linker writes to standard error.
            numbers |= {signal.SIGPIPE, signal.SIGXFSZ}
        return numbers

    @property
    def is_cramped(self):
        """Whether the program can fail to start."""
        return any(name in ("AS", "DATA", "STACK", "NOFILE") for name, _, _ in self.limits)


def garbage(rng, most=40):
    return bytes(rng.randint(1, 255) for _ in range(rng.randint(0, most)))


def valid_words(rng):
    accessor = rng.choice([b"camera", b"camera", b"microphone", b"mic"])
    if rng.random() < 0.35:
        process = [b"--while", b"@own"] if rng.random() < 0.2 else []
        return [b"revoke", accessor] + process
    words = [b"grant", accessor]
    if rng.random() < 0.4:
        words += [b"--need", rng.choice([b"r", b"w", b"rw"])]
    if rng.random() < 0.35:
        words += [b"--for", rng.choice([b"1", b"1", b"2", b"3", b"1000", b"31536000"])]
    if rng.random() < 0.3:
        processes = [b"@own", b"@own", b"@brief", b"@brief", b"@other", b"1", b"4194304", b"999999"]
        words += [b"--while", rng.choice(processes)]
    return words


ODD_WORDS = [
    b"", b"--", b"-", b"--need", b"--for", b"--while", b"--all", b"--yes", b"--log", b"--strategy",
    b"group", b"camera", b"grant", b"revoke", b"photos", b"photos=/etc", b"camera=/dev/null",
    b"/dev/shm/private", b"../../etc", b"--need=rw", b"--for=1", b"-1", b"+1", b"01", b"0", b"1h",
    b"1 ", b" 1", b"1\n", b"rw\n", b"wr", b"rwx", b"x", b"R", b"31536001", b"4294967296",
    b"9999999999", b"99999999999", b"4194305", b"18446744073709551617",
    b"\xd9\xa1", b"\xef\xbc\x91",
    b"grant\xcc\x81", b"Grant", b"GRANT", b"gr\xc3\xa4nt", b"came\xc2\xadra", b"camera\xef\xb8\x8f",
    b"\xef\xbb\xbfgrant", b"camera\r", b"camera ", b"cameras", b"*", b"$(id)", b"%n%n", b"\xff\xfe",
]  # fmt: skip


def near_words(rng):
    """Arguments that are almost in the grammar, or still in it."""
    words = valid_words(rng)
    for _ in range(rng.randint(1, 2)):
        place = rng.randrange(len(words))
        change = rng.randrange(7)
        if change == 0:
            words.insert(rng.randint(0, len(words)), rng.choice(ODD_WORDS))
        elif change == 1:
            words[place] = rng.choice(ODD_WORDS)
        elif change == 2 and len(words) > 1:
            del words[place]
        elif change == 3:
            words.insert(place, words[place])
        elif change == 4:
            words[place] += rng.choice([b"\n", b" ", b"\x01", b"\xcc\x81", b"0", b"=", b"\t"])
        elif change == 5:
            words += valid_words(rng)[2:]
        else:
            rng.shuffle(words)
    return words


def random_argv(rng):
    kind = rng.random()
    if kind < 0.6:
        words = valid_words(rng)
    elif kind < 0.85:
        words = near_words(rng)
    elif kind < 0.92:
        words = [garbage(rng) for _ in range(rng.randint(0, 20))]
    elif kind < 0.94:
        words = valid_words(rng) + [rng.choice([b"A", b"\xff", b"0"]) * rng.randint(1000, 130_000)]
    elif kind < 0.96:
        words = valid_words(rng) + [b"--need"] * rng.randint(100, 5000)
    elif kind < 0.98:
        words = [b""] * rng.randint(1, 5)
    else:
        return []
    own = rng.choice([b"permcheck-helper"] * 6 + [b"", garbage(rng), b"-sh", b"/" * 5000])
    return [own] + words


ODD_UIDS = [
    b"", b"0", b"00", b"-1", b"+5", b"05", b"5 ", b" 5", b"5\n", b"5x", b"x",
    b"0x5", b"5.0", b"1e3",
    b"games", b"4294967295", b"4294967296", b"4294967301", b"18446744073709551621", b"\xd9\xa5",
    b"5,1", b"5:1", b"9" * 60, b"5" * 100_000,
]  # fmt: skip


def random_environment(rng, home):
    entries = []
    kind = rng.random()
    name = rng.choice([b"SUDO_UID", b"PKEXEC_UID"])
    uid = str(rng.choice(list(USERS))).encode()
    if kind < 0.76:
        entries.append(name + b"=" + uid)
    elif kind < 0.78:
        entries.append(name + b"=" + rng.choice([b"12345", b"4294967293", b"54398"]))
    elif kind < 0.88:
        entries.append(name + b"=" + rng.choice(ODD_UIDS + [garbage(rng)]))
    elif kind < 0.92:
        entries += [b"SUDO_UID=" + uid, b"PKEXEC_UID=" + rng.choice([uid, b"1", b"", b"x"])]
    elif kind < 0.93:
        entries += [name + b"=" + uid, name + b"=" + rng.choice([b"1", b"5", b"0", b""])]
    elif kind < 0.96:
        odd = [name, b"=" + name + b"=5", name + b" =5", name.lower() + b"=5"]
        entries.append(rng.choice(odd))
    at_home = home.encode()
    more = [
        b"HOME=" + at_home, b"HOME=/root", b"XDG_PICTURES_DIR=/etc", b"XDG_CONFIG_HOME=" + at_home,
        b"XDG_STATE_HOME=" + at_home, b"XDG_RUNTIME_DIR=" + at_home,
        b"PERMCHECK_LOG=" + at_home + b"/log", b"PERMCHECK_LOG=/etc/log", b"PERMCHECK_LOG=stderr",
        b"PATH=", b"PATH=" + at_home, b"LD_BIND_NOW=1", b"TZ=:/etc/shadow", b"TZ=" + b"A" * 5000,
        b"TZ=UTC-14", b"LANG=tr_TR.UTF-8", b"LC_ALL=\xff", b"SWIFT_DETERMINISTIC_HASHING=1",
        b"SWIFT_DEBUG_HELP=YES", b"SWIFT_BACKTRACE=enable=no", b"TMPDIR=" + at_home,
        b"SUDO_USER=root", b"SUDO_GID=0", b"SUDO_COMMAND=/bin/sh", b"PKEXEC_UID_=5", b"UID=0",
        b"DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + at_home, b"RES_OPTIONS=debug",
        b"no equals sign", b"",
    ]  # fmt: skip
    entries += rng.sample(more, rng.randint(0, 8))
    size = rng.random()
    if size < 0.04:
        entries += [b"BIG%d=" % place + b"x" * rng.randint(1, 120_000) for place in range(5)]
    elif size < 0.07:
        entries += [b"V%d=%d" % (place, place) for place in range(rng.randint(100, 5000))]
    rng.shuffle(entries)
    return entries


STREAMS = [
    "closed", "null", "pipe", "full", "no reader", "read end", "directory", "socket", "full socket",
    "file", "deleted", "/dev/full", "path only",
]  # fmt: skip
BLOCKING = ("full", "full socket")


def random_limits(rng):
    values = {
        "FSIZE": [0, 1, 100, 4096], "NOFILE": [0, 1, 3, 4, 5, 8, 16], "CPU": [0, 1],
        "AS": [1 << 16, 1 << 20, 10 << 20, 40 << 20, 80 << 20, 200 << 20],
        "DATA": [0, 1 << 16, 1 << 20], "STACK": [0, 4096, 1 << 16, 1 << 18, 1 << 20],
        "NPROC": [0, 1], "MEMLOCK": [0], "SIGPENDING": [0, 1], "MSGQUEUE": [0], "NICE": [0],
    }  # fmt: skip
    limits = []
    for name in rng.sample(sorted(values), rng.randint(1, 3)):
        soft = rng.choice(values[name])
        limits.append((name, soft, rng.choice([soft, None])))
    return limits


def random_case(seed, number, home):
    rng = random.Random(f"{seed} {number}")
    case = Case(number, random_argv(rng), random_environment(rng, home))
    is_odd = rng.random() < 0.7

    def chance(probability):
        return is_odd and rng.random() < probability

    case.streams = ["null", "pipe", "null"]
    if chance(0.5):
        case.streams = [rng.choice(STREAMS) for _ in range(3)]
    elif chance(0.1):
        case.streams[1] = rng.choice(BLOCKING)
    if chance(0.15):
        case.extra = rng.choice([1, 3, 40, 300])
    if chance(0.25):
        case.limits = random_limits(rng)
    if chance(0.3):
        case.umask = rng.choice([0, 0o777, 0o077, 0o700])
    if chance(0.3):
        case.cwd = rng.choice(["home", "locked", "deleted", "/proc/self/fd", "/dev/shm", STATE])
    if chance(0.3):
        case.session = rng.choice(["group", "session"])
    every = [number for number in range(1, 65) if number not in (32, 33)]
    if chance(0.2):
        case.blocked = rng.sample(every, rng.choice([1, 5, 20, len(every)]))
        if rng.random() < 0.4:
            case.pending = rng.sample(case.blocked, min(len(case.blocked), rng.randint(1, 3)))
            # These two cannot be blocked.
            case.pending = [one for one in case.pending if one not in (9, 19)]
    if chance(0.15):
        case.ignored = rng.sample(every, rng.choice([1, 5, 20, len(every)]))
    if chance(0.1):
        case.timers = [(rng.randrange(3), rng.choice([0.0005, 0.002, 0.01, 0.03, 0.1]))]
    if chance(0.15):
        case.nice = rng.choice([-20, -5, 5, 19])
    if chance(0.08):
        case.policy = rng.choice(["idle", "batch"])
    if chance(0.08):
        case.io_class = rng.choice([2 << 13 | 7, 3 << 13])
    case.processor = chance(0.08)
    if chance(0.06):
        case.slack = rng.choice([1_000_000_000, 3_600_000_000_000])
    if chance(0.08):
        flags = [0x20000, 0x40000, 0x400000, 0x1000000, 0x2000000, 0x4000000]
        case.personality = rng.choice(flags)
    if chance(0.35):
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            most = rng.choice([0.02, 0.04, 0.08])
            moment, one = rng.uniform(0, most), rng.choice([*range(1, 65), 9, 9, 9, 19, 19, 3, 3])
            case.signals.append((moment, one))
            if one in STOP_SIGNALS:
                case.signals.append((moment + rng.uniform(0.005, 0.15), signal.SIGCONT))
        case.signals.sort()
        # A process that is stopped twice goes on only after the last signal.
        last = case.signals[-1][0]
        if any(one in STOP_SIGNALS for _, one in case.signals):
            case.signals.append((last + 0.01, signal.SIGCONT))
    if chance(0.1):
        uid = rng.choice([uid for uid in USERS if str(uid).encode() not in b" ".join(
            entry for entry in case.environment if b"_UID=" in entry)])  # fmt: skip
        words = [rng.choice([b"grant", b"revoke"]), rng.choice([b"camera", b"mic"])]
        case.companion = [uid, words]
    case.brief = rng.uniform(0, 0.2)
    return case


# MARK: Running


class Reader:
    """The other end of a stream of the helper."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self.data = b""

    def is_at_end(self):
        """Reads what there is; returns whether no process has the writing end any more."""
        while True:
            try:
                part = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True
            if not part:
                return True
            self.data += part

    def close(self):
        os.close(self.descriptor)


class Streams:
    """What the descriptors of a case lead to."""

    def __init__(self, case, fixture):
        self.opened = []
        self.readers = []  # pipes and sockets that are read
        self.unread = []  # those that are full, and that nobody reads
        self.kept = []  # writing ends that no process may keep
        self.standard = [self.open(kind, fixture, place) for place, kind in enumerate(case.streams)]
        self.answer = None
        if case.streams[1] in ("pipe", "socket"):
            self.answer = next(reader for place, reader in self.readers if place == 1)
        self.leash = None
        if case.extra:
            end, self.leash = os.pipe()
            self.opened.append(self.leash)
            self.readers.append((3, Reader(end)))

    def open(self, kind, fixture, place):
        """A descriptor for the helper; None for a closed one."""
        if kind == "closed":
            return None
        scratch = f"{fixture.lab}/scratch/{place}"
        if kind in ("pipe", "full", "no reader"):
            end, own = os.pipe()
        elif kind in ("socket", "full socket"):
            one, other = socket.socketpair()
            end, own = one.detach(), other.detach()
        elif kind == "read end":
            own, end = os.pipe()
        elif kind in ("file", "deleted"):
            end, own = None, os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
            if kind == "deleted":
                os.unlink(scratch)
        elif kind == "directory":
            end, own = None, os.open(fixture.home, os.O_RDONLY)
        elif kind == "path only":
            end, own = None, os.open("/etc/shadow", os.O_PATH)
        else:
            end, own = None, os.open("/dev/null" if kind == "null" else kind, os.O_RDWR)
        self.opened.append(own)
        if kind in BLOCKING:
            os.set_blocking(own, False)
            for size in (4096, 1):
                try:
                    while True:
                        os.write(own, b"x" * size)
                except BlockingIOError:
                    pass
            os.set_blocking(own, True)
            self.unread.append(end)
        elif kind in ("pipe", "socket"):
            self.readers.append((place, Reader(end)))
        elif kind == "read end":
            self.opened.append(end)
        elif end is not None:
            os.close(end)
        return own

    def close_own_ends(self):
        for descriptor in self.opened:
            os.close(descriptor)
        self.opened = []

    def stop_waiting(self):
        """Closes the full pipes."""
        for descriptor in self.unread:
            os.close(descriptor)
        self.unread = []

    def close(self):
        self.close_own_ends()
        self.stop_waiting()
        for _, reader in self.readers:
            reader.close()


def array(words):
    return (ctypes.c_char_p * (len(words) + 1))(*words, None)


class Fault(Exception):
    pass


class Worker:
    """Runs cases in a fixture of its own, as the first process of a pid namespace."""

    def __init__(self, options, lab, report):
        self.options = options
        self.report = report
        self.helper = options.helper.encode()
        self.processors = os.sched_getaffinity(0)
        self.fixture = Fixture(lab)
        if not os.access(self.helper, os.X_OK):
            raise SystemExit(f"{options.helper} cannot be started from within the fixture")
        self.sleepers = {}
        self.strangers = set()  # processes that are not guardians
        self.guardians = {}  # pid and case
        self.strange = set()  # files that were reported
        self.stats = Counter()
        self.faults = 0
        self.begin()

    def begin(self):
        self.leased = set()  # users of whom a grant may end by itself
        self.unfinished = set()  # users of whom a request was killed, which the next one takes back
        self.used = set()
        self.ended = {}  # the case of each helper that ended with 0, by pid
        self.is_unwritable = False  # whether a limit may have kept a line out of the journal
        self.ends = 0.0  # when the last short lease must have ended

    def fault(self, case, text):
        self.faults += 1
        number = case.number if case else None
        self.report({"fault": text, "case": number, "what": case.text() if case else ""})

    # MARK: Processes

    def fork(self, action):
        """Starts a process that begins without handlers, with all signals blocked."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pid = os.fork()
        if pid:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return pid
        try:
            for one in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM):
                signal.signal(one, signal.SIG_DFL)
            action()
        except BaseException:
            pass
        os._exit(126)

    def sleeper(self, uid):
        """A process of a user."""

        def sleep():
            os.setgroups([])
            os.setresgid(USERS[uid], USERS[uid], USERS[uid])
            os.setresuid(uid, uid, uid)
            os.write(writer, b"x")
            os.close(writer)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            while True:
                signal.pause()

        reader, writer = os.pipe()
        pid = self.fork(sleep)
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        self.strangers.add(pid)
        return pid

    def own_sleeper(self, uid):
        if uid not in self.sleepers:
            self.sleepers[uid] = self.sleeper(uid)
        return self.sleepers[uid]

    def end(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self.strangers.discard(pid)

    def children(self):
        """The other processes of this namespace."""
        return {int(name) for name in os.listdir("/proc") if name.isdecimal()} - {os.getpid()}

    def reap(self):
        for pid in list(self.guardians):
            try:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    del self.guardians[pid]
            except ChildProcessError:
                # It has another parent for as long as the helper runs.
                if not os.path.exists(f"/proc/{pid}"):
                    del self.guardians[pid]

    # MARK: One call

    def start(self, case, streams):
        argv = array(case.argv)
        environment = array(case.environment)
        gone = f"{self.fixture.lab}/scratch/gone"

        def run():
            places = {"home": self.fixture.home, "locked": self.fixture.home + "/locked"}
            if case.cwd == "deleted":
                os.mkdir(gone)
                os.chdir(gone)
                os.rmdir(gone)
            elif os.path.isdir(places.get(case.cwd, case.cwd)):
                os.chdir(places.get(case.cwd, case.cwd))
            if case.session == "session":
                os.setsid()
            elif case.session == "group":
                os.setpgid(0, 0)
            # First away from the places of the standard descriptors, then to them.
            high = [None if one is None else fcntl.fcntl(one, fcntl.F_DUPFD, 600)
                    for one in streams.standard]  # fmt: skip
            leash = fcntl.fcntl(streams.leash, fcntl.F_DUPFD, 600) if case.extra else None
            for place, one in enumerate(high):
                if one is None:
                    os.close(place)
                else:
                    os.dup2(one, place)
            os.closerange(3, 600)
            for one in high:
                if one is not None:
                    os.close(one)
            for place in range(case.extra):
                os.dup2(leash, 3 + place)
            if leash is not None:
                os.close(leash)
            os.umask(case.umask)
            if case.nice:
                os.setpriority(os.PRIO_PROCESS, 0, case.nice)
            if case.policy != "other":
                policy = os.SCHED_IDLE if case.policy == "idle" else os.SCHED_BATCH
                os.sched_setscheduler(0, policy, os.sched_param(0))
            if case.io_class and IOPRIO_SET:
                libc.syscall(IOPRIO_SET, 1, 0, case.io_class)
            if case.processor:
                os.sched_setaffinity(0, {min(self.processors)})
            if case.slack:
                libc.prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(case.slack), 0, 0, 0)
            if case.personality:
                libc.personality(ctypes.c_ulong(case.personality))
            for one in case.ignored:
                if one not in (9, 19):
                    signal.signal(one, signal.SIG_IGN)
            for one in case.pending:
                os.kill(os.getpid(), one)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for name, soft, hard in case.limits:
                kind = getattr(resource, "RLIMIT_" + name)
                most = resource.getrlimit(kind)[1]
                resource.setrlimit(kind, (soft, most if hard is None else hard))
            for kind, seconds in case.timers:
                signal.setitimer(kind, seconds)
            signal.pthread_sigmask(signal.SIG_SETMASK, case.blocked)
            libc.execve(self.helper, argv, environment)

        return self.fork(run)

    def call(self, uid, words, limit=LONGEST_CASE):
        """An ordinary call; returns its status and its answer."""
        case = Case(-1, [b"permcheck-helper"] + words, [b"SUDO_UID=%d" % uid])
        case.streams = ["null", "pipe", "null"]
        streams = Streams(case, self.fixture)
        pid = self.start(case, streams)
        self.strangers.add(pid)
        streams.close_own_ends()
        try:
            status = self.wait(pid, time.monotonic() + limit)
            streams.answer.is_at_end()
            return status, streams.answer.data
        finally:
            self.end(pid)
            streams.close()

    def wait(self, pid, deadline):
        """The status of a process; None if it is still there at the deadline."""
        watch = os.pidfd_open(pid)
        try:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([watch], [], [], left)[0]:
                return None
            return os.waitpid(pid, 0)[1]
        finally:
            os.close(watch)

    def is_waiting_for_reader(self, pid, since):
        try:
            with open(f"/proc/{pid}/wchan") as file:
                if re.search("pipe_write|unix_stream|sock_", file.read()):
                    return True
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except OSError:
            return False
        # Without the names of kernel functions: nothing else takes that long.
        return state == "S" and time.monotonic() - since > 0.7

    def run(self, case):
        """Runs a case, and checks what is left of it."""
        request, uid = self.prepare(case)
        self.is_unwritable |= any(name == "FSIZE" for name, _, _ in case.limits)
        nodes = {path: NodeState.of(path) for path in NODES}
        journal, open_grants, waited = self.journal(), self.open_grants(), self.stats["waited"]
        self.unfinished = self.unfinished_users()
        streams = Streams(case, self.fixture)
        callers = {uid: request} if request and uid else {}
        if case.companion:
            callers[case.companion[0]] = parsed(case.companion[1])
        pid = status = None
        try:
            pid = self.start(case, streams)
            self.strangers.add(pid)
            streams.close_own_ends()
            if case.companion:
                self.stats["companions"] += 1
                other, _ = self.call(*case.companion)
                if other is None or not os.WIFEXITED(other) or os.WEXITSTATUS(other) not in (0, 70):
                    self.fault(case, f"the call of another user ended with {other}")
            status = self.follow(case, pid, uid, streams)
            if status is not None:
                self.judge(case, request, uid, status, streams, pid)
        except Fault as problem:
            self.fault(case, str(problem))
        finally:
            if pid:
                self.end(pid)
        self.look_at_guardians(case)
        self.look_at_streams(case, streams)
        streams.close()
        if self.brief_sleeper:
            self.end(self.brief_sleeper)
        self.check_nodes(case, nodes, callers)
        self.check_files(case)
        is_nothing = not callers or set(callers) - set(USERS) == set(callers)
        # Another user's revoke meanwhile mends what a killed helper left half written.
        # It may write the journal anew, too, so that the lines are others.
        before, now = ({one["id"]: one["uid"] for one in each} for each in (open_grants, self.open_grants()))
        is_mended = self.stats["waited"] > waited and all(one in before for one in now) and all(
            one in now or before[one] in self.unfinished for one in before
        )  # fmt: skip
        if is_nothing and not self.leased and self.journal() != journal and not is_mended:
            more = (self.journal() or b"")[len(journal or b""):]
            self.fault(case, f"the journal changed, although nothing was asked for: {more[:2000]!r}")
        for one, its in callers.items():
            self.used |= {one} & set(USERS)
            if its.is_lease:
                self.leased.add(one)

    def prepare(self, case):
        """Puts process ids into the arguments; returns the request and who asks."""
        uid = invoker(case.environment)
        known = uid if uid in USERS else 5
        self.brief_sleeper = None
        for place, word in enumerate(case.argv):
            if word == b"@own":
                case.argv[place] = b"%d" % self.own_sleeper(known)
            elif word == b"@other":
                other = next(one for one in USERS if one != known)
                case.argv[place] = b"%d" % self.own_sleeper(other)
            elif word == b"@brief":
                self.brief_sleeper = self.brief_sleeper or self.sleeper(known)
                case.argv[place] = b"%d" % self.brief_sleeper
        return parsed(case.argv[1:]), uid

    def follow(self, case, pid, uid, streams):
        """Sends the signals, and waits for the end of the helper; returns its status."""
        started = time.monotonic()
        events = [(moment, "signal", one) for moment, one in case.signals]
        if self.brief_sleeper:
            events.append((case.brief, "brief", 0))
        events.sort()
        is_blocking = bool(streams.unread)
        while True:
            now = time.monotonic() - started
            while events and events[0][0] <= now:
                _, kind, one = events.pop(0)
                if kind == "brief":
                    self.end(self.brief_sleeper)
                    self.brief_sleeper = None
                else:
                    os.kill(pid, one)
            pause = events[0][0] - now if events else LONGEST_CASE - now
            if is_blocking and streams.unread:
                pause = min(pause, 0.004)
            status = self.wait(pid, time.monotonic() + pause)
            if status is not None:
                return status
            if now > LONGEST_CASE:
                raise Fault(f"it still runs after {LONGEST_CASE} s")
            if is_blocking and streams.unread and self.is_waiting_for_reader(pid, started):
                self.try_others(case)
                streams.stop_waiting()

    def try_others(self, case):
        """Another user revokes while the helper waits for a reader."""
        self.stats["waited"] += 1
        status, _ = self.call(SPARE, [b"revoke", b"camera"], LONGEST_REVOKE)
        if status != 0:
            self.fault(case, f"another user's revoke ended with {status} while it waited to answer")

    # MARK: Checks

    def judge(self, case, request, uid, status, streams, pid):
        """Checks the status and the answer."""
        self.stats["cases"] += 1
        if os.WIFSIGNALED(status):
            self.stats["killed"] += 1
            if os.WTERMSIG(status) not in case.may_die:
                self.fault(case, f"it was ended by signal {os.WTERMSIG(status)}")
            return
        code = os.WEXITSTATUS(status)
        self.stats[f"status {code}"] += 1
        if code == 126 or code == 127 and not case.is_cramped:
            # Too long arguments; or a signal for the process before it became the helper.
            self.stats["not started"] += 1
            return
        if case.is_cramped and code not in (0, 2, 64, 70):
            return
        expected = (0, 2, 70) if request and uid else (64,)
        if not (request and uid) and code == 70 and case.is_cramped:
            return
        if code not in expected:
            self.fault(case, f"it ended with {code}, not {expected}")
        if code == 0 and request and uid:
            self.ended[pid] = case
            if request.is_lease and 0 < request.seconds <= 3:
                self.ends = max(self.ends, time.time() + request.seconds)
        if not streams.answer:
            return
        streams.answer.is_at_end()
        try:
            lines = streams.answer.data.decode().splitlines()
            answer = json.loads(lines[0])
            outcome = answer["outcome"]
            if len(lines) != 1:
                raise ValueError
        except (ValueError, IndexError, KeyError):
            self.fault(case, f"its answer is {streams.answer.data[:200]!r}")
            return
        self.stats[outcome] += 1
        if outcome == "granted" and uid in USERS and not request.is_lease and not case.companion:
            states = [NodeState.of(path) for path in ACCESSORS[request.accessor]]
            if all(request.need not in one.access(uid, groups_of(uid)) for one in states):
                self.fault(case, "it says granted, but the user has no access")

    def look_at_streams(self, case, streams):
        """No process may keep a descriptor of the caller."""
        streams.stop_waiting()
        deadline = time.monotonic() + 2
        for place, reader in streams.readers:
            while not reader.is_at_end():
                if time.monotonic() > deadline:
                    self.fault(case, f"a process keeps descriptor {place} of the caller")
                    break
                time.sleep(0.002)

    def look_at_guardians(self, case):
        """What the helper left behind has nothing of the caller."""
        self.reap()
        new = self.children() - self.strangers - set(self.guardians)
        for pid in new:
            try:
                program = os.readlink(f"/proc/{pid}/exe")
            except OSError:
                program = self.options.helper  # it has ended meanwhile
            if program != self.options.helper:
                # Such as swift-backtrace, which the runtime of Swift starts after a crash.
                self.fault(case, f"{program} runs as root, with the descriptors of the caller")
                self.end(pid)
                continue
            deadline = time.monotonic() + 2
            while True:
                try:
                    found = self.inherited(pid)
                except OSError:
                    found = []  # it has ended meanwhile
                if not found:
                    break
                # Only these two take a moment after the fork.
                is_soon = any(one.startswith(("descriptor", "the session")) for one in found)
                if not is_soon or time.monotonic() > deadline:
                    self.fault(case, f"the process that ends the grant kept {', '.join(found)}")
                    break
                time.sleep(0.005)
            self.guardians[pid] = case
            self.stats["guardians"] += 1
        deadline = time.monotonic() + 5
        while len(self.guardians) > 1:  # all but one find it, and end
            if time.monotonic() > deadline:
                self.fault(case, f"{len(self.guardians)} processes end leases")
                break
            time.sleep(0.005)
            self.reap()

    def inherited(self, pid):
        """What a guardian has of the caller."""
        folder = f"/proc/{pid}"
        with open(folder + "/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        if fields[0] in "ZX":
            return []
        found = []
        for name in os.listdir(folder + "/fd"):
            link = os.readlink(f"{folder}/fd/{name}")
            if link != "/dev/null" and "pidfd" not in link and "inotify" not in link and not link.startswith(STATE):
                if not link.startswith(("/proc/", "/dev", "/etc/", "/sys", "/run")):
                    found.append(f"descriptor {name} {link}")
        if os.readlink(folder + "/cwd") != "/":
            found.append("the working folder")
        if int(fields[3]) != pid:
            found.append("the session")
        if int(fields[16]) != 0:
            found.append("the nice value")
        with open(folder + "/status") as file:
            status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        if "Umask" not in status:
            return []  # it is ending: a process without a file system has none
        if int(status["Umask"], 8) != 0o077:
            found.append("the umask")
        if int(status["SigBlk"], 16):
            found.append("blocked signals")
        if os.sched_getscheduler(pid) != os.SCHED_OTHER:
            found.append("the scheduling policy")
        if os.sched_getaffinity(pid) != self.processors:
            found.append("the processor")
        if IOPRIO_GET and libc.syscall(IOPRIO_GET, 1, pid) >> 13 > 1:
            # 2 without a level of its own is what nice 0 means.
            if libc.syscall(IOPRIO_GET, 1, pid) != 2 << 13 | 4:
                found.append("the input and output priority")
        try:
            with open(folder + "/timerslack_ns") as file:
                if int(file.read()) > 50_000:
                    found.append("the timer slack")
        except PermissionError:
            pass
        return found

    def check_nodes(self, case, before, callers):
        for path, old in before.items():
            new, first = NodeState.of(path), self.fixture.states[path]
            if (new.kind, new.device, new.inode, new.uid, new.gid, new.mode & 0o7000) != (
                old.kind, old.device, old.inode, old.uid, old.gid, old.mode & 0o7000
            ):  # fmt: skip
                self.fault(case, f"{path} is another node: {old.text()}, now {new.text()}")
                continue
            if new == old:
                continue
            self.stats["changes"] += 1
            problem = self.problem(path, first, old, new, callers)
            if problem:
                self.fault(case, f"{path}: {problem}: {old.text()}, now {new.text()}")

    def problem(self, path, first, old, new, callers):
        known = set(callers) & set(USERS)
        if not known and not self.leased:
            return "it changed, although nothing was asked for"
        if new.ids(USER) - old.ids(USER) - known - first.ids(USER):
            return "there is an entry of another user"
        if new.ids(GROUP) - old.ids(GROUP) - first.ids(GROUP):
            return "there is an entry of another group"
        for uid, gids in people(first, old, new):
            was, now = old.access(uid, gids), new.access(uid, gids)
            least = first.access(uid, gids)
            who = f"uid {uid} in groups {sorted(gids)}"
            if uid in known:
                request = callers[uid]
                may = 0
                if request.action == b"grant" and path in ACCESSORS[request.accessor]:
                    may = request.need
                if bits(now) & ~bits(was) & ~may or not may and now - was:
                    return f"{who} gains {sorted(now - was)}"
                if least - now:
                    return f"{who} loses {sorted(least - now)}, which no grant gave"
            elif uid in self.leased or uid in self.unfinished:
                if now - was or least - now:
                    return f"{who} gains {sorted(now - was)} or loses {sorted(least - now)}"
            elif now != was:
                return f"{who} had {sorted(was)} and has {sorted(now)}"
        return None

    def check_files(self, case):
        changed = self.fixture.changed_decoys()
        if changed:
            self.fault(case, f"{', '.join(changed)} changed")
            self.fixture.remember()
        strange = [one for one in self.fixture.strange_files() if one not in self.strange]
        if strange:
            self.fault(case, f"there are other files: {', '.join(strange)}")
            self.strange.update(strange)
        deadline = time.monotonic() + 2
        while not self.is_unlocked():
            if time.monotonic() > deadline:
                self.fault(case, "the journal is locked")
                break
            time.sleep(0.005)

    @staticmethod
    def is_unlocked():
        try:
            with open(JOURNAL) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            pass
        except BlockingIOError:
            return False
        return True

    @staticmethod
    def journal():
        try:
            with open(JOURNAL, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def open_grants(self):
        """The grants in the journal that are not undone, and that nobody else ended."""
        grants = {}
        for line in (self.journal() or b"").split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["event"] == "intent":
                grants[record["id"]] = record
            elif record["event"] == "undone":
                grants.pop(record["id"], None)
            elif record["event"] == "leased":
                for identifier in record["leased"].get("ended", ()):
                    grants.pop(identifier, None)
        return list(grants.values())

    def unfinished_users(self):
        """Those with a grant in the journal whose request, or whose end, was begun and not finished."""
        grants, finished, begun = {}, set(), set()
        for line in (self.journal() or b"").split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record["event"] == "intent":
                grants[record["id"]] = record
            elif record["event"] == "committed":
                finished.add(record["id"])
            elif record["event"] == "undoing":
                begun |= {record["id"], *record.get("ids", ())}
            elif record["event"] == "undone":
                grants.pop(record["id"], None)
        return {
            one["uid"] for one in grants.values()
            if one["id"] in begun or one.get("stage") != "active" and one["request"] not in finished
        }  # fmt: skip

    # MARK: Rounds

    def round(self, place, cases):
        rng = random.Random(f"{self.options.seed} round {place}")
        self.fixture.begin_round(rng)
        self.begin()
        faults = self.faults
        last = None
        for case in cases:
            self.report({"at": case.number})
            try:
                self.run(case)
            except Exception:
                self.fault(case, f"the driver failed: {traceback.format_exc()}")
            last = case
        if rng.random() < 0.4 or self.options.only:
            self.check_ends()
        self.check_end(rng, last)
        if self.faults > faults:
            self.fixture.restore()

    def check_ends(self):
        """Leases have ended at their time, if their helper was not killed."""
        limit = self.ends + 3
        while time.time() < limit and any(
            grant.get("pid") in self.ended and "expires" in grant.get("lifetime", {})
            and grant["lifetime"]["expires"] < limit * 1e6 for grant in self.open_grants()
        ):  # fmt: skip
            time.sleep(0.05)
        now = time.time() * 1_000_000
        late = set()
        for grant in self.open_grants():
            case = self.ended.get(grant.get("pid"))
            expires = grant.get("lifetime", {}).get("expires")
            if case and expires and expires < now - 2_500_000 and case.number not in late:
                late.add(case.number)
                over = (now - expires) / 1e6
                self.fault(case, f"the grant was to end {over:.1f} s ago, and is still there")

    def check_end(self, rng, last):
        """Everything is revoked, and everything is as it was."""
        users = sorted(self.used)
        rng.shuffle(users)
        for uid in users:
            for accessor in (b"camera", b"microphone"):
                status, answer = self.call(uid, [b"revoke", accessor])
                if status != 0:
                    self.fault(last, f"uid {uid} cannot revoke: {status} {answer[:300]!r}")
        for pid in list(self.guardians):
            self.end(pid)
        self.guardians = {}
        for uid in list(self.sleepers):
            self.end(self.sleepers.pop(uid))
        for pid in self.children():
            self.end(pid)
        self.strangers = set()
        for path, first in self.fixture.states.items():
            now = NodeState.of(path)
            if now == first:
                continue
            # A journal that could not be written does not know every earlier state: then it is
            # enough that everybody has the same access.
            everybody = people(first, now)
            is_same = all(now.access(*one) == first.access(*one) for one in everybody)
            if not (self.is_unwritable and is_same):
                self.fault(last, f"{path} was {first.text()}, after all is revoked {now.text()}")
        grants = self.open_grants()
        if grants:
            self.fault(last, f"{len(grants)} grants are open: {json.dumps(grants[0])[:600]}")
        left = [name for name in os.listdir(STATE) if name.split(".")[0].isdecimal()] if (
            os.path.isdir(STATE)) else []  # fmt: skip
        left = [name for name in left if not name.endswith(".new")]
        if left and not grants:
            self.fault(last, f"users are shown grants that are gone: {left}")
        changed = self.fixture.changed_anywhere()
        if changed:
            self.fault(last, f"{', '.join(changed[:20])} changed")
            self.fixture.remember()
        self.stats["rounds"] += 1


# MARK: Main


def work(options, lab, job, rounds, writer):
    """Runs rounds as the first process of a pid namespace."""

    def report(message):
        os.write(writer, json.dumps(message).encode() + b"\n")

    worker = Worker(options, lab, report)
    first, last = options.range
    for place in rounds:
        numbers = range(max(first, place * ROUND), min(last, (place + 1) * ROUND - 1) + 1)
        home = worker.fixture.home
        worker.round(place, [random_case(options.seed, one, home) for one in numbers])
    report({"stats": worker.stats})


def start_job(options, lab, job, rounds):
    """A process whose end is the end of all that it starts; returns its pid and its messages."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    status = 1
    try:
        os.close(reader)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        check(libc.unshare(CLONE_NEWNS | CLONE_NEWPID), "unshare")
        child = os.fork()
        if child == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            try:
                work(options, lab, job, rounds, writer)
                status = 0
            except BaseException:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(status)
        os.close(writer)
        status = 0 if os.waitpid(child, 0)[1] == 0 else 1
    finally:
        os._exit(status)


def describe(message, options):
    lines = [f"fault: case {message['case']}: {message['fault']}"]
    if message["case"] is not None:
        place = message["case"] // ROUND * ROUND
        again = f"--helper {options.helper} --seed {options.seed}"
        lines.append(f"  {message['what'][:1500]}")
        lines.append(f"  again: helperfuzz.py {again} --only {message['case']}")
        lines.append(f"  with the cases before it: --only {place}-{message['case']}")
    return "\n".join(lines)


def listen(options, jobs):
    """Takes the messages of the jobs until all have ended; returns the faults and the figures."""
    faults, stats = [], Counter()
    buffers = {reader: b"" for _, reader in jobs}
    places = {reader: (None, time.monotonic()) for _, reader in jobs}
    ends = time.monotonic() + 300 + options.count * 0.5
    pids = {reader: pid for pid, reader in jobs}
    finished = set()
    while buffers:
        ready = select.select(list(buffers), [], [], 1)[0]
        now = time.monotonic()
        for reader in ready:
            part = os.read(reader, 1 << 16)
            lines = (buffers[reader] + part).split(b"\n")
            buffers[reader] = lines.pop()
            for line in lines:
                message = json.loads(line)
                if "at" in message:
                    places[reader] = (message["at"], now)
                elif "stats" in message:
                    stats.update(message["stats"])
                    finished.add(reader)
                elif len(faults) < 10_000:
                    faults.append(message)
                    print(describe(message, options), flush=True)
            if not part:
                del buffers[reader]
                os.close(reader)
                os.waitpid(pids[reader], 0)
                if reader not in finished:
                    text = f"the driver ended early, at case {places[reader][0]}"
                    faults.append({"fault": text, "case": None})
                    print(f"fault: {text}", flush=True)
        for reader in list(buffers):
            case, since = places[reader]
            if now > ends or now > since + 300:
                text = f"the driver hangs at case {case}"
                faults.append({"fault": text, "case": None})
                print(f"fault: {text}", flush=True)
                finished.add(reader)
                os.kill(pids[reader], signal.SIGKILL)
                places[reader] = (case, ends + 1e6)
                ends = max(ends, now + 60)
    return faults, stats


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--helper", required=True, help="the program, which all users can start")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="the number of one case, or FIRST-LAST")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("helperfuzz.py wants root")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1, 1 << 32)
    options.helper = os.path.realpath(options.helper)
    first, last = 0, options.count - 1
    if options.only:
        numbers = [int(one) for one in options.only.split("-")]
        first, last = numbers[0], numbers[-1]
        options.count = last - first + 1
    options.range = first, last
    rounds = range(first // ROUND, last // ROUND + 1)
    jobs = max(1, min(options.jobs, len(rounds)))
    started = time.monotonic()
    lab = os.path.realpath(tempfile.mkdtemp(prefix="helperfuzz-"))
    os.chmod(lab, 0o755)
    running = []
    try:
        for job in range(jobs):
            running.append(start_job(options, lab, job, rounds[job::jobs]))
        faults, stats = listen(options, running)
    except BaseException:
        for pid, _ in running:
            os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.rmdir(lab)
    # Cases that never come to a grant would find nothing.
    if options.count >= 500 and stats["granted"] * 40 < options.count:
        faults.append({})
        print(f"fault: only {stats['granted']} cases made a grant")
    figures = ", ".join(f"{name} {stats[name]}" for name in sorted(stats))
    print(f"figures: {figures}, seconds {time.monotonic() - started:.0f}")
    print(f"helper fuzz: {options.count} cases, {len(faults)} faults, seed {options.seed}")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
