#!/usr/bin/env python3
"""Builds trees across mounts of all kinds, and holds the built permcheck to the kernel's answers.

  livetrees.py --permcheck .build/debug/permcheck --asker .build/debug/kernel-asker [--seed 1]

Both are asked about the same path in the same private mount namespace: permcheck for a subject
(--uid, --pid, or as that subject about itself), the kernel by a child with those credentials.
Wants root. Prints each disagreement and `live trees: T trees, Q questions, D disagreements`.
"""

import argparse
import atexit
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass

import kernel
from common import capability_mask, three
from forest import PROCESSES, SUBJECTS, Forest
from oracle import Oracle, default_asker

NEEDS = ["r", "w", "rw", "x", "rx", "rwx"]
# The questions that a need stands for; the first refusal is the answer.
FILE_QUESTIONS = {
    "r": ["o:r"], "w": ["o:w"], "rw": ["o:rw"], "x": ["f:x"], "rx": ["o:r", "f:x"],
    "rwx": ["o:rw", "f:x"],
}  # fmt: skip
DIRECTORY_QUESTIONS = {
    "r": ["o:r+dir"], "w": ["f:w"], "rw": ["o:r+dir", "f:w"], "x": ["f:x"],
    "rx": ["o:r+dir", "f:x"], "rwx": ["o:r+dir", "f:wx"],
}  # fmt: skip


@dataclass
class Query:
    """What is asked about each of `paths`, which start at `start`.

    `way`: permcheck is given the subject's ids, or the pid of a process, or is the subject itself.
    """

    name: str
    paths: list
    subject: dict
    need: str
    way: str = "ids"
    start: str = "/"
    descriptors: tuple = ()

    def questions(self, path):
        whole = os.path.join(self.start, path)
        try:
            mode = os.stat(whole).st_mode
        except PermissionError:
            # Root may not follow every link either (fs.protected_symlinks), but may read it.
            try:
                mode = os.lstat(os.path.realpath(whole)).st_mode
            except OSError:
                mode = 0
        except OSError:
            mode = 0
        # A socket cannot be opened: connect(2) wants w, and that is asked without connecting.
        if stat.S_ISSOCK(mode):
            return [f"f:{self.need}"]
        return (DIRECTORY_QUESTIONS if stat.S_ISDIR(mode) else FILE_QUESTIONS)[self.need]

    def is_closed_to_root(self, path):
        """On an idmapped mount, an owner without a mapping can keep root out."""
        try:
            os.stat(os.path.join(self.start, path))
        except PermissionError:
            return True
        except OSError:
            pass
        return False


class Comparison:
    """Asks permcheck and the kernel the same, and counts."""

    def __init__(self, oracle, permcheck):
        self.oracle = oracle
        # Where every user may run it.
        self.permcheck = shutil.copy(permcheck, f"{oracle.directory}/permcheck")
        os.chmod(self.permcheck, 0o755)
        self.holders = {}
        self.questions = self.unreadable = 0
        self.disagreements = []
        self.probes = {}
        atexit.register(self.end_holders)

    def end_holders(self):
        if os.getpid() == self.oracle.owner:
            for process in self.holders.values():
                os.kill(process, signal.SIGKILL)

    def take_on(self, subject):
        namespace = self.oracle.namespace(subject["userns"]) if "userns" in subject else None
        mask = capability_mask(subject["caps"])
        uids, gids = three(subject["uid"]), three(subject["gid"])
        kernel.take_on(uids, gids, subject["groups"], mask, namespace)

    def holder(self, subject):
        """A process that has these credentials and does nothing."""
        key = json.dumps(subject)
        if key not in self.holders:
            if "userns" in subject:
                self.oracle.namespace(subject["userns"])
            ready, writer = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    self.take_on(subject)
                    os.chdir("/")
                    os.write(writer, b"x")
                    os.close(writer)
                    signal.pause()
                finally:
                    os._exit(1)
            os.close(writer)
            self.holders[key] = child
            if os.read(ready, 1) != b"x":
                raise RuntimeError(f"no process with the credentials {subject}")
            os.close(ready)
        return self.holders[key]

    def compare(self, queries):
        """Asks both, a few processes of permcheck at a time, and counts."""
        for start in range(0, len(queries), 4):
            asked = [(query, self.ask_permcheck(query)) for query in queries[start : start + 4]]
            for query, process in asked:
                answers = zip(query.paths, self.reports(process), self.kernel(query), strict=True)
                for path, report, kernels in answers:
                    self.count(query, path, report["resources"][0], kernels)

    def ask_permcheck(self, query):
        subject = query.subject
        arguments = ["explain", *query.paths, "--need", query.need, "--probe", "open", "--json"]
        preparation = None
        if query.way == "ids":
            groups = ",".join(map(str, subject["groups"]))
            arguments += ["--uid", str(subject["uid"]), "--gid", str(subject["gid"])]
            arguments += ["--groups", groups] if groups else []
        elif query.way == "pid":
            arguments += ["--pid", str(self.holder(subject))]
        else:

            def preparation():
                self.take_on(subject)

        return subprocess.Popen(
            [self.permcheck, *arguments],
            cwd=query.start,
            preexec_fn=preparation,
            pass_fds=query.descriptors,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @staticmethod
    def reports(process):
        output, errors = process.communicate()
        try:
            return json.loads(output)["reports"]
        except ValueError:
            said = errors.decode(errors="replace")
            raise SystemExit(f"{process.args}: {process.returncode} {said}") from None

    def kernel(self, query):
        answers = self.ask_kernel(query, [query.questions(path) for path in query.paths])
        # A directory whose type is closed to root was asked about as a file.
        if errno.EISDIR in answers:
            again = self.ask_kernel(query, [DIRECTORY_QUESTIONS[query.need]] * len(answers))
            pairs = zip(answers, again, strict=True)
            answers = [new if old == errno.EISDIR else old for old, new in pairs]
        return answers

    def access(self, query, path):
        """What access(2) answers, which is all that root asks where others can put a link."""
        (answer,) = self.ask_kernel(Query(**{**vars(query), "paths": [path]}), [[f"f:{query.need}"]])
        return answer

    def ask_kernel(self, query, questions):
        """The first refusal of each path's questions, 0 for none."""
        lines = [
            self.oracle.line(query.start, {"path": path, "sub": query.subject, "q": asked})
            for path, asked in zip(query.paths, questions, strict=True)
        ]
        answers = self.oracle.ask(lines, descriptors=query.descriptors)
        return [next((number for number in numbers if number), 0) for numbers in answers]

    def count(self, query, path, resource, kernels):
        self.questions += 1
        decision = resource["decision"]
        predicted = decision.get("errno", "0" if decision["verdict"] == "granted" else "unknown")
        expected = error_name(kernels)
        said, due = [predicted], [expected]
        if probe := resource.get("probe"):
            said.append(probe.get("errno", "0"))
            is_access = probe["method"] == "access"
            due.append(error_name(self.access(query, path)) if is_access else expected)
            self.probes[probe["method"]] = self.probes.get(probe["method"], 0) + 1
        if said == due:
            return
        if predicted == "unknown" and query.is_closed_to_root(path):
            self.unreadable += 1
            return
        self.disagreements.append(
            f"{query.name}: {path} from {query.start} by {query.way}, {json.dumps(query.subject)}, "
            f"--need {query.need}: permcheck {said}, {decision['rule']} at "
            f"{decision.get('component')}; kernel {due}"
        )


def error_name(number):
    return errno.errorcode[number] if number else "0"


def compare_all(forest, comparison):
    draw = forest.random
    for group in forest.groups:
        name, paths = group[0].name, [tree.path for tree in group]
        ways = [(subject, "ids") for subject in draw.sample(SUBJECTS, 3)]
        ways += [(subject, "pid") for subject in draw.sample(PROCESSES, 2)]
        ways += [(draw.choice(SUBJECTS), "self")]
        comparison.compare(
            [Query(name, paths, subject, draw.choice(NEEDS), way) for subject, way in ways]
        )
    plain = [tree for tree in forest.trees if "idmap" not in tree.name and tree.source]
    queries = []
    for tree in draw.sample(plain, 24):
        rest = f"./{tree.rest}"
        rest = draw.choice([rest, rest, f"{rest}/", ".", "..", f"../../{tree.root[1:]}"])
        subject, need = draw.choice(SUBJECTS), draw.choice(NEEDS)
        queries.append(Query("relative", [rest], subject, need, start=tree.root))
    comparison.compare(queries)
    for tree in draw.sample(plain, 24):
        compare_magic(tree, draw, comparison)


def compare_magic(tree, draw, comparison):
    """Through /proc: one's own descriptors, and another's, which are closed to all but root."""
    both = [os.open(tree.root, os.O_PATH)]
    both.append(os.open(tree.path if os.path.exists(tree.path) else tree.root, os.O_PATH))
    own = [f"/proc/self/fd/{both[0]}/{tree.rest}", f"/proc/self/fd/{both[1]}"]
    others = [path.replace("self", str(os.getpid())) for path in own]
    subject, need = draw.choice(SUBJECTS), draw.choice(NEEDS)
    comparison.compare(
        [
            Query("own magic", own, subject, need, "self", descriptors=tuple(both)),
            Query("others' magic", others, subject, need),
        ]
    )
    for descriptor in both:
        os.close(descriptor)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--permcheck", required=True, help="the built permcheck")
    parser.add_argument("--asker", default=default_asker(), help="the built kernel-asker")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    oracle = Oracle(options.asker)
    os.umask(0)
    forest = Forest(oracle, options.seed)
    with kernel.Sysctls() as sysctls:
        # What another container's sysctls had a part in is asked again.
        for _ in range(10):
            comparison = Comparison(oracle, options.permcheck)
            sysctls.set([1, 0, 0])
            compare_all(forest, comparison)
            if sysctls.still_hold():
                break
        else:
            sys.exit("livetrees: somebody else sets fs.protected_* all the time")
    disagreements = comparison.disagreements
    print("\n".join(disagreements[:30]))
    made = ", ".join(f"{count} by {method}" for method, count in sorted(comparison.probes.items()))
    print(f"live trees: probes {made}")
    if comparison.unreadable:
        print(f"live trees: {comparison.unreadable} cannot be told, closed to root itself")
    print(
        f"live trees: {len(forest.trees)} trees, {comparison.questions} questions, "
        f"{len(disagreements)} disagreements"
    )
    sys.exit(bool(disagreements))


if __name__ == "__main__":
    main()
