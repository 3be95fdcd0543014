"""What permcheck promises about one inode, kept by a model that knows nothing of its sources.

Rights are attributed to their givers. What somebody else gave has a lower bound, `must`, and an
upper bound, `may`: they differ where somebody else repeated exactly what a lease had made, which
nobody can tell apart. After each call of permcheck each user has

    must ⊆ real rights ⊆ may ∪ rights of the open leases
"""

from dataclasses import dataclass, field, replace

from ground import letters

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
        own = self.node.own[self.uid]
        self.first = self.gives
        self.under = None if own.must is None else own.must & own.raw

    def __str__(self):
        return f"lease of {self.uid} for {letters(self.asked)} ({self.plan}) on {self.node.name}"


@dataclass
class Entry:
    """What somebody else's entry of a user gives, None without such an entry."""

    must: int = None
    may: int = None
    raw: int = 0
    # The kernel does not look at an ACL with an empty mask. A request that must fill the mask may
    # leave such an entry out as long as its lease is open; and forget it where it would take
    # away what a later mode gives to everybody, or, with `must` None, if the user gets a lease.
    is_hidden: bool = False
    was_hidden: bool = False  # somebody else emptied the mask

    @property
    def is_certain(self):
        return (self.must is None) == (self.may is None) and self.must == self.may


@dataclass(eq=False)
class Node:
    """An inode; `path` is None once it is deleted."""

    world: object
    name: str
    place: str
    path: str
    leases: list = field(default_factory=list)
    made: dict = field(default_factory=dict)
    # Of each user when permcheck last changed the inode: entry and mask, `own`, what leases gave.
    pictures: dict = field(default_factory=dict)
    is_touched: bool = True
    base: tuple = None

    def __post_init__(self):
        state = self.world.state(self.path)
        self.own = {uid: Entry() for uid in USERS}
        self.owner_must = self.owner_may = state.owner_rights
        for uid in USERS:
            self.set_entry(uid, state)
        self.around = {uid: state.rights(uid, gid) for uid, gid in BYSTANDERS.items()}
        self.before = self.latest = state

    def set_entry(self, uid, state):
        has_entry = ("u", uid) in state.entries
        rights = state.entry_rights(uid) if has_entry else None
        raw = state.entries.get(("u", uid), 0)
        self.own[uid] = own = Entry(rights, rights, raw, was_hidden=has_entry and not state.mask)
        if own.was_hidden:
            own.may |= state.entries["o", ""]  # see changed_outside

    def leases_of(self, uid):
        return [lease for lease in self.leases if lease.uid == uid]

    def outcomes(self, uid):
        """The entries that leases have made, or would make once some of them are taken back."""
        if not self.leases_of(uid):
            return set()
        unions = {self.own[uid].raw if self.own[uid].must is not None else 0}
        for lease in self.leases_of(uid):
            unions |= {lease.asked | union for union in unions} | {lease.asked}
        return unions.union(self.made.get(uid, ()))

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
        before, after = self.latest, self.world.state(self.path)
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
                if uid in set_users or ("u", uid) not in after.entries:
                    lease.needs &= has
                if lease.is_owners and after.uid != uid:
                    lease.needs = 0  # the owner's mode bits serve another owner
                if not lease.is_owners and after.uid == uid:
                    lease.needs &= after.owner_rights  # the kernel does not look at the entry
            own, first = self.own[uid], 0
            for lease in self.leases_of(uid):
                first |= lease.first
            is_forgotten = own.is_hidden and before.chosen != after.chosen
            if is_forgotten and uid not in set_users:
                # By somebody who did not see it; it is back if the change is undone.
                own.must, own.may = None, own.may or 0
            elif uid in removed_users:
                self.own[uid] = Entry()
            elif uid in set_users and after.entries["u", uid] in self.outcomes(uid):
                own.may = (own.may or 0) | entry_has
                under = [lease.under for lease in self.leases_of(uid)]
                own.must = None if None in under else all_of(under) & entry_has
                own.raw = after.entries["u", uid]
                own.was_hidden = own.was_hidden or not after.mask
            elif uid in set_users:
                self.set_entry(uid, after)
            else:
                entry_lost, entry_gained = entry_had & ~entry_has, entry_has & ~entry_had
                if own.must is not None:
                    own.must = own.must & ~entry_lost | entry_gained & own.raw & ~first
                if own.may is not None:
                    own.may = own.may & ~entry_lost | entry_gained & (own.raw | ~first)
            own = self.own[uid]
            if after.mask and own.must is not None:
                own.must &= own.raw  # by the entry again, see State.allows
            if not after.mask and ("u", uid) in after.entries and own.may is not None:
                own.was_hidden = True
                # By the mode bits, see State.allows; a lease does not tell who is in the group.
                own.may |= entry_has | after.entries["o", ""]
                own.must = None if own.must is None else entry_has
            self.recall(uid, after)
        if before.owner_rights != after.owner_rights or before.uid != after.uid:
            of_leases = 0
            for lease in self.leases:
                of_leases |= lease.owner_bits
            self.owner_must = after.owner_rights & ~of_leases
            self.owner_may = after.owner_rights

    def recall(self, uid, after):
        """Nobody can tell what happened if the user's rights are those of the last picture again."""
        if uid not in self.pictures:
            return
        rights, chosen, own, gives = self.pictures[uid]
        now = self.own[uid]
        is_again = rights == (after.entries.get(("u", uid)), after.mask)
        # What a request left out comes back with any mask, if the entries are those again.
        is_again = is_again or own.is_hidden and chosen == after.chosen
        if is_again and now != own:
            if now.may is not None or own.may is not None:
                now.may = (now.may or 0) | (own.may or 0)
            if now.must != own.must:
                now.must = None
            now.is_hidden = now.is_hidden or own.is_hidden
            for lease in self.leases_of(uid):
                lease.gives |= gives.get(lease.identifier, 0)

    # permcheck changes it.

    def will_be_judged(self):
        """Before a call of permcheck."""
        self.before = self.world.state(self.path)
        if self.before.exact != self.latest.exact:
            raise Fault(
                f"{self.name} changed while nothing ran: {self.latest} became {self.before}"
            )
        if not self.leases:
            self.base, self.is_touched = self.before.exact, False
        self.had_leases = {lease.uid for lease in self.leases}

    def judge(self):
        """After a call of permcheck, with the leases that are open now."""
        state = self.latest = self.world.state(self.path)
        for uid, gid in BYSTANDERS.items():
            self.world.compare(self.path, state, uid, gid)
            if state.rights(uid, gid) != self.around[uid]:
                raise Fault(
                    f"{self.name}: uid {uid} gid {gid}, whom no lease names, had"
                    f" {letters(self.around[uid])} and has {letters(state.rights(uid, gid))};"
                    f" {self.before} became {state}"
                )
        for uid in USERS:
            self.world.compare(self.path, state, uid, uid)
            self.judge_user(uid, state)
            if self.before.exact != state.exact:
                gives = {lease.identifier: lease.gives for lease in self.leases_of(uid)}
                rights = state.entries.get(("u", uid)), state.mask
                self.pictures[uid] = rights, state.chosen, replace(self.own[uid]), gives
        if not self.leases and not self.is_touched and state.exact != self.base:
            raise Fault(f"{self.name}: no lease is left, but not exact: {self.base} is {state}")

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
        is_around = own.must is None or own.is_hidden
        if leases and uid in self.had_leases and is_around and state.uid != uid:
            must = 0  # an entry of leases hides what the user has without one
        if own.must is None and own.may is not None and ("u", uid) in state.entries:
            must = 0  # nobody can tell whose entry it is
        if not state.mask and state.gid == uid:
            must = 0  # by the mode bits of the group
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
        if has_entry and not leases:
            own.is_hidden = False
        elif has_entry:
            pass
        elif self.leases and (
            own.is_hidden
            or own.may is not None and (own.was_hidden or not self.before.mask)
        ):  # fmt: skip
            own.is_hidden = True
        elif own.must is not None and not (own.is_hidden and self.is_touched):
            raise Fault(f"{self.name}: somebody else's entry of {uid} is gone; {change}")
        else:
            own.is_hidden = False
        if not leases and own.may is None and has_entry:
            raise Fault(f"{self.name}: the entry of {uid} is left without a lease; {change}")
        self.settle(uid, state, leases, has_entry)

    def settle(self, uid, state, leases, has_entry):
        """What could not be told apart is decided once no lease of the user is left."""
        own = self.own[uid]
        if leases:
            has, had = state.entry_rights(uid), self.before.entry_rights(uid)
            raw = state.entries.get(("u", uid))
            if has_entry and (has != had or raw != self.before.entries.get(("u", uid))):
                self.made.setdefault(uid, set()).add(state.entries["u", uid])
            if own.may is not None:
                own.may &= state.entry_rights(uid) | (own.must or 0)
        else:
            self.made.pop(uid, None)
            if (not own.is_certain or own.may is not None) and not own.is_hidden:
                self.set_entry(uid, state)
        if not any(lease.owner_bits for lease in self.leases):
            self.owner_must = self.owner_may = state.owner_rights
