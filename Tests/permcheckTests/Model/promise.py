"""What permcheck promises about one inode, kept by a model that knows nothing of its sources.

Rights are attributed to their givers. What somebody else gave has a lower bound, `must`, and an
upper bound, `may`: they differ where somebody else repeated exactly what a lease had made, which
nobody can tell apart. After each call of permcheck each user has

    must ⊆ real rights ⊆ may ∪ rights of the open leases
"""

from dataclasses import dataclass, field

from ground import State, kernel_rights, letters

USERS = [61001, 61002, 61003]  # each with a group of the same number
GROUP, MEMBER, STRANGER = 61100, 61200, 61300
# Somebody with the group of a user, but without an entry: what the user has without an entry.
SHADOWS = {uid: uid + 100 for uid in USERS}
BYSTANDERS = {SHADOWS[uid]: uid for uid in USERS} | {MEMBER: GROUP, STRANGER: STRANGER}


def all_of(rights):
    common = 7
    for some in rights:
        common &= some
    return common


class Fault(Exception):
    """permcheck did not keep its promise."""


@dataclass
class Lease:
    identifier: str
    node: "Node"
    uid: int
    asked: int  # what the request named
    basis: int  # what somebody else gave already when it was made
    plan: str  # plain, for or run
    is_owners: bool = False  # given by mode bits, namely
    owner_bits: int = 0
    under: int = None  # what somebody else's entry of the user gave when it was made
    process: object = None
    is_over: bool = False  # expired, or its process is gone
    is_due: bool = False  # it was to be taken back, but was not found
    needs: int = 0  # what it must still give
    gives: int = 0  # what it may still give
    first: int = 0  # what it gave at first

    def __post_init__(self):
        self.needs, self.gives = self.asked, self.asked | self.basis
        self.first, self.under = self.gives, self.node.own[self.uid].must

    def __str__(self):
        return f"lease of {self.uid} for {letters(self.asked)} ({self.plan}) on {self.node.name}"


@dataclass
class Entry:
    """What somebody else's entry of a user gives, None without such an entry."""

    must: int = None
    may: int = None
    raw: int = 0
    # The kernel does not look at an ACL with an empty mask. A request that must fill the mask may
    # leave such an entry out as long as its lease is open.
    is_hidden: bool = False

    @property
    def is_certain(self):
        return (self.must is None) == (self.may is None) and self.must == self.may


@dataclass(eq=False)
class Node:
    """An inode; `path` is None once it is deleted."""

    name: str
    place: str
    path: str
    leases: list = field(default_factory=list)
    made: dict = field(default_factory=dict)
    is_touched: bool = True
    base: tuple = None

    def __post_init__(self):
        state = State(self.path)
        self.own = {uid: Entry() for uid in USERS}
        self.owner_must = self.owner_may = state.owner_rights
        for uid in USERS:
            self.set_entry(uid, state)
        self.around = {uid: state.rights(uid, gid) for uid, gid in BYSTANDERS.items()}
        self.before = self.latest = state

    def set_entry(self, uid, state):
        has_entry = ("u", uid) in state.entries
        rights = state.entry_rights(uid) if has_entry else None
        self.own[uid] = Entry(rights, rights, state.entries.get(("u", uid), 0))

    def leases_of(self, uid):
        return [lease for lease in self.leases if lease.uid == uid]

    def must(self, uid, state):
        if state.uid == uid:
            return self.owner_must
        entry, around = self.own[uid], self.around[SHADOWS[uid]]
        if entry.is_hidden:
            return around
        if entry.must is not None:
            return entry.must
        return around if entry.may is None else around & entry.may

    def may(self, uid, state):
        if state.uid == uid:
            return self.owner_may
        entry, around = self.own[uid], self.around[SHADOWS[uid]]
        if entry.may is None or entry.is_hidden:
            return around
        return entry.may | (around if entry.must is None else 0)

    # Somebody else changes the inode.

    def changed_outside(self, set_users=(), removed_users=()):
        """The inode was changed; the named users' entries were set or removed by intention."""
        before, after = self.latest, State(self.path)
        self.latest = after
        if before.exact != after.exact:
            self.is_touched = True
        self.around = {uid: after.rights(uid, gid) for uid, gid in BYSTANDERS.items()}
        for uid in USERS:
            has = after.rights(uid, uid)
            entry_had, entry_has = before.entry_rights(uid), after.entry_rights(uid)
            for lease in self.leases_of(uid):
                old, new = entry_had, entry_has
                if lease.is_owners:
                    old, new = before.owner_rights, after.owner_rights
                lost, gained = old & ~new, new & ~old
                lease.needs &= ~lost
                lease.gives = lease.gives & ~lost | gained & lease.first
                if before.uid != after.uid:
                    lease.needs &= has
            own, first = self.own[uid], 0
            for lease in self.leases_of(uid):
                first |= lease.first
            if uid in removed_users:
                self.own[uid] = Entry()
            elif uid in set_users and after.entries["u", uid] in self.made.get(uid, ()):
                own.may = (own.may or 0) | entry_has
                under = [lease.under for lease in self.leases_of(uid)]
                own.must = None if None in under else all_of(under) & entry_has
                own.raw = after.entries["u", uid]
            elif uid in set_users:
                self.set_entry(uid, after)
            else:
                entry_lost, entry_gained = entry_had & ~entry_has, entry_has & ~entry_had
                if own.must is not None:
                    own.must = own.must & ~entry_lost | entry_gained & own.raw & ~first
                if own.may is not None:
                    own.may = own.may & ~entry_lost | entry_gained & (own.raw | ~first)
            own = self.own[uid]
            if not after.mask and ("u", uid) in after.entries and own.may is not None:
                own.may |= entry_has  # by the mode bits, see State.allows
                own.must = None if own.must is None else entry_has
        if before.owner_rights != after.owner_rights or before.uid != after.uid:
            of_leases = 0
            for lease in self.leases:
                of_leases |= lease.owner_bits
            self.owner_must = after.owner_rights & ~of_leases
            self.owner_may = after.owner_rights

    # permcheck changes it.

    def will_be_judged(self):
        """Before a call of permcheck."""
        self.before = State(self.path)
        if self.before.exact != self.latest.exact:
            raise Fault(
                f"{self.name} changed while nothing ran: {self.latest} became {self.before}"
            )
        if not self.leases:
            self.base, self.is_touched = self.before.exact, False
        self.had_leases = {lease.uid for lease in self.leases}

    def judge(self):
        """After a call of permcheck, with the leases that are open now."""
        state = self.latest = State(self.path)
        for uid, gid in BYSTANDERS.items():
            self.compare_with_kernel(state, uid, gid)
            if state.rights(uid, gid) != self.around[uid]:
                raise Fault(
                    f"{self.name}: uid {uid} gid {gid}, whom no lease names, had"
                    f" {letters(self.around[uid])} and has {letters(state.rights(uid, gid))};"
                    f" {self.before} became {state}"
                )
        for uid in USERS:
            self.compare_with_kernel(state, uid, uid)
            self.judge_user(uid, state)
        if not self.leases and not self.is_touched and state.exact != self.base:
            raise Fault(f"{self.name}: no lease is left, but not exact: {self.base} is {state}")

    def compare_with_kernel(self, state, uid, gid):
        says = kernel_rights(self.path, uid, gid)
        if says != state.rights(uid, gid):
            raise Fault(f"model: the kernel gives {uid} {letters(says)}: {state}")

    def judge_user(self, uid, state):
        real, leases, own = state.rights(uid, uid), self.leases_of(uid), self.own[uid]
        must, may = self.must(uid, state), self.may(uid, state)
        change = f"{self.before} became {state}"
        gives = needs = 0
        for lease in leases:
            gives |= lease.gives
            needs |= lease.needs
        if real & ~(may | gives):
            raise Fault(
                f"{self.name}: {uid} holds {letters(real)}, but others gave {letters(may)} and open"
                f" leases {letters(gives)}; {change}"
            )
        if leases and uid in self.had_leases and own.must is None and state.uid != uid:
            must = 0  # an entry of leases hides what the user has without one
        if leases or uid not in self.had_leases:
            must &= self.before.rights(uid, uid)
        if must & ~real:
            raise Fault(
                f"{self.name}: {uid} holds {letters(real)}, but others gave {letters(must)};"
                f" {change}"
            )
        if needs & ~real:
            raise Fault(
                f"{self.name}: {uid} holds {letters(real)}, but open leases give {letters(needs)};"
                f" {change}"
            )
        has_entry = ("u", uid) in state.entries
        if has_entry:
            own.is_hidden = False
        elif self.leases and (own.is_hidden or own.must is not None and not self.before.mask):
            own.is_hidden = True
        elif own.must is not None:
            raise Fault(f"{self.name}: somebody else's entry of {uid} is gone; {change}")
        if not leases and own.may is None and has_entry:
            raise Fault(f"{self.name}: the entry of {uid} is left without a lease; {change}")
        self.settle(uid, state, leases, has_entry)

    def settle(self, uid, state, leases, has_entry):
        """What could not be told apart is decided once no lease of the user is left."""
        own = self.own[uid]
        if leases:
            if has_entry and state.entries["u", uid] != self.before.entries.get(("u", uid)):
                self.made.setdefault(uid, set()).add(state.entries["u", uid])
            if own.may is not None:
                own.may &= state.entry_rights(uid) | (own.must or 0)
        else:
            self.made.pop(uid, None)
            if (not own.is_certain or own.may is not None) and not own.is_hidden:
                self.set_entry(uid, state)
        if not any(lease.owner_bits for lease in self.leases):
            self.owner_must = self.owner_may = state.owner_rights
