"""Makes random cases: who asks, of which tree, for what. Needs no privileges, touches nothing.

The schema of a case is in README.md; casefamilies.py has what each family is about.
"""

import random

UIDS = [0, 1001, 1002, 1003, 65534]
GIDS = [0, 2001, 2002, 2003, 44]
CAPABILITIES = ["DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER"]

BASE_QUESTIONS = "o:r o:w o:rw f:r f:w f:x f:rw a:r a:w a:x x".split()
EXTRA_QUESTIONS = (
    "o:3 o:r+trunc o:w+trunc o:w+app o:r+noatime o:r+path o:r+dir o:r+nof o:r+path+nof "
    "f:- f:rwx f:wx f:rx f:w+n o:rw+tmp+dir o:w+app+trunc a:rw a:-"
).split()

# fmt: off
GENEROUS_DIRECTORY_MODES = [0o755, 0o711, 0o777, 0o775, 0o1777, 0o2775, 0o751]
DIRECTORY_MODES = [
    0o755, 0o750, 0o700, 0o711, 0o770, 0o775, 0o1777, 0o2775, 0o2750, 0o710,
    0o000, 0o666, 0o077, 0o007, 0o070,
]
FILE_MODES = [
    0o644, 0o640, 0o600, 0o660, 0o664, 0o666, 0o755, 0o750, 0o700, 0o400, 0o440, 0o444,
    0o000, 0o004, 0o040, 0o006, 0o060, 0o077, 0o007, 0o070, 0o001, 0o010, 0o100,
]
# The last component: how often it is what.
TARGET_KINDS = {
    "f": 60, "d": 12, "c:1:3": 10, "c:81:0": 4, "b:8:0": 3, "p": 6, "s": 4, "c:5:0": 1,
}
# fmt: on


def unique(items):
    return list(dict.fromkeys(items))


def file_system_id(field):
    return field if isinstance(field, int) else field[2]


class Generator:
    """Draws subjects, inodes and trees; one seed always gives the same."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, probability):
        return self.random.random() < probability

    def some(self, items, probability):
        return [item for item in items if self.chance(probability)]

    # Subjects

    def subject(self, style="any", uids=UIDS, gids=GIDS):
        """`style`: "none" and "some" say whether there are capabilities, "any" goes by the uid."""
        choice = self.random.choice
        uid = self.random.choices(uids, [2, 5, 3] + [1] * (len(uids) - 3))[0]
        gid = choice(gids)
        groups = [choice(gids) for _ in range(choice([0, 0, 1, 1, 2, 3]))]
        if self.chance(0.02):
            groups = sorted(self.random.sample(range(3000, 60000), 200)) + groups
        if style == "none":
            capabilities = []
        elif style == "some":
            capabilities = self.some(CAPABILITIES, 0.5)
        elif uid == 0:
            every = self.chance(0.6)
            capabilities = list(CAPABILITIES) if every else self.some(CAPABILITIES, 0.4)
        else:
            capabilities = [] if self.chance(0.75) else self.some(CAPABILITIES, 0.4)
        return {"uid": uid, "gid": gid, "groups": groups, "caps": capabilities}

    def mostly_plain_subject(self, plain):
        return self.subject("none" if self.chance(plain) else "any")

    def mixed_subject(self):
        """Real, effective and file system ids differ, permitted and effective capabilities too."""
        choice = self.random.choice
        subject = self.subject()
        subject["uid"] = [choice(UIDS), choice(UIDS), choice(UIDS)]
        subject["gid"] = [choice(GIDS), choice(GIDS), choice(GIDS)]
        for ids in (subject["uid"], subject["gid"]):
            if self.chance(0.5):
                ids[2] = ids[1]
        subject["capP"] = sorted({*subject["caps"], *self.some(CAPABILITIES, 0.4)})
        return subject

    # Inodes

    def mode(self, is_directory, is_generous):
        choice, number = self.random.choice, self.random.randrange
        if not is_directory:
            return choice(FILE_MODES + [number(0o1000), number(0o1000)])
        if is_generous:
            return choice(GENEROUS_DIRECTORY_MODES)
        return choice(DIRECTORY_MODES + [number(0o10000) & 0o3777])

    def acl(self, subject, uids=UIDS, gids=GIDS):
        choice, number = self.random.choice, self.random.randrange
        users = [choice(uids) for _ in range(choice([0, 1, 1, 2]))]
        groups = [choice(gids) for _ in range(choice([0, 1, 1, 2, 3]))]
        if self.chance(0.4):
            users.append(file_system_id(subject["uid"]))
        if self.chance(0.3) and subject["groups"]:
            groups.append(choice(subject["groups"]))
        if not self.chance(0.08):  # seldom, an id is there twice
            users, groups = unique(users), unique(groups)
        if self.chance(0.7):  # the kernel does not sort
            users.sort()
            groups.sort()

        def permissions():
            return choice([0, 4, 6, 7, 5, 2, 1, number(8)])

        entries = [("u", "", permissions())] + [("u", user, permissions()) for user in users]
        entries += [("g", "", permissions())] + [("g", group, permissions()) for group in groups]
        if users or groups or self.chance(0.3):
            entries.append(("m", "", choice([7, 7, 6, 4, 5, 0, 2, 1, number(8)])))
        entries.append(("o", "", permissions()))
        return ",".join("%s:%s:%d" % entry for entry in entries)

    def node(self, path, kind, subject, acl=0.0, is_generous=False, uids=UIDS, gids=GIDS):
        """`acl` is the probability of one."""
        choice = self.random.choice
        own = file_system_id(subject["uid"])
        uid = own if self.chance(0.25) else choice(uids)
        mine = subject["groups"] + [file_system_id(subject["gid"])]
        gid = choice(mine) if self.chance(0.35) else choice(gids)
        entries = self.acl(subject, uids, gids) if self.chance(acl) else None
        return [path, kind, "%o" % self.mode(kind == "d", is_generous), uid, gid, entries, None]

    def chain(self, subject, depth, acl=0.0, bad=0.15, uids=UIDS, gids=GIDS):
        """'.' and `depth` directories below it; each is hostile with probability `bad`."""

        def directory(path, acls, bad):
            probability = acl if self.chance(acls) else 0
            return self.node(path, "d", subject, probability, not self.chance(bad), uids, gids)

        tree, path = [directory(".", 0.2, bad / 2)], ""
        for name in "abcdef"[:depth]:
            path = path + "/" + name if path else name
            tree.append(directory(path, 0.35, bad))
        return tree, path

    def target_kind(self, only=None):
        kinds = {kind: n for kind, n in TARGET_KINDS.items() if not only or kind in only}
        return self.random.choices(list(kinds), list(kinds.values()))[0]

    def simple(self, name, env, subject, acl=0.0, kinds=None, bad=0.15, uids=UIDS, gids=GIDS):
        """A case of a few directories and a target below them."""
        depth = self.random.choice([0, 1, 1, 2, 3])
        tree, path = self.chain(subject, depth, acl, bad, uids, gids)
        kind = self.target_kind(kinds)
        path = path + "/t" if path else "t"
        tree.append(self.node(path, kind, subject, acl, False, uids, gids))
        questions = BASE_QUESTIONS + self.random.sample(EXTRA_QUESTIONS, 3)
        return {
            "cls": name, "env": env, "sub": subject, "tree": tree, "path": path, "q": questions
        }  # fmt: skip

    def add_creation(self, case):
        """Adds questions with O_CREAT; half of the time the object does not exist yet."""
        if self.chance(0.5):
            case["tree"].pop()
            case["clean"] = case["path"]
            case["q"] = ["o:w", "f:w"]
        case["q"] = case["q"] + [
            "o:w+creat", "o:r+creat", "o:w+creat+excl", "o:rw+creat+trunc", "o:w+creat+nof"
        ]  # fmt: skip
