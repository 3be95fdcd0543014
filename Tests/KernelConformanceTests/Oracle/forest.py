"""Trees on mounts of all kinds, and the subjects that are asked about them."""

import itertools
import os
import random
import subprocess
import sys
from dataclasses import dataclass

import kernel
from casefamilies import ID_MAPPINGS, Families
from casegen import CAPABILITIES

NAMESPACE = {"u": [[0, 1001, 1], [1, 100000, 65536]], "g": [[0, 2001, 1], [1, 100000, 65536]]}
SUBJECTS = [
    {"uid": 0, "gid": 0, "groups": [], "caps": CAPABILITIES + ["SYS_PTRACE"]},
    {"uid": 1001, "gid": 2001, "groups": [], "caps": []},
    {"uid": 1001, "gid": 2002, "groups": [2001, 44], "caps": []},
    {"uid": 1002, "gid": 2002, "groups": [2003], "caps": []},
    {"uid": 65534, "gid": 65534, "groups": [0], "caps": []},
]
# Those that only a process can be.
PROCESSES = [
    {"uid": 1001, "gid": 2001, "groups": [2003], "caps": ["DAC_READ_SEARCH"]},
    {"uid": 1002, "gid": 2002, "groups": [], "caps": ["DAC_OVERRIDE"]},
    {"uid": [1003, 1001, 1002], "gid": [2003, 2001, 2002], "groups": [44], "caps": []},
    {"uid": 1001, "gid": 2001, "groups": [2002], "caps": CAPABILITIES, "userns": NAMESPACE},
]

VARIANTS = [
    {},
    {"mnt": ["ro"]},
    {"mnt": ["nodev"]},
    {"mnt": ["noexec"]},
    {"mnt": ["nosymfollow"]},
    {"mnt": ["ro", "nodev", "noexec"]},
    {"sb_ro": 1},
    {"ovl": "lower"},
    {"ovl": "upper"},
    {"ovl": "lower", "mnt": ["ro"]},
    {"ovl": "upper", "mnt": ["nodev"]},
    *({"idmap": {"u": users, "g": groups}} for users, groups in ID_MAPPINGS[:3]),
]
ENVIRONMENTS = [{"fs": fs} | variant for variant in VARIANTS for fs in ("tmpfs", "ext4")]
TREES_EACH = 12
KINDS = ["f", "d", "c:1:3", "c:81:0", "p", "s"]


@dataclass
class Tree:
    """`root`/`rest` is asked about; `name` is the mount's."""

    name: str
    root: str
    rest: str
    source: str = ""

    @property
    def path(self):
        return f"{self.root}/{self.rest}"


class Forest:
    """The trees, and the mounts that they are on."""

    def __init__(self, oracle, seed):
        self.oracle = oracle
        self.families = Families(seed)
        self.random = random.Random(seed)
        self.numbers = itertools.count()
        self.trees = []
        self.groups = []
        for env in ENVIRONMENTS:
            self.plant_or_leave_out(env)
        whole = list(self.trees)
        self.groups.append([self.add_link(whole) for _ in range(40)])
        self.groups.append([self.add_dots(whole) for _ in range(30)])
        self.groups.append([self.add_bound_file(index) for index in range(16)])
        self.groups.append([self.add_nested(whole, index) for index in range(16)])

    def chance(self, probability):
        return self.random.random() < probability

    def folder(self, name, mode=0o755):
        path = f"{self.oracle.directory}/{name}"
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        return path

    def add(self, tree):
        self.trees.append(tree)
        return tree

    def directory(self, name):
        """A directory that most can search, some of them sticky."""
        mode = self.random.choice(["755", "755", "711", "1777", "1777", "750", "701"])
        uid, gid = self.random.choice([0, 1001, 1002]), self.random.choice([0, 2001, 44])
        return [name, "d", mode, uid, gid, None, None]

    def link(self, name, target):
        uid = self.random.choice([0, 1001, 1002, 1003])
        return [name, f"l:{target}", "777", uid, 0, None, None]

    def random_case(self):
        subject = self.random.choice(SUBJECTS + PROCESSES)
        case = self.families.simple("live", {}, subject, 0.5, KINDS, bad=0.08)
        target = case["tree"][-1]
        if target[1] == "c:81:0":
            target[1] = "c:81:250"  # which no machine has that many cameras for
        if target[1] in "fd" and self.chance(0.15):
            target[6] = self.random.choice("ia")
        return case

    def plant_or_leave_out(self, env):
        try:
            group = self.plant(env)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"left out: trees on {env}: {error}", file=sys.stderr)
            if os.environ.get("CI") == "true":
                raise
            return
        self.groups.append(group)
        self.trees += group

    def plant(self, env):
        """Makes trees on a new mount of this kind."""
        number = next(self.numbers)
        name = f"{number}-" + "-".join([env["fs"], *(key for key in env if key != "fs")])
        base = self.oracle.base(env["fs"], f"{env['fs']}-ro" if "sb_ro" in env else None)
        root, view = f"{base}/g{number}", self.folder(f"v{number}")
        os.mkdir(root, 0o755)
        source = root
        if "ovl" in env:
            for layer in ("lower", "upper", "work"):
                os.mkdir(f"{root}/{layer}", 0o755)
            source = f"{root}/{env['ovl']}"
        others = [tree for tree in self.trees if "idmap" not in tree.name]
        group = []
        for index in range(TREES_EACH):
            case = self.random_case()
            rest = case["path"]
            if others and self.chance(0.25):
                case["tree"].append(self.link("X", self.random.choice(others).path))
                rest = "X"
            self.oracle.build(f"{source}/{index}", case, records=False)
            group.append(Tree(name, f"{view}/{index}", rest, f"{source}/{index}"))
        self.oracle.mount_view(env, root, view)
        if "sb_ro" in env:
            kernel.mount("none", base, flags=kernel.MS_REMOUNT | kernel.MS_RDONLY)
        return group

    def add_link(self, whole):
        """An absolute or relative link to something on another mount."""
        root = f"{self.folder('links')}/{next(self.numbers)}"
        other = self.random.choice(whole)
        rest = "l"
        match self.random.choice(["target", "root", "relative", "twice"]):
            case "target":
                links = [self.link("l", other.path)]
            case "root":
                links = [self.link("l", other.root)]
                rest = f"l/{other.rest}"
            case "relative":
                above = os.path.relpath(other.root, root)
                links = [self.link("l", f"{above}/{other.rest}")]
            case "twice":
                links = [self.link("l", f"{root}/m"), self.link("m", other.path)]
        self.oracle.build(root, {"tree": [self.directory("."), *links]}, records=False)
        return self.add(Tree("links", root, rest))

    def add_dots(self, whole):
        """`..` over a mount point, to another mount."""
        here, there = self.random.choice(whole), self.random.choice(whole)
        view, name = there.root.split("/")[-2:]
        return self.add(Tree("dots", here.root, f"../../{view}/{name}/{there.rest}"))

    def add_bound_file(self, index):
        """A file or device mounted over a file that nobody may use."""
        root = f"{self.folder('files')}/{index}"
        bottom = [self.directory("."), ["t", "f", "0", 0, 0, None, None]]
        self.oracle.build(root, {"tree": bottom}, records=False)
        case = self.random_case()
        case["tree"] = [self.directory("."), ["t", *case["tree"][-1][1:]]]
        if case["tree"][1][1] == "d":
            case["tree"][1][1] = "f"
        source = f"{self.oracle.base(('tmpfs', 'ext4')[index % 2])}/b{index}"
        self.oracle.build(source, case, records=False)
        self.bind(f"{source}/t", f"{root}/t")
        return self.add(Tree("files", root, "t"))

    def add_nested(self, whole, index):
        """A tree mounted, perhaps twice, in the middle of another, over a closed directory."""
        root = f"{self.folder('nested')}/{index}"
        bottom = [self.directory("."), ["m", "d", "0", 0, 0, None, None]]
        self.oracle.build(root, {"tree": bottom}, records=False)
        for _ in range(self.random.choice([1, 1, 2])):
            other = self.random.choice([tree for tree in whole if "ovl" not in tree.name])
            self.bind(other.source, f"{root}/m")
        rest = self.random.choice(["m/", "m/../m/", "m/../../" + str(index) + "/m/"])
        return self.add(Tree("nested", root, rest + other.rest))

    def bind(self, source, target):
        kernel.mount(source, target, flags=kernel.MS_BIND)
        flags = self.random.choice([0, 0, kernel.MS_RDONLY, kernel.MS_NODEV, kernel.MS_NOEXEC])
        if flags:
            kernel.mount("none", target, flags=kernel.MS_REMOUNT | kernel.MS_BIND | flags)
