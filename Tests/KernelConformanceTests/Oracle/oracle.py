#!/usr/bin/env python3
"""Builds each case on a real file system and asks the live kernel about it.

  oracle.py -n 20000 --seed 1 -o cases.jsonl    makes cases, asks, writes them with the answers
  oracle.py --operations -n 20000 -o …          the same with cases about operations
  oracle.py --replay cases.jsonl                builds the cases of a file anew and compares

Wants root. Everything is mounted in a private mount namespace, on a temporary directory; the
fs.protected_* sysctls are the only state outside that is touched, and are put back. Cases for
which this machine lacks something are left out and named; with CI=true that is an error.
"""

import argparse
import atexit
import itertools
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile

import kernel
import operations
from casefamilies import generate
from common import LANDLOCK, acl_decode, acl_encode, asker_question, capability_mask, load, three

ACL = "system.posix_acl_access"
HARNESS_FAILURE = 999
# What the drivers of the devices in the cases answer; checked before anything else is asked.
DRIVER_ERRNO = {"c:1:3": 0, "c:81:0": 6, "b:8:0": 6, "c:5:0": 6}
MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-N", "200000"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
ROOT = {"uid": 0, "gid": 0, "groups": [], "caps": []}
FOLDER, FILE = [[name, kind, "755", 0, 0, None, None] for name, kind in ((".", "d"), ("t", "f"))]


def batches(cases, size=2000):
    """The cases by environment, in the order in which it is first met."""
    groups = {}
    for case in cases:
        groups.setdefault(json.dumps(case["env"], sort_keys=True), []).append(case)
    for env, group in groups.items():
        for start in range(0, len(group), size):
            yield json.loads(env), group[start : start + size]


class Oracle:
    """Answers cases, in a mount namespace of its own that this process then stays in."""

    def __init__(self, asker, work=None):
        self.asker = asker
        self.bases, self.namespaces = {}, {}
        self.numbers = itertools.count(1)
        self.owner = os.getpid()
        kernel.enter_private_mounts()
        self.directory = tempfile.mkdtemp(prefix="permissionkit-oracle.", dir=work)
        os.chmod(self.directory, 0o755)
        atexit.register(self.close)
        kernel.mount("tmpfs", self.directory, "tmpfs", data="mode=755,size=6g,nr_inodes=0")

    def close(self):
        if self.owner != os.getpid():
            return
        for mounted in [*self.bases.values(), self.directory]:
            try:
                kernel.unmount(mounted, detaches=True)
            except OSError as error:
                print(f"oracle: {error}", file=sys.stderr)
        os.rmdir(self.directory)

    def base(self, name, label=None):
        """Where a file system of this type is mounted; another one for each label."""
        label = label or name
        if label in self.bases:
            return self.bases[label]
        base = os.path.join(self.directory, label)
        os.makedirs(base, 0o755, exist_ok=True)
        if name == "tmpfs":
            kernel.mount("tmpfs", base, "tmpfs", data="mode=755,nr_inodes=0,size=2g")
        else:
            image = base + ".img"
            with open(image, "w") as file:
                file.truncate(1 << 30)
            for command in (MKFS[name] + [image], ["mount", "-o", "loop", image, base]):
                subprocess.run(command, check=True, capture_output=True)
            os.chmod(base, 0o755)
        self.bases[label] = base
        return base

    def namespace(self, maps):
        key = json.dumps(maps)
        if key not in self.namespaces:
            self.namespaces[key] = kernel.user_namespace(maps["u"], maps["g"])
        return self.namespaces[key]

    # Building

    def build(self, root, case, records):
        """Makes the tree of a case; with `records` notes in it what the kernel really stored."""
        attributes = []
        for node in case["tree"]:
            name, kind, mode, uid, gid, acl, attribute = node
            path = root if name == "." else f"{root}/{name}"
            if kind[0] == "l":
                os.symlink(kind[2:], path)
                os.lchown(path, uid, gid)
                continue
            self.make(path, kind)
            os.chown(path, uid, gid)
            os.chmod(path, int(mode, 8))
            if acl:
                os.setxattr(path, ACL, acl_encode(acl))
            if records:
                node[2] = "%o" % stat.S_IMODE(os.lstat(path).st_mode)
                try:
                    node[5] = acl_decode(os.getxattr(path, ACL))
                except OSError:
                    node[5] = None
            if attribute:
                attributes.append((path, attribute))
        for path, attribute in reversed(attributes):
            kernel.set_attribute(path, attribute)
        return [path for path, _ in attributes]

    @staticmethod
    def make(path, kind):
        if kind == "d":
            os.mkdir(path, 0o700)
            return
        kinds = {"f": stat.S_IFREG, "p": stat.S_IFIFO, "s": stat.S_IFSOCK}
        kinds |= {"c": stat.S_IFCHR, "b": stat.S_IFBLK}
        letter, *numbers = kind.split(":")
        device = os.makedev(*map(int, numbers)) if numbers else 0
        os.mknod(path, 0o600 | kinds[letter], device)

    def line(self, start, case, source=None):
        """The case as kernel-asker wants it, see Tests/Support/KernelAsker/main.c.

        What it creates is unlinked below `source`: an idmapped mount could refuse it to root.
        """
        subject = case["sub"]
        effective = capability_mask(subject["caps"])
        permitted = capability_mask(subject.get("capP", [])) | effective
        landlock = "-"
        if "ll" in subject:
            landlock = "%x" % sum(LANDLOCK[right] for right in subject["ll"]["handled"])
            for path, rights in subject["ll"]["rules"].items():
                landlock += ";%s=%x" % (path, sum(LANDLOCK[right] for right in rights))
        fields = [
            start,
            case["path"] or "%",
            "%d,%d,%d" % three(subject["uid"]),
            "%d,%d,%d" % three(subject["gid"]),
            ",".join(map(str, subject["groups"])) or "-",
            "%x" % effective,
            "%x" % permitted,
            str(self.namespace(subject["userns"]) if "userns" in subject else -1),
            landlock,
            f"{source or start}/{case['clean']}" if "clean" in case else "-",
        ]
        if case["q"][0][0] == "=":
            fields[-1] = source or start
        return "\t".join(fields + [asker_question(token) for token in case["q"]]) + "\n"

    # Asking

    def answer(self, sysctls, env, cases, records):
        """Asks all of these cases, which have `env` in common; puts the answers in `answer`."""
        base = self.base(env["fs"])
        number = next(self.numbers)
        root = f"{base}/g{number}"
        view = f"{self.directory}/v{number}"
        os.mkdir(root, 0o755)
        os.mkdir(view, 0o755)
        source = root
        if "ovl" in env:
            for name in ("lower", "upper", "work"):
                os.mkdir(f"{root}/{name}", 0o755)
            source = f"{root}/{env['ovl']}"
        attributes, mounted, group = [], False, None
        try:
            for index, case in enumerate(cases):
                attributes += self.build(f"{source}/{index}", case, records)
            self.mount_view(env, root, view)
            mounted = True
            if env.get("sb_ro"):
                kernel.mount("none", base, flags=kernel.MS_REMOUNT | kernel.MS_RDONLY)
            group = self.device_cgroup(env["devcg"], number) if "devcg" in env else None
            below = view if "ovl" in env else source
            lines = [
                self.line(f"{view}/{index}", case, f"{below}/{index}")
                for index, case in enumerate(cases)
            ]
            values = (env.get("sysctl", []) + [0] * 4)[:4]
            asked = self.ask_under(sysctls, values, lines, group)
            for case, errnos in zip(cases, asked, strict=True):
                case["answer"] = dict(zip(case["q"], errnos, strict=True))
        finally:
            if env.get("sb_ro"):
                kernel.mount("none", base, flags=kernel.MS_REMOUNT)
            if mounted:
                kernel.unmount(view)
            for path in attributes:
                kernel.set_attribute(path, None)
            if group:
                os.rmdir(group)
            os.rmdir(view)
            shutil.rmtree(root)

    def mount_view(self, env, root, view):
        flags = sum(kernel.MOUNT_FLAGS[name] for name in env.get("mnt", []))
        if "ovl" in env:
            layers = f"lowerdir={root}/lower,upperdir={root}/upper,workdir={root}/work"
            kernel.mount("overlay", view, "overlay", data=layers)
        elif "idmap" in env:
            kernel.bind_idmapped(root, view, self.namespace(env["idmap"]))
        else:
            kernel.mount(root, view, flags=kernel.MS_BIND)
        if flags:
            kernel.mount("none", view, flags=kernel.MS_REMOUNT | kernel.MS_BIND | flags)

    @staticmethod
    def device_cgroup(denied, number):
        """A new cgroup v1 that denies these devices."""
        with open("/proc/mounts") as mounts:
            fields = [line.split() for line in mounts]
        for _, point, kind, options, *_ in fields:
            if kind == "cgroup" and "devices" in options.split(","):
                break
        else:
            raise FileNotFoundError("no cgroup v1 hierarchy for devices is mounted")
        group = f"{point}/permissionkit-oracle.{os.getpid()}.{number}"
        os.mkdir(group)
        for rule in denied:
            with open(f"{group}/devices.deny", "w") as file:
                file.write(rule)
        return group

    def ask_under(self, sysctls, values, lines, group):
        """The answers while the sysctls have these values."""
        for _ in range(10):
            sysctls.set(values)
            answers = self.ask(lines, group)
            if sysctls.still_hold():
                return answers
        raise RuntimeError("somebody else keeps changing fs.protected_*")

    def ask(self, lines, group=None, descriptors=()):
        """The errnos that kernel-asker, in a cgroup and with descriptors, answers to each line."""

        def join():
            if group:
                with open(f"{group}/cgroup.procs", "w") as file:
                    file.write("0")

        outcome = subprocess.run(
            [self.asker],
            input="".join(lines).encode(),
            stdout=subprocess.PIPE,
            check=True,
            preexec_fn=join,
            pass_fds=[*self.namespaces.values(), *descriptors],
        )
        answers = [list(map(int, line.split())) for line in outcome.stdout.splitlines()]
        if any(HARNESS_FAILURE in errnos for errnos in answers):
            raise RuntimeError("kernel-asker could not take on a subject's credentials")
        return answers

    def answer_all(self, cases, records=True):
        os.umask(0)
        with kernel.Sysctls() as sysctls:
            for env, group in batches(cases):
                self.answer(sysctls, env, group, records)

    # What this machine lacks

    def trial(self, env=None, sub=None, questions=("o:r",), tree=None):
        """The answers to a small case, or why it cannot be asked here."""
        case = {"env": {"fs": "tmpfs"} | (env or {}), "sub": ROOT | (sub or {}), "q": questions}
        case["tree"] = [list(node) for node in [FOLDER, FILE, *(tree or [])]]
        case["path"] = case["tree"][-1][0]
        try:
            self.answer_all([case])
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            detail = getattr(error, "stderr", None) or b""
            return f"{error} {detail.decode(errors='replace').strip()}".strip()
        return case["answer"]

    def lacking(self, cases):
        """What of the cases cannot be asked here: (why, whether it concerns a case)."""
        lacking = []

        def need(name, concerns, **trial):
            if any(map(concerns, cases)) and isinstance(why := self.trial(**trial), str):
                lacking.append((f"{name}: {why}", concerns))

        for name in ("ext4", "xfs", "btrfs"):
            need(name, lambda case, name=name: case["env"]["fs"] == name, env={"fs": name})
        for name in ("tmpfs", "xfs", "btrfs"):
            need(
                f"attributes on {name}",
                lambda case, name=name: case["env"]["fs"] == name
                and any(n[6] for n in case["tree"]),
                env={"fs": name},
                tree=[["i", "f", "644", 0, 0, None, "i"]],
            )
        maps = {"u": [[0, 0, 65535]], "g": [[0, 0, 65535]]}
        need("overlay", lambda case: "ovl" in case["env"], env={"ovl": "upper"})
        need("device cgroups", lambda case: "devcg" in case["env"], env={"devcg": ["c 1:3 w"]})
        need("user namespaces", lambda case: "userns" in case["sub"], sub={"userns": maps})
        for name in ("tmpfs", "ext4"):
            need(
                f"idmapped {name}",
                lambda case, name=name: "idmap" in case["env"] and case["env"]["fs"] == name,
                env={"fs": name, "idmap": maps},
            )
        domain = {"ll": {"handled": ["TRUNCATE"], "rules": {"t": ["TRUNCATE"]}}}
        need("Landlock", lambda case: "ll" in case["sub"], sub=domain)
        return lacking

    def lacks_exec_check(self):
        """Before Linux 6.14 AT_EXECVE_CHECK is an invalid flag."""
        return self.trial(questions=["x"]) != {"x": 0}

    def check_drivers(self):
        for device, errno in DRIVER_ERRNO.items():
            name = device.replace(":", "-")
            answer = self.trial(tree=[[name, device, "666", 0, 0, None, None]])
            if answer != {"o:r": errno}:
                raise SystemExit(f"oracle: device {device} answers {answer}, not {errno}")


def leave_out(oracle, cases):
    """The cases that can be asked here; says what is missing for the others."""
    lacking = oracle.lacking(cases)
    missing = [why for why, _ in lacking]
    if oracle.lacks_exec_check():
        missing.append("the question x: this kernel has no AT_EXECVE_CHECK")
        for case in cases:
            case["q"] = [token for token in case["q"] if token != "x"]
    for why in missing:
        print(f"left out: {why}", file=sys.stderr)
    if missing and os.environ.get("CI") == "true":
        raise SystemExit("oracle: nothing may be left out in CI")
    return [case for case in cases if not any(concerns(case) for _, concerns in lacking)]


def write(path, cases, seed):
    header = {
        "schema": 1,
        "kernel": platform.release(),
        "seed": seed,
        "driver_errno": DRIVER_ERRNO,
        "open_always_adds": "O_NONBLOCK|O_NOCTTY|O_CLOEXEC",
    }
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")
        for case in cases:
            case["k"] = case.pop("answer")
            del case["q"]
            file.write(json.dumps(case, separators=(",", ":")) + "\n")


def default_asker():
    package = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
    return os.environ.get("KERNEL_ASKER", f"{package}/.build/debug/kernel-asker")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=20000, metavar="CASES")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", default="cases.jsonl", metavar="FILE")
    parser.add_argument("--operations", action="store_true", help="cases about operations")
    parser.add_argument("--replay", metavar="FILE")
    parser.add_argument("--asker", default=default_asker(), help="the built kernel-asker")
    parser.add_argument("--work", help="where to make the temporary directory")
    options = parser.parse_args()
    if options.replay:
        _, cases = load(options.replay)
        for case in cases:
            case["q"] = list(case["k"])
    else:
        make = operations.generate if options.operations else generate
        cases = make(options.n, options.seed)
    oracle = Oracle(options.asker, options.work)
    oracle.check_drivers()
    cases = leave_out(oracle, cases)
    oracle.answer_all(cases, records=not options.replay)
    total = sum(len(case["answer"]) for case in cases)
    if options.replay:
        different = [
            f"case {case['id']} {token}: {case['k'][token]}, now {errno}"
            for case in cases
            for token, errno in case["answer"].items()
            if errno != case["k"][token]
        ]
        print("\n".join(different[:10] + [f"replay: {len(different)} of {total} answers differ"]))
        sys.exit(bool(different))
    write(options.o, cases, options.seed)
    print(f"oracle: {len(cases)} cases, {total} answers", file=sys.stderr)


if __name__ == "__main__":
    main()
