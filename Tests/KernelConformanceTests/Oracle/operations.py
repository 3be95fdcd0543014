"""Cases about operations: what makes, removes, moves or changes names and inodes."""

from casefamilies import ID_MAPPINGS, USER_NAMESPACES, Families, is_directory
from casegen import CAPABILITIES, UIDS, GIDS, file_system_id

# fmt: off
MAKING = ["=mkdir", "=create", "=mkfifo", "=mknod", "=symlink"]
REMOVING = ["=unlink", "=rmdir"]
CHANGING = ["=chmod", "=touch", "=utimes", "=truncate", "=setxattr", "=chdir", "=connect"]
STICKY_MODES = ["1777", "1777", "1775", "1770", "3777", "1757", "777", "2775", "755"]
KINDS = ["f", "f", "f", "d", "d", "p", "s", "c:1:3", "l:nowhere"]
ALL_CAPABILITIES = CAPABILITIES + ["CHOWN", "MKNOD"]
# fmt: on


class Operations(Families):
    """Every method makes one case of the family it is named after."""

    def operand(self, tree, path, subject, kind=None, acl=0.15):
        """Adds an inode of some kind at a path."""
        kind = kind or self.random.choice(KINDS)
        if kind[0] == "l":
            choice = self.random.choice
            tree.append([path, kind, "777", choice(UIDS), choice(GIDS), None, None])
        else:
            tree.append(self.node(path, kind, subject, acl))
            if self.chance(0.12):
                tree[-1][2] = "%o" % (int(tree[-1][2], 8) | self.random.choice([0o4000, 0o2010, 0o1000]))

    def folder(self, subject, tree, name):
        """Adds a directory that is often sticky and mostly open to the subject."""
        choice = self.random.choice
        tree.append(self.node(name, "d", subject, 0.15, not self.chance(0.25)))
        if self.chance(0.5):
            tree[-1][2], tree[-1][5] = choice(STICKY_MODES), None
        if self.chance(0.3):
            tree[-1][3] = file_system_id(subject["uid"])

    def operation_case(self, name, env, subject, acl=0.15, uids=UIDS, gids=GIDS):
        """Two directories with something in each, and a path or two."""
        choice = self.random.choice
        env.setdefault("sysctl", [0, 0, 0, choice([0, 1, 1])])
        if self.chance(0.25):
            subject["caps"] = sorted({*subject["caps"], *self.some(["CHOWN", "MKNOD"], 0.6)})
        tree = [self.node(".", "d", subject, 0, True, uids, gids)]
        for folder in ("A", "B"):
            self.folder(subject, tree, folder)
        for path in ("A/t", "B/u"):
            if path == "A/t" or self.chance(0.6):
                self.operand(tree, path, subject, acl=acl)
        first = next(node for node in tree if node[0] == "A/t")
        if is_directory(first) and self.chance(0.5):
            self.folder(subject, tree, "A/t/D")
        second = next((node for node in tree if node[0] == "B/u"), None)
        if second and is_directory(second) and self.chance(0.4):
            self.operand(tree, "B/u/x", subject, "f")
        if self.chance(0.2):
            # The same mount's other names for things on the way.
            tree.append(["L", "l:" + choice(["A", "B", "A/t"]), "777", 0, 0, None, None])
        case = {"cls": "op-" + name, "env": env, "sub": subject, "tree": tree}
        case["path"] = self.operand_path(tree)
        case["q"] = self.operation_questions(tree, subject, case["path"])
        return case

    def operand_path(self, tree):
        style = self.random.choice(["t"] * 12 + ["new"] * 4 + ["odd", "slash", "link", "deep"])
        linked = any(node[0] == "L" for node in tree)
        match style:
            case "t":
                return "A/t"
            case "new":
                return self.random.choice(["A/n", "B/n"])
            case "odd":
                return self.random.choice(["A/.", "A/..", ".", "A/t/.", "A/n/x", "A/t/x", "", "A/" + "n" * 256])
            case "slash":
                return self.random.choice(["A/t/", "A/n/", "B/u/"])
            case "link":
                return self.random.choice(["L", "L/t", "L/", "L/n"]) if linked else "A/t"
        return "A/t/D"

    def operation_questions(self, tree, subject, path):
        choice, sample = self.random.choice, self.random.sample
        paths = ["A/n", "A/n", "B/n", "B/n", "B/u", "B/u", "A/t", "A", "B", "A/t/D", "A/t/D/n", "B/n/", "B/u/", "B/.", "B/m/n", "L/n"]
        mine = [file_system_id(subject["gid"]), *subject["groups"]]
        ids = [str(choice(UIDS)), str(file_system_id(subject["uid"])), ""]
        groups = [str(choice(GIDS)), str(choice(mine)), ""]
        is_new = path.rstrip("/").endswith("n")
        questions = sample(MAKING, 5 if is_new else 1) + sample(CHANGING, 2 if is_new else 5)
        questions += [choice(REMOVING)] if is_new else REMOVING
        questions += [f"={choice(['rename', 'rename', 'link'])} {path}" for path in sample(paths, 4)]
        questions += [f"=link {choice(['A/n', 'B/n', 'B/u'])}"]
        for _ in range(2):
            uid, gid = choice(ids), choice(groups)
            if uid or gid:
                questions.append(f"=chown {uid}:{gid}")
        if not path or len(path) > 100:  # connect(2) has other rules for these
            questions = [token for token in questions if token != "=connect"]
        return list(dict.fromkeys(questions))

    def modes(self):
        env = self.file_system("tmpfs", "ext4", "xfs", "btrfs")
        return self.operation_case("modes", env, self.mostly_plain_subject(0.7))

    def lists(self):
        env = self.file_system("tmpfs", "ext4", "xfs", "btrfs")
        return self.operation_case("acls", env, self.mostly_plain_subject(0.7), 0.8)

    def privileges(self):
        subject = self.subject("some")
        subject["caps"] = sorted(self.some(ALL_CAPABILITIES, 0.5))
        return self.operation_case("caps", self.file_system(), subject)

    def mixed(self):
        return self.operation_case("cred", self.file_system(), self.mixed_subject())

    def read_only(self):
        env = self.file_system("tmpfs", "ext4", "xfs", "btrfs")
        env |= self.random.choice([{"mnt": ["ro"]}, {"mnt": ["ro", "noexec"]}, {"sb_ro": 1}, {"mnt": ["nodev"]}])
        return self.operation_case("ro", env, self.subject())

    def fixed(self):
        """Immutable and append-only files and directories."""
        env = self.file_system("ext4", "tmpfs", "xfs", "btrfs")
        case = self.operation_case("attr", env, self.subject())
        nodes = [node for node in case["tree"] if node[1] in ("d", "f")]
        for node in self.random.sample(nodes, min(len(nodes), self.random.choice([1, 1, 2]))):
            node[6] = self.random.choice("iia")
        return case

    def namespaces(self):
        users, groups = self.random.choice(USER_NAMESPACES)
        uids = [0, 1001, 1002, 100000, 100005]
        gids = [0, 2001, 2002, 100000, 100007]
        subject = self.subject("any", uids, gids)
        subject["userns"] = {"u": users, "g": groups}
        case = self.operation_case("userns", self.file_system(), subject, uids=uids, gids=gids)
        subject["caps"] = self.some(ALL_CAPABILITIES, 0.5)
        # The numbers of chown(2) are those of the namespace.
        case["q"] = [token for token in case["q"] if "chown" not in token]
        return case

    def id_mappings(self):
        users, groups = self.random.choice(ID_MAPPINGS)
        env = self.file_system("ext4", "tmpfs") | {"idmap": {"u": users, "g": groups}}
        return self.operation_case("idmap", env, self.subject())

    def layered(self):
        env = self.file_system() | {"ovl": self.random.choice(["lower", "upper"])}
        case = self.operation_case("overlay", env, self.subject())
        # Whether a folder is of a lower layer is not seen, and decides whether it can be moved.
        name = case["path"].rstrip("/")
        if any(node[0] == name and is_directory(node) for node in case["tree"]) or "L/" in name:
            case["q"] = [token for token in case["q"] if "rename" not in token]
        return case

    def domains(self):
        """Landlock, of one directory: moving to another one needs more than its rights."""
        case = self.operation_case("landlock", self.file_system(), self.subject())
        handled = self.some(
            ["MAKE_REG", "MAKE_DIR", "MAKE_FIFO", "MAKE_CHAR", "MAKE_SYM", "REMOVE_FILE", "REMOVE_DIR", "TRUNCATE"], 0.6
        ) or ["REMOVE_FILE"]
        rules = {
            node[0]: allowed
            for node in case["tree"]
            if is_directory(node) and self.chance(0.5) and (allowed := self.some(handled, 0.6))
        }
        case["sub"]["ll"] = {"handled": handled, "rules": rules}
        case["q"] = [token for token in case["q"] if "rename" not in token and "link " not in token]
        case["q"] += ["=rename A/n", "=link A/n"] if case["path"] in ("A/t", "A/n") else []
        return case


MIX = {
    Operations.modes: 5000,
    Operations.lists: 4000,
    Operations.privileges: 2500,
    Operations.mixed: 1000,
    Operations.read_only: 1500,
    Operations.fixed: 1800,
    Operations.namespaces: 1200,
    Operations.id_mappings: 900,
    Operations.layered: 1500,
    Operations.domains: 800,
}


def generate(count, seed):
    """`count` cases of all families in their proportions, always the same ones for a seed."""
    families = Operations(seed)
    total = sum(MIX.values())
    cases = [
        family(families)
        for family, share in MIX.items()
        for _ in range(max(1, round(count * share / total)))
    ]
    for index, case in enumerate(cases):
        case["id"] = index
    return cases
