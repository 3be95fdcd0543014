#!/usr/bin/env python3
"""Random histories of leases in places that change, held to one promise: what a lease gave ends, or is named.

  ends.py --permcheck .build/debug/permcheck [--seed 1] [--histories 2000] [--only K] [--kinds ext4,xfs,btrfs,tmpfs]

A history mixes requests for files, folders and trees and their ends with what happens to them: read-only, idmapped and
bind mounts, a file system that goes, a copy of its image, a full disk, immutable files, `sed -i`, rsync, moves, copies,
links, ACLs of a thousand entries, clocks that are set. Nothing but leases ever gives the three users anything. So:

- after `revoke --all` with exit status 0 none of them has an entry, or may read or write, at a leased path or in a leased
  folder; what was moved, copied or linked out is counted apart;
- with 2 each path where one still has something is named, or a folder above it is;
- once every obstacle is gone `revoke --all` ends with 0, nothing is listed, and entries of others that nobody touched
  are as they were.

Wants root. Prints each fault with its commands, and as the last line
`lease ends: N histories, C calls, R left, O outside, F faults, seed X`.
"""

import argparse
import errno
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import traceback
from collections import Counter

import ground
import kernel

WORK = "/var/lib/work"
MAIN, OTHER, IDMAPPED, COPY = (f"{WORK}/{name}" for name in ("main", "other", "idmapped", "copy"))
JOURNAL = "/var/lib/permcheck/grants.jsonl"
USERS, GUEST = [61001, 61002, 61003], 61500
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
DAY = 86_400_000_000  # microseconds
SIZES = {"ext4": 24, "xfs": 320, "btrfs": 128}  # MiB


class Fault(Exception):
    """Something that must not be."""


def rows(path, name):
    """The entries of an ACL as (tag, id, rights); none where there is no ACL."""
    try:
        value = os.getxattr(path, name, follow_symlinks=False)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):
            return []
        raise
    return [(tag, who, rights) for tag, rights, who in struct.iter_unpack("<HHI", value[4:])]


def write_rows(path, name, entries):
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, rights, who) for tag, who, rights in sorted(entries))
    os.setxattr(path, name, value)


class Disk:
    """A file system in a file, or a tmpfs, with a detached mount of it that permcheck does not see."""

    def __init__(self, kind):
        self.kind, self.file, self.device = kind, f"{WORK}/{kind}.image", None
        if kind != "tmpfs":
            subprocess.run(["truncate", "-s", f"{SIZES[kind]}M", self.file], check=True)
            options = {"ext4": ["-F", "-m", "0"], "xfs": ["-f"], "btrfs": ["-f"]}[kind]
            subprocess.run([f"mkfs.{kind}", "-q", *options, self.file], check=True)
            self.device = subprocess.run(
                ["losetup", "-f", "--show", self.file], check=True, capture_output=True, text=True
            ).stdout.strip()
        self.mount()
        self.look = kernel.check(kernel.libc.syscall(428, -100, MAIN.encode(), 1 | os.O_CLOEXEC), "open_tree")

    @property
    def root(self):
        return f"/proc/self/fd/{self.look}"

    def mount(self):
        if hasattr(self, "look"):
            kernel.mount(self.root, MAIN, flags=4096)  # MS_BIND
        elif self.kind == "tmpfs":
            kernel.mount("tmpfs", MAIN, "tmpfs", data="mode=755,size=24m")
        else:
            kernel.mount(self.device, MAIN, self.kind)
            os.chmod(MAIN, 0o755)

    def end(self):
        os.close(self.look)
        while os.path.ismount(MAIN):
            kernel.unmount(MAIN, detaches=True)
        if self.device:
            subprocess.run(["losetup", "-d", self.device], check=False)
            os.unlink(self.file)


class History:
    def __init__(self, number, seed, disk, permcheck):
        self.random, self.disk, self.permcheck = random.Random(f"{seed}:{number}"), disk, permcheck
        self.commands, self.counts, self.names = [f"# on {disk.kind}"], Counter(), 0
        self.leased, self.trees, self.touched = set(), set(), set()
        self.copies, self.is_away = [], False
        shutil.rmtree("/var/lib/permcheck", ignore_errors=True)
        for name in os.listdir(MAIN):
            if name != "lost+found":
                shutil.rmtree(f"{MAIN}/{name}") if os.path.isdir(f"{MAIN}/{name}") else os.unlink(f"{MAIN}/{name}")
        os.mkdir(f"{MAIN}/out", 0o755)
        os.mkdir(f"{MAIN}/tree", 0o755)
        for folder in ("tree/d", "tree/d/s", "tree/e"):
            os.mkdir(f"{MAIN}/{folder}", 0o750)
            for name in "abc":
                self.write(f"{MAIN}/{folder}/{name}", guest=self.random.random() < 0.5)
        self.start = self.entries()

    def note(self, command):
        self.commands.append(command)

    def write(self, path, guest=False, mode=0o640):
        with open(path, "w") as file:
            file.write("abc\n")
        os.chmod(path, mode)
        if guest:
            write_rows(path, ACCESS, [(1, 2**32 - 1, 6), (2, GUEST, 4), (4, 2**32 - 1, 4), (16, 2**32 - 1, 4), (32, 2**32 - 1, 0)])
        self.note(f"file {path} {mode:o}{' with an entry of the guest' if guest else ''}")

    # What is there

    def paths(self, below="tree", root=None):
        top = f"{root or self.disk.root}/{below}"
        found = [below]
        for folder, folders, files in os.walk(top):
            inside = os.path.relpath(folder, root or self.disk.root)
            found += [f"{inside}/{name}" for name in folders + files]
        return found

    def entries(self, below="tree"):
        told = {}
        for path in self.paths(below):
            whole = f"{self.disk.root}/{path}"
            if not os.path.islink(whole):
                told[path] = (os.stat(whole).st_mode & 0o7777, rows(whole, ACCESS), rows(whole, DEFAULT) if os.path.isdir(whole) else [])
        return told

    def left(self):
        """Who has something where: users and paths."""
        return {
            (who, path)
            for path, (mode, access, default) in self.entries().items() if path != "tree"
            for who in USERS if mode & 0o006 or any((tag, one) == (2, who) for tag, one, _ in access + default)
        }  # fmt: skip

    def pick(self, files=None):
        """A path below tree, as the main mount shows it; None if it is away."""
        if self.is_away:
            return None
        found = [path for path in self.paths() if path != "tree" and not os.path.islink(f"{self.disk.root}/{path}")]
        if files is not None:
            found = [path for path in found if os.path.isfile(f"{self.disk.root}/{path}") == files]
        return self.random.choice(found) if found else None

    def fresh(self):
        self.names += 1
        return f"n{self.names}"

    # permcheck

    def call(self, *arguments):
        prefix = []
        if self.random.random() < 0.05:
            prefix = ["unshare", "-T", "--boottime", "86400", "--fork"]
        done = subprocess.run(
            [*prefix, self.permcheck, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=dict(os.environ, PERMCHECK_LOG="none"), timeout=100, check=False,
        )  # fmt: skip
        self.note(f"{' '.join(prefix)} $P {' '.join(arguments)}   # {done.returncode}")
        self.counts["calls"] += 1
        if done.returncode < 0 or done.returncode > 100 or "Fatal error" in done.stderr:
            raise Fault(f"{arguments} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.returncode, done.stdout + done.stderr

    def do_request(self):
        path = self.pick()
        if path is None:
            return
        uid, need = str(self.random.choice(USERS)), self.random.choice(["r", "rx", "rwx", "rw"])
        base = OTHER if os.path.ismount(OTHER) and self.random.random() < 0.5 else MAIN
        whole, arguments = f"{base}/{path}", ["--uid", uid, "--gid", uid, "--yes", "--allow-others"]
        if os.path.isdir(whole):
            arguments += ["--recursive"] if self.random.random() < 0.6 else []
            target = f"photos={whole}"
        else:
            need = need.replace("x", "")
            target = whole
        arguments += ["--for", "1h"] if self.random.random() < 0.4 else []
        size = os.path.getsize(JOURNAL) if os.path.exists(JOURNAL) else 0
        status, _ = self.call("request", target, "--need", need, *arguments)
        if status == 0:
            self.leased |= {(int(uid), one) for one in self.changed_paths(size)}
            self.trees |= {(int(uid), path)} if "--recursive" in arguments else set()
        self.counts[f"request {status}"] += 1
        if self.random.random() < 0.1 and os.path.exists(JOURNAL) and os.path.getsize(JOURNAL) > size:
            self.set_clock(size)

    def changed_paths(self, size):
        """The paths, below the root of the file system, where the last request gave something."""
        if not os.path.exists(JOURNAL):
            return
        with open(JOURNAL) as file:
            file.seek(size if os.path.getsize(JOURNAL) > size else 0)
            for line in map(json.loads, file):
                path = line.get("change", {}).get("inode", {}).get("path", "")
                for base in (MAIN, OTHER):
                    if path.startswith(f"{base}/"):
                        yield path.removeprefix(f"{base}/")

    def set_clock(self, size):
        """As if the wall clock had been a day ahead at the request, and set right since."""
        with open(JOURNAL) as file:
            before, lines = file.read(size), file.read().splitlines()
        for number, line in enumerate(lines):
            line = json.loads(line)
            for given in line.get("leased", {}).get("given", []):
                given["since"] += DAY * 1000
            if "since" in line.get("leased", {}):
                line["leased"]["since"] += DAY * 1000
            if "changed" in line:
                line["changed"] += DAY * 1000
            if "expires" in line.get("lifetime", {}):
                line["lifetime"]["expires"] += DAY
            lines[number] = json.dumps(line)
        with open(JOURNAL, "w") as file:
            file.write(before + "".join(line + "\n" for line in lines))
        self.note("# the clock was a day ahead for that request")
        self.counts["clock"] += 1

    def do_revoke(self):
        uid = str(self.random.choice(USERS))
        status, output = self.call("revoke", "--all", "--user", uid)
        if status not in (0, 2):
            raise Fault(f"revoke ended with {status}: {output}")

    # Somebody else

    def do_write(self):
        folder = self.pick(files=False)
        if folder:
            name = self.fresh()
            if self.random.random() < 0.3:
                os.mkdir(f"{MAIN}/{folder}/{name}", 0o750)
                self.note(f"mkdir {MAIN}/{folder}/{name}")
            else:
                old = os.umask(0o027)
                with open(f"{MAIN}/{folder}/{name}", "w") as file:
                    file.write("new\n")
                os.umask(old)
                self.note(f"echo new >{MAIN}/{folder}/{name}")

    def shell(self, command):
        self.note(command)
        return subprocess.run(["sh", "-c", command], capture_output=True, check=False).returncode

    def do_replace(self):
        path = self.pick(files=True)
        if path:
            self.touched.add(path)
            whole = f"{MAIN}/{path}"
            self.shell(self.random.choice([
                f"sed -i s/b/c/ {whole}", f"sed -i.bak s/b/c/ {whole}",
                f"cp -a {whole} {whole}.new && mv {whole}.new {whole}",
                f"mv {whole} {whole}.old && cp -a {whole}.old {whole}",
                f"rm {whole} && echo other >{whole} && chmod 640 {whole}",
            ]))  # fmt: skip

    def do_move(self):
        path = self.pick()
        folder = self.pick(files=False)
        if path and folder and not f"{folder}/".startswith(f"{path}/"):
            how = self.random.choice(["mv", "mv", "cp -a", "ln"])
            if how == "ln" and os.path.isdir(f"{MAIN}/{path}"):
                how = "mv"
            goes = self.random.random() < 0.3
            target = f"out/{self.fresh()}" if goes else f"{folder}/{self.fresh()}"
            self.touched |= {one for one in self.start if f"{one}/".startswith(f"{path}/")}
            self.shell(f"{how} {MAIN}/{path} {MAIN}/{target}")
            if not goes:
                self.moved.add(target)

    def do_remove(self):
        path = self.pick()
        if path:
            self.touched |= {one for one in self.start if f"{one}/".startswith(f"{path}/")}
            self.shell(f"rm -r {MAIN}/{path}")

    def do_entries(self):
        path = self.pick()
        if path is None or self.disk.kind == "ext4":
            return
        whole = f"{MAIN}/{path}"
        had = {(tag, who): rights for tag, who, rights in rows(whole, ACCESS)}
        if not had:
            mode = os.stat(whole).st_mode
            had = {(1, 2**32 - 1): mode >> 6 & 7, (4, 2**32 - 1): mode >> 3 & 7, (16, 2**32 - 1): mode >> 3 & 7, (32, 2**32 - 1): mode & 7}
        had |= {(2, 70_000 + number): number % 8 for number in range(1000)}
        self.touched.add(path)
        try:
            write_rows(whole, ACCESS, [(tag, who, rights) for (tag, who), rights in had.items()])
            self.note(f"# a thousand entries on {whole}")
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.E2BIG, errno.ERANGE, errno.EROFS, errno.EPERM):
                raise

    # Places

    def do_bind(self):
        if os.path.ismount(OTHER):
            kernel.unmount(OTHER, detaches=True)
            self.note(f"umount -l {OTHER}")
        elif not self.is_away:
            kernel.mount(MAIN, OTHER, flags=4096)
            self.note(f"mount --bind {MAIN} {OTHER}")

    def do_idmap(self):
        if os.path.ismount(IDMAPPED) or self.is_away:
            return
        try:
            kernel.bind_idmapped(MAIN, IDMAPPED, self.namespace)
            self.note(f"bind_idmapped {MAIN} {IDMAPPED}")
            self.counts["idmapped"] += 1
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise

    def do_read_only(self):
        target = self.random.choice([one for one in (MAIN, OTHER, IDMAPPED) if os.path.ismount(one)] or [None])
        if target and self.random.random() < 0.7:
            self.shell(f"mount -o remount,bind,ro {target}")
        elif target == MAIN:
            self.shell(f"mount -o remount,ro {target}")

    def do_away(self):
        if self.is_away:
            self.come_back()
        else:
            kernel.unmount(MAIN, detaches=True)
            self.note(f"umount -l {MAIN}")
            self.is_away = True

    def come_back(self):
        if self.is_away:
            self.drop_copies(MAIN)
            self.disk.mount()
            self.note(f"mount {self.disk.device} {MAIN}")
            self.is_away = False

    def do_copy(self):
        """A copy of the image, mounted elsewhere or in the place of the original."""
        if self.disk.kind not in ("ext4", "xfs") or self.copies or self.random.random() < 0.5:
            return
        image = f"{WORK}/copy.image"
        os.sync()
        if subprocess.run(["cp", "--sparse=always", self.disk.file, image], check=False).returncode:
            return
        device = subprocess.run(["losetup", "-f", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
        in_place = self.random.random() < 0.5
        if in_place and not self.is_away:
            self.do_away()
        point = MAIN if in_place else COPY
        data = "nouuid" if self.disk.kind == "xfs" else None
        try:
            kernel.mount(device, point, self.disk.kind, data=data)
            self.note(f"a copy of the image at {point}")
            self.copies.append((device, point))
            self.counts["copy"] += 1
        except OSError:
            subprocess.run(["losetup", "-d", device], check=False)

    def do_fill(self):
        if not self.is_away:
            self.shell(f"cat /dev/zero >{MAIN}/fill; i=0; while head -c 4096 /dev/zero >{MAIN}/fill.$i; do i=$((i + 1)); done; true")
            self.counts["full"] += 1

    def do_immutable(self):
        path = self.pick()
        if path:
            self.shell(f"chattr +{self.random.choice('ia')} {MAIN}/{path}")

    def drop_copies(self, *points):
        for device, point in [one for one in self.copies if one[1] in points]:
            kernel.unmount(point, detaches=True)
            subprocess.run(["losetup", "-d", device], check=False)
            self.note(f"umount {point}  # the copy")
            self.copies.remove((device, point))

    def clear(self):
        """Every obstacle goes."""
        self.drop_copies(MAIN, COPY)
        for point in (OTHER, IDMAPPED):
            while os.path.ismount(point):
                kernel.unmount(point, detaches=True)
        self.come_back()
        self.shell(f"mount -o remount,rw {MAIN}; mount -o remount,bind,rw {MAIN}; rm -f {MAIN}/fill*; chattr -R -ia {MAIN}/tree {MAIN}/out; true")

    # The promise

    def judge(self, status, output):
        left = self.left() - self.moved_ones()
        if status == 0 and left:
            raise Fault(f"revoke ended with 0, and left: {sorted(left)}: {output[-1500:]}")
        for _, path in left:
            above = [path]
            while "/" in above[-1]:
                above.append(os.path.dirname(above[-1]))
            if not any(f"{base}/{one}" in output for one in above[:-1] for base in (MAIN, OTHER)):
                raise Fault(f"{path} is left, and not named: {output[-1500:]}")
        self.counts["left"] += bool(left)

    def moved_ones(self):
        """What no lease of the user gave there or to a folder above, or what was moved or copied there: counted apart."""

        def is_below(path, tops):
            return any(f"{path}/".startswith(f"{top}/") for top in tops)

        return {(who, path) for who, path in self.left()
                if is_below(path, self.moved) or (who, path) not in self.leased
                and not is_below(path, [top for one, top in self.trees if one == who])}

    def play(self):
        self.moved = set()
        kinds = ["request"] * 6 + ["revoke"] * 2 + ["write"] * 2 + ["replace"] * 3 + [
            "move", "move", "remove", "entries", "bind", "bind", "idmap", "read_only", "read_only", "away", "copy", "fill", "immutable",
        ]  # fmt: skip
        self.do_request()
        for _ in range(self.random.randrange(3, 10)):
            kind = self.random.choice(kinds)
            try:
                getattr(self, f"do_{kind}")()
            except OSError as error:
                if error.errno not in (errno.EROFS, errno.ENOSPC, errno.EPERM, errno.ENOENT, errno.EBUSY, errno.EACCES):
                    raise
        status, output = self.call("revoke", "--all")
        if status not in (0, 2):
            raise Fault(f"revoke ended with {status}: {output}")
        self.judge(status, output)
        self.clear()
        status, output = self.call("revoke", "--all")
        if status != 0:
            raise Fault(f"revoke ended with {status} after every obstacle was gone: {output}")
        self.judge(status, output)
        _, listed = self.call("list", "--grants", "--format", "plain")
        if listed.strip():
            raise Fault(f"still listed: {listed}")
        now = self.entries()
        for path, was in self.start.items():
            if path not in self.touched and path in now and now[path] != was:
                raise Fault(f"{path} was {was}, and is {now[path]}")
        self.counts["outside"] += len(self.moved_ones())


def work(numbers, options, report):
    os.mkdir(WORK, 0o755)
    for point in (MAIN, OTHER, IDMAPPED, COPY):
        os.mkdir(point)
    History.namespace = kernel.user_namespace([[0, 100_000, 65_536]], [[0, 100_000, 65_536]])
    disks = {}
    for number in numbers:
        kind = options.kinds.split(",")[number % len(options.kinds.split(","))]
        for other in [one for one in disks if one != kind]:
            disks.pop(other).end()
        disk = disks.get(kind) or disks.setdefault(kind, Disk(kind))
        history = History(number, options.seed, disk, options.permcheck)
        fault = None
        try:
            history.play()
        except Fault as error:
            fault = str(error)
        except (OSError, subprocess.SubprocessError):
            fault = traceback.format_exc()
        finally:
            history.clear()
        line = {"number": number, "fault": fault, "commands": history.commands if fault or options.only is not None else [], "counts": history.counts}
        report.write(json.dumps(line) + "\n")
        report.flush()
        if fault:
            disks.pop(kind).end()
    for disk in disks.values():
        disk.end()


def main():
    parser = argparse.ArgumentParser(description="Checks the ends of leases by random histories.")
    parser.add_argument("--permcheck", required=True)
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--kinds", default="ext4,xfs,btrfs,tmpfs")
    parser.add_argument("--counts", action="store_true")
    options = parser.parse_args()
    options.permcheck = os.path.abspath(options.permcheck)
    kinds = options.kinds.split(",")
    # Those of one file system together: to make one takes longer than a history.
    numbers = [options.only] if options.only is not None else sorted(range(options.histories), key=lambda n: n % len(kinds))
    counts, done, faults = ground.collect(numbers, options, work, "history")
    if options.counts:
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"lease ends: {done} histories, {counts['calls']} calls, {counts['left']} left, {counts['outside']} outside, {faults} faults, seed {options.seed}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
