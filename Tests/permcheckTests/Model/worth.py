#!/usr/bin/env python3
"""Random grants, compared in operations: what each user can do before and after, on what is there and on what comes.

  worth.py --permcheck .build/debug/permcheck [--seed 1] [--histories 2000] [--only K] [--kinds tmpfs,ext4,overlay]

Each request is for a tree of its own, with odd modes, ACLs, default ACLs, set-group-ID bits and hard links. The kernel
says what eight users can do with each inode (read, write, execute; list, search, make and delete names), before, with
the grant, and after it was revoked; also with files and folders that eight creators make with three umasks. So:

- the user can do what was asked, and beyond it nothing that the plan does not say;
- nobody else gains or loses anything that the plan does not say;
- after `revoke --all` everything is as it was, and on what was made meanwhile the user has what he would have had.

Every second tree is also explained: its fix and the undo of `explain -v` are typed, and everything is as before.

Wants root. Prints each fault with its commands, and as the last line
`grants: N requests, G made, C created, U undos typed, F faults, seed X`.
"""

import argparse
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import traceback
from collections import Counter

import ground
import kernel
from ends import ACCESS, DEFAULT, Fault, rows, write_rows

WORK = "/var/lib/work"
SUBJECT = (62001, 62001, [62100, 62101])
OTHERS = [
    (0, 0, []), (62002, 62002, []), (62003, 62003, [62100]), (62004, 62100, []), (62005, 62005, [62101]),
    (62006, 62101, [62100]), (62007, 62001, []),
]  # fmt: skip
EVERYBODY = [SUBJECT, *OTHERS]
UMASKS = [0o022, 0o002, 0o077]
NOBODY = 2**32 - 1
R, W, X = 4, 2, 1


def as_user(user, work):
    """Calls `work` with the ids of a user in a process of its own; returns what it returns."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reader)
            os.setgroups(user[2])
            os.setresgid(user[1], user[1], user[1])
            os.setresuid(user[0], user[0], user[0])
            with os.fdopen(writer, "w") as out:
                json.dump(work(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    if os.waitpid(child, 0)[1]:
        raise OSError(f"a process of {user} failed")
    return json.loads(text)


def may(descriptor, wanted):
    # faccessat2(descriptor, "", wanted, AT_EMPTY_PATH | AT_EACCESS)
    return kernel.libc.syscall(439, descriptor, b"", wanted, 0x1000 | 0x200) == 0


class Tree:
    def __init__(self, number, seed, kind, permcheck):
        self.random, self.permcheck = random.Random(f"{seed}:{number}"), permcheck
        self.top, self.commands, self.counts = f"{WORK}/{kind}/{number}", [f"# on {kind}"], Counter()
        os.mkdir(self.top, 0o755)
        self.make("p", True)
        for name, is_folder in [("p/t", True), ("p/t/a", False), ("p/t/s", True), ("p/t/s/b", False)]:
            self.make(name, is_folder)
        if self.random.random() < 0.2:
            self.make("p/t/s/e", True)
        if self.random.random() < 0.25:
            os.link(f"{self.top}/p/t/a", f"{self.top}/p/t/s/link")
            self.commands.append("ln p/t/a p/t/s/link")
        if self.random.random() < 0.15:
            os.mkdir(f"{self.top}/else", 0o755)
            os.link(f"{self.top}/p/t/s/b", f"{self.top}/else/b")
            self.commands.append("mkdir else; ln p/t/s/b else/b")

    def make(self, name, is_folder):
        choose, path = self.random.choice, f"{self.top}/{name}"
        if is_folder:
            os.mkdir(path)
            mode = choose([0o700, 0o750, 0o755, 0o711, 0o776, 0o766, 0o664, 0o722, 0o2770, 0o2775, 0o1777, 0o774, 0o640, 0o770])
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            mode = choose([0o600, 0o640, 0o644, 0o660, 0o664, 0o666, 0o604, 0o710, 0o622])
        os.chown(path, choose([0, 0, 62002, 62001]), choose([0, 62100, 62101, 62002]))
        os.chmod(path, mode)
        status = os.stat(path)
        self.commands.append(f"{'mkdir' if is_folder else 'touch'} {name}; chown {status.st_uid}:{status.st_gid} {name}; chmod {mode:o} {name}")
        if self.random.random() < 0.4:
            self.entries(name, path, ACCESS, mode)
        if is_folder and self.random.random() < 0.5:
            self.entries(name, path, DEFAULT, choose([0o755, 0o750, 0o770, 0o700, 0o775]))

    def entries(self, name, path, attribute, mode):
        choose = self.random.choice
        named = {(2, choose([62001, 62002, 62003])): choose(range(8)), (8, choose([62100, 62101])): choose(range(8))}
        if self.random.random() < 0.4:
            del named[choose(list(named))]
        group = mode >> 3 & 7
        mask = choose([group, 7, 5, 0, 7])
        found = [(1, NOBODY, mode >> 6 & 7), (4, NOBODY, group), (16, NOBODY, mask), (32, NOBODY, mode & 7)]
        write_rows(path, attribute, [*((tag, who, rights) for (tag, who), rights in named.items()), *found])
        text = ",".join(f"{'u' if tag == 2 else 'g'}:{who}:{ground.letters(rights)}" for (tag, who), rights in named.items())
        option = "-d " if attribute == DEFAULT else ""
        self.commands.append(f"setfacl -n {option}-m {text},m::{ground.letters(mask)} {name}  # of {mode:o}")

    # What is there

    def paths(self):
        found = []
        for folder, folders, files in os.walk(self.top):
            inside = os.path.relpath(folder, self.top)
            found += [os.path.normpath(f"{inside}/{name}") for name in sorted(folders) + sorted(files)]
        return sorted(found)

    def states(self, paths):
        told = {}
        for path in paths:
            whole = f"{self.top}/{path}"
            status = os.stat(whole)
            told[path] = (status.st_mode, status.st_uid, status.st_gid, rows(whole, ACCESS), rows(whole, DEFAULT) if stat.S_ISDIR(status.st_mode) else [])
        return told

    def operations(self, paths, users=EVERYBODY):
        """What each user can do with each inode, whatever the way there is: users to paths to letters."""
        opened = {path: os.open(f"{self.top}/{path}", os.O_PATH | os.O_NOFOLLOW) for path in paths}
        folders = {path for path in paths if os.path.isdir(f"{self.top}/{path}")}

        def look():
            told = {}
            for path, descriptor in opened.items():
                if path in folders:
                    kinds = [("list", R), ("search", X), ("names", W | X)]
                else:
                    kinds = [("r", R), ("w", W), ("x", X)]
                told[path] = [word for word, wanted in kinds if may(descriptor, wanted)]
            return told

        try:
            return {user[0]: {path: set(words) for path, words in as_user(user, look).items()} for user in users if user[0]}
        finally:
            for descriptor in opened.values():
                os.close(descriptor)

    def create(self, folders):
        """Has eight creators make files and folders with three umasks; returns the paths."""
        made = []
        for user in EVERYBODY:

            def work(user=user):
                done = []
                for umask in UMASKS:
                    os.umask(umask)
                    for folder in folders:
                        for kind in "fd":
                            name = f"{folder}/new-{user[0]}-{umask:o}-{kind}"
                            try:
                                if kind == "f":
                                    os.close(os.open(f"{self.top}/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                                else:
                                    os.mkdir(f"{self.top}/{name}", 0o777)
                            except PermissionError:
                                continue
                            done.append(name)
                return done

            made += as_user(user, work)
        return made

    def remove(self, made):
        for path in made:
            (os.rmdir if os.path.isdir(f"{self.top}/{path}") else os.unlink)(f"{self.top}/{path}")

    # permcheck

    def call(self, *arguments):
        done = subprocess.run(
            [self.permcheck, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            env=dict(os.environ, PERMCHECK_LOG="none"), timeout=100, check=False,
        )  # fmt: skip
        self.commands.append(f"$P {' '.join(arguments)}   # {done.returncode}")
        if done.returncode < 0 or done.returncode > 100 or "Fatal error" in done.stderr:
            raise Fault(f"{arguments} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.returncode, done.stdout, done.stderr

    who = ["--uid", str(SUBJECT[0]), "--gid", str(SUBJECT[1]), "--groups", ",".join(map(str, SUBJECT[2]))]

    def play(self):
        target = self.random.choice(["p/t", "p/t", "p/t", "p/t/a", "p/t/s"])
        is_folder = target != "p/t/a"
        need = self.random.choice(["r", "w", "x", "rw", "rx", "rwx"] if is_folder else ["r", "w", "rw"])
        is_recursive = is_folder and self.random.random() < 0.6
        allows = self.random.random() < 0.3
        before = self.states(self.paths())
        if self.random.random() < 0.5:
            self.type_fix(target, need, before)
        folders = [path for path in before if stat.S_ISDIR(before[path][0]) and path.startswith("p/t")]
        had = self.operations(before)
        made = self.create(folders)
        self.counts["created"] += len(made)
        usual = self.operations(made)
        self.remove(made)
        words = [f"{self.random.choice(['', 'photos=']) if is_folder else ''}{self.top}/{target}", "--need", need, *self.who]
        # In a folder w is to make and remove names.
        need += "x" if is_folder and "w" in need and "x" not in need else ""
        words += ["--recursive"] if is_recursive else []
        words += ["--allow-others"] if allows else []
        _, plan, _ = self.call("request", *words, "--dry-run")
        status, output, notes = self.call("request", *words, "--yes")
        now = self.states(before)
        has = self.operations(before)
        if now != before:
            self.counts["made"] += 1
        self.judge(had, has, target, need, is_recursive, plan, status)
        new = self.create(folders)
        self.counts["created"] += len(new)
        self.judge_new(usual, self.operations(new), need if is_recursive else "", plan)
        status, output, errors = self.call("revoke", "--all")
        if status:
            raise Fault(f"revoke ended with {status}: {output}{errors}")
        after = self.states(before)
        for path in before:
            if after[path] != before[path]:
                raise Fault(f"{path} was {before[path]}, and is {after[path]} after the revocation")
        left, is_open = self.operations(new), "whom only the umask" in plan
        me = SUBJECT[0]
        for path in new:
            entries = rows(f"{self.top}/{path}", ACCESS)
            if is_open and "s/" not in path and (2, me) in {(tag, who) for tag, who, _ in entries}:
                raise Fault(f"the user keeps an entry on {path}: {entries}")
        for path in set(usual[me]) & set(left[me]):
            if not is_open and f"-{me}-" not in path and left[me][path] - usual[me][path]:
                raise Fault(f"the user keeps {left[me][path] - usual[me][path]} on {path}")
            if usual[me][path] - left[me][path] and "whatever the umask" not in plan and "loses" not in plan:
                raise Fault(f"the user has lost {usual[me][path] - left[me][path]} on {path} for good")

    def judge(self, had, has, target, need, is_recursive, plan, status):
        me, nobody = SUBJECT[0], "others: nobody else gets access" in plan or "others:" not in plan
        wanted = {"r": {"r", "list"}, "w": {"w"}, "x": {"x", "search"}}
        asked = set().union(*(wanted[letter] for letter in need)) | ({"names"} if "w" in need else set())
        for path in had[me]:
            gained = has[me][path] - had[me][path]
            is_asked = path == target or is_recursive and path.startswith(f"{target}/")
            allowed = set(asked) if is_asked else set()
            if is_asked and path != target and not os.path.isdir(f"{self.top}/{path}"):
                allowed -= {"x"}
            # Another name of a file that was asked for.
            if any(os.path.samefile(f"{self.top}/{path}", f"{self.top}/{one}") for one in had[me]
                   if one == target or is_recursive and one.startswith(f"{target}/")):
                allowed |= asked - ({"x"} if is_recursive else set())
            if target.startswith(f"{path}/") or is_asked and is_recursive:
                allowed |= {"search"}
            # Who may search a folder that he was given w on can make names in it.
            said = re.findall(r"create(?:, delete and replace every file| files) in (.*?)(?=; and|$)", plan, re.MULTILINE)
            if any(f"{self.top}/{path}" in re.split(", | and ", one) or one.endswith(" more") for one in said):
                allowed |= {"names"}
            if gained - allowed:
                raise Fault(f"the user gains {gained - allowed} on {path}, unasked and unsaid: {plan}")
            if "search" in gained and not is_asked and "reach what is below" not in plan:
                raise Fault(f"nobody says that the user reaches what is below {path}: {plan}")
            if had[me][path] - has[me][path]:
                raise Fault(f"the user loses {had[me][path] - has[me][path]} on {path}")
        for user in had:
            for path in had[user] if user != me else []:
                gained, lost = has[user][path] - had[user][path], had[user][path] - has[user][path]
                if gained and nobody:
                    raise Fault(f"{user} gains {gained} on {path}: {plan}")
                if lost:
                    raise Fault(f"{user} loses {lost} on {path}: {plan}")
        if status == 0 and not as_user(SUBJECT, lambda: all(os.access(f"{self.top}/{target}", {"r": R, "w": W, "x": X}[one]) for one in need)):
            raise Fault(f"exit status 0, and no access: {plan}")

    def judge_new(self, usual, new, need, plan):
        me, nobody = SUBJECT[0], "others: nobody else gets access" in plan or "others:" not in plan
        letters = {"r": {"r", "list"}, "w": {"w"}, "x": set()}
        asked = set().union(*(letters[letter] for letter in need)) | ({"search"} if need else set()) | ({"names"} if "w" in need else set())
        for user in new:
            for path in set(usual[user]) & set(new[user]):
                if f"-{user}-" in path:
                    continue
                gained, lost = new[user][path] - usual[user][path], usual[user][path] - new[user][path]
                if user == me:
                    gained -= asked
                    if f"in new folders below {self.top}/" in plan:
                        gained -= {"names"}
                # In a folder without a default ACL before, he is one of them.
                if gained and (nobody or user == me and "whom only the umask" not in plan):
                    raise Fault(f"{user} gains {gained} on new {path}, unasked and unsaid: {plan}")
                if lost and not ("loses" in plan if user == me else False) and "whatever the umask" not in plan:
                    raise Fault(f"{user} loses {lost} on new {path}, unsaid: {plan}")

    def type_fix(self, target, need, before):
        _, output, _ = self.call("explain", f"{self.top}/{target}", "--need", need, *self.who, "-v")
        if "undo:" not in output or "smallest fix" not in output:
            return
        fix, undo = output.split("smallest fix", 1)[1].split("undo:\n", 1)
        lines = [[line.strip().removeprefix("sudo ") for line in part.splitlines() if line.startswith("  ")] for part in (fix, undo)]
        for part in lines:
            for line in part:
                line = re.sub(r"^\d+\. (sudo )?", "", line)
                if subprocess.run(["sh", "-c", line], capture_output=True, check=False).returncode:
                    raise Fault(f"{line} failed: {output}")
        self.counts["undos"] += 1
        after = self.states(before)
        for path in before:
            if after[path] != before[path]:
                raise Fault(f"{path} was {before[path]}, and is {after[path]} after fix and undo: {output}")


def work(numbers, options, report):
    os.mkdir(WORK, 0o755)
    for kind in options.kinds.split(","):
        point = f"{WORK}/{kind}"
        os.mkdir(point)
        if kind == "tmpfs":
            kernel.mount("tmpfs", point, "tmpfs", data="mode=755")
        elif kind == "overlay":
            layers = f"{WORK}/layers"
            os.mkdir(layers)
            kernel.mount("tmpfs", layers, "tmpfs", data="mode=755")
            for name in ("lower", "upper", "work"):
                os.mkdir(f"{layers}/{name}")
            kernel.mount("overlay", point, "overlay", data=f"lowerdir={layers}/lower,upperdir={layers}/upper,workdir={layers}/work")
        else:
            image = f"{WORK}/{kind}.image"
            subprocess.run(["truncate", "-s", "256M", image], check=True)
            subprocess.run([f"mkfs.{kind}", "-q", "-F", image], check=True)
            device, descriptor = ground.attach_loop(image)
            kernel.mount(device, point, kind)
            os.close(descriptor)
    kinds = options.kinds.split(",")
    for number in numbers:
        shutil.rmtree("/var/lib/permcheck", ignore_errors=True)
        tree = Tree(number, options.seed, kinds[number % len(kinds)], options.permcheck)
        fault = None
        try:
            tree.play()
        except Fault as error:
            fault = str(error)
        except (OSError, subprocess.SubprocessError, ValueError):
            fault = traceback.format_exc()
        shutil.rmtree(tree.top)
        commands = tree.commands if fault or options.only is not None else []
        report.write(json.dumps({"number": number, "fault": fault, "commands": commands, "counts": tree.counts}) + "\n")
        report.flush()


def main():
    parser = argparse.ArgumentParser(description="Compares random grants in operations.")
    parser.add_argument("--permcheck", required=True)
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--kinds", default="tmpfs,ext4,overlay")
    options = parser.parse_args()
    options.permcheck = os.path.abspath(options.permcheck)
    numbers = [options.only] if options.only is not None else list(range(options.histories))
    counts, done, faults = ground.collect(numbers, options, work, "request")
    print(
        f"grants: {done} requests, {counts['made']} made, {counts['created']} created, {counts['undos']} undos typed,"
        f" {faults} faults, seed {options.seed}"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
