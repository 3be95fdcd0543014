#!/usr/bin/env python3
"""Random histories of leases, held to what permcheck promises.

  leases.py --permcheck .build/debug/permcheck --holder .build/debug/lease-player [--seed 1] [--histories 2000] [--only K] [--jobs 2]
  leases.py --player .build/debug/lease-player …    on a system in memory

A history mixes requests, revokes, runs, kills, and changes by somebody else: modes, owners,
entries, masks, moved, deleted, unmounted and covered folders, links and servers in their places. After each call of permcheck the
inodes have exactly the ACL that promise.py predicts. It does not use the sources.
Wants root. Prints each fault as commands to be replayed by hand, and as the last line
`lease model: N histories, S steps, F faults, seed X`.
"""

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter

import ground
import kernel
from ground import W, X, State, letters, need_letters
from promise import GROUP, USERS, Fault, Node, mode_of
from world import WORK, KernelWorld, MemoryWorld

OWNERS = [0, 0, 0, 61001, 61002, 61400]
MODES = [0o700, 0o750, 0o755, 0o770, 0o500, 0o701, 0o711, 0o710, 0o000, 0o705, 0o550, 0o300]
NEEDS = [4, 5, 5, 7, 7, 2, 1, 6, 3]
WATCHED = [*USERS, 61500]  # users whose entries somebody else changes; the last has no lease


class Call:
    """What one call of permcheck does, in order."""

    def __init__(self, history):
        self.history, self.is_anything_missing = history, False
        self.before = {node: node.now() for node in history.reachable()}
        self.now = dict(self.before)
        self.users = {node: {lease.uid for lease in node.leases} for node in self.now}

    def look(self, node, ended=(), added=None):
        now = self.now[node]
        entries = node.look(now, ended, added)
        mode = now.mode & 0o7000 | mode_of(entries)
        self.now[node] = State(mode, now.uid, now.gid, None, entries)
        if added:
            self.users[node].add(added.uid)

    def release(self, leases):
        """Takes leases back, where their inodes are found."""
        for node in {lease.node: None for lease in leases}:
            ended = [lease for lease in leases if lease.node is node]
            if node in self.now:
                self.look(node, ended)
            elif not self.history.is_away(node):  # deleted
                node.leases = [lease for lease in node.leases if lease not in ended]
            else:
                self.is_anything_missing = True
                for lease in ended:
                    lease.is_due = True

    def recover(self):
        self.release([lease for lease in self.history.leases if lease.is_over or lease.is_due])

    def judge(self):
        for node, now in self.now.items():
            node.judge(self.before[node], now.entries, self.users[node])


class History:
    """One history: its commands are kept, so that it can be replayed by hand."""

    def __init__(self, number, seed, make_world):
        self.random = random.Random(f"{seed}:{number}")
        self.world = make_world(self.random)
        self.nodes, self.runs = [], []
        self.known, self.steps, self.counts, self.names = set(), 0, Counter(), 0

    @property
    def leases(self):
        return [lease for node in self.nodes for lease in node.leases]

    def is_away(self, node):
        return node.place == "m" and self.world.has_image and self.world.is_away

    def reachable(self):
        return [node for node in self.nodes if node.path and not self.is_away(node)]

    def named(self):
        """Those whose path leads to them."""
        return [node for node in self.reachable() if not node.hidden]

    def take_notice(self, fresh=None):
        """The leases that are listed are the predicted ones; `fresh` gets its identifier."""
        listed = self.world.open_leases()
        new = [identifier for identifier in listed if identifier not in self.known]
        self.known |= listed.keys()
        if fresh and len(new) == 1:
            self.name(fresh, new[0])
        wanted = {lease.identifier: lease.uid for lease in self.leases}
        if wanted != listed:
            said = ", ".join(f"{lease.identifier}: {lease}" for lease in self.leases)
            raise Fault(f"the leases are {listed}, expected {said}")

    def name(self, lease, identifier):
        lease.identifier = identifier
        lease.node.acl = lease.node.acl or identifier

    # Requests

    def request_arguments(self, command):
        node = self.random.choice(self.named())
        state = self.world.state(node.path)
        uid = self.random.choice(USERS[:2] + self.random.choice([USERS, [state.uid or 61001]]))
        uid = uid if uid in USERS else 61001
        need = self.random.choice(NEEDS)
        plan = self.random.choice(["plain", "plain", "for"]) if command == "request" else "run"
        arguments = [command, f"photos={node.path}", "--uid", str(uid), "--gid", str(uid)]
        arguments += ["--need", need_letters(need), "--yes"]
        arguments += ["--for", "1h"] if plan == "for" else []
        # They are folders, in which w is to make and remove names.
        need |= X if need & W else 0
        return (node, uid, need, plan), arguments

    def do_request(self):
        request, arguments = self.request_arguments("request")
        self.judge_request(request, lambda: self.world.call(arguments))

    def judge_request(self, request, call):
        """Makes a request; returns its lease."""
        node, uid, need, plan = request
        predicted = Call(self)
        predicted.recover()
        lease = node.request(predicted.now[node], uid, need, plan)
        if lease:
            predicted.look(node, added=lease)
        status, output = call()
        self.counts[f"request {status}"] += 1
        if status:
            raise Fault(f"the request ended with {status}: {output}")
        self.take_notice(lease)
        predicted.judge()
        if not self.world.gives(node.path, uid, need):
            raise Fault(f"{uid} got {letters(need)} on {node.name}, but: {node.now()}")
        return lease

    def do_run(self):
        if len(self.runs) > 1:
            return self.do_end_run()
        request, arguments = self.request_arguments("run")
        started = []

        def start():
            run, status, output = self.world.start_run(arguments)
            started.append(run)
            return status, output

        lease = self.judge_request(request, start)
        self.runs.append((started[0], lease))

    def do_end_run(self):
        if not self.runs:
            return self.do_run()
        run, lease = self.runs.pop(self.random.randrange(len(self.runs)))
        lease = lease if lease in self.leases else None
        if self.random.random() < 0.5:
            self.world.kill_run(run)
            if lease:
                lease.is_over = True
            return self.do_revoke(["--expired"])
        predicted = Call(self)
        predicted.recover()
        if lease in self.leases:
            predicted.release([lease])
            lease.is_over = lease.is_due
        self.world.end_run(run)
        self.take_notice()
        predicted.judge()

    # Revokes

    def revoke_arguments(self):
        kind = self.random.choice(["user", "user", "photos", "all", "expired"])
        if kind == "user":
            return ["photos", "--user", str(self.random.choice(USERS))]
        return {"photos": ["photos"], "all": ["--all"], "expired": ["--expired"]}[kind]

    def selected(self, arguments):
        due = [lease for lease in self.leases if lease.is_over or lease.is_due]
        if arguments == ["--expired"]:
            return due
        if arguments[-1].isdigit():
            return [lease for lease in self.leases if lease.uid == int(arguments[-1])]
        return list(self.leases)

    def do_revoke(self, arguments=None):
        arguments = arguments or self.revoke_arguments()
        predicted = Call(self)
        predicted.recover()
        predicted.release([lease for lease in self.selected(arguments) if not lease.is_due])
        status, output = self.world.call(["revoke", *arguments])
        self.counts[f"revoke {status}"] += 1
        if status != (2 if predicted.is_anything_missing else 0):
            raise Fault(f"revoke ended with {status}: {output}")
        self.take_notice()
        predicted.judge()

    def do_kill(self):
        """SIGKILL at a random moment; the next call recovers."""
        if any(lease.is_over or lease.is_due for lease in self.leases):
            return self.do_revoke(["--expired"])
        request, selected, lease = None, [], None
        if self.random.random() < 0.6 and self.named():
            request, arguments = self.request_arguments("request")
            lease = request[0].request(request[0].now(), *request[1:])
        else:
            arguments = ["revoke", *self.revoke_arguments()]
            selected = self.selected(arguments[1:])
        known, now = len(self.world.journal()), {node: node.now() for node in self.reachable()}
        is_killed = self.world.call_killed(arguments)
        self.counts["killed" if is_killed else "kill too late"] += 1
        for line in self.world.journal()[known:]:
            self.replay(line, lease, selected, now)
        for node in self.reachable():
            there, entries = now[node].entries, node.now().entries
            if entries != there and (not node.leases and not selected or entries != node.written):
                raise Fault(f"{node.name}: {node.now()} after a kill, before it {now[node]}")
        self.do_revoke(["--expired"])

    def replay(self, line, lease, selected, now):
        """A line that a killed process wrote."""
        leases = {one.identifier: one for one in self.leases}
        event, identifier = line["event"], line["id"]
        if event == "leased":
            for node in {one.node for one in selected}:
                if node.acl == identifier:
                    ended = [one for one in selected if one.node is node]
                    node.look(now[node], ended, is_finished=False)
            if lease:
                lease.node.look(now[lease.node], added=lease, is_finished=False)
        elif event == "intent":
            self.name(lease, identifier)
            self.known.add(identifier)
            lease.is_over = True
        elif event == "applied":
            lease.node.seen = None
        elif event == "committed":
            lease.is_over = False
        elif event == "undoing":
            for one in selected:
                one.is_over = True
        elif event == "undone":
            leases[identifier].node.seen = None
            leases[identifier].node.leases.remove(leases[identifier])
        elif event == "missing":
            leases[identifier].is_due = True

    def do_expire(self):
        timed = [lease for lease in self.leases if lease.plan == "for" and not lease.is_over]
        if not timed:
            return self.do_request()
        for lease in self.world.expire(timed):
            lease.is_over = True
        if self.random.random() < 0.6:
            self.do_revoke(["--expired"])

    # Somebody else

    def set_acl(self, node, entries):
        named = [row for row in entries if row[0] in "ug" and row[1] != ""]
        if named and ("m", "") not in entries:
            rights = [r for row, r in entries.items() if row in named or row == ("g", "")]
            entries["m", ""] = 0
            for value in rights:
                entries["m", ""] |= value
        self.world.set_entries(node.path, entries)

    def do_outside(self):
        nodes = self.reachable()
        node = self.random.choice(nodes)
        leased = [lease.node for lease in self.leases if lease.node in nodes]
        if leased and self.random.random() < 0.7:
            node = self.random.choice(leased)
        kinds = ["chmod", "chmod", "chown", "entry", "entry", "remove", "mask", "whole", "group"]
        kind = self.random.choice(kinds)
        getattr(self, f"outside_{kind}")(node, dict(self.world.state(node.path).entries))
        self.counts[f"outside {kind}"] += 1

    def outside_chmod(self, node, entries):
        old = self.world.state(node.path).mode
        mode = self.random.choice(
            [self.random.choice(MODES), old ^ 1 << self.random.randrange(9)]
        )
        self.world.chmod(node.path, mode)

    def outside_chown(self, node, entries):
        uid, gid = self.random.choice(OWNERS), self.random.choice([0, GROUP, 61001])
        self.world.chown(node.path, uid, gid)

    def outside_entry(self, node, entries):
        """As setfacl -m, with or without -n; or the rw- of a seat."""
        uid = self.random.choice(WATCHED)
        rights = self.random.choice([6, 6, *range(8)])
        entries["u", uid] = rights
        if self.random.random() < 0.7:
            entries.pop(("m", ""), None)
        self.set_acl(node, entries)

    def outside_remove(self, node, entries):
        named = [who for kind, who in entries if kind == "u" and who != ""]
        if not named:
            return self.outside_entry(node, entries)
        uid = self.random.choice(named)
        del entries["u", uid]
        if self.random.random() < 0.7:
            entries.pop(("m", ""), None)
        self.set_acl(node, entries)

    def outside_mask(self, node, entries):
        if ("m", "") not in entries:
            return self.outside_entry(node, entries)
        entries["m", ""] = self.random.randrange(8)
        self.set_acl(node, entries)

    def outside_group(self, node, entries):
        gid = self.random.choice([GROUP, 61001, 61002])
        if ("g", gid) in entries:
            del entries["g", gid]
        else:
            entries["g", gid] = self.random.choice([4, 5, 6, 7])
        if self.random.random() < 0.7:
            entries.pop(("m", ""), None)
        self.set_acl(node, entries)

    def outside_whole(self, node, entries):
        fresh = {row: self.random.choice([0, 4, 5, 7]) for row in [("u", ""), ("g", ""), ("o", "")]}
        for uid in WATCHED:
            if self.random.random() < 0.3:
                fresh["u", uid] = self.random.choice([0, 4, 5, 6, 7])
        if self.random.random() < 0.2:
            fresh["g", GROUP] = self.random.choice([4, 5, 7])
        self.set_acl(node, fresh)

    # Places

    def make(self, place, name=None):
        self.names += 1
        name = name or f"album{self.names}"
        path = f"{self.world.root}/{place}/{name}"
        mode, uid, gid = (
            self.random.choice(MODES), self.random.choice(OWNERS), self.random.choice([0, 0, GROUP])
        )  # fmt: skip
        self.world.make(path, mode, uid, gid)
        node = Node(self.world, f"{place}/{name}", place, path)
        self.nodes.append(node)
        if self.random.random() < 0.4:
            self.outside_entry(node, dict(self.world.state(path).entries))
        return node

    def do_move(self):
        node = self.random.choice(self.named())
        old, self.names = node.path, self.names + 1
        node.path = os.path.join(self.world.root, node.place, f"moved{self.names}")
        self.world.move(old, node.path)
        instead = self.random.choice(["nothing", "nothing", "folder", "link", *self.world.obstacles])
        if instead == "folder":
            self.make(node.place, os.path.basename(old))
        elif instead == "link":
            self.world.link(self.random.choice([other.path for other in self.named()]), old)
        elif instead != "nothing":
            self.world.obstruct(instead, old)

    def do_move_back(self):
        """To the name of some node, at which there is nothing now."""
        for node in [node for node in self.named() if "moved" in node.path]:
            home = f"{self.world.root}/{node.name}"
            if self.world.unlink(home):
                self.world.move(node.path, home)
                node.path = home
                return None
        return self.do_move()

    def do_delete(self):
        node = self.random.choice(self.named())
        entries = dict(node.now().entries)
        path, node.path = node.path, None
        is_replaced = self.random.random() < 0.7 or not self.named()
        self.world.delete(path, is_replaced)
        if is_replaced:
            node = self.make(node.place, os.path.basename(path))
            if self.random.random() < 0.4:  # a backup, with all entries
                self.set_acl(node, entries)

    def do_cover(self):
        """Another mount hides the file system, or no longer does."""
        if not self.world.has_image or self.world.is_away or not self.world.obstacles:
            return self.do_unmount() if self.world.has_image else self.do_move()
        if self.world.is_covered:
            self.world.uncover()
            return self.show()
        for node in [node for node in self.nodes if node.place == "m" and node.path]:
            node.hidden = node.path
            node.path = f"/proc/self/fd/{os.open(node.path, os.O_PATH)}/."
        self.world.cover()
        if self.random.random() < 0.5:
            self.do_revoke()
        return None

    def show(self):
        for node in [node for node in self.nodes if node.hidden]:
            os.close(int(node.path.split("/")[4]))
            node.path, node.hidden = node.hidden, None

    def do_unmount(self):
        if self.world.is_covered:
            return self.do_cover()
        if not self.world.has_image or self.world.is_away:
            return self.do_mount()
        self.world.unmount()
        return self.do_mount() if self.random.random() < 0.3 else None

    def do_mount(self):
        if not self.world.has_image:
            return self.do_move()
        if not self.world.is_away:
            return self.do_unmount()
        self.world.mount()
        if self.random.random() < 0.5:
            self.do_revoke(self.random.choice([["--expired"], ["--all"]]))
        return None

    def do_reboot(self):
        """The tmpfs and all processes end."""
        if not self.world.can_reboot:
            return self.do_mount()
        self.world.reboot([run for run, _ in self.runs])
        for _, lease in self.runs:
            if lease:
                lease.is_over = True
        self.runs = []
        for node in self.nodes:
            if node.place == "t":
                node.path = None
        return None

    # All of it

    STEPS = {
        "request": 26, "outside": 30, "revoke": 13, "kill": 7, "run": 5, "end_run": 5, "expire": 7,
        "move": 6, "move_back": 3, "delete": 4, "unmount": 5, "mount": 4, "cover": 4, "reboot": 1,
    }  # fmt: skip

    def play(self):
        for place in self.random.choice(
            [["m", "t"], ["m", "m"]] if self.world.has_image else [["t", "t"]]
        ):
            self.make(place)
        if not self.random.randrange(3):
            self.make("t")
        for _ in range(self.random.randint(5, 15)):
            names = list(self.STEPS)
            name = self.random.choices(names, list(self.STEPS.values()))[0]
            if not self.named() and name not in ("revoke", "mount", "expire", "cover"):
                name = "cover" if self.world.is_covered else "mount"
                if not any(node.path for node in self.nodes):
                    self.make("t")
                    continue
            if name == "expire" and not self.named():
                name = "revoke"
            self.steps += 1
            self.counts[name] += 1
            getattr(self, f"do_{name}")()
        self.finish()

    def finish(self):
        """Everything is there, everything is revoked: nothing is listed, nobody has more."""
        if self.world.is_covered:
            self.do_cover()
        while self.world.has_image and self.world.is_away:
            self.do_mount()
        self.do_revoke(["--all"])
        if self.leases or self.world.listed():
            raise Fault(f"revoke --all left {[str(lease) for lease in self.leases]}")
        while self.runs:
            self.do_end_run()


def play(number, options, make_world):
    """One history, as the line to report."""
    history, fault = History(number, options.seed, make_world), None
    try:
        history.play()
    except Fault as error:
        fault = str(error)
    except Exception:
        fault = traceback.format_exc()
    history.show()
    history.world.clean_up([run for run, _ in history.runs])
    return fault, json.dumps({
        "number": number, "steps": history.steps, "fault": fault, "counts": history.counts,
        "commands": history.world.commands if fault or options.only is not None else [],
    })  # fmt: skip


def work_in_memory(numbers, options, report):
    player = None
    for number in numbers:
        player = player or subprocess.Popen(
            [options.player], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        fault, line = play(number, options, lambda random: MemoryWorld(random, player))
        report.write(line + "\n")
        if fault:
            player.kill()
            player = None
    if player:
        player.stdin.close()
        player.wait()


def work(numbers, options, report):
    """The histories of one job, in a world of its own."""
    for folder in ("m", "t"):
        os.makedirs(f"{WORK}/{folder}")
    image = None
    for count, number in enumerate(numbers):
        kernel.mount("tmpfs", f"{WORK}/t", "tmpfs", data="mode=755")
        uses_image = random.Random(f"{options.seed}:{number}:place").random() < 0.6
        if image is None or count % 100 == 0:
            if image and image.is_mounted:
                image.unmount()
            image = ground.Image(f"{WORK}/image", f"{WORK}/m")
        if not image.is_mounted:
            image.mount()
        own = image if uses_image else None
        fault, line = play(
            number, options, lambda random: KernelWorld(random, options.permcheck, options.holder, own)
        )
        report.write(line + "\n")
        report.flush()
        kernel.unmount(f"{WORK}/t", detaches=True)
        for name in os.listdir(f"{WORK}/m") if image.is_mounted else []:
            path = f"{WORK}/m/{name}"
            if os.path.islink(path):
                os.unlink(path)
            elif name != "lost+found":
                os.rmdir(path)
        subprocess.run(["rm", "-rf", "/var/lib/permcheck"], check=True)
        for name in os.listdir(WORK):
            if name.startswith("fifo"):
                os.unlink(f"{WORK}/{name}")
        if fault:
            image.unmount() if image.is_mounted else None
            image = None
    if image and image.is_mounted:
        image.unmount()


def start_job(numbers, options):
    """The pipe on which a job reports, and the two processes to end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return os.fdopen(reader), child
    kernel.libc.prctl(ground.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.close(reader)
    status = 1
    try:
        if options.player:
            with os.fdopen(writer, "w") as report:
                work_in_memory(numbers, options, report)
            status = 0
        else:
            status = ground.report_from_own_world(writer, lambda report: work(numbers, options, report))
    except BaseException:
        traceback.print_exc()
    os._exit(status if status >= 0 else 1)


def main():
    parser = argparse.ArgumentParser(description="Checks leases by random histories.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--permcheck")
    which.add_argument("--player")
    parser.add_argument("--holder", help="the program lease-player, with --permcheck")
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--counts", action="store_true")
    options = parser.parse_args()
    options.permcheck = options.permcheck and os.path.abspath(options.permcheck)
    options.holder = options.holder and os.path.abspath(options.holder)
    numbers = [options.only] if options.only is not None else list(range(options.histories))
    jobs = 1 if options.only is not None else max(1, options.jobs)
    deadline = time.monotonic() + 120 + 1.5 * len(numbers) / jobs
    started = [start_job(numbers[job::jobs], options) for job in range(jobs)]
    steps = faults = done = 0
    counts, open_jobs = Counter(), dict(started)
    while open_jobs:
        ready, _, _ = select.select(list(open_jobs), [], [], max(0, deadline - time.monotonic()))
        if not ready:
            print("the time is over: a job hangs")
            faults += 1
            for child in open_jobs.values():
                os.kill(child, signal.SIGKILL)
            break
        for reader in ready:
            line = reader.readline()
            if not line:
                if os.waitstatus_to_exitcode(os.waitpid(open_jobs.pop(reader), 0)[1]):
                    print("a job failed")
                    faults += 1
                continue
            told = json.loads(line)
            done, steps = done + 1, steps + told["steps"]
            counts.update(told["counts"])
            if told["fault"] or options.only is not None:
                print(f"--- history {told['number']} of seed {options.seed}")
                print("\n".join(told["commands"]))
            if told["fault"]:
                faults += 1
                print(f"FAULT: {told['fault']}", flush=True)
    if done != len(numbers):
        faults += 1
    if options.counts:
        print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    name = "leases in memory" if options.player else "lease model"
    print(f"{name}: {done} histories, {steps} steps, {faults} faults, seed {options.seed}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
