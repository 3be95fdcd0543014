"""What permcheck promises about leases: Documentation/decisions/leases.md, written a second time.

For each inode the model keeps `base`, the ACL without leases, and `written`, the ACL as permcheck last
wrote it. It predicts the exact ACL after each call, and holds the rights of everybody else to what they
had before. It does not use the sources.
"""

from dataclasses import dataclass

from ground import State, letters

USERS = [61001, 61002, 61003]  # each with a group of the same number
GROUP, MEMBER, STRANGER = 61100, 61200, 61300
# Who has no lease: members of the groups, a stranger, and a user whom somebody else gives entries.
BYSTANDERS = [(uid + 100, uid) for uid in USERS] + [(MEMBER, GROUP), (STRANGER, STRANGER), (61500, 61500)]  # fmt: skip
OWNER, OWNING, OTHERS, MASK = ("u", ""), ("g", ""), ("o", ""), ("m", "")
EXECUTABLE = {OWNER: 6, OWNING: 3, OTHERS: 0}


class Fault(Exception):
    """permcheck did not keep its promise."""


def named(entries):
    return [row for row in entries if row[1] != ""]


def mode_of(entries):
    group = entries[MASK] if MASK in entries else entries[OWNING]
    return entries[OWNER] << 6 | group << 3 | entries[OTHERS]


@dataclass(eq=False)
class Lease:
    identifier: str
    node: "Node"
    uid: int
    rights: int
    plan: str  # plain, for or run
    is_owners: bool = False  # given by the owner's bits
    is_over: bool = False  # expired, or its process is gone
    is_due: bool = False  # it was to be taken back, but its inode was not found

    def __str__(self):
        return f"lease of {self.uid}, {letters(self.rights)} ({self.plan}), on {self.node.name}"


def target(base, owner, leases):
    """`base` with one entry for each user of leases."""
    entries, given = dict(base), {}
    for lease in leases:
        if lease.is_owners:
            entries[OWNER] |= lease.rights if lease.uid == owner else 0
        elif lease.rights:
            given[lease.uid] = given.get(lease.uid, 0) | lease.rights
    if not given:
        return entries
    mask = entries.get(MASK, entries[OWNING])
    has_mask_empty = entries.get(MASK) == 0
    if has_mask_empty:  # the kernel ignored the entries
        entries = {row: rights for row, rights in entries.items() if row[1] == ""}
        entries[OWNING] = 0
    added = {}
    for uid, rights in given.items():
        had = entries.get(("u", uid), 0) & mask
        if ("u", uid) not in entries or rights & ~had:
            added["u", uid] = rights | had
    new_mask = mask
    for rights in added.values():
        new_mask |= rights
    if new_mask != mask:
        for row in [OWNING, *named(entries)]:
            entries[row] &= mask
    entries |= added
    entries[MASK] = new_mask
    return entries


class Node:
    """An inode; `path` is None once it is deleted."""

    def __init__(self, world, name, place, path):
        self.world, self.name, self.place, self.path = world, name, place, path
        self.leases, self.acl, self.seen = [], None, None
        self.hidden = None  # the path that another mount hides; `path` leads through a descriptor then

    def now(self):
        return self.world.state(self.path)

    def begin(self, now):
        """The record of an inode without leases."""
        if not self.leases:
            self.base, self.written, self.seen = dict(now.entries), dict(now.entries), None
            self.had_mask, self.owner, self.acl = MASK in now.entries, now.uid, None

    # The merge

    def merge(self, now):
        """What somebody else changed goes into `base`, and out of the leases."""
        entries, base = now.entries, dict(self.base)
        own = [self.written] + ([self.seen] if self.seen is not None else [])
        rows = set(entries).union(*own)
        theirs = {row for row in rows if all(entries.get(row) != one.get(row) for one in own)}
        if now.uid != self.owner:
            theirs.add(OWNER)
        had_mask, most = MASK in base, base.get(MASK, base[OWNING])
        limit = entries.get(MASK, 7)
        for row in theirs:
            if row in entries:
                base[row] = entries[row]
            else:
                base.pop(row, None)
        if theirs and MASK not in theirs:
            self.grow_mask(base, theirs, entries, had_mask, most)
        leased = {("u", lease.uid) for lease in self.leases if lease.rights and not lease.is_owners}
        top = base.get(MASK, 7 if had_mask or MASK in theirs else most)
        if theirs and top & ~most:
            for row in [OWNING, *named(base)]:
                if row in theirs:
                    continue
                if row in leased:
                    base[row] &= most
                    if had_mask and not most:
                        del base[row]
                elif row in entries:
                    base[row] &= entries[row] & limit
                else:
                    del base[row]
        if named(base):
            base.setdefault(MASK, base[OWNING])
        return base, [self.left(lease, theirs, now) for lease in self.leases]

    def grow_mask(self, base, theirs, entries, had_mask, most):
        """The mask grows by what the entries that somebody wrote give now."""
        limit, given = entries.get(MASK, 7), 0
        for row in theirs:
            if row[0] in "ug" and row != OWNER:
                given |= entries.get(row, 0) & limit
        if named(base) or had_mask:
            base[MASK] = most | given
        elif OWNING in theirs:
            base[OWNING] = entries[OWNING] & limit
        if base.get(MASK) == 0 and limit and any(row in theirs for row in named(base)):
            base[MASK] = limit

    def left(self, lease, theirs, now):
        """What somebody else left of a lease."""
        entries = now.entries
        if not theirs:
            return lease.rights
        if lease.is_owners:
            return lease.rights & entries[OWNER] if now.uid == lease.uid else 0
        row = ("u", lease.uid)
        if row in theirs or MASK in theirs:
            return lease.rights & entries.get(row, 0) & entries.get(MASK, 7)
        return lease.rights

    # What permcheck does

    def look(self, now, ended=(), added=None, is_finished=True):
        """permcheck looks at the inode: some leases end, one is added; returns the new ACL."""
        self.begin(now)
        self.base, left = self.merge(now)
        for lease, rights in zip(list(self.leases), left):
            lease.rights = rights
            if (lease in ended and is_finished) or not (rights or lease in ended):
                self.leases.remove(lease)
        self.owner = now.uid
        if added:
            self.leases.append(added)
        staying = [lease for lease in self.leases if lease not in ended]
        self.written = target(self.base, now.uid, staying)
        is_idle = MASK in self.written and not named(self.written) and not self.had_mask
        if is_idle and not any(lease.rights for lease in staying):
            self.written[OWNING] &= self.written.pop(MASK)
        self.seen = None if is_finished or self.written == now.entries else dict(now.entries)
        return self.written

    def request(self, now, uid, need, plan):
        """The lease that a request makes; None if it makes none."""
        allows = all(now.allows(uid, uid, bits) for bits in (need & 4, need & 3))
        self.begin(now)
        base, left = self.merge(now)
        shorter = self.shorter(uid, allows)
        kept = [
            Lease("", self, lease.uid, rights, "", lease.is_owners)
            for lease, rights in zip(self.leases, left)
            if lease not in shorter
        ]
        facts = now.entries if not shorter else target(base, now.uid, kept)
        state = State(mode_of(facts), now.uid, now.gid, None, facts)
        if all(state.allows(uid, uid, bits) for bits in (need & 4, need & 3)) and allows:
            return None
        if now.uid == uid:
            return Lease("", self, uid, need, plan, is_owners=True)
        if base.get(("u", uid)) is None or base.get(MASK) == 0:
            around = {row: rights for row, rights in base.items() if row != ("u", uid)}
            had = State(mode_of(around), now.uid, now.gid, None, around)
            # On a folder w does nothing without x by the same entry, so it is not handed on.
            need |= had.rights(uid, uid) & ~(0 if had.allows(uid, uid, 3) else 2)
        return Lease("", self, uid, need, plan)

    def shorter(self, uid, allows):
        """The leases of a user that do not count for a request: those that may end before it."""
        return [
            lease for lease in self.leases
            if lease.uid == uid and (not allows or lease.plan != "plain")
        ]  # fmt: skip

    def judge(self, before, predicted, users=()):
        """The ACL is the predicted one, and whoever had no lease before or since has what he had."""
        after = self.now()
        change = f"{before} became {after}"
        if after.entries != predicted:
            expected = State(mode_of(predicted), after.uid, after.gid, None, predicted)
            raise Fault(f"{self.name}: expected {expected}; {change}")
        if (after.uid, after.gid, after.mode & 0o7000) != (before.uid, before.gid, before.mode & 0o7000):
            raise Fault(f"{self.name}: owner, group or special bits changed: {change}")
        without = [(uid, uid) for uid in USERS if uid not in users]
        for uid, gid in [*BYSTANDERS, *without]:
            self.world.compare(self.path, after, uid, gid)
            if after.rights(uid, gid) != before.rights(uid, gid):
                raise Fault(
                    f"{self.name}: {uid} (gid {gid}), who has no lease, had"
                    f" {letters(before.rights(uid, gid))}: {change}"
                )
