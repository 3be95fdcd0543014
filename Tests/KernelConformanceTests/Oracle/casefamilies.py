"""The families of cases: which rules of the kernel each of them is about."""

import os

from casegen import BASE_QUESTIONS, CAPABILITIES, EXTRA_QUESTIONS, GIDS, UIDS, Generator, unique

# Pairs of uid_map and gid_map: [inside, outside, count].
USER_NAMESPACES = [
    ([[0, 1001, 1]], [[0, 2001, 1]]),
    ([[1001, 1001, 1]], [[2001, 2001, 1]]),
    ([[0, 1001, 1], [1, 100000, 65536]], [[0, 2001, 1], [1, 100000, 65536]]),
    ([[0, 100000, 65536]], [[0, 100000, 65536]]),
    ([[0, 0, 1003]], [[0, 0, 2002]]),
    ([[0, 0, 4294967295]], [[0, 0, 4294967295]]),
]
# Of idmapped mounts: [on disk, as seen, count].
ID_MAPPINGS = [
    ([[0, 0, 1002]], [[0, 0, 2002]]),  # 1002, 1003 and 65534 are not mapped
    ([[1001, 1002, 1], [0, 0, 1]], [[2001, 2002, 1], [0, 0, 1]]),
    ([[0, 1000, 5000]], [[0, 0, 65535]]),
    ([[1000, 0, 3]], [[2000, 0, 3]]),
]
DENIED_DEVICES = ["c 1:3 r", "c 1:3 w", "c 1:3 rw", "c 1:3 m", "c 81:* rw", "b *:* rwm", "c *:* w"]
LINK_STYLES = "direct mid chain loop dangling dotdot slash selfdir many exact40 throughfile".split()
NAME_STYLES = (
    "long255 long256 long256 long256 pathmax pathmax-1 slash dot dotdot dblslash empty "
    "missing missingdir underfile cwd cwddot parent/."
).split()


def is_directory(node):
    return node[1] == "d"


def without(word, questions):
    return [question for question in questions if word not in question]


class Families(Generator):
    """Every method makes one case of the family it is named after."""

    def file_system(self, *names):
        return {"fs": self.random.choice(names or ("tmpfs", "ext4"))}

    def dac(self):
        return self.simple("dac", self.file_system(), self.mostly_plain_subject(0.7))

    def acls(self):
        env = self.file_system("tmpfs", "ext4", "xfs", "btrfs")
        return self.simple("acl", env, self.mostly_plain_subject(0.7), 0.85)

    def capabilities(self):
        return self.simple("cap", self.file_system(), self.subject("some"), 0.3, bad=0.4)

    def credentials(self):
        return self.simple("cred", self.file_system(), self.mixed_subject(), 0.3)

    def mount_flags(self):
        flags = self.some(["ro", "nodev", "noexec", "nosymfollow"], 0.45) or ["ro"]
        env = self.file_system() | {"mnt": flags}
        case = self.simple("mount", env, self.subject(), 0.3, bad=0.1)
        case["q"] = unique(case["q"] + ["o:w+trunc", "o:r+trunc", "o:3"])
        if not is_directory(case["tree"][-1]) and self.chance(0.3):
            self.add_creation(case)
        if self.chance(0.2):
            case["tree"].append(["L", "l:" + case["path"], "777", 0, 0, None, None])
            case["path"] = "L"
            case.pop("clean", None)
            case["q"] = without("creat", case["q"])
        return case

    def readonly_superblock(self):
        env = self.file_system() | {"sb_ro": 1}
        case = self.simple("sb_ro", env, self.subject(), 0.3, bad=0.1)
        if self.chance(0.3):
            env["mnt"] = ["ro"]
        case["q"] = unique(case["q"] + ["o:w+trunc", "o:r+trunc", "o:3"])
        if not is_directory(case["tree"][-1]) and self.chance(0.3):
            self.add_creation(case)
        return case

    def attributes(self):
        """Immutable and append-only."""
        env = self.file_system("ext4", "tmpfs", "xfs", "btrfs")
        case = self.simple("attr", env, self.subject(), 0.2, ["f", "d"], bad=0.1)
        case["tree"][-1][6] = self.random.choice("iia")
        if self.chance(0.2):
            case["tree"][0][6] = self.random.choice("ia")
        case["q"] = unique(case["q"] + ["o:w+app", "o:w+trunc", "o:r+trunc", "o:w+app+trunc"])
        if self.chance(0.3):
            env["mnt"] = ["ro"]
        return case

    def creation(self):
        """O_CREAT, above all in sticky directories."""
        choice = self.random.choice
        subject = self.mostly_plain_subject(0.6)
        env = self.file_system()
        env["sysctl"] = [choice([0, 1]), choice([0, 1, 2]), choice([0, 1, 2])]
        case = self.simple("create", env, subject, 0.15, ["f", "p", "c:1:3", "s", "d"])
        tree = case["tree"]
        parent = tree[-2]
        if self.chance(0.7):
            parent[2] = choice(["1777", "1777", "1775", "1770", "3777", "1757"])
            parent[5] = None
        if parent is tree[0] and self.chance(0.1):
            parent[6] = choice("ia")
        self.add_creation(case)
        if self.chance(0.15):  # through a trailing link, which may dangle
            tree.append(["L", "l:" + case["path"], "777", choice(UIDS), 0, None, None])
            case["path"] = "L"
            if self.chance(0.5):
                tree[0][2], tree[0][5] = "1777", None
        if self.chance(0.05):
            case["path"] += "/"
        if "clean" in case and any(node[6] == "a" for node in tree):
            # Nothing can be unlinked there again: one creation only.
            once = choice(["o:w+creat", "o:r+creat", "o:w+creat+excl"])
            case["q"] = without("creat", case["q"]) + [once]
        tree.sort(key=lambda node: (node[0] != ".", node[0].count("/")))
        return case

    def links(self):
        choice = self.random.choice
        subject = self.mostly_plain_subject(0.6)
        env = self.file_system() | {"sysctl": [choice([0, 1, 1]), 0, 0]}
        tree, folder = self.chain(subject, choice([1, 2, 3]), 0.1)
        kind = self.target_kind(["f", "d", "c:1:3"])
        tree.append(self.node(folder + "/t", kind, subject, 0.2))
        tree.append(self.node("S", "d", subject, 0, True))  # which holds the links
        if self.chance(0.6):
            tree[-1][2] = choice(["1777", "1777", "3777", "1775"])
        path = self.add_links(tree, folder)
        extra = self.random.sample(without("tmp", EXTRA_QUESTIONS), 3)
        questions = unique(BASE_QUESTIONS + extra + ["o:r+nof", "f:w+n"])
        if self.chance(0.12):
            env["mnt"] = ["nosymfollow"]
        return {
            "cls": "symlink", "env": env, "sub": subject, "tree": tree, "path": path, "q": questions
        }  # fmt: skip

    def add_links(self, tree, folder):
        """Adds links to `folder`/t; answers the path that goes through them."""
        choice = self.random.choice
        target = f"../{folder}/t"

        def link(path, target):
            tree.append([path, "l:" + target, "777", choice(UIDS), choice(GIDS), None, None])

        match choice(LINK_STYLES):
            case "direct":
                link("S/l", target)
            case "mid":
                link("S/l", f"../{folder}")
                return "S/l/t"
            case "chain":
                link("S/l", "m")
                link("S/m", "../n")
                link("n", f"{folder}/t")
                if self.chance(0.5):
                    tree[0][2], tree[0][5] = "1777", None
            case "loop":
                link("S/l", choice(["l", "../S/l", "m"]))
                link("S/m", "l")
            case "dangling":
                link("S/l", f"../{folder}/nope")
            case "dotdot":
                link("S/l", f"../S/../{folder}/./t")
            case "slash":
                link("S/l", f"../{folder}" + choice(["/t/", "/t", "/"]))
                return choice(["S/l/", "S/l", "S/l/."])
            case "selfdir":
                link("S/l", ".")
                return f"S/l/l/l/../S/l/{target}"
            case "many":
                self.add_link_chain(link, choice([3, 38, 39, 40, 40, 41, 45]) + 1, target)
            case "exact40":
                self.add_link_chain(link, choice([39, 40]), target)
            case "throughfile":
                link("S/l", target)
                return "S/l/x"
        return "S/l"

    @staticmethod
    def add_link_chain(link, count, target):
        """`count` links, each to the next and the last to `target`."""
        names = ["l"] + [f"l{index}" for index in range(1, count)]
        for name, following in zip(names, names[1:] + [target]):
            link("S/" + name, following)

    def names(self):
        """Long, missing and odd names, and paths of any form."""
        subject = self.mostly_plain_subject(0.6)
        case = self.simple("name", self.file_system(), subject, 0.1, ["f", "d", "p"], bad=0.4)
        style = self.random.choice(NAME_STYLES)
        path = self.odd_path(style, case["path"])
        case["path"] = path
        case["q"] = without("tmp", case["q"])
        if self.chance(0.3) and path and style not in ("cwd", "cwddot", "parent/.", "dot"):
            case["q"] += ["o:w+creat", "o:w+creat+excl"]
            exists = os.path.normpath(path) in [node[0] for node in case["tree"]]
            if not exists and not path.endswith("/") and len(path) < 300:
                case["clean"] = path
        return case

    @staticmethod
    def odd_path(style, path):
        folder = path[:-1]
        match style:
            case "long255":
                return folder + "n" * 255
            case "long256":
                return folder + "n" * 256
            case "pathmax" | "pathmax-1":
                length = 4096 if style == "pathmax" else 4095
                path = "./" * ((length - len(path)) // 2) + path
                return path.replace("./", ".//", 1) if len(path) < length else path
            case "dotdot":
                *above, name = path.split("/")
                return "/".join([*above, "..", above[-1], name]) if above else path
            case "dblslash":
                return path.replace("/", "//")
            case "missing":
                return folder + "nope"
            case "missingdir":
                return folder + "nope/t"
            case "parent/.":
                return (folder or "./") + "."
        return {
            "slash": path + "/", "dot": path + "/.", "underfile": path + "/x/y",
            "empty": "", "cwd": ".", "cwddot": "./.",
        }[style]  # fmt: skip

    def overlays(self):
        env = self.file_system() | {"ovl": self.random.choice(["lower", "upper"])}
        if self.chance(0.15):
            env["mnt"] = [self.random.choice(["ro", "nodev", "noexec"])]
        case = self.simple("overlay", env, self.subject(), 0.4)
        case["q"] = without("tmp", case["q"])
        return case

    def user_namespaces(self):
        users, groups = self.random.choice(USER_NAMESPACES)
        uids = [0, 1001, 1002, 100000, 100005]
        gids = [0, 2001, 2002, 100000, 100007]
        subject = self.subject("any", uids, gids)
        subject["caps"] = self.some(CAPABILITIES, 0.6)
        subject["userns"] = {"u": users, "g": groups}
        env = self.file_system()
        return self.simple("userns", env, subject, 0.3, bad=0.3, uids=uids, gids=gids)

    def idmapped_mounts(self):
        users, groups = self.random.choice(ID_MAPPINGS)
        env = self.file_system("ext4", "tmpfs") | {"idmap": {"u": users, "g": groups}}
        case = self.simple("idmap", env, self.subject(), 0.4, bad=0.2)
        if self.chance(0.3) and not is_directory(case["tree"][-1]):
            self.add_creation(case)
        case["q"] = without("tmp", case["q"])
        return case

    def device_cgroups(self):
        denied = [self.random.choice(DENIED_DEVICES)]
        env = self.file_system() | {"devcg": denied}
        kinds = ["c:1:3", "c:81:0", "b:8:0", "c:5:0"]
        return self.simple("devcg", env, self.subject(), 0.2, kinds, bad=0.1)

    def landlock(self):
        case = self.simple("landlock", self.file_system(), self.subject(), 0.1, bad=0.05)
        target = case["tree"][-1]
        if self.chance(0.6):
            target[2], target[5] = "777", None
        for_files = ["EXECUTE", "WRITE_FILE", "READ_FILE", "TRUNCATE"]
        rights = ["EXECUTE", "WRITE_FILE", "READ_FILE", "READ_DIR", "MAKE_REG", "TRUNCATE"]
        handled = self.some(rights, 0.7) or ["READ_FILE"]
        rules = {}
        for node in case["tree"]:
            if node[1] in ("d", "f", "c:1:3") and self.chance(0.4):
                allowed = self.some(handled, 0.6)
                if not is_directory(node):
                    allowed = [right for right in allowed if right in for_files]
                if allowed:
                    rules[node[0]] = allowed
        case["sub"]["ll"] = {"handled": handled, "rules": rules}
        case["q"] = unique(case["q"] + ["o:w+trunc", "o:r+trunc"])
        if target[1] == "f" and case["path"] not in rules and self.chance(0.3):
            self.add_creation(case)
        case["q"] = without("tmp", case["q"])
        return case


# How many of 21,000 cases are of which family.
MIX = {
    Families.dac: 3200,
    Families.acls: 4600,
    Families.capabilities: 1500,
    Families.credentials: 1000,
    Families.mount_flags: 2000,
    Families.readonly_superblock: 700,
    Families.attributes: 900,
    Families.creation: 1500,
    Families.links: 1500,
    Families.names: 900,
    Families.overlays: 700,
    Families.user_namespaces: 1000,
    Families.idmapped_mounts: 500,
    Families.device_cgroups: 300,
    Families.landlock: 700,
}


def generate(count, seed):
    """`count` cases of all families in their proportions, always the same ones for a seed."""
    families = Families(seed)
    total = sum(MIX.values())
    cases = [
        family(families)
        for family, share in MIX.items()
        for _ in range(round(count * share / total))
    ]
    while len(cases) < count:
        cases.append(families.acls())
    del cases[count:]
    for index, case in enumerate(cases):
        case["id"] = index
    return cases
